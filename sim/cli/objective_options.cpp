// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/objective_options.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <map>

namespace llmscape::cli {
namespace {

using explore::Direction;
using explore::Objective;

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const explore::ObjectivePreset& preset : explore::objective_presets()) names.push_back(preset.name);
  return names;
}

CLI::Option* repeatable(CLI::App& verb, const std::string& name, const std::string& text, const char* type) {
  return verb.add_option(name, CLI::callback_t(), text)
      ->type_name(type)
      ->expected(1, CLI::detail::expected_max_vector_size)
      ->allow_extra_args(false);
}

// Whether it is a metric that no row has.
bool is_lacking(const std::string& name, const explore::ResultsTable& table) {
  const metrics::Column* column = metrics::find_column(name);
  const auto place = static_cast<std::size_t>(column - metrics::columns().data());
  return !column ||
         std::ranges::none_of(table.rows, [place](const auto& row) { return row.metrics[place].has_value(); });
}

}  // namespace

void ObjectiveOptions::add_options(CLI::App& verb) {
  verb_ = &verb;
  lists_.push_back({repeatable(verb, "--max", "Objectives to have much of, with commas, instead of the plan's", "LIST"),
                    Direction::maximize});
  lists_.push_back(
      {repeatable(verb, "--min", "Objectives to have little of. The order of all is that in which they are typed",
                  "LIST"),
       Direction::minimize});
}

void ObjectiveOptions::add_more_options(CLI::App& verb) {
  lists_.push_back({repeatable(verb, "--objectives", "Metrics, each in the direction in which it is better", "LIST"),
                    Direction::of_metric});
  preset_ = verb.add_option("--preset", CLI::callback_t(),
                            "Objectives that others draw: " + fmt::format("{}", fmt::join(preset_names(), ", ")))
                ->type_name("NAME")
                ->check(CLI::IsMember(preset_names()).description(""));
}

bool ObjectiveOptions::typed() const {
  return (preset_ && preset_->count() > 0) ||
         std::ranges::any_of(lists_, [](const List& list) { return list.option->count() > 0; });
}

std::vector<Objective> ObjectiveOptions::read(const YamlNode& plan, const explore::ResultsTable& table,
                                              Diagnostics& diagnostics) const {
  std::vector<Objective> all;
  const auto add = [&](const std::string& list, Direction direction, const std::string& source) {
    if (!list.empty())
      std::ranges::move(read_objectives(list, direction, source, table, diagnostics), std::back_inserter(all));
  };
  std::map<const CLI::Option*, std::size_t> seen;
  for (const CLI::Option* option : verb_->parse_order()) {
    if (option == preset_) {
      const auto preset =
          *std::ranges::find(explore::objective_presets(), option->results().front(), &explore::ObjectivePreset::name);
      add(preset.maximize, Direction::maximize, "--preset");
      const bool old = is_lacking(preset.minimize, table) && !is_lacking(preset.minimize_of_old, table);
      if (old)
        diagnostics.warning({},
                            fmt::format("no result has {}, as those of older versions have none: {} counts tokens of "
                                        "calls that nobody got an answer of too",
                                        preset.minimize, preset.minimize_of_old),
                            "run again with this version");
      add(old ? preset.minimize_of_old : preset.minimize, Direction::minimize, "--preset");
    } else if (const auto list = std::ranges::find(lists_, option, &List::option); list != lists_.end()) {
      add(option->results()[seen[option]++], list->direction, option->get_name());
    }
  }
  const YamlNode* planned = typed() ? nullptr : plan.find("objectives");
  for (const auto& entry : planned ? planned->entries : std::vector<YamlNode::Entry>())
    for (const YamlNode& item : entry.value.items)
      std::ranges::move(read_objectives(item, entry.key == "maximize" ? Direction::maximize : Direction::minimize,
                                        table, diagnostics),
                        std::back_inserter(all));
  for (auto objective = all.begin(); objective != all.end(); ++objective)
    if (std::find_if(all.begin(), objective, [&](const Objective& o) { return o.name == objective->name; }) !=
        objective)
      diagnostics.error({}, fmt::format("the objective {} stands twice", in_quotes(objective->name)));
  return all;
}

}  // namespace llmscape::cli
