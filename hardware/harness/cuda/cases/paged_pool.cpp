// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/cases/paged_pool.hpp"

namespace llmscape::hardware::harness::cuda {
namespace {

int blocks_of(const PoolShape& shape) { return shape.sequences * blocks_for(shape.context); }
std::size_t elements_of(const PoolShape& shape) {
  return static_cast<std::size_t>(blocks_of(shape)) * kBlockTokens * static_cast<std::size_t>(shape.kv_heads) *
         static_cast<std::size_t>(shape.head_dim);
}

}  // namespace

double PoolShape::bytes() const { return 2.0 * static_cast<double>(elements_of(*this)) * sizeof(Bf16); }

PagedPool::PagedPool(const PoolShape& shape, int copies, std::uint64_t seed, Stream stream)
    : shape_(shape), table_(shuffled(blocks_of(shape), seed)), device_table_(table_), keys_(elements_of(shape), copies),
      values_(elements_of(shape), copies) {
  keys_.fill(1, seed + 1, stream);
  values_.fill(1, seed + 2, stream);
}

PagedKv PagedPool::view(int copy) const {
  return {keys_.at(copy),  values_.at(copy), device_table_.data(), blocks_for(shape_.context),
          shape_.kv_heads, shape_.head_dim};
}

PagedPool::Head PagedPool::head(int sequence, int kv_head, Stream stream) const {
  // Seen as blocks of one head each, the pool's block b has head h at b * kv_heads + h.
  const int count = blocks_for(shape_.context);
  std::vector<int> places;
  for (int i = 0; i < count; ++i) {
    places.push_back(table_[static_cast<std::size_t>(sequence * count + i)] * shape_.kv_heads + kv_head);
  }
  const DeviceArray<int> device_places(places);
  const std::size_t block = static_cast<std::size_t>(kBlockTokens) * static_cast<std::size_t>(shape_.head_dim);
  const DeviceArray<Bf16> gathered(block * static_cast<std::size_t>(count));
  const auto fetch = [&](const Buffers<Bf16>& from) {
    gather_blocks(reinterpret_cast<const std::byte*>(from.at(0)), device_places.data(),
                  reinterpret_cast<std::byte*>(gathered.data()), count, block * sizeof(Bf16), stream);
    synchronise(stream);
    return gathered.download();
  };
  return {fetch(keys_), fetch(values_)};
}

std::vector<double> attend(const std::vector<Bf16>& query, const PagedPool::Head& head, int visible) {
  const std::size_t width = query.size();
  std::vector<double> q, out(width);
  for (const Bf16 x : query) q.push_back(static_cast<double>(to_float(x)) / std::sqrt(static_cast<double>(width)));
  double sum = 0;
  for (std::size_t t = 0; t < static_cast<std::size_t>(visible); ++t) {
    double score = 0;
    for (std::size_t i = 0; i < width; ++i) score += q[i] * static_cast<double>(to_float(head.keys[t * width + i]));
    const double weight = std::exp(score);
    sum += weight;
    for (std::size_t i = 0; i < width; ++i)
      out[i] += weight * static_cast<double>(to_float(head.values[t * width + i]));
  }
  for (double& x : out) x /= sum;
  return out;
}

}  // namespace llmscape::hardware::harness::cuda
