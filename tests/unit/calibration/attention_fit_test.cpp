// SPDX-License-Identifier: Apache-2.0
#include "base/random.hpp"
#include "hardware/calibration/decode_attention_fit.hpp"
#include "hardware/calibration/family_fits.hpp"
#include "hardware/calibration/prefill_attention_fit.hpp"
#include "hardware/gpu/correction_features.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

// Constants of the data sheet.
Chip h100() {
  Chip c;
  c.peak_bf16.value = FlopsPerSecond(989.5e12);
  c.hbm_bandwidth.value = BytesPerSecond(3.35e12);
  c.multiprocessors.value = 132;
  c.l2.value = Bytes(50e6);
  return c;
}

double stretched(double share, double low, double high) { return low * std::pow(high / low, share); }
double off(double fitted, double true_value) { return std::abs(fitted / true_value - 1); }

template <class Record>
void set_heads(Record& r, std::size_t i) {
  constexpr std::array<std::array<std::int64_t, 3>, 8> kHeads = {
      {{32, 8, 128}, {16, 2, 128}, {64, 8, 64}, {8, 8, 64}, {24, 4, 64}, {40, 8, 128}, {12, 1, 128}, {48, 4, 64}}};
  const auto& heads = kHeads[i % kHeads.size()];
  r.heads = heads[0], r.kv_heads = heads[1], r.head_dim = heads[2];
  r.format = r.kv_format = "bf16";
}

template <class Record>
void add_noise(std::vector<Record>& records, const std::vector<double>& times, RandomStream& draws) {
  for (std::size_t i = 0; i < records.size(); ++i)
    records[i].time = Seconds(times[i] * std::exp(0.03 * draws.normal()));
}

// The share of fresh records that the 90 % interval holds.
template <class Record>
double covered(const std::vector<Record>& fresh, const std::vector<double>& predicted, double half_width) {
  int held = 0;
  for (std::size_t i = 0; i < fresh.size(); ++i)
    held += std::abs(std::log(predicted[i] / fresh[i].time.si())) <= half_width;
  return held / static_cast<double>(fresh.size());
}

DecodeAttentionParameters decode_truth(bool packs) {
  DecodeAttentionParameters p;
  p.compute_efficiency = 0.86;
  p.memory_efficiency = 0.88;
  p.launch = Seconds(8e-6);
  p.cta = Seconds(3e-6);
  p.cta_bandwidth = BytesPerSecond(30e9);
  p.split = Seconds(4e-6);
  if (packs) p.packing = Seconds(5e-6);
  return p;
}

std::vector<traces::TimedDecodeAttention> decodes(std::size_t count, bool packs, std::uint64_t seed) {
  RandomStream draws(seed);
  std::vector<traces::TimedDecodeAttention> records(count);
  for (std::size_t i = 0; i < count; ++i) {
    set_heads(records[i], i);
    records[i].sequences = std::llround(stretched(draws.uniform(), 1, 1024));
    const double most = 4e6 / static_cast<double>(records[i].sequences);
    records[i].context = std::llround(stretched(draws.uniform(), 16, std::min(131072.0, most)));
  }
  add_noise(records, predict(h100(), decode_truth(packs), {}, records), draws);
  return records;
}

TEST_CASE("320 decodes with 3 % noise give the parameters back within 3 %, and intervals that hold") {
  for (const bool packs : {false, true}) {
    CAPTURE(packs);
    const DecodeAttentionParameters truth = decode_truth(packs);
    const DecodeAttentionCalibration fit = fit_decode_attention(h100(), decodes(320, packs, 1), 0.86, false);
    CHECK(fit.parameters.packing.has_value() == packs);
    CHECK(off(fit.parameters.memory_efficiency, truth.memory_efficiency) < 0.03);
    CHECK(off(fit.parameters.launch.si(), truth.launch.si()) < 0.03);
    CHECK(off(fit.parameters.cta.si(), truth.cta.si()) < 0.03);
    if (packs) CHECK(off(fit.parameters.packing->si(), truth.packing->si()) < 0.05);
    // The mean size of a normal error of 3 % is 2.4 %.
    CHECK(fit.report.held_out.mean == approx(0.024).epsilon(0.2));
    REQUIRE(fit.report.half_width);
    const auto fresh = decodes(2000, packs, 2);
    const double share = covered(fresh, predict(h100(), fit.parameters, {}, fresh), *fit.report.half_width);
    CHECK(share >= 0.85);
    CHECK(share <= 0.95);
  }
}

TEST_CASE("what a kernel that packs draws from L2 is what warm records drew, where that is more than memory gives") {
  auto records = decodes(320, true, 3);
  RandomStream draws(4);
  for (const double bandwidth : {8e12, 1e12}) {
    CAPTURE(bandwidth);
    add_noise(records, predict(h100(), decode_truth(true), WarmCache{BytesPerSecond(bandwidth), 0.9}, records), draws);
    const DecodeAttentionCalibration fit = fit_decode_attention(h100(), records, 0.86, true);
    REQUIRE(fit.parameters.packing);
    REQUIRE(fit.warm);
    CHECK(fit.parameters.l2_bandwidth.has_value() == (bandwidth > 3.35e12));
    if (fit.parameters.l2_bandwidth) CHECK(*fit.parameters.l2_bandwidth == fit.warm->bandwidth);
  }
}

// Half of the groups have 32 heads: at a tenth of the peak their tiles of 64 rows take 0.33 ns an entry of 128, whose
// bytes take 0.17. Those of 16 rows take 0.08, which does not show.
TEST_CASE(
    "tiles of few rows are told from the rows, as doublings where those are looked for, and not where there are none") {
  auto records = decodes(320, false, 5);
  RandomStream draws(6);
  for (std::size_t i = 0; i < records.size(); i += 2) records[i].heads = 32 * records[i].kv_heads;
  add_noise(records, predict(h100(), decode_truth(false), {}, records), draws);
  CHECK_FALSE(fit_decode_attention(h100(), records, 0.86, false).parameters.row_block);
  CHECK_FALSE(fit_decode_attention(h100(), records, 0.86, false, Scoring::held_out, true).parameters.row_tiles);
  DecodeAttentionParameters truth = decode_truth(false);
  truth.row_block = 16, truth.compute_efficiency = 0.1;
  add_noise(records, predict(h100(), truth, {}, records), draws);
  const DecodeAttentionCalibration small = fit_decode_attention(h100(), records, 0.86, false);
  CHECK(small.parameters.row_block == 16);
  CHECK(off(small.parameters.compute_efficiency, 0.1) < 0.1);
  truth = decode_truth(false);
  truth.row_tiles = DecodeTiles{Seconds(2e-6), 0.5, 0.6};
  add_noise(records, predict(h100(), truth, {}, records), draws);
  CHECK_FALSE(fit_decode_attention(h100(), records, 0.86, false).parameters.row_tiles);
  const DecodeAttentionCalibration fit = fit_decode_attention(h100(), records, 0.86, false, Scoring::held_out, true);
  REQUIRE(fit.parameters.row_tiles);
  CHECK_FALSE(fit.parameters.row_block);
  CHECK(off(fit.parameters.row_tiles->launch.si(), 2e-6) < 0.2);
  CHECK(off(fit.parameters.row_tiles->cta, 0.5) < 0.2);
  CHECK(off(fit.parameters.row_tiles->narrow, 0.6) < 0.05);
}

TEST_CASE("a kernel of its own for heads that share no keys is told from the rows, and not where there is none") {
  DecodeAttentionParameters truth = decode_truth(false);
  truth.ungrouped = DecodeBlocks{Seconds(6e-6), Seconds(1e-6), BytesPerSecond(60e9), Seconds(3e-6), std::nullopt};
  auto records = decodes(320, false, 7);  // one of eight shapes shares none: 40 rows
  CHECK_FALSE(fit_decode_attention(h100(), records, 0.86, false).parameters.ungrouped);
  RandomStream draws(8);
  add_noise(records, predict(h100(), truth, {}, records), draws);
  const DecodeAttentionCalibration fit = fit_decode_attention(h100(), records, 0.86, false);
  REQUIRE(fit.parameters.ungrouped);
  CHECK(off(fit.parameters.ungrouped->launch.si(), 6e-6) < 0.05);
  CHECK(off(fit.parameters.ungrouped->cta.si(), 1e-6) < 0.1);
  CHECK(off(fit.parameters.cta.si(), 3e-6) < 0.03);
}

// 1,536 blocks at most split their keys over 8 waves, and small launches run apart.
TEST_CASE("keys of groups over several waves of blocks are told from the rows, beside heads in a kernel of their own") {
  DecodeAttentionParameters truth = decode_truth(false);
  truth.ungrouped = DecodeBlocks{Seconds(6e-6), Seconds(1e-6), BytesPerSecond(60e9), Seconds(3e-6), std::nullopt};
  auto records = decodes(320, false, 9);
  for (std::size_t i = 0; i < records.size(); i += 3) records[i].heads = records[i].kv_heads;
  RandomStream draws(10);
  add_noise(records, predict(h100(), truth, {}, records), draws);
  CHECK_FALSE(fit_decode_attention(h100(), records, 0.86, false).parameters.split_waves);
  truth.ungrouped->part_keys = 256;
  truth.split_waves = DecodeWaves{8, 0.25, 0.5};
  add_noise(records, predict(h100(), truth, {}, records), draws);
  const DecodeAttentionCalibration fit = fit_decode_attention(h100(), records, 0.86, false);
  REQUIRE(fit.parameters.split_waves);
  CHECK(off(fit.parameters.split_waves->part, 0.5) < 0.15);
  CHECK(fit.parameters.split_waves->waves == 8);
  CHECK(fit.parameters.ungrouped->part_keys == 256);
  CHECK_FALSE(fit_decode_attention(h100(), records, 0.86, false, Scoring::held_out, true).parameters.split_waves);
}

PrefillAttentionParameters prefill_truth(bool by_head) {
  PrefillAttentionParameters p;
  p.tile_edge = 128;
  p.by_head = by_head;
  p.compute_efficiency = 0.8;
  p.softmax_flops = 200;
  p.memory_efficiency = 0.7;
  p.launch = Seconds(9e-6);
  p.tile = Seconds(1.5e-6);
  p.wave_quantisation = 0.6;
  return p;
}

std::vector<traces::TimedPrefillAttention> chunks(std::size_t count, bool by_head, std::uint64_t seed) {
  RandomStream draws(seed);
  std::vector<traces::TimedPrefillAttention> records(count);
  for (std::size_t i = 0; i < count; ++i) {
    set_heads(records[i], i);
    records[i].tokens = std::llround(stretched(draws.uniform(), 16, 16384));
    const double most = 131072 / static_cast<double>(records[i].tokens);
    records[i].sequences = std::llround(stretched(draws.uniform(), 1, std::min(64.0, most)));
    records[i].cached = draws.uniform() < 0.5 ? 0 : std::llround(stretched(draws.uniform(), 16, 16384));
  }
  add_noise(records, predict(h100(), prefill_truth(by_head), records), draws);
  return records;
}

TEST_CASE("320 chunks with 3 % noise give rate and launch back within 3 %, and intervals that hold") {
  for (const bool by_head : {false, true}) {
    CAPTURE(by_head);
    const PrefillAttentionParameters truth = prefill_truth(by_head);
    const PrefillAttentionCalibration fit = fit_prefill_attention(h100(), chunks(320, by_head, 1));
    const PrefillAttentionParameters& p = fit.parameters;
    CHECK(p.tile_edge == 128);
    CHECK(p.by_head == by_head);
    CHECK_FALSE(p.takes_decodes);  // no row has decodes in it
    CHECK(off(p.launch.si(), truth.launch.si()) < 0.03);
    // Time of a pair of query and key; efficiency and softmax apart are known half as well.
    for (const double head_dim : {64., 128.})
      CHECK(off((4 * head_dim + p.softmax_flops) / p.compute_efficiency,
                (4 * head_dim + truth.softmax_flops) / truth.compute_efficiency) < 0.03);
    CHECK(fit.report.held_out.mean == approx(0.024).epsilon(0.2));
    REQUIRE(fit.report.half_width);
    const auto fresh = chunks(2000, by_head, 2);
    const double share = covered(fresh, predict(h100(), p, fresh), *fit.report.half_width);
    CHECK(share >= 0.85);
    CHECK(share <= 0.95);
  }
}

TEST_CASE("keys of 8 bits that are widened before a prompt reads them give the rate of that back") {
  auto records = chunks(320, false, 9);
  for (auto& r : records) r.kv_format = "fp8";
  PrefillAttentionParameters truth = prefill_truth(false);
  RandomStream draws(10);
  add_noise(records, predict(h100(), truth, records), draws);
  CHECK_FALSE(fit_prefill_attention(h100(), records).parameters.widening);
  truth.widening = BytesPerSecond(50e9);
  add_noise(records, predict(h100(), truth, records), draws);
  const PrefillAttentionCalibration fit = fit_prefill_attention(h100(), records);
  REQUIRE(fit.parameters.widening);
  CHECK(off(fit.parameters.widening->si(), 50e9) < 0.05);
}

TEST_CASE("the time of a token that a prompt appends is found where there is one") {
  auto records = chunks(320, false, 9);
  PrefillAttentionParameters truth = prefill_truth(false);
  RandomStream draws(11);
  add_noise(records, predict(h100(), truth, records), draws);
  CHECK_FALSE(fit_prefill_attention(h100(), records).parameters.append);
  truth.append = Seconds(20e-9);
  add_noise(records, predict(h100(), truth, records), draws);
  const PrefillAttentionCalibration fit = fit_prefill_attention(h100(), records);
  REQUIRE(fit.parameters.append);
  CHECK(off(fit.parameters.append->si(), 20e-9) < 0.1);
}

TEST_CASE("what a window costs a kernel where it cuts is learned beside the form, which is fitted to whole contexts") {
  constexpr double kSlower = 1.4;  // FlashAttention 3, heads of 64, windows of 128: 1.37 to 1.70 times 128 entries
  traces::KernelTables tables;
  tables.device = "H100";
  tables.decode_attention = decodes(320, false, 7);
  auto cut = decodes(240, false, 8);
  for (auto& r : cut) {
    r.window = 128;
    r.context = 256 + r.context;
  }
  RandomStream draws(9);
  add_noise(cut, predict(h100(), decode_truth(false), {}, cut), draws);
  for (auto& r : cut) r.time = kSlower * r.time;
  auto within = cut.front();  // no token leaves its window: nothing new
  within.context = 100;
  tables.decode_attention.insert(tables.decode_attention.end(), cut.begin(), cut.end());
  tables.decode_attention.push_back(within);
  for (auto& r : tables.decode_attention) r.engine = "vllm";
  Gpu gpu;
  static_cast<Chip&>(gpu) = h100();
  gpu.gemm.compute_efficiency = decode_truth(false).compute_efficiency;

  const auto form = FamilyFits(tables, "vllm", gpu, 1500).decodes("bf16", Scoring::held_out);
  REQUIRE(form);
  CHECK(form->cut == 240);
  CHECK(form->rows.size() == 560);
  CHECK(form->report.rows.size() == 560);
  CHECK(off(form->parameters.memory_efficiency, 0.88) < 0.05);
  const auto earned =
      earn_correction(decode_attention_correction_plans(true).front(), form->rows, form->report.held_out.mean, {});
  REQUIRE(earned);
  CHECK(earned->error < 0.06);
  models::DecodeAttention a;
  a.sequences = 32;
  a.heads = 32, a.kv_heads = 8, a.head_dim = 128;
  a.attended = {32 * 128, 128};
  const double whole = earned->correction.factor(features_of(a));
  a.window = 128;
  CHECK(earned->correction.factor(features_of(a)) / whole == approx(kSlower).epsilon(0.05));
  a.window = 256;  // half filled: not cut
  CHECK(earned->correction.factor(features_of(a)) == approx(whole));
}

TEST_CASE("one head shape is enough: rows are then held out one by one") {
  auto records = decodes(160, false, 3);
  for (auto& r : records) set_heads(r, 0);
  RandomStream draws(4);
  add_noise(records, predict(h100(), decode_truth(false), {}, records), draws);
  const DecodeAttentionCalibration fit = fit_decode_attention(h100(), records, 0.86, false);
  CHECK(fit.report.data == "160 rows of 1 shapes");
  CHECK(fit.report.held_out.mean == approx(0.024).epsilon(0.3));
}

TEST_CASE("caches left in L2 are told from memory") {
  auto records = decodes(320, false, 5);
  const WarmCache warm{BytesPerSecond(6e12), 0.8};
  RandomStream draws(6);
  add_noise(records, predict(h100(), decode_truth(false), warm, records), draws);
  const DecodeAttentionCalibration fit = fit_decode_attention(h100(), records, 0.86, true);
  REQUIRE(fit.warm);
  CHECK(off(fit.parameters.memory_efficiency, 0.88) < 0.03);
  CHECK(off(fit.warm->held, warm.held) < 0.1);
}

}  // namespace
}  // namespace llmscape::hardware
