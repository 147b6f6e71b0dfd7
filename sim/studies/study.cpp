// SPDX-License-Identifier: Apache-2.0
#include "sim/studies/study.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace llmscape::studies {

double Tolerance::around(double published) const { return relative ? std::fabs(published) * amount : amount; }

std::optional<std::size_t> Study::find_run(std::string_view run) const {
  const auto found = std::ranges::find(runs, run, &NamedRun::name);
  return found == runs.end() ? std::nullopt : std::optional(static_cast<std::size_t>(found - runs.begin()));
}

const Let* Study::find_let(std::string_view let) const {
  const auto found = std::ranges::find(lets, let, &Let::name);
  return found == lets.end() ? nullptr : &*found;
}

RunName split_run_name(std::string_view name) {
  RunName parts;
  parts.run = name.substr(0, name.find_first_of(".["));
  std::string_view rest = name.substr(parts.run.size());
  if (rest.starts_with('[')) {
    const std::size_t close = rest.find(']');
    parts.indexed = true;
    parts.item = rest.substr(1, close - 1);
    rest.remove_prefix(close + 1);
  }
  if (rest.starts_with('.')) rest.remove_prefix(1);
  parts.path = rest;
  return parts;
}

std::optional<std::size_t> item_number(std::string_view text) {
  std::size_t number = 0;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  return read.ptr == end && read.ec == std::errc() ? std::optional(number) : std::nullopt;
}

std::vector<std::string> study_names(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& study : std::filesystem::directory_iterator(folder, none))
    if (std::filesystem::is_regular_file(study.path() / "study.yaml", none))
      names.push_back(study.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace llmscape::studies
