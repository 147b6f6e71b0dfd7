// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "traces/content.hpp"

namespace llmscape::traces {

// Which spans lie in which, to tell calls that several sides traced: a client writes a span of its call, and the server
// another in it (vLLM's llm_request), both with the tokens. The innermost is what the server had to do. Holds some 32
// bytes a span, whatever stands in them.
class SpanTree {
 public:
  enum class Kind : std::uint8_t {
    call,
    between,  // of a transport, or of no known kind
    other,    // an agent or a tool: calls in it are calls of their own
  };
  // `content` names a call; its conversation is empty if it says none.
  void add(std::string_view trace, std::string_view span, std::string_view parent, Kind kind, ContentId content,
           std::string_view conversation);
  // Once all spans are there.
  void close();

  // Whether another call lies in this one.
  [[nodiscard]] bool is_outer(ContentId call) const { return outer_.contains(call); }
  // The conversation that a call around this one says; nullptr if it says its own, or none does.
  [[nodiscard]] const std::string* conversation_around(ContentId call) const;

 private:
  struct Entry {
    std::uint64_t span = 0, parent = 0;  // hashes; parent 0: none
    ContentId content = 0;
    std::uint32_t conversation = 0;  // index + 1; 0: none
    Kind kind = Kind::between;
  };
  [[nodiscard]] const Entry* find(std::uint64_t span) const;

  std::vector<Entry> entries_;  // by span, once closed
  std::vector<std::string> conversations_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of conversations
  std::unordered_set<ContentId> outer_;
  std::unordered_map<ContentId, std::uint32_t> around_;
};

}  // namespace llmscape::traces
