// SPDX-License-Identifier: Apache-2.0
#include "sim/result/portion.hpp"

#include "sim/result/parts.hpp"

namespace llmscape::result {

Seconds Portion::provisioned(const serving::Gateway& gateway, std::size_t replica) const {
  return gateway.fleet().provisioned(replica).time(to) - gateway.fleet().provisioned(replica).time(from);
}

Seconds Portion::devices_on(const Parts& parts, const serving::Gateway& gateway, std::size_t replica) const {
  return length_of(result::devices_on(parts, gateway, replica, to)) -
         length_of(result::devices_on(parts, gateway, replica, from));
}

std::vector<serving::Provisioned::Span> devices_on(const Parts& parts, const serving::Gateway& gateway,
                                                   std::size_t replica, Seconds end) {
  if (parts.tenants[replica].empty()) return gateway.fleet().provisioned(replica).spans(end);
  std::vector<serving::Provisioned::Span> all;
  for (const std::size_t tenant : parts.tenants[replica]) {
    const auto own = gateway.fleet().provisioned(tenant).spans(end);
    all.insert(all.end(), own.begin(), own.end());
  }
  return united(std::move(all));
}

Portion whole_run(const Parts& parts, const serving::Gateway& gateway, Seconds end) {
  Portion whole{Seconds(), end, {}, {}};
  for (const serving::Replica* replica : parts.replicas) {
    const serving::ReplicaTotals& totals = replica->totals();
    whole.replicas.push_back({totals.busy, totals.energy, totals.busy_by_resource, totals.drafting});
  }
  if (const serving::SearchHosts* hosts = gateway.programs().search_hosts()) whole.searching = hosts->busy(end);
  return whole;
}

Portion between(const std::optional<Edge>& from, const std::optional<Edge>& to, Portion whole) {
  if (to) {
    whole.to = to->at;
    whole.replicas = to->replicas;
    whole.searching = to->searching;
  }
  if (!from) return whole;
  whole.from = from->at;
  for (std::size_t r = 0; r < whole.replicas.size(); ++r) whole.replicas[r].add(from->replicas[r], -1);
  whole.searching -= from->searching;
  return whole;
}

}  // namespace llmscape::result
