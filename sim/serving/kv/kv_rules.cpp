// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/kv_rules.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace llmscape::serving {
namespace {

struct Row {
  KvProperty property;
  std::string_view text, hint;
  bool brought_along = false;
};

constexpr std::array kRows = {
    Row{KvProperty::cached_prefixes, "cached prefixes", "batcher: {policy: vllm_v1, enable_prefix_caching: true}"},
    Row{KvProperty::own_blocks, "blocks that no two sequences share",
        "batcher: {policy: vllm_v1, enable_prefix_caching: false}"},
    Row{KvProperty::growing_blocks, "blocks that are taken as sequences grow",
        "batcher: {policy: vllm_v1, enable_prefix_caching: false}"},
    Row{KvProperty::whole_requests, "prompts that are decoded where they were computed", "pools of role 'any'"},
    Row{KvProperty::one_stage, "one link for the entries of all layers",
        "tensor_parallel in place of pipeline_parallel"},
    Row{KvProperty::one_stream, "one stream of batches that has its memory", "pipeline_batches: 1"},
    Row{KvProperty::one_model, "entries of the model that is served and of no other", ""},
    Row{KvProperty::entries_alone, "sequences that keep KV entries and no recurrent states", ""},
    Row{KvProperty::swapping, "a batcher that swaps preempted sequences out",
        "batcher: {policy: streaming, victims: by_cost}"},
    Row{KvProperty::swap_space, "memory for what it swaps out", "serving: {kv_swap: host-ddr5}", true},
};

bool has(const std::vector<KvProperty>& properties, KvProperty property) {
  return std::ranges::find(properties, property) != properties.end();
}

// "which a does not leave", "which a and b do not leave"; nothing if all leave it.
std::string not_left(const std::vector<KvPart>& parts, KvProperty property) {
  std::string names;
  int takers = 0;
  for (const KvPart& part : parts)
    if (has(part.takes, property)) names += (takers++ == 0 ? "" : " and ") + part.name;
  return takers == 0 ? "" : "which " + names + (takers == 1 ? " does not leave" : " do not leave");
}

}  // namespace

std::vector<KvConflict> kv_conflicts(const std::vector<KvPart>& parts) {
  std::vector<KvConflict> conflicts;
  for (std::size_t i = 0; i < parts.size(); ++i)
    for (const KvProperty property : parts[i].needs) {
      const Row& row = *std::ranges::find(kRows, property, &Row::property);
      const std::string wants = parts[i].name + " needs " + std::string(row.text);
      const bool brought =
          std::ranges::any_of(parts, [property](const KvPart& part) { return has(part.provides, property); });
      if (const std::string others = not_left(parts, property); !others.empty())
        conflicts.push_back({i, wants + ", " + others, std::string(row.hint)});
      else if (row.brought_along && !brought)
        conflicts.push_back({i, wants + ", and nothing provides it", std::string(row.hint)});
    }
  return conflicts;
}

}  // namespace llmscape::serving
