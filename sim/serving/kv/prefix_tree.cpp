// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/kv/prefix_tree.hpp"

#include <algorithm>
#include <utility>

namespace llmscape::serving {

namespace {

std::uint64_t mix(std::uint64_t x) {  // splitmix64 (Steele, Lea, Flood 2014)
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

void truncate(std::vector<Segment>& content, std::int64_t tokens) {
  if (content.size() == 1) {
    content.front().tokens = std::min(content.front().tokens, tokens);
    return;
  }
  auto keep = content.begin();
  for (; tokens > 0; ++keep) {
    keep->tokens = std::min(keep->tokens, tokens);
    tokens -= keep->tokens;
  }
  content.erase(keep, content.end());
}

}  // namespace

// A position in a list of segments. Two cursors agree as far as they name the same tokens, however the lists are cut.
struct PrefixTree::Cursor {
  explicit Cursor(const std::vector<Segment>& segments) : list(segments) {}

  const std::vector<Segment>& list;
  std::size_t index = 0;
  std::int64_t into = 0;  // tokens of list[index] already passed

  [[nodiscard]] bool end() const { return index == list.size(); }
  [[nodiscard]] std::int64_t left() const { return list[index].tokens - into; }
  [[nodiscard]] std::int64_t position() const { return list[index].offset + into; }
  void skip(std::int64_t tokens) {
    while (tokens > 0 && !end()) {
      const std::int64_t step = std::min(tokens, left());
      tokens -= step;
      into += step;
      if (left() == 0) {
        ++index;
        into = 0;
      }
    }
  }
  // How many of the next `most` tokens are the same in both; both move past them.
  std::int64_t common(Cursor& other, std::int64_t most) {
    std::int64_t same = 0;
    while (same < most && !end() && !other.end() && list[index].id == other.list[other.index].id &&
           position() == other.position()) {
      const std::int64_t step = std::min({most - same, left(), other.left()});
      skip(step);
      other.skip(step);
      same += step;
    }
    return same;
  }
  // Appends the next `tokens` tokens to `to`, joined with what is there where they continue it.
  void copy(std::int64_t tokens, std::vector<Segment>& to) {
    while (tokens > 0 && !end()) {
      const std::int64_t step = std::min(tokens, left());
      if (!to.empty() && to.back().id == list[index].id && to.back().offset + to.back().tokens == position()) {
        to.back().tokens += step;
      } else {
        to.push_back({list[index].id, step, position()});
      }
      skip(step);
      tokens -= step;
    }
  }
  // A hash of the next `tokens` tokens that does not depend on how the list is cut. Does not move.
  [[nodiscard]] std::uint64_t hash(std::int64_t tokens) const {
    if (!end() && left() >= tokens) return with_run(0, list[index].id, position(), tokens);  // nearly always
    Cursor at = *this;
    std::uint64_t value = 0;
    while (tokens > 0 && !at.end()) {
      const ContentId id = at.list[at.index].id;
      const std::int64_t from = at.position();
      std::int64_t run = 0;
      while (tokens > 0 && !at.end() && at.list[at.index].id == id && at.position() == from + run) {
        const std::int64_t step = std::min(tokens, at.left());
        at.skip(step);
        run += step;
        tokens -= step;
      }
      value = with_run(value, id, from, run);
    }
    return value;
  }

 private:
  // A hash of what comes before, and then of so many tokens of one content.
  static std::uint64_t with_run(std::uint64_t before, ContentId id, std::int64_t from, std::int64_t tokens) {
    const std::uint64_t place = static_cast<std::uint64_t>(from) * 2 + static_cast<std::uint64_t>(tokens) * 0x10001;
    return mix(before ^ mix(id ^ mix(place)));
  }
};

PrefixTree::PrefixTree(int block_tokens, bool states) : block_tokens_(block_tokens), with_states_(states) {}

std::uint64_t PrefixTree::key(const PrefixNode* parent, std::uint64_t first_block) {
  return first_block ^ mix(parent->id);
}

PrefixNode* PrefixTree::child(const PrefixNode* parent, std::uint64_t first_block) const {
  if (parent->children == 0) return nullptr;
  return children_.find(key(parent, first_block));
}

PrefixTree::Match PrefixTree::match(const Prompt& content, std::int64_t limit, std::uint64_t newest) const {
  Match result, of_use;
  const PrefixNode* node = &root_;
  Cursor at(content);
  while (result.blocks < limit) {
    const PrefixNode* below = child(node, at.hash(block_tokens_));
    if (!below || below->stamp > newest) break;
    Cursor known(below->content);
    const std::int64_t most = std::min(below->blocks, limit - result.blocks);
    const std::int64_t same = at.common(known, most * block_tokens_) / block_tokens_;
    result.blocks += same;
    if (below->references == 0) result.unreferenced_blocks += same;
    if (same > 0) result.tip = nullptr;
    if (same < below->blocks) break;
    result.tip = below;
    if (below->state > 0) of_use = result;
    node = below;
  }
  return with_states_ ? of_use : result;
}

void PrefixTree::unlink(PrefixNode* node) {
  (node->older ? node->older->newer : oldest_) = node->newer;
  (node->newer ? node->newer->older : newest_) = node->older;
  node->older = node->newer = nullptr;
}

void PrefixTree::forget_state(PrefixNode* node) {
  if (node->state > 0) states_by_use_.erase(std::exchange(node->state, 0));
}

void PrefixTree::keep_state(PrefixNode* tip) {
  forget_state(tip);
  tip->state = ++uses_;
  states_by_use_.emplace(tip->state, tip);
}

void PrefixTree::reference(PrefixNode* node) {
  if (node->references++ == 0) {
    unlink(node);
    evictable_ -= node->blocks;
    referenced_ += node->blocks;
  }
}

PrefixNode* PrefixTree::add(PrefixNode* parent, std::uint64_t first_block) {
  PrefixNode* node = nullptr;
  if (spare_.empty()) {
    node = &nodes_.emplace_back();
  } else {
    node = spare_.back();
    spare_.pop_back();
  }
  node->parent = parent;
  node->id = next_id_++;
  node->first_block = first_block;
  ++parent->children;
  children_.insert(key(parent, first_block), node);
  if (parent == &root_)
    for (const OnFirstBlock& hear : first_blocks_) hear(first_block, true);
  return node;
}

void PrefixTree::follow_first_blocks(OnFirstBlock hear) {
  for (const PrefixNode& node : nodes_)
    if (node.blocks > 0 && node.parent == &root_) hear(node.first_block, true);
  first_blocks_.push_back(std::move(hear));
}

std::uint64_t PrefixTree::first_block_of(const Prompt& content, int block_tokens) {
  return Cursor(content).hash(block_tokens);
}

void PrefixTree::remove(PrefixNode* leaf) {
  children_.erase(key(leaf->parent, leaf->first_block));
  --leaf->parent->children;
  if (leaf->parent == &root_)
    for (const OnFirstBlock& hear : first_blocks_) hear(leaf->first_block, false);
  forget_state(leaf);
  leaf->content.clear();
  leaf->blocks = 0;
  spare_.push_back(leaf);
}

// Cuts the node after `blocks` blocks. The node itself keeps the tail, so that paths that end in it stay whole; a new
// node takes the head.
void PrefixTree::split(PrefixNode* node, std::int64_t blocks) {
  PrefixNode* parent = node->parent;
  children_.erase(key(parent, node->first_block));
  --parent->children;
  if (parent == &root_)
    for (const OnFirstBlock& hear : first_blocks_) hear(node->first_block, false);
  PrefixNode* head = add(parent, node->first_block);
  head->references = node->references;
  head->stamp = node->stamp;
  head->blocks = blocks;

  std::vector<Segment> tail;
  Cursor at(node->content);
  at.copy(blocks * block_tokens_, head->content);
  node->first_block = at.hash(block_tokens_);
  at.copy((node->blocks - blocks) * block_tokens_, tail);
  node->content = std::move(tail);
  node->blocks -= blocks;
  node->parent = head;
  head->children = 1;
  children_.insert(key(head, node->first_block), node);
  if (node->references == 0) {  // the head was released with the tail, just after it
    head->older = node;
    head->newer = node->newer;
    (node->newer ? node->newer->older : newest_) = head;
    node->newer = head;
  }
}

PrefixNode* PrefixTree::acquire(const Prompt& content, std::int64_t blocks) {
  PrefixNode* node = &root_;
  Cursor at(content);
  while (blocks > 0) {
    PrefixNode* below = child(node, at.hash(block_tokens_));
    if (blocks < below->blocks) {
      split(below, blocks);
      below = below->parent;
    }
    reference(below);
    at.skip(below->blocks * block_tokens_);
    blocks -= below->blocks;
    node = below;
  }
  if (node->state > 0) keep_state(node);
  return node == &root_ ? nullptr : node;
}

PrefixTree::Published PrefixTree::publish(PrefixNode* tip, const Prompt& content, std::int64_t from, std::int64_t to,
                                          std::uint64_t stamp) {
  Published result{tip, from, 0};
  PrefixNode* node = tip ? tip : &root_;
  Cursor at(content);
  at.skip(from * block_tokens_);
  while (result.blocks < to) {
    const bool own_leaf = node != &root_ && node->references == 1 && node->children == 0 && node->stamp == stamp &&
                          node->state == 0 && node->begun == 0;
    const std::uint64_t first_block = own_leaf ? 0 : at.hash(block_tokens_);
    PrefixNode* below = own_leaf ? nullptr : child(node, first_block);
    if (!below) {
      if (!own_leaf) {
        node = add(node, first_block);
        node->references = 1;
        node->stamp = stamp;
      }
      at.copy((to - result.blocks) * block_tokens_, node->content);
      node->blocks += to - result.blocks;
      referenced_ += to - result.blocks;
      result.blocks = to;
    } else {
      Cursor known(below->content);
      const std::int64_t most = std::min(below->blocks, to - result.blocks);
      Cursor ahead = at;
      const std::int64_t same = ahead.common(known, most * block_tokens_) / block_tokens_;
      if (same == 0) break;  // another content under the same hash: ours stays private
      if (same < below->blocks) {
        split(below, same);
        below = below->parent;
      }
      reference(below);
      node = below;
      at.skip(same * block_tokens_);
      result.known += same;
      result.blocks += same;
    }
    result.tip = node;
  }
  return result;
}

void PrefixTree::release(PrefixNode* tip) {
  for (PrefixNode* node = tip; node && node != &root_; node = node->parent) {
    if (--node->references > 0) continue;
    referenced_ -= node->blocks;
    evictable_ += node->blocks;
    node->older = newest_;
    (newest_ ? newest_->newer : oldest_) = node;
    newest_ = node;
  }
}

Prompt PrefixTree::path_to(const PrefixNode* node) const {
  std::vector<const PrefixNode*> nodes;
  for (; node != &root_; node = node->parent) nodes.push_back(node);
  Prompt path;
  for (auto at = nodes.rbegin(); at != nodes.rend(); ++at)
    Cursor((*at)->content).copy((*at)->blocks * block_tokens_, path);
  return path;
}

std::int64_t PrefixTree::evict(std::int64_t blocks, const OnEvicted& hear) {
  std::int64_t evicted = 0;
  while (evicted < blocks && oldest_) {
    PrefixNode* node = oldest_;
    ++eviction_work_;
    const bool state = node->state > 0;
    const std::int64_t some = state ? 1 : std::min(blocks - evicted, node->blocks);
    if (hear && (state || !with_states_)) {
      const Prompt path = path_to(node);
      eviction_work_ += static_cast<std::int64_t>(path.size());
      hear(path);
    }
    node->blocks -= some;
    evictable_ -= some;
    evicted += some;
    if (node->blocks == 0) {
      unlink(node);
      remove(node);
    } else {
      forget_state(node);
      truncate(node->content, node->blocks * block_tokens_);
    }
    if (state) break;
  }
  return evicted;
}

}  // namespace llmscape::serving
