// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/kv_tiers.hpp"

#include <algorithm>

#include "sim/serving/kv/kv_tier.hpp"

namespace llmscape::serving {

using Sharing = hardware::MemoryTier::Sharing;

KvPart KvTiersPlace::part() const { return {"'kv_tiers'", {KvProperty::cached_prefixes}, {}, {}}; }

// Blocks go down, and nodes are where the fabric says.
std::vector<KvPlace::Problem> KvTiersPlace::problems(const KvLocation& at) const {
  std::vector<Problem> problems;
  for (std::size_t i = 1; i < kv_tiers.size(); ++i)
    if (kv_tiers[i].shared_by < kv_tiers[i - 1].shared_by)
      problems.push_back({"'" + kv_tiers[i].name + "' is shared by fewer than the tier above it",
                          "tiers of a replica come first, then those of a node, then those of all"});
  if (!at.in_fabric && std::ranges::find(kv_tiers, Sharing::node, &hardware::MemoryTier::shared_by) != kv_tiers.end())
    problems.push_back({"a tier of a node: hardware.fabric.groups has to say in which nodes '" + at.group + "' stands",
                        at.group + ": {node: hgx-h200}"});
  return problems;
}

void KvTiersPlace::build(const KvSite& site, KvBelow& below) const {
  for (const KvSite::Tier& one : site.tiers()) {
    below.stores.push_back(one.tier);
    below.links.emplace(one.tier.get(), one.links);
  }
  below.write = kv_write;
  below.fetch = kv_fetch;
  below.prefetch = kv_prefetch;
}

}  // namespace llmscape::serving
