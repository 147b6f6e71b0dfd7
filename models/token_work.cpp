// SPDX-License-Identifier: Apache-2.0
#include "models/step_work.hpp"

#include "models/layer_shapes.hpp"
#include "models/operator_list.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace llmscape::models {
namespace {

// Writes the work of `chunk_tokens_` + `decode_tokens_` tokens. Byte formulas of element-wise kernels: cost-model 3.3,
// there for 16-bit elements (norm 4 T h, gated activation 6 T f, rope 4 T (n_q + n_kv) d, add 6 T h, embedding 4 T h).
class TokenWork {
 public:
  TokenWork(const ModelSpec& model, const ParallelPlan& plan, std::int64_t chunk_tokens, std::int64_t decode_tokens,
            const ExpertCoverage& coverage, std::int64_t prompt_ends, const RankTokens& ranks,
            std::span<const std::int64_t> thinned, std::span<const double> unrelated)
      : model_(model), plan_(plan), chunk_tokens_(chunk_tokens), decode_tokens_(decode_tokens),
        tokens_(chunk_tokens + decode_tokens), prompt_ends_(prompt_ends), width_(hidden_format(model.precision).bytes),
        coverage_(coverage), ranks_(ranks), thinnings_(thinnings(model)), thinned_(thinned), all_unrelated_(unrelated),
        unrelated_(unrelated.empty() ? 0 : unrelated.front()) {}

  std::vector<Operator> operators() {
    add_embedding();
    for (const LayerGroup& group : model_.groups) {
      if (group.change.passed_by_last_only) {
        add_kv_only(group);
      } else if (group.change.passing.limits()) {
        add_thinned(group);
      } else {
        add_layers(group);
      }
    }
    if (plan_.pipeline > 1) {
      Collective passed_on{Collective::Kind::send, hidden_state(), 2, plan_.tensor * plan_.data};
      passed_on.stages = plan_.pipeline;
      list_.add(passed_on, plan_.pipeline - 1);
    }
    return list_.take_stage(plan_);
  }

 private:
  // Bytes of all tokens' hidden states.
  [[nodiscard]] double hidden_state() const { return elements(model_.hidden) * width_; }
  [[nodiscard]] double elements(std::int64_t per_token) const {
    return static_cast<double>(tokens_) * static_cast<double>(per_token);
  }

  void elementwise(Elementwise::Kind kind, double accesses, std::int64_t per_token, int count) {
    list_.add_elementwise(kind, accesses * width_ * elements(per_token), count);
  }

  void linear(const Linear& shape, std::int64_t rows, const Format& weights, int count,
              Elementwise::Input input = Elementwise::Input::elsewhere) {
    list_.add_gemm(rows, shape.k, shape.n, weights, inputs_of(model_.precision, weights), count, input);
  }

  void add_embedding() {
    const bool positions = model_.position_table > 0;
    const std::int64_t row = model_.embedding_width > 0 ? model_.embedding_width : model_.hidden;
    elementwise(Elementwise::Kind::embedding, 2, row, 1);
    if (row != model_.hidden) linear({row, model_.hidden}, tokens_, model_.precision.embedding_weights(), 1);
    if (!positions) return;
    elementwise(Elementwise::Kind::embedding, 2, model_.hidden, 1);
    elementwise(Elementwise::Kind::add, 3, model_.hidden, 1);
  }

  void add_layers(const LayerGroup& group) {
    const int layers = group.count;
    elementwise(Elementwise::Kind::norm, 2, model_.hidden, group.norms * layers);
    add_token_work(list_, group.mixer, share_of(model_, group, plan_, chunk_tokens_, decode_tokens_));
    if (group.feed_forward.routed()) {
      add_routed(group, layers);
    } else if (group.feed_forward.present()) {
      add_dense(group, group.feed_forward.width, layers);
    }
    const int parts = group.parts() * layers;
    elementwise(Elementwise::Kind::add, 3, model_.hidden, parts);
    // Partial sums of the mixer's output and of the feed-forward.
    if (plan_.tensor > 1) list_.add(Collective{Collective::Kind::all_reduce, hidden_state(), plan_.tensor}, parts);
  }

  // Of the prompts' tokens those that pass them.
  void add_thinned(const LayerGroup& group) {
    const auto law = std::ranges::find(thinnings_, group.change.passing) - thinnings_.begin();
    const auto at = static_cast<std::size_t>(law);
    if (at >= thinned_.size()) return pass(group, chunk_tokens_, unrelated_);
    pass(group, thinned_[at], all_unrelated_.empty() ? 0 : all_unrelated_[1 + at]);
  }

  // Whole layers, passed by so many tokens of the chunks and by the decodes.
  void pass(const LayerGroup& group, std::int64_t chunk_tokens, double unrelated) {
    const std::int64_t prompts = std::exchange(chunk_tokens_, chunk_tokens);
    const double of_prompts = std::exchange(unrelated_, unrelated);
    const std::int64_t all = std::exchange(tokens_, chunk_tokens + decode_tokens_);
    if (tokens_ > 0) add_layers(group);
    chunk_tokens_ = prompts;
    unrelated_ = of_prompts;
    tokens_ = all;
  }

  // Prompt tokens are projected to keys and values, which are written to the cache; the others pass the whole layers.
  void add_kv_only(const LayerGroup& group) {
    const std::int64_t all = tokens_;
    tokens_ = chunk_tokens_ - prompt_ends_;
    if (tokens_ > 0) {
      const auto& a = group.softmax();  // a plan with such layers refuses others
      const int layers = group.caches();
      const std::int64_t keys = std::int64_t{a.kv_heads_of_rank(plan_.tensor)} * a.head_dim;
      elementwise(Elementwise::Kind::norm, 2, model_.hidden, 1);
      linear({model_.hidden, a.key_value_columns(plan_.tensor), a.qkv_bias}, tokens_,
             group.attention_weights(model_.precision), layers);
      if (a.qk_norm || a.qk_norm_full) elementwise(Elementwise::Kind::norm, 2, keys, layers);
      if (model_.position_table == 0) elementwise(Elementwise::Kind::rope, 2, keys, layers);
      const double written = a.state(model_.precision, plan_.tensor).bytes_per_token;
      list_.add(Copy{2 * static_cast<double>(tokens_) * written}, layers);  // read and written
    }
    tokens_ = all;
    pass(group, prompt_ends_, static_cast<double>(prompt_ends_));  // a token of each prompt
  }

  void add_dense(const LayerGroup& group, std::int64_t width, int layers) {
    const FeedForward& kind = group.feed_forward;
    const Format& weights = group.dense_weights(model_.precision);
    const auto [up, down] = feed_forward(model_.hidden, width, kind, plan_.tensor);
    linear(up, tokens_, weights, layers, Elementwise::Input::norm);
    elementwise(Elementwise::Kind::activation, kind.gated ? 3 : 2, down.k, layers);
    linear(down, tokens_, weights, layers, Elementwise::Input::activation);
  }

  void add_routed(const LayerGroup& group, int layers) {
    const FeedForward& kind = group.feed_forward;
    const Precision& precision = model_.precision;
    const Format hidden = hidden_format(precision);
    list_.add(Gemm{tokens_, kind.experts, model_.hidden, hidden, hidden},
              layers);  // the router, and its 32-bit scores read
    list_.add_elementwise(Elementwise::Kind::router, 4 * elements(kind.experts), layers);

    // All data-parallel ranks route to the same experts; a step waits for the device with the most rows.
    const std::int64_t routed_tokens = routed_chunks() + routed_decodes();
    const int placed = placed_experts(plan_, kind);
    const double rows =
        fullest_rank(coverage_, placed, kind.experts_per_token, static_cast<double>(routed_tokens), plan_.expert);
    const double share = expert_share(coverage_, placed, kind.experts_per_token, routed_chunks(), routed_decodes(),
                                      unrelated_of_ranks());
    const std::int64_t input = kind.expert_input(model_.hidden);
    const auto [up, down] = feed_forward(input, kind.expert_width, kind, expert_shards(plan_));
    GroupedGemm product;
    product.rows = static_cast<std::int64_t>(std::ceil(rows));
    product.experts_held = placed / plan_.expert;
    product.width = down.k;
    product.experts_touched = std::min(fullest_touched(product.experts_held, share, plan_.expert), rows);
    if (plan_.expert > 1)
      product.average = {static_cast<double>(routed_tokens * kind.experts_per_token) / plan_.expert,
                         product.experts_held * share};
    product.weights = precision.expert_weights();
    product.activations = inputs_of(precision, product.weights);
    product.dealt = GroupedGemm::Dealt::at_random;
    if (coverage_.law == ExpertCoverage::Law::skewed) {
      const double tokens = static_cast<double>(routed_tokens);
      product.dealt = GroupedGemm::Dealt::by_popularity;
      product.popularity = dealt_popularity(coverage_.exponent, tokens, tokens * kind.experts_per_token, placed);
    }
    product.experts_per_token = kind.experts_per_token;
    if (!sends_to_experts()) product.seen_tokens = routed_tokens;

    if (kind.latent > 0) linear({model_.hidden, kind.latent}, tokens_, group.dense_weights(precision), layers);
    exchange(kind, rows, layers);
    // Copies of the tokens are sorted by expert, and their outputs gathered again.
    const auto of_experts = [&](Elementwise::Kind what, const auto& bytes, int count) {
      Elementwise moved{what, bytes(rows)};
      if (product.average) moved.average = bytes(product.average->rows);
      list_.add(moved, count);
    };
    const auto permuted = [&](double some) {
      return (some + static_cast<double>(tokens_)) * static_cast<double>(input) * width_;
    };
    of_experts(Elementwise::Kind::permute, permuted, 2 * layers);
    for (const Linear& shape : {up, down}) {
      product.k = shape.k;
      product.n = shape.n;
      list_.add(product, layers);
    }
    const auto activated = [&](double some) {
      return (kind.gated ? 3 : 2) * width_ * some * static_cast<double>(down.k);
    };
    of_experts(Elementwise::Kind::activation, activated, layers);
    if (kind.latent > 0) linear({kind.latent, model_.hidden}, tokens_, group.dense_weights(precision), layers);
    if (kind.shared_width > 0) add_dense(group, kind.shared_width, layers);
  }

  // Tokens of all data-parallel ranks.
  [[nodiscard]] std::int64_t routed_chunks() const {
    return ranks_.alike() ? chunk_tokens_ * plan_.data : ranks_.chunks;
  }
  [[nodiscard]] std::int64_t routed_decodes() const {
    return ranks_.alike() ? decode_tokens_ * plan_.data : ranks_.decodes;
  }
  [[nodiscard]] double unrelated_of_ranks() const {
    if (!ranks_.alike()) return ranks_.unrelated;
    if (plan_.data == 1) return unrelated_;
    return plan_.data * (unrelated_ > 0 ? unrelated_ : unrelated_tokens(coverage_, chunk_tokens_));
  }

  // Each rank gets the tokens of its own experts and no others.
  [[nodiscard]] bool sends_to_experts() const {
    return plan_.data > 1 && plan_.expert > 1 && plan_.exchange == ExpertExchange::all_to_all;
  }

  // Tokens travel to the ranks of their experts and back. Tensor ranks of one attention group hold every token already,
  // and the all-reduce of the layer sums what their experts give. `fullest`: rows of the fullest rank.
  void exchange(const FeedForward& kind, double fullest, int layers) {
    if (plan_.data == 1) return;
    const auto elements_of = [&](std::int64_t tokens) {
      return static_cast<double>(tokens * kind.expert_input(model_.hidden));
    };
    if (sends_to_experts()) {
      // Each tensor rank sends its share of the tokens: in steps of decodes alone once for each of their experts
      // (DeepEP's kernels of low latency), else once to each rank that holds one of them.
      const bool one_by_one = routed_chunks() == 0;
      const Routing routing = routing_of(kind);
      const double copies = one_by_one ? kind.experts_per_token : distinct_ranks(routing, plan_.expert);
      const double of_rank = elements_of(routed_chunks() + routed_decodes()) / plan_.data / plan_.tensor;
      const double mean = of_rank * copies;
      double most = elements_of(ranks_.alike() ? tokens_ : ranks_.most) / plan_.tensor * copies;
      if (coverage_.law == ExpertCoverage::Law::skewed)
        most =
            std::max(most, of_rank * plan_.expert *
                               (one_by_one ? kind.experts_per_token * share_of_rows(kind, fullest)
                                           : reaching_share(routing, routing.experts * share_of_rows(kind, fullest))));
      const Format inputs = inputs_of(model_.precision, model_.precision.expert_weights());
      for (const double bytes : {inputs.bytes, width_}) {
        Collective exchanged{Collective::Kind::all_to_all, most * bytes, plan_.expert, expert_shards(plan_)};
        if (mean != most) exchanged.average = mean * bytes;
        if (!one_by_one) exchanged.routing = routing;
        list_.add(exchanged, layers);
      }
    } else {
      // Ranks gather as many tokens as there are (vLLM's all_gatherv, SGLang's SUM_LEN), the ones that experts see.
      const double gathered = elements_of(routed_chunks() + routed_decodes()) * width_;
      for (const auto step : {Collective::Kind::all_gather, Collective::Kind::reduce_scatter})
        list_.add(Collective{step, gathered, plan_.data, plan_.tensor}, layers);
    }
  }

  [[nodiscard]] double share_of_rows(const FeedForward& kind, double rows) const {
    return rows / static_cast<double>((routed_chunks() + routed_decodes()) * kind.experts_per_token);
  }
  [[nodiscard]] Routing routing_of(const FeedForward& kind) const {
    return {placed_experts(plan_, kind), kind.experts_per_token, kind.expert_groups, kind.groups_per_token};
  }

  const ModelSpec& model_;
  const ParallelPlan& plan_;
  std::int64_t chunk_tokens_;  // those that pass the layers being written, as tokens_
  const std::int64_t decode_tokens_;
  std::int64_t tokens_;
  const std::int64_t prompt_ends_;
  const double width_;  // bytes of a hidden element
  const ExpertCoverage& coverage_;
  const RankTokens ranks_;
  const std::vector<PassingTokens> thinnings_;
  const std::span<const std::int64_t> thinned_;  // tokens that pass the layers of each
  const std::span<const double> all_unrelated_;
  double unrelated_;  // of chunk_tokens_, as models::expert_share takes it
  OperatorList list_;
};

}  // namespace

std::vector<Operator> token_work(const ModelSpec& model, const ParallelPlan& plan, std::int64_t chunk_tokens,
                                 std::int64_t decode_tokens, const ExpertCoverage& coverage, std::int64_t prompt_ends,
                                 const RankTokens& ranks, std::span<const std::int64_t> thinned,
                                 std::span<const double> unrelated) {
  if (chunk_tokens + decode_tokens == 0) return {};
  return TokenWork(model, plan, chunk_tokens, decode_tokens, coverage, prompt_ends, ranks, thinned, unrelated)
      .operators();
}

}  // namespace llmscape::models
