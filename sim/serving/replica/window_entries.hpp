// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "sim/serving/kv/prefix_tree.hpp"
#include "sim/serving/request.hpp"

namespace llmscape::serving {

// KV blocks of layers with a sliding window beside layers without (scenario::KvWindows): a sequence holds at most
// `most` blocks of them, each as large as `weight` blocks of the pool.
struct WindowLayers {
  std::int64_t most = 0;
  double weight = 0;
};

// A pool of its own for the layers with one window: of each sequence it holds at most `window` tokens.
struct WindowPool {
  std::int64_t window = 0, tokens = 0;
};

// What sequences hold for layers with a window beside the blocks of their tokens, in the same pool or in pools of their
// own. Behind a cached prefix a sequence takes what it computes itself; the window before that is held once, by all who
// began behind the same prefix together, as the prefix itself is.
class WindowEntries {
 public:
  // `grows`: sequences take entries as they grow. `shared`: others may begin behind what a sequence has computed; of
  // recurrent states, which stand in `layers` too, each sequence needs its own.
  WindowEntries(std::vector<WindowLayers> layers, std::vector<WindowPool> pools, int block_tokens, bool grows,
                bool shared);

  // Blocks of the pool that it holds while it runs; none where all layers are alike. Whoever admits it checks that they
  // fit too.
  [[nodiscard]] std::int64_t blocks(const Request& request, const PrefixTree::Match& hit) const {
    return layers_.empty() ? 0 : blocks_behind(request, hit.blocks, known(hit.tip));
  }
  // Pools of their own have room for it beside what runs.
  [[nodiscard]] bool any_pools() const { return !pools_.empty(); }
  [[nodiscard]] bool pools_fit(const Request& request, const PrefixTree::Match& hit) const;
  // It starts to run behind a prefix of `hit_blocks` blocks that ends in `tip`, which somebody holds for as long, and
  // which ends there for as long: whoever comes with the same prefix finds it. Returns the blocks of the pool that are
  // taken now.
  std::int64_t take(Request& request, std::int64_t hit_blocks, PrefixNode* tip);
  // It runs no more. Returns the blocks of the pool that are free again.
  std::int64_t give_back(Sequence& sequence);

 private:
  // The window before where some sequences began.
  struct Shared {
    std::int64_t sequences = 0, blocks = 0;
    std::vector<std::int64_t> tokens;  // in pools of their own
  };
  using Shares = std::unordered_map<const PrefixNode*, Shared>;

  [[nodiscard]] bool known(const PrefixNode* tip) const { return tip != nullptr && shares_.contains(tip); }
  [[nodiscard]] double held(double from, double to, double most) const;
  [[nodiscard]] std::int64_t blocks_behind(const Request& request, std::int64_t hit, bool known) const;
  [[nodiscard]] std::int64_t own_blocks(const Request& request, std::int64_t hit, double& before) const;
  [[nodiscard]] std::int64_t tokens_of(std::size_t pool, std::int64_t from, std::int64_t to) const;
  void charge(const Sequence& sequence, std::int64_t sign);

  std::vector<WindowLayers> layers_;
  std::vector<WindowPool> pools_;
  std::vector<std::int64_t> held_in_pools_;  // tokens
  std::int64_t block_tokens_;
  bool grows_, shared_;
  Shares shares_;
};

}  // namespace llmscape::serving
