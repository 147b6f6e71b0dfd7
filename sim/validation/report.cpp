// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/table.hpp"
#include "base/xml_text.hpp"

namespace llmscape::validation {
namespace {

using Json = nlohmann::ordered_json;

std::string value_text(double value, const std::string& unit) {
  if (unit != "s") return fmt::format("{:.4g}", value);
  if (value >= 1 || value == 0) return fmt::format("{:.3f} s", value);
  return value >= 1e-3 ? fmt::format("{:.2f} ms", value * 1e3) : fmt::format("{:.1f} us", value * 1e6);
}

// "10 - 25 ms: one bucket"
std::string measured_text(const Statistic& figure, const std::string& unit) {
  if (!figure.within) return value_text(figure.measured, unit);
  const auto [least, most] = *figure.within;
  const bool small = unit == "s" && most < 1;
  const double scale = small ? 1e3 : 1;
  return fmt::format("{:.4g} - {:.4g}{}: one bucket", least * scale, most * scale,
                     small         ? " ms"
                     : unit == "s" ? " s"
                                   : "");
}

std::string share_text(std::optional<double> share) { return share ? fmt::format("{:.1f} %", *share * 100) : "-"; }
std::string signed_text(std::optional<double> share) { return share ? fmt::format("{:+.1f} %", *share * 100) : "-"; }

std::string named(const std::string& what, const std::string& of) {
  return of.empty() ? what : fmt::format("{} ({})", what, of);
}

Table sets_table(const Report& report) {
  const std::vector<std::string> header = {"metric", "predicted mean", "measured mean", "mean", "p50", "p90", "p99"};
  Table table(header);
  for (const Comparison& c : report.comparisons) {
    if (c.statistics.empty()) continue;
    std::vector<std::string> cells = {named(c.metric, c.of), value_text(c.statistics[0].predicted, c.unit),
                                      measured_text(c.statistics[0], c.unit)};
    for (const Statistic& s : c.statistics) cells.push_back(signed_text(s.error()));
    cells.resize(header.size());  // a single figure has no quantiles
    table.row(std::move(cells));
  }
  return table;
}

// A single pair says nothing of pairs that its row among the sets does not; rows of tables have none there.
bool stands_among_pairs(const Comparison& c) { return c.count > 1 || (c.count == 1 && c.statistics.empty()); }

Table pairs_table(const Report& report) {
  Table table({"metric", "pairs", "mean |e|", "median |e|", "p90 |e|", "p95 |e|", "bias", "Spearman"});
  for (const Comparison& c : report.comparisons) {
    if (!stands_among_pairs(c)) continue;
    table.row({named(c.metric, c.of), fmt::format("{}", c.count), share_text(c.error_mean), share_text(c.error_median),
               share_text(c.error_p90), share_text(c.error_p95), signed_text(c.bias),
               c.rank ? fmt::format("{:.3f}", *c.rank) : "-"});
  }
  return table;
}

Table groups_table(const Report& report) {
  Table table({"of", "metric", "pairs", "median |e|", "p90 |e|", "bias", "Spearman"});
  for (const GroupErrors& group : report.groups)
    for (const Comparison& c : group.comparisons)
      table.row({group.name, c.metric, fmt::format("{}", c.count), share_text(c.error_median), share_text(c.error_p90),
                 signed_text(c.bias), c.rank ? fmt::format("{:.3f}", *c.rank) : "-"});
  return table;
}

Table left_out_table(const Report& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const LeftOut& each : report.left_out) {
    auto same = std::ranges::find(by_reason, each.reason, [](const auto& entry) { return entry.first; });
    if (same == by_reason.end()) same = by_reason.insert(by_reason.end(), {each.reason, {}});
    same->second.push_back(each.name);
  }
  Table table({"left out", "rows", "the first of them"});
  for (const auto& [reason, names] : by_reason) table.row({reason, fmt::format("{}", names.size()), names.front()});
  return table;
}

Table courses_table(const Report& report) {
  Table table({"over time", "moments", "RMSE", "predicted mean", "measured mean", "largest", "at"});
  for (const Course& c : report.courses)
    table.row({named(c.name, c.of),
               c.samples > c.count ? fmt::format("{} of {}", c.count, c.samples) : fmt::format("{}", c.count),
               fmt::format("{:.1f}", c.rmse), fmt::format("{:.1f}", c.mean_predicted),
               fmt::format("{:.1f}", c.mean_measured), fmt::format("{:+.0f}", c.largest),
               fmt::format("{:.0f} s", c.largest_at)});
  return table;
}

Table worst_table(const Report& report) {
  Table table({"worst of", "which", "predicted", "measured", "error"});
  for (const Comparison& c : report.comparisons)
    if (stands_among_pairs(c))
      for (const Pair& pair : c.worst)
        table.row({named(c.metric, c.of), pair.name, value_text(pair.predicted, c.unit),
                   value_text(pair.measured, c.unit), signed_text(relative_error(pair.predicted, pair.measured))});
  return table;
}

std::string error_text(const Verdict& verdict) {
  std::string text = !verdict.error                   ? "not compared"
                     : verdict.limit.figure == "rmse" ? fmt::format("{:.2f}", *verdict.error)
                                                      : fmt::format("{:.2f} %", *verdict.error * 100);
  if (!verdict.reason.empty()) text += ": " + verdict.reason;
  text = named(text, verdict.of);
  return verdict.unfit.empty() ? text : fmt::format("{}, but {}", text, verdict.unfit);
}

// "noisy: 3 completed requests are too few ..."
std::string verdict_text(const PredictedRun& run) {
  std::string text = run.verdict;
  for (std::size_t i = 0; i < run.reasons.size(); ++i) text += (i == 0 ? ": " : "; ") + run.reasons[i];
  if (run.served < run.requests) text += fmt::format("; {} of {} requests served", run.served, run.requests);
  if (run.left_out > 0)
    text += fmt::format("; {} of {} requests are not in it", run.left_out, run.left_out + run.requests);
  for (const std::string& each : run.apart) text += "; " + each;
  return text;
}

Table limits_table(const Report& report) {
  Table table({"limit", "found", "met"});
  for (const Verdict& v : report.verdicts) table.row({v.limit.text, error_text(v), v.met() ? "yes" : "NO"});
  return table;
}

std::vector<Table> tables_of(const Report& report) {
  std::vector<Table> tables = {sets_table(report),  pairs_table(report),    groups_table(report), courses_table(report),
                               worst_table(report), left_out_table(report), limits_table(report)};
  std::erase_if(tables, [](const Table& table) { return table.empty(); });
  return tables;
}

std::string head_of(const Report& report) {
  std::string text =
      fmt::format("{} against {}; errors are predicted / measured - 1\n", report.predicted, report.measured);
  if (report.run) text += fmt::format("verdict of the prediction: {}\n", verdict_text(*report.run));
  return text;
}

void put(Json& json, const char* key, std::optional<double> value) {
  if (value) json[key] = *value;
}

Json json_of(const Comparison& c) {
  Json json = {{"metric", c.metric}, {"unit", c.unit}, {"count", c.count}};
  if (!c.of.empty()) json["of"] = c.of;
  for (const Statistic& s : c.statistics) {
    Json& entry = json["statistics"][std::string(s.name)];
    entry = {{"predicted", s.predicted}, {"measured", s.measured}};
    if (s.within) entry["within"] = {s.within->least, s.within->most};
    put(entry, "error", s.error());
  }
  put(json, "error_mean", c.error_mean);
  put(json, "error_median", c.error_median);
  put(json, "error_p90", c.error_p90);
  put(json, "error_p95", c.error_p95);
  put(json, "bias", c.bias);
  put(json, "spearman", c.rank);
  json["worst"] = Json::array();
  for (const Pair& pair : c.worst)
    json["worst"].push_back({{"name", pair.name}, {"predicted", pair.predicted}, {"measured", pair.measured}});
  return json;
}

}  // namespace

std::string PredictedRun::unfit() const {
  if (served < requests)
    return fmt::format("{} of {} requests were not served by the simulation", requests - served, requests);
  if (lacks_requests())
    return fmt::format("{} of {} requests are not in the simulation: what was measured had more to do", left_out,
                       left_out + requests);
  if (!apart.empty()) return fmt::format("{}", fmt::join(apart, "; "));
  return verdict == "valid" || verdict == "noisy" ? "" : fmt::format("the prediction is {}", verdict);
}

bool hold_to(const std::vector<Limit>& limits, Report& report, bool any_run) {
  for (const Limit& limit : limits) {
    report.verdicts.push_back(judge(limit, report.comparisons, report.courses));
    if (report.run && !any_run) report.verdicts.back().unfit = report.run->unfit();
  }
  return std::ranges::all_of(report.verdicts, &Verdict::met);
}

std::string to_text(const Report& report) {
  std::string text = head_of(report);
  for (const Table& table : tables_of(report)) text += '\n' + table.text();
  for (const std::string& warning : report.warnings) text += "\nwarning: " + warning;
  return report.warnings.empty() ? text : text + '\n';
}

std::string to_markdown(const Report& report) {
  std::string text = head_of(report);
  for (const Table& table : tables_of(report)) text += '\n' + table.markdown();
  for (const std::string& warning : report.warnings) text += "\n- warning: " + warning;
  return report.warnings.empty() ? text : text + '\n';
}

std::string to_json(const Report& report) {
  Json json = {{"schema", "validation/1"}, {"predicted", report.predicted}, {"measured", report.measured}};
  if (const auto& run = report.run) {
    json["verdict"] = {
        {"state", run->verdict}, {"reasons", run->reasons}, {"requests", run->requests}, {"served", run->served}};
    if (run->left_out > 0) json["verdict"]["left_out"] = run->left_out;
    if (!run->apart.empty()) json["verdict"]["apart"] = run->apart;
  }
  json["comparisons"] = Json::array();
  for (const Comparison& c : report.comparisons) json["comparisons"].push_back(json_of(c));
  for (const GroupErrors& group : report.groups) {
    Json entry = {{"name", group.name}, {"comparisons", Json::array()}};
    for (const Comparison& c : group.comparisons) entry["comparisons"].push_back(json_of(c));
    json["groups"].push_back(std::move(entry));
  }
  for (const LeftOut& each : report.left_out)
    json["left_out"].push_back({{"name", each.name}, {"reason", each.reason}});
  json["over_time"] = Json::array();
  for (const Course& c : report.courses) {
    json["over_time"].push_back({{"name", c.name},
                                 {"count", c.count},
                                 {"rmse", c.rmse},
                                 {"mean_predicted", c.mean_predicted},
                                 {"mean_measured", c.mean_measured},
                                 {"largest", c.largest},
                                 {"largest_at_s", c.largest_at}});
    if (c.samples > c.count) json["over_time"].back()["samples"] = c.samples;
    if (!c.of.empty()) json["over_time"].back()["of"] = c.of;
  }
  json["limits"] = Json::array();
  for (const Verdict& v : report.verdicts) {
    Json entry = {{"limit", v.limit.text}, {"met", v.met()}};
    put(entry, "error", v.error);
    if (!v.error || !v.unfit.empty()) entry["reason"] = error_text(v);
    if (!v.of.empty()) entry["of"] = v.of;
    json["limits"].push_back(std::move(entry));
  }
  json["warnings"] = report.warnings;
  return json.dump(2) + '\n';
}

std::string to_junit(const Report& report, const std::string& verb) {
  std::string cases;
  std::size_t failures = 0;
  const auto add = [&](const std::string& name, const std::string& content) {
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"0\">{}</testcase>\n", verb, xml_text(name),
                         content);
  };
  for (const Verdict& v : report.verdicts) {
    failures += v.met() ? 0 : 1;
    add(v.limit.text,
        fmt::format(fmt::runtime(v.met() ? "<system-out>{}</system-out>" : "<failure message=\"{}\" type=\"ERROR\"/>"),
                    xml_text(error_text(v))));
  }
  for (const LeftOut& each : report.left_out)
    add(each.name, fmt::format("<skipped message=\"{}\"/>", xml_text(each.reason)));
  const std::string properties =
      report.run ? fmt::format("    <properties><property name=\"verdict\" value=\"{}\"/></properties>\n",
                               xml_text(verdict_text(*report.run)))
                 : "";
  const auto counts = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\" time=\"0\"",
                                  report.verdicts.size() + report.left_out.size(), failures, report.left_out.size());
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"llmscape {3}\" {0}>\n"
      "  <testsuite name=\"{1}\" {0}>\n{4}{2}  </testsuite>\n</testsuites>\n",
      counts, xml_text(report.measured), cases, verb, properties);
}

}  // namespace llmscape::validation
