// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/gateway/search_hosts.hpp"

#include <algorithm>

namespace llmscape::serving {

SearchHosts::SearchHosts(const hardware::Retrieval& retrieval)
    : retrieval_(retrieval), hosts_(static_cast<std::size_t>(retrieval.count)) {}

void SearchHosts::ask(Ticket ticket, std::int64_t query_tokens, Seconds now) {
  ++asked_;
  const Query query = retrieval_.query(query_tokens);
  Host& idlest = *std::ranges::min_element(hosts_, {}, [](const Host& host) { return host.running.size(); });
  if (static_cast<std::int64_t>(idlest.running.size()) >= retrieval_.host.cores) {
    waiting_.push_back({ticket, query, now});
    return;
  }
  advance(idlest, now);
  begin(idlest, ticket, query, now);
  find_next();
}

SearchHosts::Ticket SearchHosts::end_next() {
  Host& host = hosts_[next_host_];
  const Seconds now = next_;
  advance(host, now);
  const Running ended = host.running.top();
  host.running.pop();
  host.progress = ended.done_at;
  host.drawn -= ended.bandwidth;
  if (host.running.empty()) {  // no rounding is left over
    host.progress = 0;
    host.drawn = BytesPerSecond();
  }
  if (!waiting_.empty()) {
    const Waiting first = waiting_.front();
    waiting_.pop_front();
    waited_ += now - first.since;
    begin(host, first.ticket, first.query, now);
  }
  find_next();
  return ended.ticket;
}

void SearchHosts::begin(Host& host, Ticket ticket, const Query& query, Seconds now) {
  host.at = now;
  host.running.push({host.progress + query.time.si(), order_++, ticket, query.bandwidth});
  host.drawn += query.bandwidth;
}

void SearchHosts::advance(Host& host, Seconds now) {
  const Seconds passed = now - host.at;
  host.progress += host.rate(retrieval_.host.shared_bandwidth()) * passed.si();
  busy_ += static_cast<double>(host.running.size()) * passed;
  host.at = now;
}

Seconds SearchHosts::end_of(const Host& host) const {
  if (host.running.empty()) return workloads::kNever;
  const double left = std::max(0.0, host.running.top().done_at - host.progress);
  return host.at + Seconds(left / host.rate(retrieval_.host.shared_bandwidth()));
}

void SearchHosts::find_next() {
  next_ = workloads::kNever;
  for (std::size_t i = 0; i < hosts_.size(); ++i)
    if (const Seconds end = end_of(hosts_[i]); end < next_) {
      next_ = end;
      next_host_ = i;
    }
}

Seconds SearchHosts::busy(Seconds now) const {
  Seconds busy = busy_;
  for (const Host& host : hosts_) busy += static_cast<double>(host.running.size()) * (now - host.at);
  return busy;
}

}  // namespace llmscape::serving
