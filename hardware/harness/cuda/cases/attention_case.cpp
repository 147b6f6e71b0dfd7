// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/cases/cases.hpp"
#include "hardware/harness/cuda/cases/paged_pool.hpp"
#include "models/attention_pairs.hpp"

#include <array>

namespace llmscape::hardware::harness::cuda {
namespace {

constexpr float kQueryAmplitude = 4;  // so that some weights are far larger than others

// Decodes, or a chunk of a prompt each: `tokens` of each sequence behind `cached` ones.
struct Shape {
  bool decode;
  std::int64_t sequences, tokens, cached, heads, kv_heads, head_dim;

  [[nodiscard]] int context() const { return static_cast<int>(cached + tokens); }
  [[nodiscard]] std::int64_t rows() const { return sequences * tokens; }
  [[nodiscard]] PoolShape pool() const {
    return {static_cast<int>(sequences), context(), static_cast<int>(kv_heads), static_cast<int>(head_dim)};
  }
  [[nodiscard]] Work work() const {
    const double pairs = static_cast<double>(sequences) * models::causal_pairs(tokens, cached);
    const auto width = static_cast<double>(heads * head_dim);
    const double kv = static_cast<double>(sequences * context() * kv_heads * head_dim) * 2 * sizeof(Bf16);
    return {4 * width * pairs, kv + 2 * static_cast<double>(rows()) * width * sizeof(Bf16)};
  }
  [[nodiscard]] bool runs() const {
    return sequences > 0 && tokens > 0 && (head_dim == 64 || head_dim == 128) && kv_heads > 0 &&
           heads % kv_heads == 0 && heads / kv_heads <= kLargestGroup;
  }
};

// One kernel's buffers and its launch.
class Part {
 public:
  Part(const Shape& shape, int copies, int multiprocessors, std::uint64_t seed, Stream stream)
      : shape_(shape), seed_(seed), pool_(shape.pool(), copies, seed, stream),
        queries_(static_cast<std::size_t>(shape.rows() * shape.heads * shape.head_dim), copies),
        out_(queries_.elements(), copies),
        contexts_(std::vector<int>(static_cast<std::size_t>(shape.sequences), shape.context())),
        first_row_(first_rows(shape)) {
    queries_.fill(kQueryAmplitude, seed + 3, stream);
    if (!shape.decode) return;
    const PoolShape pool = shape.pool();
    splits_ = decode_splits(multiprocessors, pool.sequences, pool.kv_heads, pool.context);
    workspace_ = DeviceArray<float>(static_cast<std::size_t>(
        decode_workspace_floats(pool.sequences, static_cast<int>(shape.heads), pool.head_dim, splits_)));
  }

  void launch(int copy, Stream stream) const {
    const AttentionShape shape{static_cast<int>(shape_.heads), 1 / std::sqrt(static_cast<float>(shape_.head_dim))};
    const auto sequences = static_cast<int>(shape_.sequences);
    if (shape_.decode) {
      decode_attention({shape, pool_.view(copy), queries_.at(copy), contexts_.data(), out_.at(copy), workspace_.data(),
                        sequences, splits_},
                       stream);
    } else {
      prefill_attention({shape, pool_.view(copy), queries_.at(copy), first_row_.data(), contexts_.data(), out_.at(copy),
                         sequences, static_cast<int>(shape_.tokens)},
                        stream);
    }
  }
  void poison(Stream stream) const { poison_bytes(out_.at(0), out_.elements() * sizeof(Bf16), stream); }
  [[nodiscard]] bool all_written(Stream stream) const {
    return count_unwritten(out_.at(0), out_.elements(), stream) == 0;
  }

  void compare(RelativeError& error, Stream stream) const {
    const auto width = static_cast<std::size_t>(shape_.head_dim);
    const std::int64_t group = shape_.heads / shape_.kv_heads;
    // Few KV heads, as each has to travel to the host; several rows of each.
    for (const std::int64_t pair : drawn_indices(shape_.sequences * shape_.kv_heads, 2, seed_ + 4)) {
      const std::int64_t sequence = pair / shape_.kv_heads, kv_head = pair % shape_.kv_heads;
      const auto head = pool_.head(static_cast<int>(sequence), static_cast<int>(kv_head), stream);
      for (const std::int64_t row : drawn_indices(shape_.tokens * group, 4, seed_ + 5)) {
        const std::int64_t token = row / group;
        const auto at = static_cast<std::size_t>((sequence * shape_.tokens + token) * shape_.heads + kv_head * group +
                                                 row % group) *
                        width;
        const auto wanted = attend(queries_.download(at, width), head, static_cast<int>(shape_.cached + token + 1));
        const auto got = out_.download(at, width);
        for (std::size_t i = 0; i < width; ++i) error.add(static_cast<double>(to_float(got[i])), wanted[i]);
      }
    }
  }

 private:
  static std::vector<int> first_rows(const Shape& shape) {
    std::vector<int> rows;
    for (std::int64_t s = 0; s <= shape.sequences; ++s) rows.push_back(static_cast<int>(s * shape.tokens));
    return rows;
  }

  Shape shape_;
  std::uint64_t seed_;
  PagedPool pool_;
  Buffers<Bf16> queries_, out_;
  DeviceArray<int> contexts_, first_row_;
  DeviceArray<float> workspace_;
  int splits_ = 1;
};

// The kernels run one after the other.
class AttentionOf final : public CudaCase {
 public:
  AttentionOf(Machine& machine, const std::vector<Shape>& shapes, const Work& work, std::uint64_t seed)
      : CudaCase(machine, work) {
    for (const Shape& shape : shapes) {
      parts_.push_back(std::make_unique<Part>(shape, copies(), machine.multiprocessors, seed, stream()));
      seed += 16;
    }
  }
  // Weights are rounded before they meet the values, and outputs once more.
  [[nodiscard]] double tolerance() const override { return 4 * kBf16Rounding; }

 private:
  void launch(int copy) override {
    for (const auto& part : parts_) part->launch(copy, stream());
  }
  void poison() override {
    for (const auto& part : parts_) part->poison(stream());
  }
  double compare() override {
    RelativeError error;
    for (const auto& part : parts_) {
      if (!part->all_written(stream())) return INFINITY;
      part->compare(error, stream());
    }
    return error.value();
  }

  std::vector<std::unique_ptr<Part>> parts_;
};

std::unique_ptr<CudaCase> prepare_shapes(Machine& machine, const std::vector<Shape>& shapes, const std::string& format,
                                         const std::string& kv_format, std::uint64_t seed) {
  if (format != "bf16" || kv_format != "bf16") return nullptr;
  Work all;
  for (const Shape& shape : shapes) {
    if (!shape.runs()) return nullptr;
    const Work work = shape.work();
    all.flops += work.flops;
    all.bytes += work.bytes;
  }
  // Padding of the last blocks and the workspace of splits come on top of what is read and written: a half, freely.
  if (!Machine::has_room(1.5 * CudaCase::copies_for(all) * all.bytes)) return nullptr;
  return std::make_unique<AttentionOf>(machine, shapes, all, seed);
}

}  // namespace

std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::DecodeAttentionCase& what, std::uint64_t seed) {
  const Shape decodes{true, what.sequences, 1, what.context - 1, what.heads, what.kv_heads, what.head_dim};
  return prepare_shapes(machine, {decodes}, what.format, what.kv_format, seed);
}

std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::PrefillAttentionCase& what, std::uint64_t seed) {
  const Shape chunks{false, what.sequences, what.tokens, what.cached, what.heads, what.kv_heads, what.head_dim};
  return prepare_shapes(machine, {chunks}, what.format, what.kv_format, seed);
}

std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::MixedAttentionCase& what, std::uint64_t seed) {
  const Shape chunk{false, 1, what.tokens, what.cached, what.heads, what.kv_heads, what.head_dim};
  const Shape decodes{true, what.decodes, 1, what.context - 1, what.heads, what.kv_heads, what.head_dim};
  return prepare_shapes(machine, {chunk, decodes}, what.format, what.kv_format, seed);
}

}  // namespace llmscape::hardware::harness::cuda
