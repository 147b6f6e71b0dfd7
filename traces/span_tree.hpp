// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "traces/content.hpp"

namespace llmscape::traces {

// Which spans lie in which, to tell calls that several sides traced: a client writes a span of its call, and the server
// another in it (vLLM's llm_request), both with the tokens. The innermost is what the server had to do. An exporter
// that tries again writes a span twice, with the same ids: it is one. Holds some 32 bytes a span, whatever stands in
// them.
class SpanTree {
 public:
  enum class Kind : std::uint8_t {
    call,
    failed,   // a call that ended with an error
    between,  // of a transport, or of no known kind
    other,    // an agent or a tool: calls in it are calls of their own
  };
  // `content` names a call; its conversation is empty if it says none.
  void add(std::string_view trace, std::string_view span, std::string_view parent, Kind kind, ContentId content,
           std::string_view conversation);
  // Once all spans are there.
  void close();

  // Whether the call is one of its own: no other lies in it, and it is no copy of one before.
  [[nodiscard]] bool counts(ContentId call) const { return !passed_over_.contains(call); }
  // Of the calls that count, those that were answered, and those that failed: an answered call within a failed one is
  // what the server did, and the failed one does not count; a failed one within an answered one was tried again.
  [[nodiscard]] std::size_t calls() const { return calls_; }
  [[nodiscard]] std::size_t failed() const { return failed_; }
  // The conversation that a call around this one says; nullptr if it says its own, or none does.
  [[nodiscard]] const std::string* conversation_around(ContentId call) const;

 private:
  struct Entry {
    std::uint64_t span = 0, parent = 0;  // hashes; 0: none
    ContentId content = 0;
    std::uint32_t conversation = 0;  // index + 1; 0: none
    Kind kind = Kind::between;
  };
  [[nodiscard]] const Entry* find(std::uint64_t span) const;
  static bool is_call(const Entry& entry) { return entry.kind == Kind::call || entry.kind == Kind::failed; }
  void pass_over(const Entry& entry);

  std::vector<Entry> entries_;  // by span, once closed
  std::vector<std::string> conversations_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // of conversations
  std::unordered_set<ContentId> passed_over_;
  std::size_t calls_ = 0, failed_ = 0;
  std::unordered_map<ContentId, std::uint32_t> around_;
};

}  // namespace llmscape::traces
