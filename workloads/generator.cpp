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

// `asked` is who asks for it, for a message.
int index_of_model(const std::optional<std::string>& name, int otherwise, const std::string& asked,
                   const WorkloadContext& context, Diagnostics& diagnostics) {
  if (!name) return otherwise;
  const auto found = std::ranges::find(context.models, *name);
  if (context.models.empty()) {
    diagnostics.error(
        context.where,
        fmt::format("{} asks for model {}, but the scenario's one model has no name", asked, in_quotes(*name)),
        fmt::format("give the scenario further models by name: 'models: {{{}: ...}}'", *name));
  } else if (found == context.models.end()) {
    diagnostics.error(context.where, fmt::format("{} asks for the unknown model {}", asked, in_quotes(*name)),
                      did_you_mean(*name, context.models));
  }
  return static_cast<int>(found - context.models.begin());
}

Mixture::Indices indices_of(const MixtureComponent& component, int model, const WorkloadContext& context,
                            Diagnostics& diagnostics) {
  Mixture::Indices indices;
  indices.slo_class = index_of_class(component.slo_class, context, diagnostics);
  if (component.stream->searches() && !context.retrieval_hosts)
    diagnostics.error(context.where, "the workload searches, but there are no hosts to do it",
                      "describe them in 'hardware.retrieval', or give the searches a time");
  indices.model = index_of_model(component.model, model, "a part of 'mixture'", context, diagnostics);
  for (const auto& name : component.stream->stage_models())
    indices.stage_models.push_back(index_of_model(name, indices.model, "a stage of a workflow", context, diagnostics));
  return indices;
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

// How many times faster than stated the time between arrivals goes.
double time_factor(const WorkloadConfig& config) {
  return config.speedup * (config.rate ? *config.rate / *config.arrivals->mean_rate() : 1);
}

std::unique_ptr<ArrivalClock> make_clock(const WorkloadConfig& config, RandomStream stream) {
  auto clock = config.arrivals->clock(stream);
  const double factor = time_factor(config);
  return factor == 1 ? std::move(clock) : std::make_unique<FasterClock>(std::move(clock), factor);
}

// Ages that are counted in the time between arrivals go as fast as that does.
void speed_up(std::vector<MixtureComponent>& components, double factor) {
  for (MixtureComponent& component : components)
    if (auto faster = factor == 1 ? nullptr : component.stream->faster(factor)) component.stream = std::move(faster);
}

std::unique_ptr<Generator> make_replay(const ReplayConfig& config, double speedup, int model,
                                       const WorkloadContext& context, Limits limits, Diagnostics& diagnostics) {
  // An absolute path stays as it is.
  const std::string path = (context.base / config.trace).string();
  const std::string format = config.format.value_or("");
  const bool known = format.empty() || std::ranges::find(traces::trace_formats(), format, &traces::TraceFormat::name) !=
                                           traces::trace_formats().end();
  auto reader = traces::open_trace(path, format, known ? context.where_trace : context.where_format, diagnostics);
  return reader ? std::make_unique<Replay>(std::move(reader), config, speedup, model, limits, diagnostics) : nullptr;
}

}  // namespace

std::optional<PerSecond> offered_rate(const WorkloadConfig& config) {
  if (!config.arrivals || !config.arrivals->mean_rate()) return std::nullopt;
  return config.speedup * config.rate.value_or(*config.arrivals->mean_rate());
}

std::unique_ptr<Generator> make_generator(const WorkloadConfig& config, const WorkloadContext& context,
                                          const RandomStreams& streams, Diagnostics& diagnostics) {
  Limits limits;
  if (config.duration) limits.duration = *config.duration;
  if (config.requests) limits.programs = *config.requests;
  const int before = diagnostics.errors();
  const int model = index_of_model(config.model, 0, "the workload", context, diagnostics);
  if (config.replay)
    return diagnostics.errors() > before
               ? nullptr
               : make_replay(*config.replay, config.speedup, model, context, limits, diagnostics);

  auto components = config.mixture;
  if (config.stream) components.push_back({.slo_class = {}, .model = {}, .stream = config.stream});
  std::vector<Mixture::Indices> indices;
  for (const auto& component : components) indices.push_back(indices_of(component, model, context, diagnostics));
  if (diagnostics.errors() > before) return nullptr;

  speed_up(components, time_factor(config));
  auto mixture = std::make_unique<Mixture>(components, indices, streams);
  if (config.arrivals->users() > 0)
    return std::make_unique<ClosedLoop>(*config.arrivals, std::move(mixture), limits, streams);
  return std::make_unique<OpenLoop>(make_clock(config, streams.stream("arrivals")), std::move(mixture), limits);
}

}  // namespace llmscape::workloads
