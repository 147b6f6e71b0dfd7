// SPDX-License-Identifier: Apache-2.0
#include "workloads/generator.hpp"

#include "workloads/loops.hpp"
#include "workloads/mixture.hpp"
#include "workloads/replay.hpp"
#include "workloads/workload.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmscape::workloads {
namespace {

int index_of_class(const std::optional<std::string>& name, const WorkloadContext& context, Diagnostics& diagnostics) {
  if (!name) return 0;
  const auto found = std::find(context.slo_classes.begin(), context.slo_classes.end(), *name);
  if (found == context.slo_classes.end())
    diagnostics.error(context.where, fmt::format("unknown SLO class {} in 'mixture'", in_quotes(*name)),
                      did_you_mean(*name, context.slo_classes));
  return static_cast<int>(found - context.slo_classes.begin());
}

// A clock that runs faster.
class FasterClock : public ArrivalClock {
 public:
  FasterClock(std::unique_ptr<ArrivalClock> clock, double speedup) : clock_(std::move(clock)), speedup_(speedup) {}
  Seconds next() override { return clock_->next() / speedup_; }

 private:
  std::unique_ptr<ArrivalClock> clock_;
  double speedup_;
};

std::unique_ptr<ArrivalClock> make_clock(const WorkloadConfig& config, RandomStream stream) {
  auto clock = config.arrivals->clock(stream);
  const double speedup = config.speedup * (config.rate ? *config.rate / *config.arrivals->mean_rate() : 1);
  return speedup == 1 ? std::move(clock) : std::make_unique<FasterClock>(std::move(clock), speedup);
}

std::unique_ptr<Generator> make_replay(const ReplayConfig& config, double speedup, const WorkloadContext& context,
                                       Limits limits, Diagnostics& diagnostics) {
  // An absolute path stays as it is.
  const std::string path = (context.base / config.trace).string();
  auto reader = traces::open_trace(path, config.format.value_or(""), context.where, diagnostics);
  return reader ? std::make_unique<Replay>(std::move(reader), config, speedup, limits, diagnostics) : nullptr;
}

}  // namespace

std::unique_ptr<Generator> make_generator(const WorkloadConfig& config, const WorkloadContext& context,
                                          const RandomStreams& streams, Diagnostics& diagnostics) {
  Limits limits;
  if (config.duration) limits.duration = *config.duration;
  if (config.requests) limits.programs = *config.requests;
  if (config.replay) return make_replay(*config.replay, config.speedup, context, limits, diagnostics);

  auto components = config.mixture;
  if (config.stream) components.push_back({.slo_class = {}, .stream = config.stream});
  std::vector<int> slo_classes;
  const int before = diagnostics.errors();
  for (const auto& component : components)
    slo_classes.push_back(index_of_class(component.slo_class, context, diagnostics));
  if (diagnostics.errors() > before) return nullptr;

  auto mixture = std::make_unique<Mixture>(components, slo_classes, streams);
  if (config.arrivals->users() > 0)
    return std::make_unique<ClosedLoop>(*config.arrivals, std::move(mixture), limits, streams);
  return std::make_unique<OpenLoop>(make_clock(config, streams.stream("arrivals")), std::move(mixture), limits);
}

}  // namespace llmscape::workloads
