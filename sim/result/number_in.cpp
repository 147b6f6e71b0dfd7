// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/result/result_json.hpp"

namespace llmscape::result {
namespace {

template <class AnyJson>
std::optional<double> read_number(const AnyJson& run, const metrics::Column& column) {
  const AnyJson* node = &run;
  std::string_view path = column.json_pointer;  // names alone: nothing in it is escaped or counted
  while (!path.empty()) {
    path.remove_prefix(1);
    const std::string_view name = path.substr(0, path.find('/'));
    path.remove_prefix(name.size());
    const auto found = node->find(name);
    if (found == node->end()) return std::nullopt;
    node = &*found;
  }
  return node->is_number() ? std::optional(node->template get<double>()) : std::nullopt;
}

}  // namespace

std::optional<double> number_in(const nlohmann::json& run, const metrics::Column& column) {
  return read_number(run, column);
}

std::optional<double> number_in(const nlohmann::ordered_json& run, const metrics::Column& column) {
  return read_number(run, column);
}

}  // namespace llmscape::result
