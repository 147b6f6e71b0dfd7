// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway/program_runner.hpp"

#include <utility>

namespace llmscape::serving {

using workloads::Program;
using workloads::Stage;

ProgramRunner::ProgramRunner(std::int64_t retrieval_servers, const hardware::Retrieval* retrieval, bool streaming_input,
                             ProgramHost& host)
    : host_(host), streaming_input_(streaming_input), station_(retrieval_servers) {
  if (retrieval) search_.emplace(*retrieval);
}

void ProgramRunner::start(Program program) {
  if (spare_.empty()) {
    spare_.push_back(programs_.size());
    programs_.emplace_back();
  }
  const std::size_t slot = spare_.back();
  spare_.pop_back();
  Active& active = programs_[slot];
  program.id = next_program_++;
  active.program = std::move(program);
  active.missing.clear();
  for (const Stage& stage : active.program.stages) active.missing.push_back(static_cast<int>(stage.after.size()));
  active.open_stages = static_cast<int>(active.program.stages.size());
  active.open_calls = active.open_retrievals = active.open_tools = 0;
  active.run.clock = {};
  active.run.clock.start(TaskPhase::pauses, active.program.start);
  active.run.computed.assign(active.program.stages.size(), 0);
  active.called = false;
  active.open = true;
  active.outcome = Outcome::completed;
  ++counters_.injected;
  ++open_;
  const Seconds now = active.program.start;
  for (std::size_t i = 0; i < active.program.stages.size(); ++i)
    if (active.program.stages[i].after.empty()) start_stage(slot, static_cast<int>(i), now);
}

// The stage is ready at `now`: its delay begins.
void ProgramRunner::start_stage(std::size_t slot, int stage, Seconds now) {
  const Seconds delay = programs_[slot].program.stages[static_cast<std::size_t>(stage)].delay;
  if (delay > Seconds(0)) {
    timers_.push({now + delay, next_timer_++, slot, stage, Timer::What::begins});
  } else {
    begin_work(slot, stage, now);
  }
}

void ProgramRunner::begin_work(std::size_t slot, int stage, Seconds now) {
  Active& active = programs_[slot];
  const Stage& what = active.program.stages[static_cast<std::size_t>(stage)];
  if (what.kind == Stage::Kind::model_call) {
    if (what.versions.empty()) return make_call(slot, stage, now);
    const Seconds wait = streaming_input_ ? what.versions.front().at : what.versions.back().at;
    if (wait == Seconds()) return make_call(slot, stage, now);
    ++active.open_retrievals;  // what the prompt is to hold is being retrieved
    note_phase(active, now);
    timers_.push({now + wait, next_timer_++, slot, stage, Timer::What::calls});
    return;
  }
  if (what.kind == Stage::Kind::retrieval) ++active.open_retrievals;
  if (what.kind == Stage::Kind::tool) ++active.open_tools;
  note_phase(active, now);
  if (what.query_tokens > 0) {
    search_->ask({slot, stage}, what.query_tokens, now);
  } else {
    const Seconds end = what.kind == Stage::Kind::retrieval ? station_.serve(now, what.service) : now + what.service;
    timers_.push({end, next_timer_++, slot, stage, Timer::What::ends});
  }
}

void ProgramRunner::make_call(std::size_t slot, int stage, Seconds now) {
  Active& active = programs_[slot];
  ++active.open_calls;
  active.called = true;
  note_phase(active, now);
  host_.on_call(slot, stage, now);
}

// What the task waits for from now on.
void ProgramRunner::note_phase(Active& active, Seconds now) {
  active.run.clock.enter(active.open_calls > 0        ? TaskPhase::model_calls
                         : active.open_retrievals > 0 ? TaskPhase::retrieval
                         : active.open_tools > 0      ? TaskPhase::tools
                                                      : TaskPhase::pauses,
                         now);
}

void ProgramRunner::run(Seconds now) {
  if (next_search_end() < next_timer_end()) {
    const SearchHosts::Ticket ended = search_->end_next();
    return end_stage(ended.slot, ended.stage, now);
  }
  const Timer timer = timers_.top();
  timers_.pop();
  switch (timer.what) {
    case Timer::What::begins: return begin_work(timer.slot, timer.stage, timer.at);
    case Timer::What::calls:
      --programs_[timer.slot].open_retrievals;
      return make_call(timer.slot, timer.stage, timer.at);
    case Timer::What::ends: return end_stage(timer.slot, timer.stage, timer.at);
  }
}

void ProgramRunner::answered(std::size_t slot, int stage, Outcome outcome, std::int64_t computed, Seconds now) {
  Active& active = programs_[slot];
  active.run.computed[static_cast<std::size_t>(stage)] = computed;
  // An abandoned suggestion is part of the plan; whatever else ends a call early is how its task ends.
  if (outcome != Outcome::cancelled && active.outcome == Outcome::completed) active.outcome = outcome;
  end_stage(slot, stage, now);
}

void ProgramRunner::end_stage(std::size_t slot, int stage, Seconds now) {
  Active& active = programs_[slot];
  const std::vector<Stage>& stages = active.program.stages;
  const Stage::Kind kind = stages[static_cast<std::size_t>(stage)].kind;
  if (kind == Stage::Kind::model_call) --active.open_calls;
  if (kind == Stage::Kind::retrieval) --active.open_retrievals;
  if (kind == Stage::Kind::tool) --active.open_tools;
  note_phase(active, now);
  if (--active.open_stages == 0) return end_program(slot, now);
  for (std::size_t later = static_cast<std::size_t>(stage) + 1; later < stages.size(); ++later)
    for (const int before : stages[later].after)
      if (before == stage && --active.missing[later] == 0) start_stage(slot, static_cast<int>(later), now);
}

void ProgramRunner::end_program(std::size_t slot, Seconds now) {
  Active& active = programs_[slot];
  counters_.count(active.outcome);
  --open_;
  active.open = false;
  host_.on_program_end(active.program, active.run, active.outcome, now);
  spare_.push_back(slot);
}

Counters ProgramRunner::counters() const {
  Counters now = counters_;
  for (const Active& active : programs_) {
    if (!active.open) continue;
    if (active.open_calls > 0) {
      ++now.running;
    } else if (active.called) {
      ++now.waiting;
    } else {
      ++now.queued;
    }
  }
  return now;
}

}  // namespace llmscape::serving
