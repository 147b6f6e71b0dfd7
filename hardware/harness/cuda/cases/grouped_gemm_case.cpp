// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/cases/cases.hpp"
#include "hardware/harness/cuda/kernels/grouped_gemm.hpp"

#include <algorithm>

namespace llmscape::hardware::harness::cuda {
namespace {

class GroupedGemmOf final : public CudaCase {
 public:
  GroupedGemmOf(Machine& machine, const traces::GroupedGemmCase& what, const Work& work, std::uint64_t seed)
      : CudaCase(machine, work), n_(what.n), k_(what.k), rows_(what.tokens * what.experts_per_token), seed_(seed),
        tile_rows_(best_tile_rows(rows_, static_cast<int>(what.experts))),
        tiles_(row_tiles(even_rows(rows_, what.experts), tile_rows_)), device_tiles_(tiles_),
        x_(static_cast<std::size_t>(rows_ * k_), copies()),
        weights_(static_cast<std::size_t>(what.experts * n_ * k_), copies()),
        out_(static_cast<std::size_t>(rows_ * n_), copies()) {
    x_.fill(1, seed, stream());
    weights_.fill(1, seed + 1, stream());
  }
  [[nodiscard]] double tolerance() const override { return 2 * kBf16Rounding; }

 private:
  static std::vector<int> even_rows(std::int64_t rows, std::int64_t experts) {
    std::vector<int> rows_of;
    for (std::int64_t e = 0; e < experts; ++e)
      rows_of.push_back(static_cast<int>(rows / experts + (e < rows % experts)));
    return rows_of;
  }

  void launch(int copy) override {
    grouped_gemm({x_.at(copy), weights_.at(copy), out_.at(copy), device_tiles_.data(), static_cast<int>(tiles_.size()),
                  tile_rows_, static_cast<int>(n_), static_cast<int>(k_)},
                 stream());
  }
  void poison() override { poison_bytes(out_.at(0), out_.elements() * sizeof(Bf16), stream()); }
  double compare() override {
    if (count_unwritten(out_.at(0), out_.elements(), stream()) > 0) return INFINITY;
    RelativeError error;
    const auto k = static_cast<std::size_t>(k_);
    for (const std::int64_t row : drawn_indices(rows_, 14, seed_ + 2)) {
      const auto tile = std::ranges::find_if(
          tiles_, [&](const RowTile& t) { return row >= t.first_row && row < t.first_row + t.rows; });
      const auto x = x_.download(static_cast<std::size_t>(row) * k, k);
      for (const std::int64_t column : drawn_indices(n_, 6, seed_ + 3 + static_cast<std::uint64_t>(row))) {
        const auto weights = weights_.download(static_cast<std::size_t>(tile->expert * n_ + column) * k, k);
        double sum = 0;
        for (std::size_t i = 0; i < k; ++i) {
          sum += static_cast<double>(to_float(x[i])) * static_cast<double>(to_float(weights[i]));
        }
        const Bf16 got = out_.download(static_cast<std::size_t>(row * n_ + column), 1)[0];
        error.add(static_cast<double>(to_float(got)), sum);
      }
    }
    return error.value();
  }

  std::int64_t n_, k_, rows_;
  std::uint64_t seed_;
  int tile_rows_;
  std::vector<RowTile> tiles_;
  DeviceArray<RowTile> device_tiles_;
  Buffers<Bf16> x_, weights_, out_;
};

}  // namespace

std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::GroupedGemmCase& what, std::uint64_t seed) {
  constexpr std::int64_t kMultiple = 64;
  if (what.format != "bf16" || what.n % kMultiple != 0 || what.k % kMultiple != 0 || what.experts < 1) return nullptr;
  const auto rows = static_cast<double>(what.tokens * what.experts_per_token);
  const auto n = static_cast<double>(what.n), k = static_cast<double>(what.k);
  const double all_weights = static_cast<double>(what.experts) * n * k * sizeof(Bf16);
  const double touched = std::min(1.0, rows / static_cast<double>(what.experts));  // share of experts that have rows
  const Work work{2 * rows * n * k, touched * all_weights + rows * (n + k) * sizeof(Bf16)};
  if (rows < 1 || !Machine::has_room(CudaCase::copies_for(work) * (all_weights + work.bytes))) return nullptr;
  return std::make_unique<GroupedGemmOf>(machine, what, work, seed);
}

}  // namespace llmscape::hardware::harness::cuda
