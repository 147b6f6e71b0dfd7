// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "sim/serving/kv/kv_host.hpp"
#include "sim/serving/kv/kv_swap.hpp"
#include "sim/serving/kv/kv_tiers.hpp"

namespace llmscape::serving {

template <class... Places>
struct KvPlaceList : Places... {
  // Those that the scenario describes, in the order of the rows.
  [[nodiscard]] std::vector<const KvPlace*> places() const {
    std::vector<const KvPlace*> configured;
    for (const KvPlace* place : {static_cast<const KvPlace*>(static_cast<const Places*>(this))...})
      if (place->configured()) configured.push_back(place);
    return configured;
  }
  // Their keys, in that order.
  template <class T>
  static void add_fields(Fields<T>& fields) {
    (Places::add_fields(fields), ...);
  }
};

// Where KV entries may lie below the devices' pool: a row each, from the nearest to the pool on.
using KvPlaces = KvPlaceList<KvTiersPlace, KvHostPlace, KvSwapPlace>;

}  // namespace llmscape::serving
