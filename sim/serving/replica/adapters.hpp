// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "base/quantity.hpp"
#include "base/random.hpp"

namespace llmscape::serving {

struct Request;

// Which low-rank adapter a request carries: rank r of `adapters` with probability proportional to 1 / r^exponent. The
// programs of a session carry the same; a request without a session draws its own.
class AdapterLaw {
 public:
  AdapterLaw(std::int64_t adapters, double exponent, const RandomStreams& streams)
      : ranks_(adapters, exponent), streams_(streams) {}
  [[nodiscard]] int of(const Request& request) const;

 private:
  Zipf ranks_;
  RandomStreams streams_;
};

// What the replicas of a pool do with adapters.
struct AdapterConfig {
  std::shared_ptr<const AdapterLaw> law;  // null: requests carry none
  std::int64_t resident = 0;              // most that the devices hold, at least 1
  Seconds load;                           // of one into their memory
};

// The adapters that a replica's devices hold. One that running requests use stays; of the others the one that was not
// used for longest is evicted.
class AdapterSlots {
 public:
  explicit AdapterSlots(std::int64_t resident) : resident_(resident) {}

  // Whether a request with the adapter (-1: none) can run now. use() demands it.
  [[nodiscard]] bool fits(int adapter) const;
  // A request with the adapter starts to run, or ends.
  void use(int adapter);
  void leave(int adapter);
  // Nothing is held any more.
  void forget();
  // The devices' memory is taken for something else. Those in use come back, loaded once more, before the next step.
  void evict();

  // Distinct adapters of the requests that run.
  [[nodiscard]] std::int64_t in_use() const { return held_ - static_cast<std::int64_t>(idle_.size()); }
  // How often one had to be loaded.
  [[nodiscard]] std::int64_t loads() const { return loads_; }

 private:
  struct Held {
    bool held = false;
    std::int64_t users = 0;
    std::list<int>::iterator idle;  // where it stands in idle_, while nobody uses it
  };
  [[nodiscard]] bool holds(int adapter) const {
    return static_cast<std::size_t>(adapter) < adapters_.size() && adapters_[static_cast<std::size_t>(adapter)].held;
  }

  std::int64_t resident_;
  std::vector<Held> adapters_;  // by adapter
  std::list<int> idle_;         // held and not used, the one not used for longest first
  std::int64_t held_ = 0;
  std::int64_t loads_ = 0;
};

}  // namespace llmscape::serving
