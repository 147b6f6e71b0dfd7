// SPDX-License-Identifier: Apache-2.0
#include "traces/record_spool.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace llmscape::traces {
namespace {

constexpr std::size_t kPiece = 1 << 16;  // of a run

template <class Value>
void put(Value value, std::string& out) {
  static_assert(std::is_trivially_copyable_v<Value>);
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

template <class Value>
Value take(std::string_view& from) {
  static_assert(std::is_trivially_copyable_v<Value>);
  Value value{};
  from.copy(reinterpret_cast<char*>(&value), sizeof value);
  from.remove_prefix(sizeof value);
  return value;
}

// What stands before a record in the file: its time, and its size in bytes.
struct Head {
  std::int64_t nanoseconds;
  std::uint64_t size;
};

void put_record(const TraceRecord& record, std::string& out) {
  put(record.prompt_tokens, out);
  put(record.output_tokens, out);
  put(record.known_content, out);
  put(record.give_up.value_or(Seconds(-1)).si(), out);
  put(static_cast<std::uint32_t>(record.prompt.size()), out);
  for (const Segment& segment : record.prompt) put(segment, out);
  out += record.session;
}

TraceRecord take_record(std::string_view bytes) {
  TraceRecord record;
  record.prompt_tokens = take<std::int64_t>(bytes);
  record.output_tokens = take<std::int64_t>(bytes);
  record.known_content = take<bool>(bytes);
  if (const double give_up = take<double>(bytes); give_up >= 0) record.give_up = Seconds(give_up);
  const auto segments = take<std::uint32_t>(bytes);
  record.prompt.reserve(segments);
  for (std::uint32_t i = 0; i < segments; ++i) record.prompt.push_back(take<Segment>(bytes));
  record.session = bytes;
  return record;
}

}  // namespace

void RecordSpool::add(const TimedRecord& timed) {
  const std::size_t at = bytes_.size();
  put_record(timed.record, bytes_);
  held_.push_back({timed.nanoseconds, at, bytes_.size() - at});
  if (bytes_.size() + held_.size() * sizeof(Held) >= most_bytes_) write_run();
}

void RecordSpool::sort_held() { std::ranges::stable_sort(held_, {}, &Held::nanoseconds); }

void RecordSpool::write_run() {
  sort_held();
  if (!file_) file_ = std::make_unique<TemporaryFile>();
  const std::uint64_t begin = file_->size();
  std::string head;
  for (const Held& held : held_) {
    head.clear();
    put(Head{held.nanoseconds, held.size}, head);
    file_->append(head);
    file_->append(std::string_view(bytes_).substr(held.at, held.size));
  }
  runs_.push_back({begin, file_->size(), {}});
  bytes_.clear();
  held_.clear();
}

void RecordSpool::sort() {
  if (!file_) return sort_held();
  if (!held_.empty()) write_run();
  bytes_ = {};
  held_ = {};
  for (std::size_t run = 0; run < runs_.size(); ++run) offer(run);
}

void RecordSpool::need(Run& run, std::size_t bytes) {
  if (run.piece.size() - run.read >= bytes) return;
  run.piece.erase(0, run.read);
  run.read = 0;
  const std::size_t before = run.piece.size();
  const auto more =
      static_cast<std::size_t>(std::min<std::uint64_t>(std::max(kPiece, bytes - before), run.end - run.at));
  run.piece.resize(before + more);
  file_->read(run.at, run.piece.data() + before, more);
  run.at += more;
}

void RecordSpool::offer(std::size_t number) {
  Run& run = runs_[number];
  if (run.at == run.end && run.read == run.piece.size()) return run.piece.shrink_to_fit();
  need(run, sizeof(Head));
  std::string_view head = std::string_view(run.piece).substr(run.read);
  firsts_.push({take<Head>(head).nanoseconds, number});
}

std::optional<TimedRecord> RecordSpool::next() {
  if (!file_) {
    if (handed_out_ == held_.size()) return std::nullopt;
    const Held& held = held_[handed_out_++];
    return TimedRecord{take_record(std::string_view(bytes_).substr(held.at, held.size)), held.nanoseconds, {}};
  }
  if (firsts_.empty()) return std::nullopt;
  const std::size_t number = firsts_.top().run;
  firsts_.pop();
  Run& run = runs_[number];
  std::string_view bytes = std::string_view(run.piece).substr(run.read);
  const Head head = take<Head>(bytes);
  const auto size = static_cast<std::size_t>(head.size);
  need(run, sizeof(Head) + size);
  TimedRecord timed{
      take_record(std::string_view(run.piece).substr(run.read + sizeof(Head), size)), head.nanoseconds, {}};
  run.read += sizeof(Head) + size;
  offer(number);
  return timed;
}

}  // namespace llmscape::traces
