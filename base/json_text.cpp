// SPDX-License-Identifier: Apache-2.0
#include "base/json_text.hpp"

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace llmscape {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string head_of(const OrderedJson& container, const std::string& key) {
  return container.is_object() ? OrderedJson(key).dump() + ": " : "";
}

std::string on_one_line(const OrderedJson& json) {
  if (!json.is_structured()) return json.dump();
  std::string out;
  for (const auto& [key, member] : json.items())
    out += (out.empty() ? "" : ", ") + head_of(json, key) + on_one_line(member);
  return json.is_object() ? '{' + out + '}' : '[' + out + ']';
}

// `column`: where the value begins. A comma may follow it.
void lay_out(const OrderedJson& json, std::size_t indent, std::size_t column, std::size_t width, std::string& out) {
  std::string line = on_one_line(json);
  if (!json.is_structured() || json.empty() || column + line.size() + 1 <= width) {
    out += line;
    return;
  }
  out += json.is_object() ? '{' : '[';
  const char* before = "\n";
  for (const auto& [key, member] : json.items()) {
    const std::string head = head_of(json, key);
    out += before + std::string(indent + 1, ' ') + head;
    lay_out(member, indent + 1, indent + 1 + head.size(), width, out);
    before = ",\n";
  }
  out += '\n' + std::string(indent, ' ') + (json.is_object() ? '}' : ']');
}

}  // namespace

std::string json_text(std::string_view json, std::size_t width) {
  const OrderedJson parsed = OrderedJson::parse(json, nullptr, false);
  if (parsed.is_discarded()) throw std::logic_error("not JSON: " + std::string(json.substr(0, 80)));
  std::string out;
  lay_out(parsed, 0, 0, width, out);
  return out + '\n';
}

}  // namespace llmscape
