// SPDX-License-Identifier: Apache-2.0
#include "sim/live/cpu_executor.hpp"

#include "hardware/harness/cpu/clock.hpp"
#include "hardware/harness/cpu/machine.hpp"
#include "hardware/harness/cpu_kernels/attention.hpp"
#include "sim/live/weights.hpp"

#include <algorithm>

namespace llmscape::live {
namespace {

namespace kernels = hardware::harness::cpu_kernels;
using kernels::Rows;

// The first `rows` rows of `width` in a buffer.
Rows<float> rows_of(std::vector<float>& buffer, std::int64_t rows, std::int64_t width) {
  return {buffer.data(), rows, width, width};
}

template <class T>
Rows<T> columns(Rows<T> all, std::int64_t first, std::int64_t width) {
  return {all.data + first, all.rows, width, all.stride};
}

template <class T>
Rows<T> some_rows(Rows<T> all, std::int64_t first, std::int64_t rows) {
  return {all.data + first * all.stride, rows, all.width, all.stride};
}

std::vector<float> buffer(std::int64_t rows, std::int64_t width) {
  return std::vector<float>(static_cast<std::size_t>(rows * width));
}

kernels::Linear linear(const LlamaShape& shape, Tensor tensor, std::int64_t layer, std::int64_t outputs) {
  const std::vector<float> values = values_of(random_tensor(shape, tensor, layer));
  return {outputs, static_cast<std::int64_t>(values.size()) / outputs, values};
}

}  // namespace

CpuExecutor::CpuExecutor(const LlamaShape& shape, const ExecutorLimits& limits)
    : shape_(shape), limits_(limits), embedding_(values_of(random_tensor(shape, Tensor::embedding))),
      final_norm_(values_of(random_tensor(shape, Tensor::final_norm))),
      head_(linear(shape, Tensor::head, 0, shape.vocabulary)), rope_(limits.length, shape.head_dim),
      hidden_(buffer(limits.tokens, shape.hidden)), normed_(hidden_), qkv_(buffer(limits.tokens, shape.qkv_width())),
      attended_(buffer(limits.tokens, shape.query_width())), projected_(hidden_),
      gate_up_(buffer(limits.tokens, 2 * shape.width)), activated_(buffer(limits.tokens, shape.width)),
      last_(buffer(limits.sequences, shape.hidden)), logits_(buffer(limits.sequences, shape.vocabulary)) {
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    layers_.push_back(
        {values_of(random_tensor(shape, Tensor::attention_norm, i)),
         values_of(random_tensor(shape, Tensor::feed_norm, i)), linear(shape, Tensor::qkv, i, shape.qkv_width()),
         linear(shape, Tensor::attention_output, i, shape.hidden), linear(shape, Tensor::gate_up, i, 2 * shape.width),
         linear(shape, Tensor::down, i, shape.hidden), PagedKv(limits.kv_blocks, shape.kv_heads, shape.head_dim)});
  }
}

double CpuExecutor::bytes(const LlamaShape& s, const ExecutorLimits& limits) {
  const std::int64_t layer = s.hidden * (s.qkv_width() + s.query_width() + 3 * s.width),
                     tables = 3 * s.vocabulary * s.hidden,  // embedding, head, and the head's values while it is packed
      kv = limits.kv_blocks * kBlockTokens * 2 * s.kv_width();
  return static_cast<double>(sizeof(float)) * static_cast<double>(tables + s.layers * (layer + kv));
}

std::map<std::string, std::string> CpuExecutor::context() const {
  auto facts = hardware::harness::machine_facts();
  facts["onednn"] = kernels::onednn_version();
  return facts;
}

void CpuExecutor::prepare() {
  const Layer& layer = layers_.front();
  for (std::int64_t rows = 1; rows <= limits_.tokens; ++rows) {
    layer.qkv.run(rows_of(normed_, rows, shape_.hidden), rows_of(qkv_, rows, shape_.qkv_width()));
    layer.attention_output.run(rows_of(attended_, rows, shape_.query_width()),
                               rows_of(projected_, rows, shape_.hidden));
    layer.gate_up.run(rows_of(normed_, rows, shape_.hidden), rows_of(gate_up_, rows, 2 * shape_.width));
    layer.down.run(rows_of(activated_, rows, shape_.width), rows_of(projected_, rows, shape_.hidden));
  }
  for (std::int64_t rows = 1; rows <= limits_.sequences; ++rows)
    head_.run(rows_of(last_, rows, shape_.hidden), rows_of(logits_, rows, shape_.vocabulary));
}

StepTimes CpuExecutor::run(const StepInput& input, std::span<std::int32_t> next) {
  const Seconds start = hardware::harness::thread_cpu_time();
  const auto rows = static_cast<std::int64_t>(input.tokens.size());
  kernels::embedding({embedding_.data(), shape_.vocabulary, shape_.hidden, shape_.hidden}, input.tokens,
                     rows_of(hidden_, rows, shape_.hidden));
  for (Layer& layer : layers_) run_layer(layer, input);
  answer(input, next);
  return {0, (hardware::harness::thread_cpu_time() - start).si()};
}

void CpuExecutor::run_layer(Layer& layer, const StepInput& input) {
  const auto rows = static_cast<std::int64_t>(input.tokens.size());
  const auto hidden = rows_of(hidden_, rows, shape_.hidden), normed = rows_of(normed_, rows, shape_.hidden),
             projected = rows_of(projected_, rows, shape_.hidden);
  kernels::rms_norm(hidden, layer.attention_norm, normed);
  layer.qkv.run(normed, rows_of(qkv_, rows, shape_.qkv_width()));
  attend(layer, input);
  layer.attention_output.run(rows_of(attended_, rows, shape_.query_width()), projected);
  kernels::add(projected, hidden);

  kernels::rms_norm(hidden, layer.feed_norm, normed);
  const auto gate_up = rows_of(gate_up_, rows, 2 * shape_.width), activated = rows_of(activated_, rows, shape_.width);
  layer.gate_up.run(normed, gate_up);
  kernels::silu_mul(gate_up, activated);
  layer.down.run(activated, projected);
  kernels::add(projected, hidden);
}

void CpuExecutor::attend(Layer& layer, const StepInput& input) {
  const auto rows = static_cast<std::int64_t>(input.tokens.size());
  const auto decodes = static_cast<std::int64_t>(input.contexts.size());
  const auto qkv = rows_of(qkv_, rows, shape_.qkv_width());
  const auto queries = columns(qkv, 0, shape_.query_width());
  const auto keys = columns(qkv, shape_.query_width(), shape_.kv_width());
  const auto values = columns(qkv, shape_.query_width() + shape_.kv_width(), shape_.kv_width());
  const auto outputs = rows_of(attended_, rows, shape_.query_width());
  kernels::rope(columns(qkv, 0, shape_.query_width() + shape_.kv_width()), input.positions, rope_);

  const auto write = [&](std::int64_t row, std::span<const std::int32_t> table) {
    layer.kv.write(table, input.positions[static_cast<std::size_t>(row)], keys[row], values[row]);
  };
  for (std::int64_t row = 0; row < decodes; ++row) write(row, input.tables[static_cast<std::size_t>(row)]);
  kernels::paged_decode_attention(layer.kv, some_rows(queries, 0, decodes), input.tables, input.contexts,
                                  some_rows(outputs, 0, decodes));
  std::int64_t first = decodes;
  for (std::size_t i = 0; i < input.chunks.size(); ++i) {
    const models::PrefillChunk& chunk = input.chunks[i];
    const auto table = input.tables[static_cast<std::size_t>(decodes) + i];
    for (std::int64_t row = first; row < first + chunk.tokens; ++row) write(row, table);
    kernels::paged_prefill_attention(layer.kv, some_rows(queries, first, chunk.tokens), table, chunk.cached,
                                     some_rows(outputs, first, chunk.tokens));
    first += chunk.tokens;
  }
}

void CpuExecutor::answer(const StepInput& input, std::span<std::int32_t> next) {
  const auto hidden = rows_of(hidden_, static_cast<std::int64_t>(input.tokens.size()), shape_.hidden);
  const std::int64_t answers = input.answers();
  const auto last = rows_of(last_, answers, shape_.hidden), logits = rows_of(logits_, answers, shape_.vocabulary);
  const auto decodes = static_cast<std::int64_t>(input.contexts.size());
  std::int64_t to = 0, from = decodes;
  for (; to < decodes; ++to) std::ranges::copy(hidden[to], last[to].begin());
  for (const models::PrefillChunk& chunk : input.chunks) {
    from += chunk.tokens;
    if (chunk.ends_prompt) std::ranges::copy(hidden[from - 1], last[to++].begin());
  }
  kernels::rms_norm(last, final_norm_, last);
  head_.run(last, logits);
  kernels::argmax(logits, next.first(static_cast<std::size_t>(answers)));
}

std::span<const float> CpuExecutor::logits(std::int64_t answer) const {
  return std::span(logits_).subspan(static_cast<std::size_t>(answer * shape_.vocabulary),
                                    static_cast<std::size_t>(shape_.vocabulary));
}

}  // namespace llmscape::live
