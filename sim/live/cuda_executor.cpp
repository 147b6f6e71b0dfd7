// SPDX-License-Identifier: Apache-2.0
#include "sim/live/cuda_executor.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>

#include "hardware/harness/cuda/device_count.hpp"
#include "hardware/harness/cuda/kernels/elementwise.hpp"
#include "hardware/harness/cuda/kernels/memory.hpp"
#include "hardware/harness/cuda/kernels/sampling.hpp"
#include "sim/live/clock.hpp"

namespace llmscape::live {
namespace {

namespace cuda = hardware::harness::cuda;
using cuda::Bf16;

constexpr float kRopeBase = 10000;

std::int64_t blocks_for(std::int64_t tokens) { return (tokens + kBlockTokens - 1) / kBlockTokens; }

// What the kernels cannot compute; empty: nothing.
std::string obstacle(const LlamaShape& s) {
  if (s.head_dim != 64 && s.head_dim != 128) return "the attention kernels are made for heads of 64 or 128";
  if (s.heads / s.kv_heads > cuda::kLargestGroup) return "the attention kernels serve up to 16 heads by a KV head";
  if (s.hidden % 8 != 0 || s.width % 8 != 0 || s.vocabulary % 8 != 0)
    return "the kernels want widths that are multiples of 8";
  return {};
}

void copy(int* to, const int* from, std::int64_t count, cudaMemcpyKind kind, cuda::Stream stream) {
  cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(int), kind, stream),
              "copying between host and device");
}

}  // namespace

PinnedArray::PinnedArray(std::int64_t size) {
  void* data = nullptr;
  cuda::check(cudaMallocHost(&data, static_cast<std::size_t>(size) * sizeof(int)), "allocating pinned memory");
  data_.reset(static_cast<int*>(data));
}
void PinnedArray::Release::operator()(int* data) const { cudaFreeHost(data); }

CudaExecutor::CudaExecutor(const LlamaShape& shape, const ExecutorLimits& limits, bool graphs)
    : shape_(shape), limits_(limits), use_graphs_(graphs), machine_(0),
      nvml_(cuda::Nvml::open(machine_.pci_bus_id, no_nvml_)), embedding_(random_weights(Tensor::embedding)),
      final_norm_(random_weights(Tensor::final_norm)),
      own_head_(shape.tied ? DeviceArray<Bf16>() : random_weights(Tensor::head)),
      packing_{padded_rows(limits.tokens), padded_rows(limits.sequences), blocks_for(limits.length)},
      host_step_(packing_.size()), host_next_(packing_.sequences), step_(static_cast<std::size_t>(packing_.size())) {
  const std::int64_t rows = packing_.rows, sequences = packing_.sequences;
  hidden_ = activations(rows, shape.hidden);
  normed_ = activations(rows, shape.hidden);
  qkv_ = activations(rows, shape.qkv_width());
  queries_ = activations(rows, shape.query_width());
  attended_ = activations(rows, shape.query_width());
  projected_ = activations(rows, shape.hidden);
  gate_up_ = activations(rows, 2 * shape.width);
  activated_ = activations(rows, shape.width);
  last_ = activations(sequences, shape.hidden);
  logits_ = activations(sequences, shape.vocabulary);
  next_ = DeviceArray<int>(static_cast<std::size_t>(sequences));
  // One block more than the pool has, for the sequences that pad a graph.
  const std::int64_t kv_rows = (limits.kv_blocks + 1) * kBlockTokens;
  for (std::int64_t i = 0; i < shape.layers; ++i) {
    layers_.push_back({random_weights(Tensor::attention_norm, i), random_weights(Tensor::qkv, i),
                       random_weights(Tensor::attention_output, i), random_weights(Tensor::feed_norm, i),
                       random_weights(Tensor::gate_up, i), random_weights(Tensor::down, i),
                       activations(kv_rows, shape.kv_width()), activations(kv_rows, shape.kv_width())});
  }
  long floats = 0;
  for (std::int64_t n = 1; n <= sequences; ++n) {
    for (std::int64_t context = kBlockTokens; context < limits.length + kBlockTokens; context += kBlockTokens)
      floats = std::max(floats, cuda::decode_workspace_floats(static_cast<int>(n), static_cast<int>(shape.heads),
                                                              static_cast<int>(shape.head_dim), splits(n, context)));
  }
  workspace_ = DeviceArray<float>(static_cast<std::size_t>(floats));
  cuda::synchronise(machine_.stream);
}

cuda::DeviceArray<Bf16> CudaExecutor::random_weights(Tensor tensor, std::int64_t layer) const {
  const RandomTensor values = random_tensor(shape_, tensor, layer);
  const auto size = static_cast<std::size_t>(values.elements);
  if (values.centre == 0) {
    cuda::DeviceArray<Bf16> out(size);
    cuda::fill_random(out.data(), size, values.spread, values.key, machine_.stream);
    return out;
  }
  std::vector<Bf16> host;
  for (const float value : values_of(values)) host.push_back(cuda::to_bf16(value));
  return cuda::DeviceArray<Bf16>(host);
}

// Of zeros: what pads a block or a batch must be numbers.
cuda::DeviceArray<Bf16> CudaExecutor::activations(std::int64_t rows, std::int64_t width) const {
  cuda::DeviceArray<Bf16> out(static_cast<std::size_t>(rows * width));
  cuda::check(cudaMemsetAsync(out.data(), 0, out.bytes(), machine_.stream), "clearing memory");
  return out;
}

int CudaExecutor::splits(std::int64_t sequences, std::int64_t context) const {
  return cuda::decode_splits(machine_.multiprocessors, static_cast<int>(sequences), static_cast<int>(shape_.kv_heads),
                             static_cast<int>(context));
}

std::map<std::string, std::string> CudaExecutor::context() const {
  return {{"device", machine_.name},
          {"driver", std::to_string(machine_.driver_version)},
          {"cuda", std::to_string(machine_.runtime_version)},
          {"cublaslt", machine_.gemms->version()}};
}

std::unique_ptr<CudaExecutor::Gemm> CudaExecutor::plan(std::int64_t rows, std::int64_t outputs, std::int64_t inputs,
                                                       const DeviceArray<Bf16>& weights, const DeviceArray<Bf16>& x,
                                                       DeviceArray<Bf16>& out) {
  auto gemm = machine_.gemms->plan(rows, outputs, inputs, cuda::GemmFormat::kBf16, x.data(), weights.data(), out.data(),
                                   machine_.stream);
  if (!gemm) throw cuda::CudaError("planning a GEMM", "cuBLASLt knows no algorithm");
  return gemm;
}

void CudaExecutor::prepare() {
  const Layer& layer = layers_.front();
  for (const std::int64_t rows : row_ladder(limits_.tokens)) {
    products_[rows] = {plan(rows, shape_.qkv_width(), shape_.hidden, layer.qkv, normed_, qkv_),
                       plan(rows, shape_.hidden, shape_.query_width(), layer.attention_output, attended_, projected_),
                       plan(rows, 2 * shape_.width, shape_.hidden, layer.gate_up, normed_, gate_up_),
                       plan(rows, shape_.hidden, shape_.width, layer.down, activated_, projected_)};
  }
  for (const std::int64_t rows : row_ladder(limits_.sequences)) {
    heads_[rows] = plan(rows, shape_.vocabulary, shape_.hidden, head(), normed_, logits_);
    if (!use_graphs_) continue;
    const StepWork work{.rows = rows, .decodes = rows, .answers = rows, .splits = splits(rows, limits_.length)};
    graphs_.try_emplace(rows, machine_.stream, [&] { issue(work); });
  }
  cuda::synchronise(machine_.stream);
}

StepTimes CudaExecutor::run(const StepInput& input, std::span<std::int32_t> next) {
  const double start = wall_seconds();
  const cuda::Stream stream = machine_.stream;
  const bool graph = use_graphs_ && input.chunks.empty();
  const auto own = static_cast<std::int64_t>(input.contexts.size());
  StepWork work = packing_.pack(input, graph ? padded_rows(own) : own, static_cast<std::int32_t>(limits_.kv_blocks),
                                host_step_.data());
  copy(step_.data(), host_step_.data(), packing_.used(work), cudaMemcpyHostToDevice, stream);
  stopwatch_.start(stream);
  if (graph) {
    graphs_.at(work.decodes).launch(stream);
  } else {
    if (own > 0) work.splits = splits(own, *std::ranges::max_element(input.contexts));
    issue(work);
  }
  stopwatch_.stop(stream);
  copy(host_next_.data(), next_.data(), work.answers, cudaMemcpyDeviceToHost, stream);
  const double launch_s = wall_seconds() - start;
  cuda::synchronise(machine_.stream);
  std::copy_n(host_next_.data(), input.answers(), next.begin());
  return {launch_s, stopwatch_.seconds()};
}

void CudaExecutor::issue(const StepWork& work) {
  const cuda::Stream stream = machine_.stream;
  const auto hidden = static_cast<int>(shape_.hidden), answers = static_cast<int>(work.answers),
             vocabulary = static_cast<int>(shape_.vocabulary);
  cuda::embedding(step_.data() + packing_.tokens(), embedding_.data(), hidden_.data(), static_cast<int>(work.rows),
                  hidden, stream);
  Products& products = products_.at(padded_rows(work.rows));
  for (const Layer& layer : layers_) issue_layer(layer, products, work);
  if (work.answers == 0) return;
  cuda::embedding(step_.data() + packing_.answer_rows(), hidden_.data(), last_.data(), answers, hidden, stream);
  cuda::rms_norm(last_.data(), final_norm_.data(), normed_.data(), answers, hidden, stream);
  heads_.at(padded_rows(work.answers))->run(normed_.data(), head().data(), logits_.data(), stream);
  cuda::argmax(logits_.data(), next_.data(), answers, vocabulary, stream);
}

void CudaExecutor::issue_layer(const Layer& layer, Products& products, const StepWork& work) {
  const cuda::Stream stream = machine_.stream;
  const auto rows = static_cast<int>(work.rows), hidden = static_cast<int>(shape_.hidden);
  const long residual = work.rows * shape_.hidden;
  cuda::rms_norm(hidden_.data(), layer.attention_norm.data(), normed_.data(), rows, hidden, stream);
  products.qkv->run(normed_.data(), layer.qkv.data(), qkv_.data(), stream);
  attend(layer, work);
  products.attention_output->run(attended_.data(), layer.attention_output.data(), projected_.data(), stream);
  cuda::add(projected_.data(), hidden_.data(), hidden_.data(), residual, stream);

  cuda::rms_norm(hidden_.data(), layer.feed_norm.data(), normed_.data(), rows, hidden, stream);
  products.gate_up->run(normed_.data(), layer.gate_up.data(), gate_up_.data(), stream);
  cuda::silu_mul(gate_up_.data(), activated_.data(), rows, static_cast<int>(shape_.width), stream);
  products.down->run(activated_.data(), layer.down.data(), projected_.data(), stream);
  cuda::add(projected_.data(), hidden_.data(), hidden_.data(), residual, stream);
}

void CudaExecutor::attend(const Layer& layer, const StepWork& work) {
  const cuda::Stream stream = machine_.stream;
  const auto rows = static_cast<int>(work.rows), stride = static_cast<int>(shape_.qkv_width()),
             head_dim = static_cast<int>(shape_.head_dim);
  cuda::rope(qkv_.data(), step_.data() + packing_.positions(), rows, stride,
             static_cast<int>(shape_.heads + shape_.kv_heads), head_dim, kRopeBase, stream);
  const Bf16* keys = qkv_.data() + shape_.query_width();
  cuda::store_kv(keys, keys + shape_.kv_width(), step_.data() + packing_.row_sequences(),
                 step_.data() + packing_.positions(), kv_of(layer, 0), rows, stride, stream);
  // The attention kernels want queries without keys and values between them.
  const std::size_t query_bytes = static_cast<std::size_t>(shape_.query_width()) * sizeof(Bf16),
                    qkv_bytes = static_cast<std::size_t>(shape_.qkv_width()) * sizeof(Bf16);
  cuda::check(cudaMemcpy2DAsync(queries_.data(), query_bytes, qkv_.data(), qkv_bytes, query_bytes,
                                static_cast<std::size_t>(work.rows), cudaMemcpyDeviceToDevice, stream),
              "gathering queries");

  const cuda::AttentionShape shape{static_cast<int>(shape_.heads), 1 / std::sqrt(static_cast<float>(shape_.head_dim))};
  if (work.decodes > 0) {
    cuda::DecodeAttention decode;
    decode.shape = shape;
    decode.kv = kv_of(layer, 0);
    decode.queries = queries_.data();
    decode.contexts = step_.data() + packing_.contexts();
    decode.out = attended_.data();
    decode.workspace = workspace_.data();
    decode.sequences = static_cast<int>(work.decodes);
    decode.splits = work.splits;
    cuda::decode_attention(decode, stream);
  }
  if (work.chunks > 0) {
    const std::int64_t first = work.decodes * shape_.query_width();
    cuda::PrefillAttention prefill;
    prefill.shape = shape;
    prefill.kv = kv_of(layer, work.decodes);
    prefill.queries = queries_.data() + first;
    prefill.first_row = step_.data() + packing_.chunk_starts();
    prefill.contexts = step_.data() + packing_.contexts() + work.decodes;
    prefill.out = attended_.data() + first;
    prefill.sequences = static_cast<int>(work.chunks);
    prefill.longest_chunk = static_cast<int>(work.longest_chunk);
    cuda::prefill_attention(prefill, stream);
  }
}

cuda::PagedKv CudaExecutor::kv_of(const Layer& layer, std::int64_t first_sequence) const {
  const std::int64_t blocks = packing_.blocks_per_sequence;
  return {layer.keys.data(),
          layer.values.data(),
          step_.data() + packing_.tables() + first_sequence * blocks,
          static_cast<int>(blocks),
          static_cast<int>(shape_.kv_heads),
          static_cast<int>(shape_.head_dim)};
}

std::unique_ptr<Executor> make_cuda_executor(const LlamaShape& shape, const ExecutorLimits& limits, bool graphs,
                                             std::string& reason) {
  if (!cuda::has_device(0, reason)) return nullptr;
  reason = obstacle(shape);
  if (!reason.empty()) return nullptr;
  try {
    auto executor = std::make_unique<CudaExecutor>(shape, limits, graphs);
    reason = executor->missing();
    return reason.empty() ? std::move(executor) : nullptr;
  } catch (const cuda::CudaError& error) {
    reason = error.what();
    return nullptr;
  }
}

}  // namespace llmscape::live
