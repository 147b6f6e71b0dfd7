// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "sim/serving/replica/decode_set.hpp"

namespace llmscape::serving {

// How often an engine sends what it has answered (SGLang, vLLM and TensorRT-LLM: --stream-interval, stream_interval).
struct StreamInterval {
  std::int64_t tokens = 1;    // in one report, but the last and perhaps the first of an answer
  bool first_at_once = true;  // the first token is a report of its own; else it waits for `tokens` like the others
  [[nodiscard]] bool holds_back() const { return tokens > 1; }
};

// Answers as users see them where an engine holds tokens back: Request::first_seen and the gaps between tokens. A
// report ends one gap, its other tokens follow at once. A step costs nothing for sequences that report nothing in it.
class StreamReports {
 public:
  // Hears that `count` tokens are seen at `at`, each `gap` after the one before it of its request.
  using Gaps = std::function<void(Seconds at, Seconds gap, std::int64_t count)>;
  // Hears that the user of a request sees its first token at `at`.
  using First = std::function<void(Seconds at)>;

  // `tokens_per_pass`: the most that a sequence answers in a decode step.
  StreamReports(StreamInterval interval, std::int64_t tokens_per_pass, Gaps gaps, First first);

  // The request has answered request.emitted tokens by `at`, and has ended with the last of them, goes on elsewhere, or
  // decodes from the next decode step on.
  void answered(Request& request, Seconds at);
  // A decode step is planned that ends at `end`; `finished` end with it, or with a chunk of the same step.
  void step(const DecodeSet& decoding, const std::vector<Request*>& finished, Seconds end);

 private:
  struct Due {
    Request* request;
    std::uint64_t id;      // of the request: its place may hold another one
    std::int32_t joining;  // Request::Seen::joinings: it has left and come back since
  };
  void report(Request& request, std::int64_t answered, Seconds at);
  // Reports what is due of a decoding request, and looks at it again when more can be.
  void look(Request& request, std::int64_t answered, Seconds at);

  StreamInterval interval_;
  std::int64_t tokens_per_pass_;
  Gaps gaps_;
  First first_;
  std::vector<std::vector<Due>> due_;  // a ring: by the decode step that looks at them
  std::size_t next_ = 0;               // of the next one
  std::vector<Due> now_;
};

}  // namespace llmscape::serving
