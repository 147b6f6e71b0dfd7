// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/measured_rows.hpp"

#include <doctest/doctest.h>

#include "sim/validation/host_constants.hpp"
#include "sim/validation/report.hpp"
#include "sim/validation/row_runs.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"

using llmscape::testing::approx;

namespace llmscape::validation {
namespace {

using test::Scratch;
using testing::holds;

constexpr const char* kTable =
    "name,model,hardware,tensor_parallel,prompt_tokens,output_tokens,users,ttft_s,tpot_s.p50,mean_w\n"
    "a,llama-3.1-8b,h100-sxm,1,500,20,2,0.02,0.006,\n"
    "b,llama-3.1-8b,h100-sxm,1,500,20,8,0.05,0.008,400\n";

std::optional<MeasuredTable> read(const Scratch& scratch, const std::string& table, const std::string& mapping = "",
                                  RowKind kind = RowKind::deployment, std::string* said = nullptr) {
  scratch.file("rows.csv", table);
  std::optional<std::filesystem::path> columns;
  if (!mapping.empty()) {
    scratch.file("columns.yaml", mapping);
    columns = scratch.path("columns.yaml");
  }
  Diagnostics diagnostics;
  auto rows = read_measured_table(scratch.path("rows.csv"), kind, columns, diagnostics);
  if (said) *said = diagnostics.text(false);
  else if (diagnostics.has_errors()) FAIL(diagnostics.text(false));
  return rows;
}

}  // namespace

TEST_CASE("a table in our columns: metrics by their names, scenarios from the rest") {
  const Scratch scratch;
  const auto table = read(scratch, kTable);
  REQUIRE(table);
  REQUIRE(table->metrics.size() == 3);
  CHECK(table->metrics[0].name == "ttft");
  CHECK(table->metrics[1].name == "tpot.p50");
  CHECK(table->metrics[2].name == "mean_w");
  CHECK(table->rows[0].measured[0] == 0.02);
  CHECK_FALSE(table->rows[0].measured[2]);
  CHECK(holds(table->rows[1].scenario, "arrivals: {kind: closed_loop, users: 8}"));
  CHECK(holds(table->rows[1].scenario, "requests: 80"));
  CHECK(holds(table->rows[1].scenario, "max_model_len: 520"));
}

TEST_CASE("a row's interval holds its prediction, and the share of rows inside counts those that were measured") {
  const Scratch scratch;
  const auto table = read(scratch, kTable);
  REQUIRE(table);
  const auto rows = rows_to_predict(*table);
  const auto points = simulate_rows(*table, rows, {}, testing::source_catalogs(), 1);
  auto intervals = row_intervals(*table, rows, {}, testing::source_catalogs(), 2);
  REQUIRE(intervals.size() == 2);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    REQUIRE(intervals[i].metrics[1]);
    CHECK(intervals[i].metrics[1]->first.value < *points[i].predicted[1]);
    CHECK(intervals[i].metrics[1]->second.value > *points[i].predicted[1]);
  }
  const auto ends = [](double low, double high) {
    return RowIntervals::Ends({metrics::End{low, 0, {}}, metrics::End{high, 0, {}}});
  };
  intervals[0].metrics = {ends(0.01, 0.03), ends(0.001, 0.002), ends(300, 500)};  // measured: 0.02, 0.006, none
  intervals[1].metrics = {ends(0.01, 0.03), std::nullopt, ends(300, 500)};        // measured: 0.05, 0.008, 400
  CHECK(*share_inside(intervals, 0) == 0.5);
  CHECK(*share_inside(intervals, 1) == 0);
  CHECK(*share_inside(intervals, 2) == 1);
  intervals.clear();
  CHECK_FALSE(share_inside(intervals, 0));
}

TEST_CASE("a row is predicted as its scenario is, whatever the number of jobs, and what cannot be says why") {
  const Scratch scratch;
  const auto table = read(scratch, std::string(kTable) + "c,llama-9-8b,h100-sxm,1,500,20,2,0.02,0.006,\n");
  REQUIRE(table);
  const auto rows = rows_to_predict(*table);
  const auto one = simulate_rows(*table, rows, {}, testing::source_catalogs(), 1);
  const auto three = simulate_rows(*table, rows, {}, testing::source_catalogs(), 3);
  const auto scenario = testing::scenario_of(table->rows[1].scenario);
  REQUIRE(scenario);
  const result::RunResult result = testing::run_on_event_queue(*scenario);
  CHECK(one[1].predicted[0] == result.latency["ttft_s"]->mean);
  CHECK(one[1].predicted[1] == result.latency["tpot_s"]->p50);
  CHECK(one[1].predicted[2] == result.energy->mean_w);
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(one[i].predicted == three[i].predicted);
  CHECK(holds(one[2].refused, "unknown model 'llama-9-8b'"));

  std::vector<const RowPoint*> all;
  for (const RowPoint& point : one) all.push_back(&point);
  const auto errors = compare_points(*table, all);
  REQUIRE(errors.size() == 3);
  CHECK(errors[0].count == 2);
  CHECK(errors[2].count == 1);  // power was measured once
  const auto groups = group_points(one, {"users"});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].name == "2");
  CHECK(groups[0].points.size() == 2);
}

TEST_CASE("a mapping: numbers in cells, names, rules in their order, values of a scenario, metrics of two sides") {
  const Scratch scratch;
  const auto table =
      read(scratch,
           "id,Where from,GPU,Input Length,ms\n"
           "x,run 3; clients=64; 2,H100,100,30\n"
           "y,run 4; clients=8,H100,100,10\n"
           "z,run 5; clients=8,MI250,100,10\n",
           "schema: rows/1\n"
           "name: 'row ${id}'\n"
           "numbers: {clients: {column: Where from, after: 'clients='}}\n"
           "names: {hardware: {H100: h100-sxm}}\n"
           "columns: {model: \"'llama-3.1-8b'\", hardware: GPU, users: clients, prompt_tokens: Input_Length, "
           "output_tokens: 2 * Input_Length}\n"
           "set: {workload.requests: '${3 * users}'}\n"
           "rules:\n"
           "  - {when: users > 8, set: {serving.batcher: {policy: vllm_v1, max_num_seqs: '${users / 2}'}}}\n"
           "  - {when: GPU == MI250, leave_out: not public}\n"
           "metrics:\n"
           "  - {name: tpot, measured: ms / 1000, predicted: tpot.mean, unit: s}\n"
           "  - {name: twice, measured: 2 * tpot}\n");
  REQUIRE(table);
  const MeasuredRow& x = table->rows[0];
  CHECK(x.name == "row x");
  CHECK(holds(x.scenario, "preset: h100-sxm"));
  CHECK(x.overrides ==
        std::vector<std::string>{"workload.requests=192", "serving.batcher={policy: vllm_v1, max_num_seqs: 32}"});
  CHECK(table->rows[1].overrides == std::vector<std::string>{"workload.requests=24"});
  CHECK(x.measured[1] == 0.06);
  CHECK(table->rows[2].left_out == "not public");
  const auto points = simulate_rows(*table, rows_to_predict(*table), {}, testing::source_catalogs(), 1);
  REQUIRE(points.size() == 2);
  CHECK(points[0].refused == "");
  CHECK(*points[0].predicted[1] == 2 * *points[0].predicted[0]);
}

TEST_CASE("repeats of a batch become one row with the median of their times") {
  const Scratch scratch;
  const auto table = read(scratch,
                          "name,model,hardware,prompt_tokens,output_tokens,batch,simulated_s\n"
                          "a,llama-3.1-8b,h100-sxm,10,5,4,3\na,llama-3.1-8b,h100-sxm,10,5,4,1\n"
                          "a,llama-3.1-8b,h100-sxm,10,5,4,2\nb,llama-3.1-8b,h100-sxm,10,5,8,9\n"
                          "b,llama-3.1-8b,h100-sxm,10,5,8,6\n",
                          "schema: rows/1\nmedian_of_repeats: true\n", RowKind::batch);
  REQUIRE(table);
  REQUIRE(table->rows.size() == 2);
  CHECK(table->rows[0].measured[0] == 2);
  CHECK(table->rows[1].measured[0] == 7.5);  // the mean of the middle two
  CHECK(holds(table->rows[1].scenario, "users: 8}, stream: {kind: lengths, prompt: {kind: fixed, value: 10}"));
}

TEST_CASE("answers by a histogram, versions as they are written, models from a file") {
  const Scratch scratch;
  const auto table = read(scratch,
                          "model,hardware,engine,engine_version,prompt_tokens,output_tokens,output_histogram,"
                          "shortest_output,longest_output,rate_per_s,ttft_s\n"
                          "mine/config.json,h100-sxm,vllm,0.10,100,50,3 0 1,1,31,2,0.1\n");
  REQUIRE(table);
  const std::string& text = table->rows[0].scenario;
  CHECK(holds(text, "{hf_config: mine/config.json}"));
  CHECK(holds(text, "engine: {name: vllm, version: \"0.10\"}"));
  CHECK(holds(text, "output: {kind: empirical, values: [6, 16, 26], weights: [3, 0, 1]}"));
  CHECK(holds(text, "arrivals: {kind: poisson, rate: 2 /s}"));
}

TEST_CASE("a histogram of answers stands instead of their length, and may begin at 0") {
  const Scratch scratch;
  const auto table = read(scratch,
                          "model,hardware,prompt_tokens,output_histogram,shortest_output,longest_output,rate_per_s,"
                          "ttft_s\nllama-3.1-8b,l4,100,3 1,0,40,2,0.1\nllama-3.1-8b,l4,100,3 1,,40,2,0.1\n");
  REQUIRE(table);
  CHECK_FALSE(table->rows[0].left_out);
  CHECK(holds(table->rows[0].scenario, "output: {kind: empirical, values: [10, 30], weights: [3, 1]}"));
  CHECK(holds(table->rows[0].scenario, "max_model_len: 140"));
  CHECK(table->rows[1].left_out == "column 'shortest_output' is missing or empty");
}

TEST_CASE("what is wrong with a table or its mapping is said where it stands") {
  const Scratch scratch;
  std::string said;
  CHECK_FALSE(read(scratch, "name,model\na,b\n", "", RowKind::deployment, &said));
  CHECK(holds(said, "rows.csv:1:1: error: no column is a metric"));
  CHECK_FALSE(read(scratch, "name,ttft_s\na,0.1,3\nb,slow\nc,-1\n", "", RowKind::deployment, &said));
  CHECK(holds(said, "rows.csv:2:1: error: 3 columns where the header has 2"));
  CHECK_FALSE(read(scratch, "name,ttft_s\nb,slow\n", "", RowKind::deployment, &said));
  CHECK(holds(said, "rows.csv:2:3: error: 'ttft_s' must be a number of at least 0; got 'slow'"));
  CHECK_FALSE(read(scratch, "ttft_s,ttft_s\n1,1\n", "", RowKind::deployment, &said));
  CHECK(holds(said, "rows.csv:1:8: error: column 'ttft_s' stands twice"));
  CHECK_FALSE(
      read(scratch, "ttft_s,clients\n1,1\n", "schema: rows/1\ncolumns: {users: client}\n", RowKind::deployment, &said));
  CHECK(holds(said, "columns.yaml:2:18: error: the table has no column 'client'"));
  CHECK(holds(said, "did you mean 'clients'?"));
  const auto table = read(scratch, "model,hardware,prompt_tokens,users,ttft_s\nllama-3.1-8b,l4,8,2,1\n");
  CHECK(table->rows[0].left_out == "column 'output_tokens' is missing or empty");
}

TEST_CASE("the search for host constants finds the least of a valley, and 0 where nothing is to be found") {
  const auto valley = [](double prefill, double call, double token) {
    return fit_host_constants([=](const HostConstants& c) {
      return log_loss(1 + c.per_prefill_step_ms, 1 + prefill) + log_loss(1 + c.per_call_ms, 1 + call) +
             log_loss(1 + c.per_token_us, 1 + token);
    });
  };
  const HostConstants best = valley(6, 50, 20);
  CHECK(best.per_prefill_step_ms == approx(6).epsilon(0.05));
  CHECK(best.per_call_ms == approx(50).epsilon(0.05));
  CHECK(best.per_token_us == approx(20).epsilon(0.05));
  CHECK(valley(0, 0, 0).overrides() == HostConstants().overrides());  // what is right is left alone
  CHECK(log_loss(1.1, 1) == approx(2 * (std::sqrt(1 + std::pow(std::log(1.1) / 0.1, 2)) - 1)));
}

TEST_CASE("host constants that trade off are found again: of most figures their sum is known") {
  const auto figures = [](const HostConstants& c) {
    const double ms = c.per_prefill_step_ms + c.per_call_ms;
    return std::vector<double>{7 + 0.05 * c.per_prefill_step_ms, 12 + 0.06 * c.per_prefill_step_ms,
                               25 + ms + 0.7 * c.per_token_us, 30 + ms + c.per_token_us,
                               60 + ms + 0.4 * c.per_prefill_step_ms + 2 * c.per_token_us};
  };
  for (const HostConstants& truth : {HostConstants{6, 15, 8}, HostConstants{10, 50, 20}, HostConstants{3, 0, 30},
                                     HostConstants{0, 100, 0}, HostConstants{0, 0, 60}}) {
    CAPTURE(truth.per_prefill_step_ms);
    const HostConstants found = fit_host_constants([&](const HostConstants& tried) {
      double loss = 0;
      for (std::size_t i = 0; i < 5; ++i) loss += log_loss(figures(tried)[i], figures(truth)[i]);
      return loss;
    });
    CHECK(std::abs(found.per_prefill_step_ms - truth.per_prefill_step_ms) < 0.5);
    CHECK(std::abs(found.per_call_ms - truth.per_call_ms) < 1);
    CHECK(std::abs(found.per_token_us - truth.per_token_us) < 0.5);
  }
}

TEST_CASE("a metric that one row has stands in the tables, where it has no row among the sets") {
  Report report;
  report.comparisons = {compare("tpot", "s", {{"only", 3, 2}}), compare("mean_w", "W", {{"run", 300, 200}})};
  report.comparisons[0].statistics.clear();  // as of rows of tables
  std::string problem;
  report.verdicts = {judge(*parse_limit("tpot.mean=60%", problem), report.comparisons, {}),
                     judge(*parse_limit("tpot.error_mean=60%", problem), report.comparisons, {})};
  const std::string text = to_text(report);
  CHECK(holds(text, "tpot        1    50.0 %"));
  CHECK(holds(text, "only"));
  CHECK(holds(text, "not compared: rows have error_mean"));
  CHECK_FALSE(holds(text, "mean_w      1"));
  CHECK_FALSE(report.verdicts[0].met());
  CHECK(report.verdicts[1].met());
}

TEST_CASE("JUnit: limits fail, rows without a prediction are skipped") {
  Report report;
  report.measured = "rows<1>.csv";
  report.comparisons = {compare("tpot", "s", {{"a", 2, 1}})};
  report.left_out = {{"b", "no such model"}};
  std::string problem;
  for (const char* limit : {"tpot.error_median=10%", "tpot.error_median=200%"})
    report.verdicts.push_back(judge(*parse_limit(limit, problem), report.comparisons, {}));
  const std::string xml = to_junit(report, "validate");
  CHECK(holds(xml, "tests=\"3\" failures=\"1\" errors=\"0\" skipped=\"1\""));
  CHECK(holds(xml, "<failure message=\"100.00 %\" type=\"ERROR\"/>"));
  CHECK(holds(xml, "<skipped message=\"no such model\"/>"));
  CHECK(holds(xml, "name=\"rows&lt;1&gt;.csv\""));
}

}  // namespace llmscape::validation
