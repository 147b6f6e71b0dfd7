// SPDX-License-Identifier: Apache-2.0
#include "workloads/streams/joint_lengths.hpp"
#include "workloads/kind.hpp"
#include "workloads/laws.hpp"
#include "workloads/streams/kinds.hpp"
#include "workloads/streams/past_prompts.hpp"
#include "workloads/streams/prompts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

namespace llmscape::workloads {
namespace {

constexpr double kMostTokensOfCall = 1LL << 31;  // as for the other lengths

class JointLengthsMaker : public ProgramMaker {
 public:
  JointLengthsMaker(const JointLengths& config, const RandomStreams& streams, std::uint64_t range)
      : config_(config), ids_(range), prompts_(streams.stream("prompt")), outputs_(streams.stream("output")),
        heads_(streams.stream("head")), ages_(streams.stream("age")),
        past_(config.continues ? config.continues->age.back() : 0) {}

  Program make(Seconds start) override {
    const double rank = prompts_.uniform();
    const std::int64_t tokens = at_least_one(at(config_.prompt, rank));
    const auto parts = static_cast<double>(config_.parts.size());
    const LengthPart& part = config_.parts[static_cast<std::size_t>(rank * parts)];  // no draw is 1
    Program program;
    program.start = start;
    Stage& call = program.stages.emplace_back();
    call.output_tokens = at_least_one(at(part.output, outputs_.uniform()));
    if (config_.continues) {
      continue_earlier(program, tokens, part.reused.empty() ? 0 : at(part.reused, heads_.uniform()));
    } else {
      append(call.prompt, {ids_.fresh(), tokens});
    }
    return program;
  }

 private:
  [[nodiscard]] double at(const std::vector<double>& values, double share) const {
    return quantile(config_.shares, values, share);
  }
  static std::int64_t at_least_one(double tokens) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::round(tokens)));
  }

  void continue_earlier(Program& program, std::int64_t tokens, double share) {
    const std::int64_t unit = config_.continues->granularity;
    const double units = std::round(share * static_cast<double>(tokens) / static_cast<double>(unit));
    std::int64_t head = std::min(tokens, static_cast<std::int64_t>(units) * unit);
    Prompt& prompt = program.stages.front().prompt;
    const double age = at(config_.continues->age, ages_.uniform());
    const PastPrompts::Past* past = head > 0 ? past_.find(program.start.si() - age, head) : nullptr;
    head = past ? std::min(head, past->tokens) : 0;
    if (past) {
      prompt = past_.head_of(*past, head);
      if (2 * head > past->tokens) program.session = past->session;  // most of it lives on
    }
    if (program.session == 0) program.session = ids_.fresh();
    const Segment own{ids_.fresh(), tokens - head};
    append(prompt, own);
    past_.add(program.start.si(), program.session, past, head, own);
  }

  JointLengths config_;
  ContentIds ids_;
  RandomStream prompts_, outputs_, heads_, ages_;
  PastPrompts past_;
};

// Every table has a value at each share.
void check_table(const JointLengths& law, const std::string& name, const std::vector<double>& values,
                 const YamlNode& node, Diagnostics& diagnostics) {
  if (values.size() != law.shares.size())
    diagnostics.error(
        node.where, fmt::format("{} must be as many as 'shares': {}, not {}", name, law.shares.size(), values.size()));
  if (!std::ranges::is_sorted(values)) diagnostics.error(node.where, name + " must not fall");
}

void check_law(const JointLengths& law, const YamlNode& node, Diagnostics& diagnostics) {
  if (law.shares.size() < 2 || law.shares.front() != 0 || law.shares.back() != 1 ||
      std::ranges::adjacent_find(law.shares, std::greater_equal<>()) != law.shares.end())
    diagnostics.error(node.where, "'shares' must rise from 0 to 1");
  check_table(law, "'prompt'", law.prompt, node, diagnostics);
  if (law.parts.empty()) diagnostics.error(node.where, "'parts' must hold at least one part of the prompts");
  bool reuses = false;
  for (std::size_t i = 0; i < law.parts.size(); ++i) {
    check_table(law, fmt::format("'output' of part {}", i + 1), law.parts[i].output, node, diagnostics);
    if (law.parts[i].reused.empty()) continue;
    check_table(law, fmt::format("'reused' of part {}", i + 1), law.parts[i].reused, node, diagnostics);
    reuses = true;
  }
  if (law.continues) check_table(law, "'age'", law.continues->age, node, diagnostics);
  if (reuses != law.continues.has_value())
    diagnostics.error(node.where, reuses ? "heads are 'reused', but 'continues' does not say whose"
                                         : "there is 'continues', but no part has heads that are 'reused'");
}

const Fields<LengthPart>& part_fields() {
  static const Fields<LengthPart> fields = [] {
    Fields<LengthPart> f("length_part", "calls whose prompts are of like length");
    f.add("output", &LengthPart::output, "tokens of the answer at each share, not falling")
        .required()
        .between(0, kMostTokensOfCall);
    f.add("reused", &LengthPart::reused,
          "share of the prompt that is the head of an earlier one, at each share of the calls, not falling; nothing is "
          "reused if absent")
        .between(0, 1);
    return f;
  }();
  return fields;
}

const Fields<Continuation>& continuation_fields() {
  static const Fields<Continuation> fields = [] {
    Fields<Continuation> f("continuation", "which earlier prompt a call continues");
    f.add("age", &Continuation::age,
          "seconds since that prompt, at each share of the calls, not falling; divided by what 'speedup' and 'rate' "
          "divide the times between arrivals by")
        .required()
        .between(0, 1e12);
    f.add("granularity", &Continuation::granularity,
          "reused heads are whole multiples of this many tokens, or whole prompts")
        .between(1, 1 << 20);
    return f;
  }();
  return fields;
}

}  // namespace

std::unique_ptr<ProgramMaker> JointLengths::maker(const RandomStreams& streams, std::uint64_t range) const {
  return std::make_unique<JointLengthsMaker>(*this, streams, range);
}

std::shared_ptr<const Stream> JointLengths::faster(double factor) const {
  if (!continues) return nullptr;
  auto out = std::make_shared<JointLengths>(*this);
  for (double& age : out->continues->age) age /= factor;
  return out;
}

FamilyMember<Stream> joint_lengths_stream() {
  static const Fields<JointLengths> fields = [] {
    Fields<JointLengths> f("streams/joint_lengths",
                           "single calls whose prompt and answer are drawn together, and continue earlier prompts");
    f.add("shares", &JointLengths::shares, "rising from 0 to 1: the shares at which the tables below stand")
        .required()
        .between(0, 1);
    f.add("prompt", &JointLengths::prompt, "tokens of the prompt at each share, linear in between; not falling")
        .required()
        .between(0, kMostTokensOfCall);
    f.add_group("parts", &JointLengths::parts, part_fields(),
                "equal parts of all calls, from those with the shortest prompts to those with the longest")
        .required();
    f.add_group("continues", &JointLengths::continues, continuation_fields(),
                "whose heads are reused; every prompt is new if absent");
    f.check(&check_law);
    return f;
  }();
  return kind<Stream>("joint_lengths", fields);
}

}  // namespace llmscape::workloads
