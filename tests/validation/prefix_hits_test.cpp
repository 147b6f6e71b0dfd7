// SPDX-License-Identifier: Apache-2.0
// Prefix hits on the Mooncake synthetic trace against counts made without the simulator.
#include <doctest/doctest.h>

#include <cstdlib>
#include <list>
#include <unordered_map>

#include "tests/support/approx.hpp"
#include "tests/support/scenario_run.hpp"
#include "traces/request_trace.hpp"

using namespace llmscape;
using llmscape::testing::approx;
using llmscape::testing::run_on_event_queue;
using llmscape::testing::scenario_of;

namespace {

constexpr std::int64_t kBlock = 16;

std::string trace_path() {
  const char* data = std::getenv("LLMSCAPE_REFERENCE_DATA");
  return data && *data ? std::string(data) + "/traces/mooncake/synthetic_trace.jsonl.gz" : "";
}

std::vector<traces::TraceRecord> records() {
  Diagnostics diagnostics;
  const auto reader = traces::open_trace(trace_path(), "", {}, diagnostics);
  std::vector<traces::TraceRecord> all;
  while (auto record = reader->next(diagnostics)) all.push_back(*record);
  REQUIRE_FALSE(diagnostics.has_errors());
  return all;
}

// Block by block: a set of hashes of whole prefixes, least recently used ones dropped beyond `capacity` blocks; a
// request uses its blocks from the tail to the head, so that tails go first.
std::int64_t hits(const std::vector<traces::TraceRecord>& trace, std::size_t capacity) {
  std::list<std::uint64_t> order;  // the least recently used first
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> known;
  std::int64_t total = 0;
  for (const auto& record : trace) {
    std::vector<std::uint64_t> prefix;
    std::uint64_t hash = 0;
    std::int64_t position = 0;
    for (const Segment& s : record.prompt)
      for (std::int64_t i = 0; i < s.tokens; ++i) {
        hash = (hash ^ (s.id * 0x9e3779b97f4a7c15ull + static_cast<std::uint64_t>(s.offset + i))) * 0x100000001b3ull;
        hash ^= hash >> 29;
        if (++position % kBlock == 0) prefix.push_back(hash);
      }
    const std::size_t most = static_cast<std::size_t>((record.prompt_tokens - 1) / kBlock);
    std::size_t hit = 0;
    while (hit < most && hit < prefix.size() && known.count(prefix[hit])) ++hit;
    total += static_cast<std::int64_t>(hit);
    // The answer fills blocks as well, which nobody asks for again.
    const std::int64_t answer =
        (record.prompt_tokens + record.output_tokens - 1) / kBlock - static_cast<std::int64_t>(prefix.size());
    for (std::int64_t b = 0; b < answer; ++b) prefix.push_back(hash += 0x9e3779b97f4a7c15ull);
    for (auto block = prefix.rbegin(); block != prefix.rend(); ++block) {
      const auto found = known.find(*block);
      if (found != known.end()) order.erase(found->second);
      order.push_back(*block);
      known[*block] = std::prev(order.end());
    }
    while (known.size() > capacity) {
      known.erase(order.front());
      order.pop_front();
    }
  }
  return total;
}

result::RunResult replay(std::int64_t kv_blocks, double speedup) {
  const auto scenario = scenario_of(
      "schema: scenario/1\nmodel: llama-3.1-8b\nhardware: {devices: [{name: gpu, preset: h100-sxm}]}\n"
      "serving: {max_model_len: 262144, kv_blocks: " +
      std::to_string(kv_blocks) + "}\nworkload: {replay: {trace: " + trace_path() +
      "}, speedup: " + std::to_string(speedup) + "}\n");
  return run_on_event_queue(*scenario);
}

}  // namespace

TEST_CASE("with memory for everything, hits equal an independent count of whole blocks") {
  if (trace_path().empty()) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA is not set");
    return;
  }
  const result::RunResult result = replay(20'000'000, 1);
  CHECK(result.requests.completed == 3993);
  CHECK(result.tokens.reused == kBlock * hits(records(), SIZE_MAX));
}

TEST_CASE("with a small cache the hit rate is within a point of a brute-force LRU") {
  if (trace_path().empty()) {
    MESSAGE("skipped: LLMSCAPE_REFERENCE_DATA is not set");
    return;
  }
  const auto trace = records();
  double prompt_tokens = 0;
  for (const auto& record : trace) prompt_tokens += static_cast<double>(record.prompt_tokens);
  for (const std::int64_t blocks : {50'000, 200'000}) {
    CAPTURE(blocks);
    // Slow enough that requests hardly overlap: the brute force serves one after the other.
    const result::RunResult result = replay(blocks, 0.05);
    const double expected = static_cast<double>(kBlock * hits(trace, static_cast<std::size_t>(blocks))) / prompt_tokens;
    CHECK(static_cast<double>(result.tokens.reused) / prompt_tokens == approx(expected).epsilon(0.01 / expected));
  }
}
