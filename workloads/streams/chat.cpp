// SPDX-License-Identifier: Apache-2.0
#include "workloads/durations.hpp"
#include "workloads/kind.hpp"
#include "workloads/lengths.hpp"
#include "workloads/streams/kinds.hpp"
#include "workloads/streams/prompts.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace llmscape::workloads {
namespace {

struct Chat : Stream {
  std::int64_t system_prompt = 0;
  std::int64_t episodes = 1;
  std::shared_ptr<const Lengths> turns, message, output;
  std::shared_ptr<const Durations> think;
  std::optional<std::int64_t> context;
  std::unique_ptr<ProgramMaker> maker(const RandomStreams& streams, std::uint64_t range) const override;
};

// A conversation: every prompt is the whole conversation so far and a new message.
class ChatMaker : public ProgramMaker {
 public:
  ChatMaker(const Chat& config, const RandomStreams& streams, std::uint64_t range)
      : ids_(range), heads_(heads_of(config, ids_)), episode_(streams.stream("episodes")),
        context_(config.context.value_or(std::numeric_limits<std::int64_t>::max())),
        turns_(*config.turns, streams.stream("turns")), message_(*config.message, streams.stream("message")),
        output_(*config.output, streams.stream("output")), think_(*config.think, streams.stream("think")) {}

  Program make(Seconds start) override {
    Program program;
    program.start = start;
    program.session = ids_.fresh();
    Prompt conversation;
    append(conversation, heads_.size() == 1 ? heads_.front() : heads_[episode_.below(heads_.size())]);
    const std::int64_t turns = std::max<std::int64_t>(1, turns_.next());
    for (int turn = 0; turn < turns; ++turn) {
      append(conversation, {ids_.fresh(), std::max<std::int64_t>(1, message_.next())});
      const std::int64_t answer = std::max<std::int64_t>(1, output_.next());
      if (turn > 0 && tokens_of(conversation) + answer > context_) break;
      Stage call{.prompt = conversation, .output_tokens = answer, .output = ids_.fresh()};
      if (turn > 0) {
        call.after = {turn - 1};
        call.delay = think_.next();
      }
      append(conversation, {call.output, answer});
      program.stages.push_back(std::move(call));
    }
    return program;
  }

 private:
  static std::vector<Segment> heads_of(const Chat& config, ContentIds& ids) {
    std::vector<Segment> heads;
    for (std::int64_t i = 0; i < config.episodes; ++i) heads.push_back({ids.fresh(), config.system_prompt});
    return heads;
  }

  ContentIds ids_;
  std::vector<Segment> heads_;
  RandomStream episode_;
  std::int64_t context_;
  LengthDraws turns_, message_, output_;
  DurationDraws think_;
};

std::unique_ptr<ProgramMaker> Chat::maker(const RandomStreams& streams, std::uint64_t range) const {
  return std::make_unique<ChatMaker>(*this, streams, range);
}

}  // namespace

FamilyMember<Stream> chat_stream() {
  static const Fields<Chat> fields = [] {
    Fields<Chat> f("streams/chat", "conversations: each prompt is all that was said and a new message");
    f.add("system_prompt", &Chat::system_prompt, "tokens at the head of every conversation, the same for all")
        .between(0, kLongestText);
    f.add("episodes", &Chat::episodes,
          "versions of that head, of which each conversation begins with one, drawn evenly: a history that is kept in "
          "several compressed forms (EpiCache, arXiv 2509.17396)")
        .between(1, 10'000);
    // Mean turns, tokens of a message and of an answer: LMSYS-Chat-1M (Zheng et al., ICLR 2024, table 1). The spread of
    // the answers is that of the Azure 2023 conversation trace (mean 201, cv 0.81, a p99 of 3 means), by a law without
    // a heavy tail: a log-normal one with its mean and median would have a cv of 1.45 and a p99 of 6.7 means. The
    // spread of the messages and the think time are assumed: no public trace has them.
    f.add_family("turns", &Chat::turns, lengths(), "messages of a conversation; at least 1 is taken")
        .otherwise("{kind: geometric, mean: 2}");
    f.add_family("message", &Chat::message, lengths(), "tokens of a user's message; at least 1 is taken")
        .otherwise("{kind: log_normal, mean: 69.5, cv: 1.45}");
    f.add_family("output", &Chat::output, lengths(), "tokens of an answer; at least 1 is taken")
        .otherwise("{kind: gamma, mean: 214.5, cv: 0.81}");
    f.add_family("think", &Chat::think, durations(), "time between an answer and the next message")
        .otherwise("{kind: log_normal, mean: 30 s, cv: 1}");
    f.add("context", &Chat::context,
          "a conversation ends before its prompt and answer exceed this many tokens; its first call is sent whatever "
          "its "
          "length")
        .between(1, kLongestText);
    return f;
  }();
  return kind<Stream>("chat", fields);
}

}  // namespace llmscape::workloads
