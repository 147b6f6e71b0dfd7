// SPDX-License-Identifier: Apache-2.0
#include "workloads/kind.hpp"
#include "workloads/lengths.hpp"
#include "workloads/streams/kinds.hpp"
#include "workloads/streams/prompts.hpp"

#include <algorithm>

namespace llmscape::workloads {
namespace {

struct SingleCalls : Stream {
  std::int64_t system_prompt = 0;
  std::shared_ptr<const Lengths> prompt, output;
  std::unique_ptr<ProgramMaker> maker(const RandomStreams& streams, std::uint64_t range) const override;
};

class SingleCallMaker : public ProgramMaker {
 public:
  SingleCallMaker(const SingleCalls& config, const RandomStreams& streams, std::uint64_t range)
      : ids_(range), system_(ids_.fresh()), system_tokens_(config.system_prompt),
        prompt_(*config.prompt, streams.stream("prompt")), output_(*config.output, streams.stream("output")) {}

  Program make(Seconds start) override {
    Program program;
    program.start = start;
    Stage& call = program.stages.emplace_back();
    call.prompt.reserve(2);
    append(call.prompt, {system_, system_tokens_});
    append(call.prompt, {ids_.fresh(), std::max<std::int64_t>(1, prompt_.next())});
    call.output_tokens = std::max<std::int64_t>(1, output_.next());
    return program;
  }

 private:
  ContentIds ids_;
  ContentId system_;
  std::int64_t system_tokens_;
  LengthDraws prompt_, output_;
};

std::unique_ptr<ProgramMaker> SingleCalls::maker(const RandomStreams& streams, std::uint64_t range) const {
  return std::make_unique<SingleCallMaker>(*this, streams, range);
}

}  // namespace

FamilyMember<Stream> lengths_stream() {
  static const Fields<SingleCalls> fields = [] {
    Fields<SingleCalls> f("streams/lengths", "independent single calls with given lengths");
    f.add("system_prompt", &SingleCalls::system_prompt, "tokens at the head of every prompt, the same for all")
        .between(0, kLongestText);
    f.add_family("prompt", &SingleCalls::prompt, lengths(),
                 "tokens of the prompt after the system prompt; at least 1 is taken")
        .required();
    f.add_family("output", &SingleCalls::output, lengths(), "tokens of the answer; at least 1 is taken").required();
    return f;
  }();
  return kind<Stream>("lengths", fields);
}

}  // namespace llmscape::workloads
