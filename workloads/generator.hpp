// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/fields.hpp"
#include "base/random.hpp"
#include "workloads/durations.hpp"
#include "workloads/program.hpp"

namespace llmscape::workloads {

// Hands out content ids that no other consumer of the same run gets. Cheap: a counter in a range of its own.
class ContentIds {
 public:
  explicit ContentIds(std::uint64_t range) : next_((range << 40) + 1) {}
  ContentId fresh() { return next_++; }

 private:
  std::uint64_t next_;
};

// When programs start, if nothing has to finish first. Bound to one random stream.
class ArrivalClock {
 public:
  virtual ~ArrivalClock() = default;
  // The next start, never before the one returned last; kNever: no more.
  virtual Seconds next() = 0;
};

// A law of arrivals as configured (immutable); key `kind` of `arrivals`.
struct Arrivals {
  virtual ~Arrivals() = default;
  [[nodiscard]] virtual std::unique_ptr<ArrivalClock> clock(RandomStream stream) const = 0;
  // The clock stops by itself: such a workload needs no other limit.
  [[nodiscard]] virtual bool ends() const { return false; }
  // Programs started per second in the long run; nothing where there is no such rate.
  [[nodiscard]] virtual std::optional<PerSecond> mean_rate() const { return std::nullopt; }
  // Closed loop: users in the system, each starting a new program a while after the last finished. 0: open.
  [[nodiscard]] virtual int users() const { return 0; }
  // That while; nullptr: none.
  [[nodiscard]] virtual const Durations* think() const { return nullptr; }
};
const Family<Arrivals>& arrivals();

// Makes the programs of one kind of stream (chat, infilling, rag, agents, batch): bound to random streams of its own.
class ProgramMaker {
 public:
  virtual ~ProgramMaker() = default;
  // A program that starts at `start`. Called in order of start.
  virtual Program make(Seconds start) = 0;
};

// A kind of stream as configured (immutable); key `kind` of a workload.
struct Stream {
  virtual ~Stream() = default;
  [[nodiscard]] virtual std::unique_ptr<ProgramMaker> maker(const RandomStreams& streams,
                                                            std::uint64_t range) const = 0;
  // The same where the time between programs goes `factor` times faster; nullptr: no law of it is of that time.
  [[nodiscard]] virtual std::shared_ptr<const Stream> faster(double /*factor*/) const { return nullptr; }
  // Names of the models that single stages ask for, by the stage's place in every program. Stages without one, and
  // those behind the last, ask for the model of the stream.
  [[nodiscard]] virtual std::vector<std::optional<std::string>> stage_models() const { return {}; }
  // Some of its stages bring queries for retrieval hosts.
  [[nodiscard]] virtual bool searches() const { return false; }
  // Some of its stages take a time of their own in the retrieval station.
  [[nodiscard]] virtual bool asks_station() const { return false; }
};
const Family<Stream>& streams();

// What arrives, whatever the kind: the only thing the simulator sees.
class Generator {
 public:
  virtual ~Generator() = default;
  // The next program that depends on nothing unfinished: nothing if there is none now (a closed loop may have one
  // later; ended() tells). Starts never decrease over calls, as long as finished() times do not.
  virtual std::optional<Program> next(Diagnostics& diagnostics) = 0;
  // The start of what next() would return; kNever if nothing.
  [[nodiscard]] virtual Seconds next_start() = 0;
  // A program ended (answered, failed or abandoned) at `now`; a closed loop then has a new one.
  virtual void finished(const Program& program, Seconds now) = 0;
  // No program will ever come again, whatever finishes.
  [[nodiscard]] virtual bool ended() const = 0;
  // The load has begun to fall for good: an open loop has started its last program, or a closed one has not replaced a
  // program that finished.
  [[nodiscard]] virtual bool waning() const { return ended(); }
};

}  // namespace llmscape::workloads
