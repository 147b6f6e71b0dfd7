// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/unique_names.hpp"

#include <fmt/format.h>

#include <set>
#include <string>
#include <string_view>

namespace llmscape::scenario {
namespace {

void check_list(const YamlNode* parent, std::string_view key, std::string_view what, Diagnostics& diagnostics) {
  const YamlNode* list = parent ? parent->find(key) : nullptr;
  if (!list) return;
  std::set<std::string> names;
  for (const YamlNode& item : list->items) {
    const YamlNode* name = item.find("name");
    if (!name || names.insert(name->text).second) continue;
    std::string other = name->text + "-2";
    for (int number = 3; names.contains(other); ++number) other = fmt::format("{}-{}", name->text, number);
    diagnostics.error(item.where, fmt::format("two {} are called '{}'", what, name->text), "name: " + other);
    names.insert(other);
  }
}

}  // namespace

void check_unique_names(const YamlNode& root, Diagnostics& diagnostics) {
  check_list(root.find("hardware"), "devices", "groups of devices", diagnostics);
  const YamlNode* serving = root.find("serving");
  check_list(serving, "pools", "pools", diagnostics);
  check_list(serving, "kv_tiers", "KV tiers", diagnostics);
  const YamlNode* pools = serving ? serving->find("pools") : nullptr;
  if (!pools) return;
  for (const YamlNode& pool : pools->items) check_list(&pool, "kv_tiers", "KV tiers", diagnostics);
}

}  // namespace llmscape::scenario
