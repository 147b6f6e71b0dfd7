// SPDX-License-Identifier: Apache-2.0
#include "sim/report/junit.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/xml_text.hpp"
#include "sim/report/check_report.hpp"

namespace llmscape::report {
namespace {

using explore::Check;
using explore::ConfigurationCheck;
using explore::MetricCheck;
using explore::MetricStanding;

std::string test_case(const std::string& suite, const std::string& name, const std::string& content) {
  const std::string head =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\"", xml_text(suite), xml_text(name));
  return content.empty() ? head + "/>\n" : fmt::format("{}>\n      {}\n    </testcase>\n", head, content);
}

std::string failure(const std::string& message) {
  return fmt::format("<failure message=\"{}\" type=\"WORSE\"/>", xml_text(message));
}

std::string content_of(const MetricCheck& metric) {
  if (metric.standing == MetricStanding::same) return "";
  const std::string reason = check_reason(metric);
  if (metric.standing == MetricStanding::worse) return failure(reason);
  return fmt::format("<system-out>{}: {}</system-out>", explore::name_of(metric.standing), xml_text(reason));
}

std::string suite(const ConfigurationCheck& configuration) {
  const std::string name = configuration.label.empty() ? "llmscape" : configuration.label;
  std::string cases;
  if (!configuration.problem.empty()) cases = test_case(name, "comparable", failure(configuration.problem));
  for (const MetricCheck& metric : configuration.metrics)
    cases += test_case(name, metric.metric->name, content_of(metric));
  const std::size_t problems = configuration.problem.empty() ? 0 : 1;
  const auto worse = std::ranges::count(configuration.metrics, MetricStanding::worse, &MetricCheck::standing);
  return fmt::format(
      "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"0\" time=\"0\">\n{}  "
      "</testsuite>\n",
      xml_text(name), configuration.metrics.size() + problems, static_cast<std::size_t>(worse) + problems, cases);
}

}  // namespace

std::string junit_xml(const Check& check) {
  std::string suites;
  for (const ConfigurationCheck& configuration : check.configurations) suites += suite(configuration);
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites name=\"llmscape check\" tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"0\">\n{}</testsuites>\n",
      check.metrics() + check.problems(), check.count(MetricStanding::worse) + check.problems(), suites);
}

}  // namespace llmscape::report
