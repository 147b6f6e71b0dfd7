// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/workloads/support.hpp"
#include "workloads/streams/prompts.hpp"

#include <cmath>

namespace llmscape::workloads {
namespace {

std::unique_ptr<Generator> try_generator(const std::string& workload, std::uint64_t seed,
                                         const std::vector<std::string>& models, Diagnostics& diagnostics) {
  WorkloadConfig config;
  if (!workload_fields().read(config, yaml(workload), diagnostics)) return nullptr;
  return make_generator(config,
                        {.base = ".",
                         .slo_classes = {"first", "second", "third"},
                         .models = models,
                         .where = {},
                         .where_trace = {},
                         .where_format = {}},
                        RandomStreams(seed), diagnostics);
}

}  // namespace

YamlNode yaml(const std::string& text) {
  Diagnostics diagnostics;
  YamlNode node = read_yaml(std::make_shared<SourceText>(SourceText{"test.yaml", text}), diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  return node;
}

std::vector<Program> programs_of(const std::string& stream, int n, std::uint64_t seed) {
  const auto maker = read(streams(), stream)->maker(RandomStreams(seed), 0);
  std::vector<Program> programs;
  for (int i = 0; i < n; ++i) programs.push_back(maker->make(Seconds(0)));
  return programs;
}

std::unique_ptr<Generator> generator_of(const std::string& workload, std::uint64_t seed,
                                        const std::vector<std::string>& models) {
  Diagnostics diagnostics;
  auto generator = try_generator(workload, seed, models, diagnostics);
  REQUIRE_MESSAGE(generator, diagnostics.text(false));
  return generator;
}

std::vector<Program> all_of(const std::string& workload, std::uint64_t seed, const std::vector<std::string>& models) {
  const auto generator = generator_of(workload, seed, models);
  Diagnostics diagnostics;
  std::vector<Program> programs;
  while (auto program = generator->next(diagnostics)) programs.push_back(std::move(*program));
  REQUIRE(generator->ended());
  return programs;
}

std::string mistakes_of(const std::string& workload, const std::vector<std::string>& models) {
  Diagnostics diagnostics;
  const auto generator = try_generator(workload, 1, models, diagnostics);
  CHECK_FALSE(generator);
  return diagnostics.text(false);
}

bool starts_with(const Prompt& prompt, const Prompt& head) { return common_prefix(prompt, head) == tokens_of(head); }

Moments moments_of(const std::vector<double>& values) {
  double sum = 0, squares = 0;
  for (const double v : values) sum += v;
  const double mean = sum / static_cast<double>(values.size());
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, std::sqrt(squares / static_cast<double>(values.size())) / mean};
}

}  // namespace llmscape::workloads
