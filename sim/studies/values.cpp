// SPDX-License-Identifier: Apache-2.0
#include "sim/studies/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sim/metrics/names.hpp"

namespace llmscape::studies {
namespace {

using Json = nlohmann::json;

// The place that a path like "groups[0].busy" or "utilisation.edge.busy" names; nullptr if there is none.
const Json* place(const Json& json, std::string_view path) {
  const Json* at = &json;
  while (!path.empty()) {
    if (path.front() == '[') {
      const std::size_t close = path.find(']');
      std::size_t item = 0;
      std::from_chars(path.data() + 1, path.data() + close, item);
      if (!at->is_array() || item >= at->size()) return nullptr;
      at = &(*at)[item];
      path.remove_prefix(close + 1);
    } else {
      if (path.front() == '.') path.remove_prefix(1);
      const std::string key(path.substr(0, path.find_first_of(".[")));
      if (!at->is_object() || !at->contains(key)) return nullptr;
      at = &at->at(key);
      path.remove_prefix(key.size());
    }
  }
  return at;
}

std::optional<Value> value_at(const Json& run, std::string_view path) {
  const metrics::Column* column = metrics::find_column(path);
  const Json* found = nullptr;
  if (column) {
    const Json::json_pointer pointer(column->json_pointer);
    if (run.contains(pointer)) found = &run.at(pointer);
  } else {
    found = place(run, path);
  }
  if (!found) return std::nullopt;
  if (found->is_number()) return Value(found->get<double>());
  if (found->is_boolean()) return Value(found->get<bool>());
  if (found->is_string()) return Value(found->get<std::string>());
  return std::nullopt;
}

// All places of a result that hold a value, as expressions name them.
void collect_places(const Json& json, const std::string& path, std::vector<std::string>& places) {
  if (json.is_object())
    for (const auto& [key, value] : json.items()) collect_places(value, path.empty() ? key : path + '.' + key, places);
  else if (!json.is_array()) places.push_back(path);
}

}  // namespace

std::optional<Value> Values::of_point(std::size_t run, std::size_t point, std::string_view path,
                                      std::int64_t seed) const {
  const NamedRun& named = study_.runs[run];
  if (path == "value" && !named.axis.empty()) return named.axis[point].value;
  const Outcome& outcome = results_.at(run, point, named.seeds == 1 ? 1 : seed);
  return outcome.text.empty() ? std::nullopt : value_at(outcome.json, path);
}

std::optional<Value> Values::look_up(std::string_view name, std::int64_t seed) const {
  if (const Let* let = study_.find_let(name)) return at(let->expression, seed);
  const RunName parts = split_run_name(name);
  const auto run = study_.find_run(parts.run);
  if (!run) return std::nullopt;
  if (!parts.indexed) return of_point(*run, 0, parts.path, seed);
  if (!parts.item.empty()) {
    std::size_t point = 0;
    std::from_chars(parts.item.data(), parts.item.data() + parts.item.size(), point);
    return of_point(*run, point, parts.path, seed);
  }
  std::vector<double> list;
  for (std::size_t point = 0; point < study_.runs[*run].points(); ++point) {
    const auto value = of_point(*run, point, parts.path, seed);
    const double* number = value ? std::get_if<double>(&*value) : nullptr;
    if (!number) return std::nullopt;
    list.push_back(*number);
  }
  return Value(std::move(list));
}

void Values::runs_in(const Expression& expression, std::set<std::size_t>& runs) const {
  for (const Expression::Name& name : expression.names()) {
    if (const Let* let = study_.find_let(name.name)) runs_in(let->expression, runs);
    else if (const auto run = study_.find_run(split_run_name(name.name).run)) runs.insert(*run);
  }
}

std::int64_t Values::seeds(const Expression& expression) const {
  std::set<std::size_t> runs;
  runs_in(expression, runs);
  std::int64_t fewest = 1;
  for (const std::size_t run : runs)
    if (const std::int64_t own = study_.runs[run].seeds; own > 1) fewest = fewest == 1 ? own : std::min(fewest, own);
  return fewest;
}

std::optional<Value> Values::at(const Expression& expression, std::int64_t seed) const {
  return expression.evaluate([&](std::string_view name) { return look_up(name, seed); });
}

std::vector<std::optional<Value>> Values::all(const Expression& expression) const {
  std::vector<std::optional<Value>> values;
  for (std::int64_t seed = 1; seed <= seeds(expression); ++seed) values.push_back(at(expression, seed));
  return values;
}

std::string Values::why_nothing(const Expression& expression) const {
  for (const Expression::Name& name : expression.names()) {
    if (name.may_be_text) continue;
    if (const Let* let = study_.find_let(name.name)) {
      if (std::string why = why_nothing(let->expression); !why.empty()) return why;
      continue;
    }
    const RunName parts = split_run_name(name.name);
    const auto run = study_.find_run(parts.run);
    for (std::int64_t seed = 1; run && seed <= seeds(expression); ++seed) {
      if (look_up(name.name, seed)) continue;
      const std::int64_t own = study_.runs[*run].seeds == 1 ? 1 : seed;
      for (std::size_t point = 0; point < study_.runs[*run].points(); ++point)
        if (const Outcome& outcome = results_.at(*run, point, own); outcome.text.empty())
          return fmt::format("run '{}' failed with seed {}: {}", parts.run, own, outcome.why);
      std::vector<std::string> places;
      collect_places(results_.at(*run, 0, own).json, "", places);
      const std::string meant = did_you_mean(parts.path, places);
      return fmt::format("run '{}' has no value '{}'{}{}", parts.run, parts.path, meant.empty() ? "" : "; ", meant);
    }
  }
  return "";
}

}  // namespace llmscape::studies
