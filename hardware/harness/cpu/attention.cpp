// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu_kernels/attention.hpp"

#include "hardware/harness/cpu/cpu_case.hpp"
#include "models/attention_pairs.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace llmscape::hardware::harness {
namespace {

namespace kernels = cpu_kernels;
using kernels::PagedKv;

// Sequences with full caches whose blocks lie in random order, and queries for some tokens at the end of each.
class Caches {
 public:
  Caches(std::int64_t sequences, std::int64_t context, std::int64_t kv_heads, std::int64_t head_dim,
         RandomStream& random)
      : context_(context), blocks_of_each_((context + PagedKv::kBlockTokens - 1) / PagedKv::kBlockTokens),
        blocks_(static_cast<std::size_t>(sequences * blocks_of_each_)), kv_heads_(kv_heads), head_dim_(head_dim),
        keys_(random_floats(sequences * context * kv_heads * head_dim, random)),
        values_(random_floats(sequences * context * kv_heads * head_dim, random)) {
    std::iota(blocks_.begin(), blocks_.end(), 0);
    for (std::size_t i = blocks_.size(); i > 1; --i) std::swap(blocks_[i - 1], blocks_[random.below(i)]);
    PagedKv kv(sequences * blocks_of_each_, kv_heads, head_dim);
    write(kv, context);
    const double bytes =
        2 * sizeof(float) * static_cast<double>(sequences * blocks_of_each_ * PagedKv::kBlockTokens * width());
    copies_.assign(static_cast<std::size_t>(copies_beyond_caches(bytes)), kv);
  }

  // The next copy of the caches, into which the last `tokens` of each sequence are written again, as a step does with
  // its new ones.
  const PagedKv& next(std::int64_t tokens) {
    last_ = (last_ + 1) % copies_.size();
    write(copies_[last_], tokens);
    return copies_[last_];
  }
  [[nodiscard]] std::span<const std::int32_t> table(std::int64_t sequence) const {
    return std::span(blocks_).subspan(static_cast<std::size_t>(sequence * blocks_of_each_),
                                      static_cast<std::size_t>(blocks_of_each_));
  }
  // The attention of one head of a token to the first `context` of its sequence, in double precision.
  [[nodiscard]] std::vector<double> reference(std::int64_t sequence, std::int64_t kv_head, std::int64_t context,
                                              const float* query) const {
    std::vector<double> scores, out(static_cast<std::size_t>(head_dim_));
    for (std::int64_t t = 0; t < context; ++t) {
      const double dot = std::inner_product(query, query + head_dim_, key(sequence, t) + kv_head * head_dim_, 0.0);
      scores.push_back(dot / std::sqrt(static_cast<double>(head_dim_)));
    }
    const double largest = *std::ranges::max_element(scores);
    double sum = 0;
    for (double& score : scores) sum += score = std::exp(score - largest);
    for (std::int64_t t = 0; t < context; ++t) {
      const float* from = value(sequence, t) + kv_head * head_dim_;
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] += scores[static_cast<std::size_t>(t)] / sum * static_cast<double>(from[i]);
    }
    return out;
  }

 private:
  void write(PagedKv& kv, std::int64_t tokens) const {
    for (std::int64_t s = 0; s < static_cast<std::int64_t>(blocks_.size()) / blocks_of_each_; ++s)
      for (std::int64_t t = context_ - tokens; t < context_; ++t)
        kv.write(table(s), t, {key(s, t), static_cast<std::size_t>(width())},
                 {value(s, t), static_cast<std::size_t>(width())});
  }
  [[nodiscard]] std::int64_t width() const { return kv_heads_ * head_dim_; }
  [[nodiscard]] std::ptrdiff_t at(std::int64_t sequence, std::int64_t token) const {
    return (sequence * context_ + token) * width();
  }
  [[nodiscard]] const float* key(std::int64_t s, std::int64_t t) const { return keys_.data() + at(s, t); }
  [[nodiscard]] const float* value(std::int64_t s, std::int64_t t) const { return values_.data() + at(s, t); }

  std::int64_t context_, blocks_of_each_;
  std::vector<std::int32_t> blocks_;
  std::int64_t kv_heads_, head_dim_;
  std::vector<PagedKv> copies_;
  std::size_t last_ = 0;
  std::vector<float> keys_, values_;  // as they were written, for the reference
};

// `tokens` new tokens of each sequence behind `cached` ones: their keys and values are written, then attended to.
class Attention : public CpuCase {
 public:
  [[nodiscard]] double flops() const override {
    const double pairs = models::windowed_pairs(tokens_, cached_, 0);
    return 4 * static_cast<double>(sequences_ * heads_ * head_dim_) * pairs;
  }
  [[nodiscard]] double bytes() const override {
    const std::int64_t kv = 2 * (tokens_ + cached_) * kv_heads_, queries = 2 * tokens_ * heads_;
    return sizeof(float) * static_cast<double>(sequences_ * (kv + queries) * head_dim_);
  }
  double error() override {
    run();
    Comparison comparison;
    for (const std::int64_t row : checked(sequences_ * tokens_, random_)) {
      const std::int64_t head = random_.integer(0, heads_ - 1), offset = row * heads_ * head_dim_ + head * head_dim_;
      const auto wanted = caches_.reference(row / tokens_, head / (heads_ / kv_heads_), cached_ + row % tokens_ + 1,
                                            queries_.data() + offset);
      for (std::size_t i = 0; i < wanted.size(); ++i)
        comparison.add(static_cast<double>(outputs_[static_cast<std::size_t>(offset) + i]), wanted[i]);
    }
    return comparison.error();
  }

 protected:
  template <class Case>
  Attention(const Case& what, std::int64_t tokens, std::int64_t cached, std::uint64_t seed)
      : sequences_(what.sequences), tokens_(tokens), cached_(cached), heads_(what.heads), kv_heads_(what.kv_heads),
        head_dim_(what.head_dim), random_(seed), caches_(sequences_, tokens + cached, kv_heads_, head_dim_, random_),
        queries_(random_floats(sequences_ * tokens * heads_ * head_dim_, random_)), outputs_(queries_.size()) {}

  [[nodiscard]] double depth() const override { return static_cast<double>(std::max(head_dim_, tokens_ + cached_)); }

  std::int64_t sequences_, tokens_, cached_, heads_, kv_heads_, head_dim_;
  RandomStream random_;
  Caches caches_;
  std::vector<float> queries_, outputs_;
};

class Decode final : public Attention {
 public:
  Decode(const traces::DecodeAttentionCase& what, std::uint64_t seed)
      : Attention(what, 1, what.context - 1, seed), contexts_(static_cast<std::size_t>(what.sequences), what.context) {
    for (std::int64_t s = 0; s < what.sequences; ++s) tables_.push_back(caches_.table(s));
  }

 private:
  void run() override {
    kernels::paged_decode_attention(caches_.next(tokens_),
                                    kernels::packed(std::span<const float>(queries_), sequences_), tables_, contexts_,
                                    kernels::packed(std::span(outputs_), sequences_));
  }
  std::vector<std::span<const std::int32_t>> tables_;
  std::vector<std::int64_t> contexts_;
};

class Prefill final : public Attention {
 public:
  Prefill(const traces::PrefillAttentionCase& what, std::uint64_t seed)
      : Attention(what, what.tokens, what.cached, seed) {}

 private:
  void run() override {
    const auto width = static_cast<std::size_t>(heads_ * head_dim_), size = static_cast<std::size_t>(tokens_) * width;
    const PagedKv& kv = caches_.next(tokens_);
    for (std::int64_t s = 0; s < sequences_; ++s) {
      const std::size_t first = static_cast<std::size_t>(s) * size;
      kernels::paged_prefill_attention(
          kv, kernels::packed(std::span<const float>(queries_).subspan(first, size), tokens_), caches_.table(s),
          cached_, kernels::packed(std::span(outputs_).subspan(first, size), tokens_));
    }
  }
};

template <class Case>
bool known(const Case& what) {
  return what.format == "fp32" && what.kv_format == "fp32" && what.heads % what.kv_heads == 0 &&
         what.head_dim % PagedKv::kBlockTokens == 0 && what.head_dim <= kernels::kWidestHead;
}

}  // namespace

std::unique_ptr<PreparedCase> prepare_cpu(const traces::DecodeAttentionCase& what, std::uint64_t seed) {
  if (!known(what)) return nullptr;
  return std::make_unique<Decode>(what, seed);
}

std::unique_ptr<PreparedCase> prepare_cpu(const traces::PrefillAttentionCase& what, std::uint64_t seed) {
  if (!known(what)) return nullptr;
  return std::make_unique<Prefill>(what, seed);
}

}  // namespace llmscape::hardware::harness
