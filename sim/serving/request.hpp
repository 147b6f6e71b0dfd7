// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "base/quantity.hpp"
#include "sim/serving/phases.hpp"
#include "sim/serving/sequence.hpp"
#include "traces/content.hpp"

namespace llmscape::serving {

// How a request left the system.
enum class Outcome : std::uint8_t { completed, cancelled, timed_out, dropped, failed };

// Whose is the first token of a request that a decode replica takes over (engines.md 8): that replica computes the last
// prompt token again (vLLM; TTFT = prompt + transfer + a step), it comes with the KV entries (SGLang, TensorRT-LLM;
// prompt + transfer), or the replica that computed the prompt answers it (prompt).
enum class FirstToken : std::uint8_t { recomputed, transferred, prefill };

// Why it was dropped or failed.
enum class Reason : std::uint8_t {
  none,
  too_long,      // no replica that takes it could hold it, were it alone
  queue_full,    // as many calls wait as the admission limit allows
  not_accepted,  // no pool serves its model and takes calls like it
  no_replica,    // every replica that could take it is lost for good
  replica_lost   // its replicas were lost more often than it is sent again
};
inline constexpr int kReasons = 6;
inline constexpr std::array<std::string_view, kReasons> kReasonNames = {"none",         "too_long",   "queue_full",
                                                                        "not_accepted", "no_replica", "replica_lost"};

// One model call on its way: what was asked, where it stands, and the stamps and counts that users and metrics see. The
// gateway owns it. What a replica does for it is its `sequence`, a new one at each replica and for each retry.
struct Request {
  std::uint64_t id = 0;  // counts calls in the order in which the gateway received them
  Prompt prompt;
  std::int64_t prompt_tokens = 0;
  std::int64_t output_tokens = 1;
  ContentId output = 0;  // content id of the generated tokens
  std::uint64_t session = 0;
  std::size_t gateway_slot = 0;  // where the gateway keeps it
  int priority = 0;              // smaller is served first
  int slo_class = 0;
  int model = 0;             // index into the scenario's models
  int replica = -1;          // where it is
  int prompt_pool = -1;      // of the replica that it was sent to for its prompt, the last time; -1: it never was
  std::int32_t attempt = 0;  // how often its replica was lost and it was tried again
  std::int32_t asked = 0;    // how often a replica was asked to keep a slot and blocks for it
  std::int32_t preemptions = 0;
  Reason reason = Reason::none;  // once it was dropped or has failed

  // A streaming prompt: `prompt` is what is there; no token is answered before it is complete.
  bool complete = true;
  bool versioned = false;    // it comes in versions, or did and was held back until the last was there
  Seconds context_complete;  // when it was, at the gateway; the arrival of a prompt that comes whole
  Seconds latest_version;    // when it last changed
  // INV-3: arrival <= enqueue <= schedule <= first_token <= last_token.
  Seconds arrival;            // at the gateway
  Seconds enqueue = kNever;   // in the replica's waiting queue
  Seconds schedule = kNever;  // first planned into a step
  Seconds first_token = kNever;
  Seconds last_token = kNever;
  // What its user has of the answer: all of it at once, or in reports (StreamInterval).
  struct Seen {
    Seconds first = kNever;     // when the first token came
    Seconds latest;             // the latest report
    std::int64_t tokens = 0;    // in reports so far
    std::int32_t joinings = 0;  // how often it began to decode where reports hold tokens back
  };
  Seen seen;
  Seconds latest_token;  // emitted at the end of a chunk, or before a preemption; while decoding, later ones may have
                         // followed

  std::int64_t emitted = 0;  // tokens answered; while decoding, as of Sequence::joined_step
  // INV-5: of the work on its prompt (and on generated tokens after a preemption).
  std::int64_t prefilled = 0;    // tokens computed in chunks
  std::int64_t reused = 0;       // tokens found in the prefix cache
  std::int64_t invalidated = 0;  // of both, tokens that a later version of the prompt no longer has there
  std::int64_t lost = 0;         // tokens answered by replicas that were lost: answered again
  Seconds first_lost = kNever;   // first token of those
  Seconds bubble;                // what the stages of its pipeline idled before its steps, once it has left them
  RequestClock clock;            // INV-17: its phases sum to last_token - arrival
  Sequence sequence;

  // It has computed all that is there of its prompt, and waits for the rest.
  [[nodiscard]] bool idle() const { return !complete && sequence.computed == prompt_tokens; }
  // Tokens that must be in the cache before the next one can be generated.
  [[nodiscard]] std::int64_t tokens_to_compute() const { return prompt_tokens + emitted; }
  // Those of its answer for which the replica that has it keeps entries: none where another one decodes it.
  [[nodiscard]] std::int64_t answer_here() const { return sequence.decodes_elsewhere ? 0 : output_tokens; }
  // It waits to be scheduled, or to be scheduled again, from `at` on; is scheduled, or scheduled again.
  void wait(Seconds at) { clock.enter(answered() ? RequestPhase::preempted : RequestPhase::queued, at); }
  void compute(Seconds at) { clock.enter(answered() ? RequestPhase::recompute : RequestPhase::prefill, at); }
  [[nodiscard]] bool answered() const { return seen.first < kNever; }
  // From when on it had the tokens that are not lost, as one who looks at `at` sees it; and those that are, which came
  // until it was answered again.
  [[nodiscard]] Seconds answered_from(Seconds at) const { return first_token < at ? first_token : lost_from(at); }
  [[nodiscard]] Seconds lost_from(Seconds at) const { return first_lost < at ? first_lost : std::min(arrival, at); }
  // What was answered so far comes again. Returns how much that is.
  std::int64_t lose_answer() {
    lost += emitted;
    return std::exchange(emitted, 0);
  }
  // Its replica was lost, and what was answered with it: all of it comes again.
  void begin_retry(Seconds at) {
    replica = -1;
    if (emitted > 0) first_lost = std::min(first_lost, first_token);
    schedule = first_token = last_token = kNever;
    seen.first = kNever;
    seen.tokens = 0;
    clock.restart(RequestPhase::lost, arrival, at);
    lose_answer();
    ++attempt;
    ++asked;  // entries that are on their way are for nobody
  }

  // What the user of an answered request waited for: the first token, one more in the mean (of an answer of one token
  // nothing), and the last one.
  [[nodiscard]] Seconds ttft() const { return seen.first - arrival; }
  [[nodiscard]] std::optional<Seconds> tpot() const {
    if (output_tokens < 2) return std::nullopt;
    return (last_token - seen.first) / static_cast<double>(output_tokens - 1);
  }
  [[nodiscard]] Seconds e2e() const { return last_token - arrival; }
};

}  // namespace llmscape::serving
