// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/collective_fit.hpp"
#include "base/random.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <cmath>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

// Messages from 512 B to 256 MiB through 4 ranks: 8 us + x / 300 GB/s + 4 ns sqrt(x), x = 1.5 times the tensor, with
// 1 % noise.
std::vector<traces::TimedCollective> synthetic(const std::string& implementation) {
  RandomStream draws(1);
  std::vector<traces::TimedCollective> records;
  for (int power = 9; power <= 28; ++power) {
    const double x = 1.5 * std::pow(2, power);
    const double seconds = 8e-6 + x / 300e9 + 4e-9 * std::sqrt(x);
    records.push_back({{"all_reduce", std::int64_t{1} << power, 4, implementation, 4},
                       Seconds(seconds * std::exp(0.01 * draws.normal()))});
  }
  return records;
}

TEST_CASE("messages with 1 % noise give latency, bandwidth and root term back") {
  const auto fits = fit_collectives(synthetic("nccl"));
  REQUIRE(fits.size() == 1);
  const CollectiveFit& p = fits[0].parameters;
  CHECK(p.kind == models::Collective::Kind::all_reduce);
  CHECK(p.ranks == 4);
  CHECK(p.latency.si() == approx(8e-6).epsilon(0.03));
  CHECK(p.bandwidth.si() == approx(300e9).epsilon(0.03));
  CHECK(p.root_term.si() == approx(4e-9).epsilon(0.05));
  CHECK_FALSE(p.below);
  CHECK(fits[0].report.held_out.mean < 0.02);
  CHECK(fits[0].report.data == "all_reduce, nccl, 4 ranks, 20 rows of 20 shapes");
}

TEST_CASE("vLLM's own all-reduce is fitted below 8 MiB, and leaves larger tensors to others") {
  const auto fits = fit_collectives(synthetic("vllm_graph"));
  REQUIRE(fits.size() == 1);
  CHECK(fits[0].report.held_out.rows == 23 - 9);  // 2^9 to 2^22 bytes
  CollectiveFit slow;
  slow.ranks = 4;
  slow.latency = Seconds(1);
  slow.bandwidth = BytesPerSecond(1e15);
  const Links links{{fits[0].parameters, slow}, {}, {}, {}};
  const auto time = [&](double bytes) {
    return collective_time(links, {models::Collective::Kind::all_reduce, bytes, 4}).si();
  };
  CHECK(time((8 << 20) - 1e3) < 0.1);  // four digits of 8 MiB
  CHECK(time(8 << 20) >= 1);
}

TEST_CASE("SGLang's takes 16 MiB itself") {
  const auto fits = fit_collectives(synthetic("sglang_graph"));
  REQUIRE(fits.size() == 1);
  CHECK(fits[0].report.held_out.rows == 25 - 9);  // 2^9 to 2^24 bytes
  CHECK(fits[0].parameters.below->si() > 16 << 20);
}

// The same where messages of 1 MiB and more take 1.3 times as long, in another protocol.
std::vector<traces::TimedCollective> with_a_protocol() {
  auto records = synthetic("nccl");
  for (traces::TimedCollective& r : records)
    if (r.bytes >= 1 << 20) r.time = 1.3 * r.time;
  return records;
}

TEST_CASE("what a form cannot follow is corrected by size") {
  const auto records = with_a_protocol();
  const auto fits = fit_collectives(records);
  REQUIRE(fits.size() == 1);
  REQUIRE(fits[0].parameters.correction);
  const Links links{{fits[0].parameters}, {}, {}, {}};
  for (const traces::TimedCollective& r : records) {
    const double time =
        collective_time(links, {models::Collective::Kind::all_reduce, static_cast<double>(r.bytes), 4}).si();
    CHECK(time == approx(r.time.si()).epsilon(1e-3));  // points have tenths of a per cent
  }
  CHECK(fits[0].report.held_out.mean < 0.05);
  CHECK(fits[0].report.form == "physical + residual table");
}

TEST_CASE("a message that took twice as long as its neighbours was disturbed") {
  auto records = synthetic("nccl");
  records[4].time = 3 * records[4].time;
  CHECK(fit_collectives(records)[0].report.held_out.rows == 19);
  records[5].time = 3 * records[5].time;  // two are another way of working
  CHECK(fit_collectives(records)[0].report.held_out.rows == 20);
}

TEST_CASE("unseen sizes of all numbers of ranks give the quantiles together") {
  auto records = synthetic("nccl");
  for (const traces::TimedCollective& r : synthetic("vllm_graph")) records.push_back(r);
  const auto fits = fit_collectives(records);
  REQUIRE(fits.size() == 2);  // 20 and 14 messages: 11 and 11 of at most 64 tokens, 4 and 3 of at most 1,024
  const Residuals pooled = pooled_residuals(fits, models::Collective::Kind::all_reduce);
  CHECK(pooled.small.size() == 11);
  CHECK(pooled.medium == pooled.large);  // of all: too few
  CHECK(pooled.medium.front() <= pooled.small.front());
  CHECK(pooled_residuals(fits, models::Collective::Kind::send).small.empty());
}

TEST_CASE("messages that cross nodes, and sets of few messages, are passed over") {
  auto records = synthetic("nccl");
  for (traces::TimedCollective& r : records) r.ranks_per_node = 2;
  CHECK(fit_collectives(records).empty());
  records = synthetic("nccl");
  records.resize(9);
  CHECK(fit_collectives(records).empty());
}

}  // namespace
}  // namespace llmscape::hardware
