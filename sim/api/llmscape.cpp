// SPDX-License-Identifier: Apache-2.0
#include "sim/api/llmscape.hpp"

#include <utility>

#include "base/module.hpp"
#include "sim/metrics/verdict.hpp"
#include "sim/result/metric_table.hpp"
#include "sim/result/result.hpp"
#include "sim/result/result_json.hpp"
#include "sim/run/run.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::api {
namespace {

[[noreturn]] void refuse(const Diagnostics& diagnostics) {
  std::vector<Mistake> all;
  for (const Diagnostic& d : diagnostics.sorted())
    all.push_back({d.where.source ? d.where.source->name : "", d.where.line, d.where.column,
                   d.severity == Severity::error, d.message, d.suggestion});
  throw Refused(diagnostics.text(false), std::move(all));
}

}  // namespace

Scenario Scenario::read(const std::filesystem::path& file, const std::vector<std::string>& overrides,
                        std::optional<std::int64_t> seed, const std::filesystem::path& data) {
  find_modules_beside(data.parent_path().parent_path() / "bin" / "llmscape");
  const scenario::Catalogs catalogs{data / "models/catalog", data / "hardware/catalog", data / "workloads/catalog"};
  Diagnostics diagnostics;
  auto read = scenario::load_scenario(file, overrides, seed, catalogs, diagnostics);
  if (!read) refuse(diagnostics);
  Scenario scenario;
  scenario.scenario_ = std::make_shared<const scenario::Scenario>(std::move(*read));
  return scenario;
}

Result Result::of_run(const Scenario& scenario) {
  Diagnostics diagnostics;
  world::Options options;
  options.kernel = world::KernelKind::event_queue;  // SimGrid's bytes (docs/kernel.md), and any number of runs
  auto ran = run::run_scenario(*scenario.scenario_, options, diagnostics);
  if (diagnostics.has_errors()) refuse(diagnostics);
  Result result;
  result.result_ = std::make_shared<const result::RunResult>(std::move(ran));
  return result;
}

std::string Result::json() const { return result::to_json(*result_); }

std::string Result::verdict() const { return std::string(metrics::name_of(result_->verdict.state)); }

std::optional<double> Result::metric(const std::string& name) const {
  const metrics::Column* column = metrics::find_column(name);
  if (!column) throw std::invalid_argument("there is no metric '" + name + "': see 'llmscape list metrics'");
  return column->value(*result_);
}

}  // namespace llmscape::api
