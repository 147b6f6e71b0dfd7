// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/hugging_face_name.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

namespace llmscape::cli {

std::string catalogue_model(const std::string& hugging_face_name, const std::vector<std::string>& catalogue) {
  std::string name = hugging_face_name.substr(hugging_face_name.rfind('/') + 1);
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (name.starts_with("meta-")) name.erase(0, 5);
  // What tells the variants of one set of shapes apart: they cost the same.
  static const std::regex ending(
      "-(instruct|chat|hf|it|base|fp8|awq|gptq|int4|int8|fp8-dynamic|v0\\.[0-9]|v1\\.[0-9]|[0-9]{4})$");
  for (;;) {
    if (std::ranges::find(catalogue, name) != catalogue.end()) return name;
    const std::string shorter = std::regex_replace(name, ending, "");
    if (shorter == name) return {};
    name = shorter;
  }
}

}  // namespace llmscape::cli
