// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/pool_inheritance.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {
namespace {

// What kind a group is of, as it is written; nothing where it does not say so.
std::optional<std::string> kind_in(const YamlNode& group, std::string_view says_kind) {
  if (group.is_scalar()) return group.text;
  const YamlNode* kind = group.is_mapping() ? group.find(says_kind) : nullptr;
  return kind && kind->is_scalar() ? std::optional(kind->text) : std::nullopt;
}

// The same inside a group that both have of one kind: `max_num_seqs` of a pool's batcher leaves the token budget of
// that of `serving`.
void inherit_group(YamlNode& own, const YamlNode& common, std::string_view says_kind) {
  const auto kind = kind_in(own, says_kind), usual = kind_in(common, says_kind);
  if (!common.is_mapping() || (kind && kind != usual)) return;
  if (own.is_scalar()) {
    own = common;
    return;
  }
  if (!own.is_mapping()) return;
  for (const YamlNode::Entry& entry : common.entries)
    if (!own.find(entry.key)) own.set(entry.key, entry.value);
}

}  // namespace

void inherit_engine(YamlNode& root) {
  const YamlNode* written = root.find("serving");
  if (!written) return;
  const YamlNode all = *written;
  YamlNode* pools = root.find("serving")->find("pools");
  if (!pools || !pools->is_sequence()) return;
  for (YamlNode& pool : pools->items) {
    if (!pool.is_mapping()) continue;
    for (const YamlNode::Entry& entry : all.entries) {
      const auto& fields = pool_fields().info().fields;
      if (std::ranges::find(fields, entry.key, &FieldInfo::key) == fields.end()) continue;
      YamlNode* own = pool.find(entry.key);
      if (!own) pool.set(entry.key, entry.value);
      else if (entry.key == "batcher") inherit_group(*own, entry.value, "policy");
      else if (entry.key == "engine") inherit_group(*own, entry.value, "name");
    }
  }
}

}  // namespace llmscape::scenario
