// SPDX-License-Identifier: Apache-2.0
#include "sim/report/search_answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/table.hpp"
#include "sim/report/units.hpp"
#include "sim/result/metric_table.hpp"

namespace llmscape::report {
namespace {

using Json = nlohmann::ordered_json;
using explore::Estimate;
using explore::Limit;
using explore::SearchAnswer;
using explore::SearchQuery;
using explore::SearchRun;
using explore::Standing;
using explore::TriedValue;

std::string slo_of(const SearchQuery& query) {
  std::string text;
  for (const Limit& limit : query.question.limits) text += (text.empty() ? "" : ", ") + limit.text;
  return text;
}

// What stands on the left of a limit, and how to print it: "ttft.p99" is a time.
std::string left_name(const Limit& limit) { return limit.text.substr(0, limit.text.find_first_of("<>") - 1); }
std::string shown(const Limit& limit, double value) {
  const metrics::Column* column = metrics::find_column(left_name(limit));
  return column && column->metric->unit == "s" ? duration(value) : amount(value);
}

// "182 ms", or "182 ms (176 ms to 188 ms in the mean of 3 runs)". The interval of a mean knows nothing of what it is
// of: no metric is below 0.
std::string measured(const Limit& limit, const std::optional<Estimate>& side, std::size_t runs) {
  if (!side) return "none";
  if (runs < 2) return shown(limit, side->value);
  const bool is_metric = metrics::find_column(left_name(limit)) != nullptr;
  const double low = is_metric && side->value >= 0 ? std::max(0., side->low) : side->low;
  return fmt::format("{} ({} to {}, mean of {} runs)", shown(limit, side->value), shown(limit, low),
                     shown(limit, side->high), runs);
}

std::string sides(const SearchQuery& query, const TriedValue& value) {
  std::string text;
  for (std::size_t i = 0; i < value.sides.size(); ++i) {
    const Limit& limit = query.question.limits[i];
    text += fmt::format("  {}: {}\n", limit.text, measured(limit, value.sides[i], value.runs.size()));
  }
  return text;
}

std::string doubt(const TriedValue& value) {
  return value.clear ? ""
                     : fmt::format("  not told apart from the limit in {} runs: the mean decides\n", value.runs.size());
}

// The constant that a limit is held against; nothing, if it is none.
std::optional<double> constant_of(const Limit& limit) {
  const auto right = limit.right.evaluate([](std::string_view) { return std::nullopt; });
  const double* bound = right ? std::get_if<double>(&*right) : nullptr;
  return bound ? std::optional(*bound) : std::nullopt;
}

bool keeps_all(const SearchQuery& query, const TriedValue& value) {
  for (std::size_t i = 0; i < query.question.limits.size(); ++i) {
    const Limit& limit = query.question.limits[i];
    const auto bound = constant_of(limit);
    if (!bound || i >= value.sides.size() || !value.sides[i]) return false;
    if (!explore::keeps(limit, explore::margin(limit, {value.sides[i]->value, *bound}), *bound)) return false;
  }
  return true;
}

// Where limits hold and nothing meets them, it is for the runs: too short for a verdict, mostly.
std::string limits_alone(const SearchQuery& query, const SearchAnswer& answer) {
  if (answer.best) return "";
  const auto kept = [&query](const TriedValue& value) { return keeps_all(query, value); };
  const auto first = std::ranges::find_if(answer.tried, kept);
  if (first == answer.tried.end()) return "";
  return wrapped(fmt::format("The limits hold at {} of the {} values that were tried, but their runs do not count ({}: "
                             "{}): longer ones decide, or --include-invalid",
                             std::ranges::count_if(answer.tried, kept), answer.tried.size(), first->text, first->why),
                 98, 0) +
         '\n';
}

std::string headline(const SearchQuery& query, const SearchAnswer& answer) {
  const char* end = query.space.largest ? "largest" : "smallest";
  if (!answer.best) return fmt::format("No value of {} that was tried meets {}\n", query.number.path, slo_of(query));
  return fmt::format("{} = {} is the {} {}that meets {}\n", query.number.path, answer.best->text, end,
                     query.space.whole || !answer.next ? "" : "found ", slo_of(query));
}

// Of a limit that no value kept: where the value that was tried last, the farthest from the first, is further from it
// than the first. Then the search went away from what would keep it.
std::string other_way(const SearchQuery& query, const SearchAnswer& answer) {
  if (answer.best || answer.tried.size() < 2) return "";
  const TriedValue &first = answer.tried.front(), &last = answer.tried.back();
  for (std::size_t i = 0; i < query.question.limits.size(); ++i) {
    const Limit& limit = query.question.limits[i];
    const auto bound = constant_of(limit);
    if (!bound || i >= first.sides.size() || i >= last.sides.size() || !first.sides[i] || !last.sides[i]) continue;
    const double near = explore::margin(limit, {first.sides[i]->value, *bound});
    const double far = explore::margin(limit, {last.sides[i]->value, *bound});
    if (explore::keeps(limit, near, *bound) || far >= near) continue;
    return wrapped(fmt::format("{0} is {1} at {2} and {3} at {4}: {5} of {6} helps it, and {7} {6} finds the {8} value "
                               "that meets it",
                               left_name(limit), shown(limit, last.sides[i]->value), last.text,
                               shown(limit, first.sides[i]->value), first.text, query.space.largest ? "more" : "less",
                               query.number.path, query.space.largest ? "--min" : "--max",
                               query.space.largest ? "smallest" : "largest"),
                   98, 0) +
           '\n';
  }
  return "";
}

std::string next_failure(const SearchQuery& query, const SearchAnswer& answer) {
  if (!answer.next) return "Nothing beyond was tried: the search ended there, at a value that meets it\n";
  const TriedValue& next = *answer.next;
  const bool refused = next.standing == Standing::refused;
  std::string text = refused ? fmt::format("{} is refused: {}\n", next.text, next.why)
                             : fmt::format("{} fails: {}\n", next.text, next.why);
  return wrapped(text.substr(0, text.size() - 1), 98, 2) + '\n' + sides(query, next) + doubt(next);
}

std::string metric_cell(const SearchRun& run, const char* name) {
  const auto place = static_cast<std::size_t>(metrics::find_column(name) - metrics::columns().data());
  return run.row.metrics[place] ? amount(run.row.metrics[place]->value) : "";
}

std::string runs_table(const SearchQuery& query, const SearchAnswer& answer) {
  std::vector<std::string> header = {"value", "seed", "verdict"};
  for (const Limit& limit : query.question.limits) header.push_back(left_name(limit));
  for (const char* name : {"requests/s", "tokens/s", "SLO"}) header.emplace_back(name);
  Table table(header);
  explore::ResultsTable names;
  names.axes = {query.number.path};
  for (const TriedValue& value : answer.tried)
    for (const SearchRun& run : value.runs) {
      std::vector<std::string> cells = {value.text, std::to_string(run.row.seed), run.row.verdict};
      const TriedValue alone = explore::alone(query.question, names, run);
      for (std::size_t i = 0; i < alone.sides.size(); ++i)
        cells.push_back(alone.sides[i] ? shown(query.question.limits[i], alone.sides[i]->value) : "");
      cells.push_back(metric_cell(run, "requests_per_s"));
      cells.push_back(metric_cell(run, "output_tokens_per_s"));
      cells.emplace_back(alone.standing == Standing::met ? "met" : "missed");
      table.row(std::move(cells));
    }
  return table.empty() ? "" : '\n' + table.text();
}

Json side_in_json(const std::optional<Estimate>& side) {
  if (!side) return nullptr;
  return {{"value", side->value}, {"low", side->low}, {"high", side->high}};
}

Json in_json(const SearchQuery& query, const TriedValue& value) {
  Json json = {{"value", value.text},  {"number", value.value}, {"meets", value.standing == Standing::met},
               {"clear", value.clear}, {"why", value.why},      {"limits", Json::array()},
               {"runs", Json::array()}};
  for (std::size_t i = 0; i < value.sides.size(); ++i)
    json["limits"].push_back({{"limit", query.question.limits[i].text}, {"left", side_in_json(value.sides[i])}});
  for (const SearchRun& run : value.runs) {
    Json metrics = Json::object();
    for (std::size_t i = 0; i < run.row.metrics.size(); ++i)
      if (run.row.metrics[i]) metrics[metrics::columns()[i].name] = run.row.metrics[i]->value;
    json["runs"].push_back({{"seed", run.row.seed}, {"verdict", run.row.verdict}, {"metrics", metrics}});
  }
  return json;
}

}  // namespace

std::string search_text(const SearchQuery& query, const SearchAnswer& answer) {
  std::string text = headline(query, answer);
  if (answer.best) text += sides(query, *answer.best) + doubt(*answer.best);
  text += limits_alone(query, answer);
  text += other_way(query, answer);
  text += next_failure(query, answer);
  text += fmt::format("{} runs of {} values\n", answer.runs, answer.tried.size());
  return text + runs_table(query, answer);
}

std::string search_json(const SearchQuery& query, const SearchAnswer& answer) {
  Json json = {{"schema", "search/1"},
               {"path", query.number.path},
               {"sought", query.space.largest ? "largest" : "smallest"},
               {"slo", Json::array()}};
  for (const Limit& limit : query.question.limits) json["slo"].push_back(limit.text);
  json["answer"] = answer.best ? Json(answer.best->text) : Json();
  json["next"] = answer.next ? Json(answer.next->text) : Json();
  if (answer.next) json["why"] = answer.next->why;
  json["runs"] = answer.runs;
  json["tried"] = Json::array();
  for (const TriedValue& value : answer.tried) json["tried"].push_back(in_json(query, value));
  return json.dump(2) + '\n';
}

}  // namespace llmscape::report
