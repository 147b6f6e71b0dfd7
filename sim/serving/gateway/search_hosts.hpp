// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <deque>
#include <queue>
#include <vector>

#include "base/quantity.hpp"
#include "hardware/retrieval/retrieval.hpp"
#include "workloads/program.hpp"

namespace llmscape::serving {

// Retrieval hosts at work. A query takes a core of the host with the fewest queries; when all cores are taken it waits,
// first come first served. Queries on one host slow each other down by what they draw of its bandwidth together: all
// run at the rate min(1, bandwidth / sum of what each draws alone).
class SearchHosts {
 public:
  // The stage that waits for a query.
  struct Ticket {
    std::size_t slot;
    int stage;
  };

  explicit SearchHosts(const hardware::Retrieval& retrieval);

  // Calls of ask() and end_next() come in order of time.
  void ask(Ticket ticket, std::int64_t query_tokens, Seconds now);
  // When the next query ends; workloads::kNever if none is running.
  [[nodiscard]] Seconds next_event() const { return next_; }
  // Ends that query.
  Ticket end_next();

  [[nodiscard]] std::int64_t asked() const { return asked_; }
  [[nodiscard]] Seconds waited() const { return waited_; }  // for a core, summed over queries that have got one
  // Time that cores have been taken, summed, until `now`: not before the last event.
  [[nodiscard]] Seconds busy(Seconds now) const;

 private:
  using Query = hardware::Retrieval::Query;
  struct Running {
    double done_at;  // on the host's clock of progress
    std::uint64_t order;
    Ticket ticket;
    BytesPerSecond bandwidth;
    bool operator>(const Running& o) const { return done_at != o.done_at ? done_at > o.done_at : order > o.order; }
  };
  // Progress is the time that a query would have run alone: it passes at `rate`.
  struct Host {
    std::priority_queue<Running, std::vector<Running>, std::greater<>> running;
    BytesPerSecond drawn;
    double progress = 0;
    Seconds at;
    [[nodiscard]] double rate(BytesPerSecond bandwidth) const { return drawn > bandwidth ? bandwidth / drawn : 1; }
  };
  struct Waiting {
    Ticket ticket;
    Query query;
    Seconds since;
  };

  void begin(Host& host, Ticket ticket, const Query& query, Seconds now);
  void advance(Host& host, Seconds now);
  [[nodiscard]] Seconds end_of(const Host& host) const;
  void find_next();

  hardware::Retrieval retrieval_;
  std::vector<Host> hosts_;
  std::deque<Waiting> waiting_;
  std::size_t next_host_ = 0;
  Seconds next_ = workloads::kNever;
  std::uint64_t order_ = 0;
  std::int64_t asked_ = 0;
  Seconds waited_, busy_;
};

}  // namespace llmscape::serving
