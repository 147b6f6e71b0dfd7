// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "hardware/memory_tier.hpp"
#include "sim/serving/kv/kv_place.hpp"

namespace llmscape::serving {

// Keys `kv_tiers`, and how prefixes go there and come back.
struct KvTiersPlace : KvPlace {
  std::vector<hardware::MemoryTier> kv_tiers;  // below HBM, from the nearest on
  KvWrite kv_write = KvWrite::on_eviction;
  KvFetch kv_fetch = KvFetch::by_cost;
  bool kv_prefetch = true;

  [[nodiscard]] std::string key() const override { return "kv_tiers"; }
  [[nodiscard]] bool configured() const override { return !kv_tiers.empty(); }
  [[nodiscard]] KvPart part() const override;
  [[nodiscard]] std::vector<Problem> problems(const KvLocation& at) const override;
  void build(const KvSite& site, KvBelow& below) const override;

  template <class T>
  static void add_fields(Fields<T>& f) {
    f.add_group("kv_tiers", &KvTiersPlace::kv_tiers, hardware::memory_tier_fields(),
                "memories below HBM that keep KV blocks, from the nearest on; absent: what leaves HBM is gone")
        .preset_from("tiers");
    f.add_enum(
        "kv_write", &KvTiersPlace::kv_write,
        {{"on_eviction", KvWrite::on_eviction}, {"write_through", KvWrite::write_through}},
        "when blocks are written to the first of kv_tiers: when they are evicted from HBM, or when they are computed");
    f.add_enum("kv_fetch", &KvTiersPlace::kv_fetch,
               {{"by_cost", KvFetch::by_cost}, {"always", KvFetch::always}, {"never", KvFetch::never}},
               "whether a prefix that a tier holds is fetched: if that is over before it were computed, always, or "
               "never");
    f.add("kv_prefetch", &KvTiersPlace::kv_prefetch,
          "a fetch begins when blocks are free for the call and all before it, slots or not; false: when slots are "
          "free too");
  }
};

}  // namespace llmscape::serving
