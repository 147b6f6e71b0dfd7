// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search_answer.hpp"

#include <doctest/doctest.h>

#include <utility>

using namespace llmscape;
using namespace llmscape::explore;

namespace {

bool says_in(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

SearchQuery query_of(const std::string& path, const std::string& slo) {
  SearchQuery query;
  query.number.path = path;
  query.space.whole = true;
  Diagnostics diagnostics;
  query.question.limits = read_slo(slo, "--slo", {}, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  return query;
}

TriedValue tried(double value, const Estimate& left, std::size_t runs, Standing standing) {
  TriedValue tried;
  tried.value = value;
  tried.text = std::to_string(static_cast<int>(value));
  tried.standing = standing;
  tried.sides = {left};
  tried.runs.resize(runs);
  for (SearchRun& run : tried.runs) run.row.metrics.resize(metrics::columns().size());
  if (standing == Standing::failed) tried.why = "the limit";
  return tried;
}

std::string text_of(const SearchQuery& query, std::vector<TriedValue> values) {
  SearchAnswer answer;
  answer.next = values.back();
  if (values.front().standing == Standing::met) answer.best = values.front();
  answer.tried = std::move(values);
  return report::search_text(query, answer);
}

}  // namespace

// Of two runs of 162.6 and 519.4 ms the mean is 341 ms and Student's t of one degree of freedom 12.71: 341 ms -+ 12.71
// x 178.4 ms = -1.93 to 2.61 s.
TEST_CASE("an interval of a mean is cut at 0 where it is of a metric, and left as it is where it is of a difference") {
  const Estimate wide = mean_of({0.1626, 0.5194});
  REQUIRE(wide.low < -1.9);
  CHECK(
      says_in(text_of(query_of("workload.arrivals.users", "ttft.p99 <= 150 ms"), {tried(4, wide, 2, Standing::failed)}),
              "341 ms (0 s to 2.61 s, mean of 2 runs)"));
  CHECK(says_in(text_of(query_of("workload.arrivals.users", "e2e.p99 - ttft.p99 <= 0.1 s"),
                        {tried(4, wide, 2, Standing::failed)}),
                "0.341 (-1.93 to 2.61, mean of 2 runs)"));
}

TEST_CASE("a search that went away from what would keep its limit says so, and which way to ask") {
  const auto at = [](double value, double left) { return tried(value, {left, left, left}, 1, Standing::failed); };
  SearchQuery query = query_of("workload.arrivals.users", "output_tokens_per_s >= 1000 /s");
  const std::string more = text_of(query, {at(4, 515), at(2, 260), at(1, 131)});
  CHECK(says_in(more, "No value of workload.arrivals.users that was tried meets output_tokens_per_s >= 1000 /s\n"));
  CHECK(says_in(more,
                "output_tokens_per_s is 131 at 1 and 515 at 4: more of workload.arrivals.users helps it, and --min\n"
                "workload.arrivals.users finds the smallest value that meets it\n"));
  // Where the last value comes nearer than the first, or one meets the limit, there is nothing to say.
  CHECK_FALSE(says_in(text_of(query, {at(4, 131), at(1, 515)}), "helps"));
  CHECK_FALSE(says_in(text_of(query, {tried(8, {1029, 1029, 1029}, 1, Standing::met), at(4, 515)}), "helps"));
  query.space.largest = false;
  query.question.limits = query_of("", "ttft.p99 <= 1 ms").question.limits;
  const std::string less = text_of(query, {at(1, 0.02), at(64, 0.9)});
  CHECK(says_in(less,
                "ttft.p99 is 900 ms at 64 and 20.0 ms at 1: less of workload.arrivals.users helps it, and --max\n"));
}

TEST_CASE("limits that hold where no run counts are told apart from limits that nothing keeps") {
  const SearchQuery query = query_of("hardware.devices[0].count", "ttft.p99 <= 500 ms");
  const TriedValue slow = tried(1, {0.9, 0.9, 0.9}, 1, Standing::failed);
  TriedValue unsteady = tried(2, {0.13, 0.13, 0.13}, 1, Standing::failed);
  unsteady.why = "unsteady: short";
  CHECK(says_in(text_of(query, {slow, unsteady}),
                "The limits hold at 1 of the 2 values that were tried, but their runs do not count (2: unsteady:\n"
                "short): longer ones decide, or --include-invalid\n"));
  CHECK_FALSE(says_in(text_of(query, {slow, slow}), "The limits hold"));
}
