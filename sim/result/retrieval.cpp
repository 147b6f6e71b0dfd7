// SPDX-License-Identifier: Apache-2.0
#include "sim/result/retrieval.hpp"

#include <string>

namespace llmscape::result {
namespace {

double share(Seconds busy, double servers, Seconds end) { return end > Seconds() ? busy / (servers * end) : 0; }

double mean(Seconds sum, std::int64_t count) { return count > 0 ? sum.si() / static_cast<double>(count) : 0; }

}  // namespace

std::string name_of_hosts(const hardware::Retrieval& retrieval) {
  return std::to_string(retrieval.count) + " x " + retrieval.host.name;
}

Watts idle_power(const hardware::Retrieval& retrieval) {
  return static_cast<double>(retrieval.count) * *retrieval.host.idle;
}

Joules joules_of_searching(const hardware::Retrieval& retrieval, Seconds searching) {
  return searching * retrieval.host.power_per_core();
}

Joules retrieval_joules(const hardware::Retrieval& retrieval, Seconds searching, Seconds length) {
  return joules_of_searching(retrieval, searching) + idle_power(retrieval) * length;
}

std::vector<RetrievalResult> retrieval_results(const std::optional<hardware::Retrieval>& retrieval,
                                               const serving::ProgramRunner& programs, Seconds end) {
  std::vector<RetrievalResult> results;
  if (const serving::Station& station = programs.retrieval_station(); station.served() > 0) {
    RetrievalResult& servers = results.emplace_back();
    servers.name = "servers";
    servers.queries = station.served();
    if (station.servers() > 0)
      servers.utilisation = share(station.busy(end), static_cast<double>(station.servers()), end);
    servers.mean_wait_s = mean(station.waited(), station.served());
  }
  if (retrieval) {
    const serving::SearchHosts& search = *programs.search_hosts();
    const auto count = static_cast<double>(retrieval->count);
    RetrievalResult& hosts = results.emplace_back();
    hosts.name = name_of_hosts(*retrieval);
    hosts.queries = search.asked();
    hosts.utilisation = share(search.busy(end), count * static_cast<double>(retrieval->host.cores), end);
    hosts.mean_wait_s = mean(search.waited(), search.asked());
    hosts.joules = retrieval_joules(*retrieval, search.busy(end), end).si();
  }
  return results;
}

}  // namespace llmscape::result
