// SPDX-License-Identifier: Apache-2.0
#include "workloads/durations.hpp"
#include "workloads/kind.hpp"
#include "workloads/lengths.hpp"
#include "workloads/streams/infilling_prompt.hpp"
#include "workloads/streams/kinds.hpp"

#include <algorithm>

namespace llmscape::workloads {
namespace {

// What the next suggestion waits for.
enum class Pace { typing, answers };

// Where the user types.
enum class Typing { before_cursor, behind_cursor };

struct Infilling : Stream {
  PromptForm form = PromptForm::psm;
  Pace pace = Pace::typing;
  Typing typing = Typing::before_cursor;
  std::shared_ptr<const Lengths> prefix, suffix, suggestions, typed, output, move_distance;
  std::shared_ptr<const Durations> cadence, patience;
  double abandon = 0.3;  // assumed
  // Ziegler et al., "Productivity assessment of neural code completion", MAPS 2022: about 27 % are accepted.
  double accept = 0.27;
  double move = 0.1;  // assumed
  std::unique_ptr<ProgramMaker> maker(const RandomStreams& streams, std::uint64_t range) const override;
};

// An editing session over one file. Typing goes on beside the calls: each suggestion is asked for a while after the
// last was asked for, unless that one is accepted, which takes its answer.
class InfillingMaker : public ProgramMaker {
 public:
  InfillingMaker(const Infilling& config, const RandomStreams& streams, std::uint64_t range)
      : config_(config), ids_(range), markers_{ids_.fresh(), ids_.fresh(), ids_.fresh()},
        prefix_(*config.prefix, streams.stream("prefix")), suffix_(*config.suffix, streams.stream("suffix")),
        suggestions_(*config.suggestions, streams.stream("suggestions")),
        typed_(*config.typed, streams.stream("typed")), output_(*config.output, streams.stream("output")),
        move_distance_(*config.move_distance, streams.stream("move_distance")),
        cadence_(*config.cadence, streams.stream("cadence")), patience_(*config.patience, streams.stream("patience")),
        fate_(streams.stream("fate")), cursor_(streams.stream("cursor")) {}

  Program make(Seconds start) override {
    Program program;
    program.start = start;
    program.session = ids_.fresh();
    EditedFile file({ids_.fresh(), prefix_.next()}, {ids_.fresh(), suffix_.next()});
    InfillingPrompts prompts(config_.form, markers_);
    const std::int64_t suggestions = std::max<std::int64_t>(1, suggestions_.next());
    std::vector<int> asked;  // the stage that the next suggestion follows
    for (std::int64_t i = 0; i < suggestions; ++i) {
      Stage call;
      call.after = asked;
      if (i > 0) {
        edit(file);
        call.delay = cadence_.next();
        if (config_.pace == Pace::typing) asked = pause_before(call, program);
      }
      call.prompt = prompts.next(file);
      call.output_tokens = std::max<std::int64_t>(1, output_.next());
      call.output = ids_.fresh();
      const bool accepted = fate_.chance(config_.accept);
      const bool abandoned = fate_.chance(config_.abandon) && !accepted;
      if (abandoned) call.give_up = patience_.next();
      if (accepted) file.insert({call.output, call.output_tokens});
      if (accepted || config_.pace == Pace::answers) asked = {static_cast<int>(program.stages.size())};
      program.stages.push_back(std::move(call));
    }
    return program;
  }

 private:
  void edit(EditedFile& file) {
    if (cursor_.chance(config_.move)) file.move(cursor_.chance(0.5) ? move_distance_.next() : -move_distance_.next());
    const Segment text{ids_.fresh(), typed_.next()};
    if (config_.typing == Typing::before_cursor) file.insert(text);
    else file.insert_behind(text);
  }

  // The time until the call becomes a stage of its own, so that the next one can follow it and not the call.
  static std::vector<int> pause_before(Stage& call, Program& program) {
    program.stages.push_back({.kind = Stage::Kind::pause, .after = std::move(call.after), .delay = call.delay});
    call.after = {static_cast<int>(program.stages.size()) - 1};
    call.delay = Seconds(0);
    return call.after;
  }

  Infilling config_;
  ContentIds ids_;
  InfillingMarkers markers_;
  LengthDraws prefix_, suffix_, suggestions_, typed_, output_, move_distance_;
  DurationDraws cadence_, patience_;
  RandomStream fate_, cursor_;
};

std::unique_ptr<ProgramMaker> Infilling::maker(const RandomStreams& streams, std::uint64_t range) const {
  return std::make_unique<InfillingMaker>(*this, streams, range);
}

void add_file(Fields<Infilling>& f) {
  // Azure 2023 code trace: mean prompt 2,048 tokens, median 1,469, largest 7,437. HumanEval infilling, single lines:
  // prefix and suffix are 83 % and 17 % of the characters around the hole, which is how both figures are divided here.
  f.add_family("prefix", &Infilling::prefix, lengths(), "tokens before the cursor when the session starts")
      .otherwise("{kind: log_normal, mean: 1700, cv: 0.97, max: 6170}");
  f.add_family("suffix", &Infilling::suffix, lengths(), "tokens behind the cursor when the session starts")
      .otherwise("{kind: log_normal, mean: 348, cv: 0.97, min: 0, max: 1260}");
  // 52 words a minute (Dhakal et al., CHI 2018) are about 2 tokens in 2 s.
  f.add_family("typed", &Infilling::typed, lengths(), "tokens typed between two suggestions")
      .otherwise("{kind: geometric, mean: 2}");
  f.add_enum("typing", &Infilling::typing,
             {{"before_cursor", Typing::before_cursor}, {"behind_cursor", Typing::behind_cursor}},
             "where the text appears: before the cursor, which moves on; or right behind it, at the suffix's head");
  f.add("move", &Infilling::move, "chance that the cursor moves before the typing").between(0, 1);
  f.add_family("move_distance", &Infilling::move_distance, lengths(), "tokens that it moves, back or forward alike")
      .otherwise("{kind: geometric, mean: 100}");  // assumed: a few lines
}

void add_suggestions(Fields<Infilling>& f) {
  f.add_family("suggestions", &Infilling::suggestions, lengths(),
               "suggestions asked for in a session; at least 1 is taken")
      .otherwise("{kind: geometric, mean: 20}");  // assumed
  f.add_enum("pace", &Infilling::pace, {{"typing", Pace::typing}, {"answers", Pace::answers}},
             "what the next suggestion waits for: typing alone, or the last answer too");
  f.add_family("cadence", &Infilling::cadence, durations(), "time from there to the next suggestion")
      .otherwise("{kind: exponential, mean: 2 s}");  // assumed
  // Azure 2023 code trace: mean 28, median 13.
  f.add_family("output", &Infilling::output, lengths(), "tokens of a suggestion; at least 1 is taken")
      .otherwise("{kind: log_normal, mean: 28, cv: 1.9}");
  f.add("accept", &Infilling::accept, "chance that a suggestion is accepted: its text joins the prefix").between(0, 1);
  f.add("abandon", &Infilling::abandon, "chance that one which is not accepted is given up early").between(0, 1);
  // The mean time between keystrokes, 239 ms: Dhakal et al., CHI 2018.
  f.add_family("patience", &Infilling::patience, durations(), "time after which it is given up, answered or not")
      .otherwise("{kind: exponential, mean: 239 ms}");
}

}  // namespace

FamilyMember<Stream> infilling_stream() {
  static const Fields<Infilling> fields = [] {
    Fields<Infilling> f("streams/infilling", "code completion in an editor: a file that changes between suggestions");
    f.add_enum("form", &Infilling::form,
               {{"psm", PromptForm::psm}, {"spm", PromptForm::spm}, {"efim", PromptForm::efim}},
               "order of the prompt: prefix-suffix, suffix-prefix, or what was typed last");
    add_file(f);
    add_suggestions(f);
    return f;
  }();
  return kind<Stream>("infilling", fields);
}

}  // namespace llmscape::workloads
