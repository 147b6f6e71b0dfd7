// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.hpp"
#include "workloads/generator.hpp"

namespace llmscape::workloads {

// One part of a mixture. Its programs depend on its own fields and position only, never on the other parts.
struct MixtureComponent {
  double weight = 1;  // share of the starts, relative to the other components
  std::optional<std::string> slo_class;
  std::optional<std::string> model;  // of its calls; that of the workload if absent
  int priority = 0;
  std::shared_ptr<const Stream> stream;
};

struct ReplayConfig {
  std::string trace;
  std::optional<std::string> format;
  std::int64_t first = 0;
  std::optional<std::int64_t> count;
};

// What the prompts' tokens are: it decides how many experts of a mixture a step touches (models/expert_coverage.hpp).
enum class Tokens { text, random, skewed };
std::string_view name_of(Tokens tokens);

// The `workload` section of a scenario: arrivals with a stream or a mixture, or a recorded trace.
struct WorkloadConfig {
  std::optional<std::string> source;
  Tokens tokens = Tokens::text;
  std::shared_ptr<const Arrivals> arrivals;
  std::shared_ptr<const Stream> stream;
  std::vector<MixtureComponent> mixture;
  std::optional<ReplayConfig> replay;
  std::optional<std::string> model;  // of calls that name none; the scenario's unnamed one if absent
  std::optional<PerSecond> rate;     // scales the arrivals to this mean rate
  double speedup = 1;                // times between arrivals are divided by this
  std::optional<Seconds> duration;
  std::optional<std::int64_t> requests;
  Seconds warmup;                  // what arrives before is served but not measured
  std::optional<Seconds> timeout;  // of one model call
};
const Fields<WorkloadConfig>& workload_fields();

// What the workload needs to know of the scenario around it.
struct WorkloadContext {
  std::filesystem::path base;  // folder that relative trace paths start from
  // In the order of Program::slo_class; a component without a class has the first, of no name.
  std::vector<std::string> slo_classes;
  // In the order of Stage::model; a call that names none has the first.
  std::vector<std::string> models;
  SourceRange where;                      // of the workload section, for messages
  bool retrieval_hosts = false;           // there are some
  SourceRange where_trace, where_format;  // of a replayed trace and of its format
};

// Programs per second that the workload states, in the long run; nothing where it states none: closed loops, traces.
std::optional<PerSecond> offered_rate(const WorkloadConfig& config);

// nullptr after reporting: a trace that cannot be opened, an SLO class or a model that the scenario lacks.
std::unique_ptr<Generator> make_generator(const WorkloadConfig& config, const WorkloadContext& context,
                                          const RandomStreams& streams, Diagnostics& diagnostics);

// Where a generator stops: no program starts after `duration`, and there are no more than `programs`.
struct Limits {
  Seconds duration = kNever;
  std::int64_t programs = std::numeric_limits<std::int64_t>::max();
};

}  // namespace llmscape::workloads
