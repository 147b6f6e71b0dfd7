// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/cases/cases.hpp"

#include <chrono>

namespace llmscape::hardware::harness::cuda {
namespace {

// What the host waits, by its own clock: these are times of the driver, not of the device.
class Latency : public CudaCase {
 public:
  [[nodiscard]] double tolerance() const override { return 0; }
  Seconds sample() override {
    synchronise(stream());
    const auto before = std::chrono::steady_clock::now();
    launch(0);
    synchronise(stream());
    return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
  }

 protected:
  explicit Latency(Machine& machine) : CudaCase(machine, {}, 1) {}

 private:
  void poison() override {}
  double compare() override { return 0; }  // nothing is computed
};

class EmptyLaunch final : public Latency {
 public:
  explicit EmptyLaunch(Machine& machine) : Latency(machine) {}

 private:
  void launch(int) override { empty_kernel(stream()); }
};

class EmptyGraph final : public Latency {
 public:
  EmptyGraph(Machine& machine, std::int64_t nodes) : Latency(machine) {
    empty_kernel(stream());  // loads it: while a graph is captured nothing should be loaded
    graph_.emplace(stream(), [&] {
      for (std::int64_t i = 0; i < nodes; ++i) empty_kernel(stream());
    });
  }

 private:
  void launch(int) override { graph_->launch(stream()); }
  std::optional<Graph> graph_;
};

// Waiting for a stream with nothing to do.
class Synchronisation final : public Latency {
 public:
  explicit Synchronisation(Machine& machine) : Latency(machine) {}

 private:
  void launch(int) override {}
};

}  // namespace

std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::LaunchCase& what, std::uint64_t) {
  if (what.kind == "launch") return std::make_unique<EmptyLaunch>(machine);
  if (what.kind == "graph" && what.nodes > 0) return std::make_unique<EmptyGraph>(machine, what.nodes);
  if (what.kind == "sync") return std::make_unique<Synchronisation>(machine);
  return nullptr;
}

}  // namespace llmscape::hardware::harness::cuda
