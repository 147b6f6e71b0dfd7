// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/overlaid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <set>

namespace llmscape::explore {
namespace {

using Path = std::vector<std::string>;

std::string path_of(const std::string& assignment) { return assignment.substr(0, assignment.find('=')); }

// Every path that the axis lays, and whether each choice does: what only some variants say, others have from the base.
struct Laid {
  std::string text;
  Path path;
  bool always;
};
std::vector<Laid> laid_by(const Axis& axis, const YamlNode& base) {
  if (axis.interval) return {{axis.columns.front(), override_path(base, axis.columns.front()), true}};
  std::vector<Laid> all;
  std::set<std::string> seen;
  for (const Choice& choice : axis.choices)
    for (const std::string& assignment : choice.overrides) {
      const std::string text = path_of(assignment);
      if (!seen.insert(text).second) continue;
      const Path path = override_path(base, text);
      const bool always = std::ranges::all_of(axis.choices, [&](const Choice& other) {
        return std::ranges::any_of(other.overrides, [&](const std::string& o) {
          const std::string of_other = path_of(o);
          return of_other == text || override_path(base, of_other) == path;
        });
      });
      all.push_back({text, path, always});
    }
  return all;
}

bool replaces(const Path& later, const Path& earlier) {
  return later.size() <= earlier.size() && std::equal(later.begin(), later.end(), earlier.begin());
}

}  // namespace

void check_overlaid(const PlanConfig& config, const std::vector<std::string>& set, const std::vector<Axis>& axes,
                    const YamlNode& base, Diagnostics& diagnostics) {
  std::vector<std::vector<Laid>> laid;
  for (const Axis& axis : axes) laid.push_back(laid_by(axis, base));

  const auto fixed = [&](const std::string& text, const SourceRange& where, const std::string& suggestion) {
    const Path path = override_path(base, text);
    for (const auto& axis : laid)
      for (const Laid& later : axis) {
        if (!later.always || !replaces(later.path, path)) continue;
        if (later.path == path)
          diagnostics.error(where, fmt::format("'{}' is varied in this plan: what is set has no effect", text),
                            suggestion);
        else
          diagnostics.error(
              where, fmt::format("'{}' has no effect: this plan varies '{}', which replaces it", text, later.text));
        return;
      }
  };
  for (const YamlNode::Entry& entry : config.set.entries) fixed(entry.key, entry.key_where, "leave one of the two out");
  for (const std::string& assignment : set) {
    const auto source = std::make_shared<const SourceText>(SourceText{"--set " + assignment, assignment});
    const std::string path = path_of(assignment);
    fixed(path, {source, 1, 1, static_cast<int>(path.size())}, fmt::format("use --axis {}", assignment));
  }

  for (std::size_t i = 0; i < laid.size(); ++i)
    for (const Laid& earlier : laid[i])
      for (std::size_t j = i + 1; j < laid.size(); ++j) {
        const auto later =
            std::ranges::find_if(laid[j], [&](const Laid& l) { return l.always && replaces(l.path, earlier.path); });
        if (later == laid[j].end()) continue;
        if (later->path == earlier.path)
          diagnostics.error(axes[i].where, fmt::format("'{}' has no effect: '{}' is the same, and is laid later",
                                                       earlier.text, later->text));
        else
          diagnostics.error(
              axes[i].where,
              fmt::format("'{}' has no effect: '{}' is laid later and replaces it", earlier.text, later->text),
              fmt::format("put '{}' first: variants, 'zip' and 'axes' are laid in the order of the file", later->text));
        break;
      }
}

}  // namespace llmscape::explore
