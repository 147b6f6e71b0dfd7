// SPDX-License-Identifier: Apache-2.0
#include "sim/studies/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/result/metric_table.hpp"
#include "sim/result/result_json.hpp"

namespace llmscape::studies {
namespace {

using Json = nlohmann::json;

// The place that a path like "groups[0].busy" or "utilisation.edge.busy" names; nullptr if there is none.
const Json* place(const Json& json, std::string_view path) {
  const Json* at = &json;
  while (!path.empty()) {
    if (path.front() == '[') {
      const std::size_t close = path.find(']');
      const auto item = item_number(path.substr(1, close - 1));
      if (!item || !at->is_array() || *item >= at->size()) return nullptr;
      at = &(*at)[*item];
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
  if (const metrics::Column* column = metrics::find_column(path)) {
    const auto number = result::number_in(run, *column);
    return number ? std::optional<Value>(*number) : std::nullopt;
  }
  const Json* found = place(run, path);
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
  if (const Let* let = study_.find_let(name)) {
    const std::pair key(let, seed);
    auto known = lets_.find(key);
    if (known == lets_.end()) known = lets_.emplace(key, at(let->expression, seed)).first;
    return known->second;
  }
  const RunName parts = split_run_name(name);
  const auto run = study_.find_run(parts.run);
  if (!run) return std::nullopt;
  if (!parts.indexed) return of_point(*run, 0, parts.path, seed);
  if (!parts.item.empty()) {
    const auto point = item_number(parts.item);
    return point && *point < study_.runs[*run].points() ? of_point(*run, *point, parts.path, seed) : std::nullopt;
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

// Every name in the expression that is of a run, those in named expressions included.
std::vector<std::string_view> Values::places_in(const Expression& expression) const {
  std::vector<std::string_view> places;
  std::vector<const Expression*> all{&expression};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const Expression::Name& name : all[i]->names()) {
      if (const Let* let = study_.find_let(name.name)) {
        if (std::ranges::find(all, &let->expression) == all.end()) all.push_back(&let->expression);
      } else if (study_.find_run(split_run_name(name.name).run)) {
        places.push_back(name.name);
      }
    }
  return places;
}

std::int64_t Values::seeds(const Expression& expression) const {
  std::int64_t fewest = 1;
  for (const std::string_view place : places_in(expression)) {
    const std::int64_t own = study_.runs[*study_.find_run(split_run_name(place).run)].seeds;
    if (own > 1) fewest = fewest == 1 ? own : std::min(fewest, own);
  }
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
  const std::int64_t most = seeds(expression);
  for (const std::string_view name : places_in(expression)) {
    const RunName parts = split_run_name(name);
    const std::size_t run = *study_.find_run(parts.run);
    for (std::int64_t seed = 1; seed <= most; ++seed) {
      if (look_up(name, seed)) continue;
      const std::int64_t own = study_.runs[run].seeds == 1 ? 1 : seed;
      for (std::size_t point = 0; point < study_.runs[run].points(); ++point)
        if (const Outcome& outcome = results_.at(run, point, own); outcome.text.empty())
          return fmt::format("run '{}' failed with seed {}: {}", parts.run, own, outcome.why);
      std::vector<std::string> places;
      collect_places(results_.at(run, 0, own).json, "", places);
      const std::string meant = did_you_mean(parts.path, places);
      return fmt::format("run '{}' has no value '{}'{}{}", parts.run, parts.path, meant.empty() ? "" : "; ", meant);
    }
  }
  return "";
}

}  // namespace llmscape::studies
