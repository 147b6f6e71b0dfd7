// SPDX-License-Identifier: Apache-2.0
// What becomes of fitted parameters where a figure of the data sheet is laid over.
#include "hardware/scaled_fits.hpp"
#include "closed_form_cases.hpp"
#include "hardware/collectives.hpp"
#include "hardware/gpu/carried_spread.hpp"
#include "tests/support/approx.hpp"

#include <cmath>

namespace llmscape::hardware {
namespace {

using llmscape::testing::approx;
using Kind = models::Collective::Kind;

// The catalogue's GPU with these values laid over its description, as `--set` or a scenario do.
Gpu with_overrides(const std::string& name, const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  auto tree = device_entry(kCatalog, name, {}, diagnostics);
  REQUIRE(tree);
  const YamlNode entry = *tree;
  for (const std::string& override : overrides) apply_override(*tree, override, diagnostics);
  scale_fits(*tree, entry);
  const auto device = devices().read(*tree, diagnostics);
  REQUIRE_MESSAGE(device, diagnostics.text(false));
  return dynamic_cast<const Gpu&>(*device);
}

double all_reduce_us(const Gpu& gpu, double mib) {
  return 1e6 * collective_time(gpu.links, {Kind::all_reduce, mib * 1048576, 8}).si();
}

TEST_CASE("what does half the NVLink do to an all-reduce? its bandwidth term doubles, its root term grows by 1.41") {
  // NCCL row of eight H100: 15.37 us + x / 493.7 GB/s + 7,238 ps sqrt(x), x = 2 x 7/8 x 64 MiB = 117,440,512 B, and a
  // correction of -2.2 % at 64 MiB, where 324.53 us were measured in 16 bits.
  const double x = 117440512, by = std::exp(-0.022);
  const double fixed = by * 15.37, streamed = by * x / 493.7e9 * 1e6, root = by * 7.238e-3 * std::sqrt(x);
  CHECK(all_reduce_us(with_overrides("h100-sxm", {}), 64) == approx(fixed + streamed + root));
  CHECK(all_reduce_us(with_overrides("h100-sxm", {}), 64) == approx(324.53).epsilon(1e-3));
  const Gpu half = with_overrides("h100-sxm", {"links.bandwidth=225 GB/s"});
  CHECK(all_reduce_us(half, 64) == approx(fixed + 2 * streamed + std::sqrt(2) * root));
  CHECK(all_reduce_us(half, 64) == approx(588.95).epsilon(1e-4));
}

TEST_CASE("what do links of twice the latency do? fitted latencies double, bandwidths stay") {
  const Gpu slow = with_overrides("h100-sxm", {"links.latency=5 us"});
  const double x = 117440512;
  const double form = 2 * 15.37 + x / 493.7e9 * 1e6 + std::sqrt(2) * 7.238e-3 * std::sqrt(x);
  CHECK(all_reduce_us(slow, 64) == approx(std::exp(-0.022) * form));
}

TEST_CASE("links count on every GPU that has measured collectives") {
  for (const std::string name : {"h100-sxm", "h200", "b200", "gb200", "a100-80", "l40s"}) {
    CAPTURE(name);
    const Gpu before = with_overrides(name, {});
    const double figure = before.links.bandwidth.value.si();
    const Gpu after = with_overrides(name, {"links.bandwidth=" + std::to_string(figure / 4e9) + " GB/s"});
    CHECK(all_reduce_us(after, 256) > 2 * all_reduce_us(before, 256));
    CHECK(after.links.collectives.front().tag == Tag::assumed);
  }
}

// By hand: of an all-reduce of 32.8 MB over eight H100 in two domains of four, 8.2 MB go between the two: 2 hops of
// 19 us and 8.2 MB at 36 GB/s, 266 us, beside what four do inside.
TEST_CASE(
    "what do nodes of four do to collectives of eight? they were measured inside a node of eight, and cross now") {
  const Gpu whole = with_overrides("h100-sxm", {}), halves = with_overrides("h100-sxm", {"links.domain.devices=4"});
  const auto micros = [](const Gpu& gpu, Kind kind, int ranks) {
    return 1e6 * collective_time(gpu.links, {kind, 32.768e6, ranks}).si();
  };
  const double between = 2 * 19 + 8.192e6 / 36e9 * 1e6;
  CHECK(micros(halves, Kind::all_reduce, 8) ==
        approx(micros(whole, Kind::reduce_scatter, 4) + micros(whole, Kind::all_gather, 4) + between));
  for (const Kind kind : {Kind::all_reduce, Kind::all_gather}) CHECK(micros(halves, kind, 4) == micros(whole, kind, 4));
  // A row of their own is of the domains that they are in.
  const Gpu own = with_overrides("h100-sxm", {"links.domain.devices=4",
                                              "links.collectives=[{kind: all_reduce, ranks: 8, latency: 50 us, "
                                              "bandwidth: 40 GB/s, tag: measured, source: a test}]"});
  CHECK(micros(own, Kind::all_reduce, 8) == approx(50 + 1.75 * 32.768e6 / 40e9 * 1e6));
}

TEST_CASE("what does twice the memory bandwidth do to decode attention? the time above its launch halves") {
  const Gpu once = with_overrides("h100-sxm", {}), twice = with_overrides("h100-sxm", {"hbm_bandwidth=6.7 TB/s"});
  CHECK(twice.decode_attention.cta_bandwidth.si() == approx(2 * once.decode_attention.cta_bandwidth.si()));
  models::DecodeAttention shape;
  shape.heads = 32, shape.kv_heads = 8, shape.head_dim = 128, shape.sequences = 256;
  shape.attended = equal_contexts(256, 16384);
  shape.kv = llama_8b().precision.kv;
  DecodeAttentionParameters p = once.decode_attention, q = twice.decode_attention;
  p.correction.reset(), q.correction.reset();
  const Seconds before = decode_attention_cost(once, p, shape).time - p.launch;
  const Seconds after = decode_attention_cost(twice, q, shape).time - q.launch;
  CHECK(before / after == approx(2).epsilon(0.03));
}

TEST_CASE("what do twice the multiprocessors do? peaks and L2 double with them, the memory does not") {
  const Gpu once = with_overrides("h100-sxm", {}), twice = with_overrides("h100-sxm", {"multiprocessors=264"});
  CHECK(twice.peak_bf16.value.si() == approx(2 * 989.5e12));
  CHECK(twice.peak_bf16.tag == Tag::assumed);
  CHECK(twice.gemm.l2_bandwidth.si() == approx(2 * once.gemm.l2_bandwidth.si()));
  CHECK(twice.hbm_bandwidth.value == once.hbm_bandwidth.value);
}

TEST_CASE("a fitted parameter that is stated itself wins over the figure, at its old value too") {
  const Gpu gpu = with_overrides("h100-sxm", {"hbm_bandwidth=6.7 TB/s", "gemm.cta_bandwidth=24.92 GB/s"});
  CHECK(gpu.gemm.cta_bandwidth.si() == approx(24.92e9));
  CHECK(gpu.decode_attention.cta_bandwidth.si() == approx(2 * 407.8e9));
  const Gpu peak = with_overrides("h100-sxm", {"multiprocessors=264", "peak_bf16=1000 Tflop/s"});
  CHECK(peak.peak_bf16.value.si() == approx(1000e12));
  CHECK(peak.peak_fp8->value.si() == approx(2 * 1979e12));
}

TEST_CASE("what is known of a chip that nobody timed? fits of another, and how far those were off on the next") {
  const Gpu timed = with_overrides("h200", {});
  REQUIRE_FALSE(timed.gemm.residuals.large.empty());
  const Gpu faster = with_overrides("h200", {"peak_bf16=2250 Tflop/s"});
  CHECK(faster.gemm.compute_efficiency == timed.gemm.compute_efficiency);
  CHECK(faster.gemm.tag == Tag::assumed);
  CHECK(faster.gemm.source.ends_with("; scaled with peak_bf16 x 2.274"));
  CHECK(faster.gemm.residuals.large.empty());
  CHECK(faster.kernel_sets.at("sglang").gemm->tag == Tag::assumed);
  CHECK(faster.elementwise.tag == timed.elementwise.tag);
  CHECK(faster.links.collectives.front().tag == timed.links.collectives.front().tag);
  const auto gemm = static_cast<std::size_t>(OperatorFamily::gemm);
  const models::ModelSpec model = llama_8b();
  CHECK(faster.spreads(model, {}, {})[gemm] == carried_spread(OperatorFamily::gemm));
  CHECK(timed.spreads(model, {}, {})[gemm][2] == timed.gemm.residuals.large);
  // A fit of one's own is not carried.
  const Gpu own = with_overrides("h200", {"peak_bf16=2250 Tflop/s", "gemm.source=mine", "gemm.tag=fitted"});
  CHECK(own.gemm.tag == Tag::fitted);
  CHECK(own.gemm.residuals.large == timed.gemm.residuals.large);
}

TEST_CASE("a figure that is stated as it was changes nothing, tags neither") {
  const Gpu before = with_overrides("h100-sxm", {}), after = with_overrides("h100-sxm", {"links.bandwidth=450 GB/s"});
  CHECK(all_reduce_us(after, 64) == all_reduce_us(before, 64));
  CHECK(after.links.collectives.front().tag == before.links.collectives.front().tag);
}

}  // namespace
}  // namespace llmscape::hardware
