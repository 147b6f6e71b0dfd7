// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/stream_reports.hpp"

#include <utility>

namespace llmscape::serving {

StreamReports::StreamReports(StreamInterval interval, std::int64_t tokens_per_pass, Gaps gaps, First first)
    : interval_(interval), tokens_per_pass_(tokens_per_pass), gaps_(std::move(gaps)), first_(std::move(first)),
      due_(static_cast<std::size_t>(interval.tokens)) {}

void StreamReports::report(Request& request, std::int64_t answered, Seconds at) {
  std::int64_t together = answered - request.seen.tokens;
  if (together == 0) return;
  if (request.seen.tokens == 0) {
    request.seen.first = at;
    request.clock.enter(RequestPhase::decode, at);  // INV-17: until then its user waits for the first token
    first_(at);
  } else {
    gaps_(at, at - request.seen.latest, 1);
  }
  if (--together > 0) gaps_(at, Seconds(), together);
  request.seen.tokens = answered;
  request.seen.latest = at;
}

void StreamReports::look(Request& request, std::int64_t answered, Seconds at) {
  const std::int64_t least = request.seen.tokens == 0 && interval_.first_at_once ? 1 : interval_.tokens;
  std::int64_t missing = least - (answered - request.seen.tokens);
  if (missing <= 0) {
    report(request, answered, at);
    missing = interval_.tokens;
  }
  const std::int64_t steps = (missing + tokens_per_pass_ - 1) / tokens_per_pass_;
  due_[(next_ + static_cast<std::size_t>(steps) - 1) % due_.size()].push_back(
      {&request, request.id, request.seen.joinings});
}

void StreamReports::answered(Request& request, Seconds at) {
  if (request.sequence.state != Sequence::State::decoding) {
    report(request, request.emitted, at);
    return;
  }
  ++request.seen.joinings;
  look(request, request.emitted, at);
}

void StreamReports::step(const DecodeSet& decoding, const std::vector<Request*>& finished, Seconds end) {
  now_.clear();
  now_.swap(due_[next_]);
  next_ = (next_ + 1) % due_.size();
  for (const Due& due : now_) {
    Request& request = *due.request;
    if (request.id == due.id && request.seen.joinings == due.joining &&
        request.sequence.state == Sequence::State::decoding)
      look(request, decoding.emitted(request), end);
  }
  for (Request* request : finished)
    if (!request->sequence.decodes_elsewhere) report(*request, request->emitted, end);
}

}  // namespace llmscape::serving
