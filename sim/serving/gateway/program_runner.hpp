// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <queue>
#include <vector>

#include "sim/serving/gateway/counters.hpp"
#include "sim/serving/gateway/event_source.hpp"
#include "sim/serving/gateway/search_hosts.hpp"
#include "sim/serving/gateway/station.hpp"
#include "sim/serving/phases.hpp"
#include "sim/serving/request.hpp"
#include "workloads/program.hpp"

namespace llmscape::serving {

// What a program has come to when it ends.
struct TaskRun {
  TaskClock clock;
  std::vector<std::int64_t> computed;  // by stage: prompt tokens that its call computed, those computed again too
};

// What a program asks of the system around it.
class ProgramHost {
 public:
  virtual ~ProgramHost() = default;
  // Stage `stage` of the program in `slot` is a model call that starts at `now`; the host reports its end by
  // answered().
  virtual void on_call(std::size_t slot, int stage, Seconds now) = 0;
  // All stages have ended, and the clock of `run` with them; `outcome` is that of the call that went wrong first, if
  // any.
  virtual void on_program_end(const workloads::Program& program, const TaskRun& run, Outcome outcome, Seconds now) = 0;
};

// Executes request programs: starts each stage when those before it have ended, waits for tools, people, the retrieval
// station and the retrieval hosts, and leaves model calls to its host.
class ProgramRunner final : public EventSource {
 public:
  // `retrieval_servers`: 0 for a station where nobody queues. `retrieval`: the hosts that answer queries; nullptr where
  // no program has any. `streaming_input`: a call with a streaming prompt is made with its first version, else
  // with its last.
  ProgramRunner(std::int64_t retrieval_servers, const hardware::Retrieval* retrieval, bool streaming_input,
                ProgramHost& host);

  void start(workloads::Program program);
  // The model call has left the system, for which `computed` prompt tokens were computed.
  void answered(std::size_t slot, int stage, Outcome outcome, std::int64_t computed, Seconds now);

  // When the next tool, pause or retrieval ends, or a delayed stage starts; kNever if nothing is under way.
  [[nodiscard]] Seconds next_event() override { return std::min(next_timer_end(), next_search_end()); }
  void run(Seconds now) override;

  [[nodiscard]] const workloads::Program& program(std::size_t slot) const { return programs_[slot].program; }
  [[nodiscard]] const Station& retrieval_station() const { return station_; }
  // nullptr where there are none.
  [[nodiscard]] const SearchHosts* search_hosts() const { return search_ ? &*search_ : nullptr; }
  [[nodiscard]] bool idle() const { return open_ == 0; }
  [[nodiscard]] Counters counters() const;

 private:
  struct Active {
    workloads::Program program;
    std::vector<int> missing;  // per stage: stages before it that have not ended
    int open_stages = 0;
    int open_calls = 0, open_retrievals = 0, open_tools = 0;
    TaskRun run;
    bool called = false;  // a model call was made
    bool open = false;
    Outcome outcome = Outcome::completed;
  };
  struct Timer {
    Seconds at;
    std::uint64_t order;
    std::size_t slot;
    int stage;
    enum class What : std::uint8_t { begins, calls, ends };
    What what;  // the stage's delay is over, its prompt is there to be sent, its work is done
    bool operator>(const Timer& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  [[nodiscard]] Seconds next_timer_end() const { return timers_.empty() ? kNever : timers_.top().at; }
  [[nodiscard]] Seconds next_search_end() const { return search_ ? search_->next_event() : kNever; }
  void start_stage(std::size_t slot, int stage, Seconds now);
  void begin_work(std::size_t slot, int stage, Seconds now);
  void make_call(std::size_t slot, int stage, Seconds now);
  void end_stage(std::size_t slot, int stage, Seconds now);
  static void note_phase(Active& active, Seconds now);
  void end_program(std::size_t slot, Seconds now);

  ProgramHost& host_;
  bool streaming_input_;
  Station station_;
  std::optional<SearchHosts> search_;
  std::deque<Active> programs_;
  std::vector<std::size_t> spare_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::uint64_t next_program_ = 0;
  std::uint64_t next_timer_ = 0;
  std::int64_t open_ = 0;
  Counters counters_;
};

}  // namespace llmscape::serving
