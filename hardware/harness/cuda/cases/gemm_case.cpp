// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/cases/cases.hpp"

namespace llmscape::hardware::harness::cuda {
namespace {

template <class T>
std::vector<double> row_of(const Buffers<T>& matrix, std::int64_t row, std::int64_t width) {
  const auto bits = matrix.download(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width));
  std::vector<double> numbers;
  for (const T x : bits) numbers.push_back(static_cast<double>(to_float(x)));
  return numbers;
}

// T: the format of both operands.
template <class T>
class GemmOf final : public CudaCase {
 public:
  GemmOf(Machine& machine, const traces::GemmCase& what, const Work& work, std::uint64_t seed)
      : CudaCase(machine, work), shape_(what), seed_(seed), x_(elements(what.m, what.k), copies()),
        weights_(elements(what.n, what.k), copies()), out_(elements(what.m, what.n), copies()) {
    x_.fill(1, seed, stream());
    weights_.fill(1, seed + 1, stream());
    constexpr auto kFormat = sizeof(T) == 1 ? GemmFormat::kFp8 : GemmFormat::kBf16;
    gemm_ = machine.gemms->plan(what.m, what.n, what.k, kFormat, x_.at(0), weights_.at(0), out_.at(0), stream());
  }
  [[nodiscard]] bool has_algorithm() const { return gemm_ != nullptr; }

  // Sums of fp8 products keep some 14 bits on Hopper's tensor cores: nearly 2 % were seen at k = 4,096 (DeepSeek-V3
  // technical report, section 3.3.2).
  [[nodiscard]] double tolerance() const override { return sizeof(T) == 1 ? 0.02 : 2 * kBf16Rounding; }

 private:
  static std::size_t elements(std::int64_t rows, std::int64_t columns) {
    return static_cast<std::size_t>(rows * columns);
  }

  void launch(int copy) override { gemm_->run(x_.at(copy), weights_.at(copy), out_.at(copy), stream()); }
  void poison() override { poison_bytes(out_.at(0), out_.elements() * sizeof(Bf16), stream()); }
  double compare() override {
    if (count_unwritten(out_.at(0), out_.elements(), stream()) > 0) return INFINITY;
    RelativeError error;
    const auto columns = drawn_indices(shape_.n, 14, seed_ + 2);
    std::vector<std::vector<double>> weights;
    for (const std::int64_t column : columns) weights.push_back(row_of(weights_, column, shape_.k));
    for (const std::int64_t row : drawn_indices(shape_.m, 14, seed_ + 3)) {
      const auto x = row_of(x_, row, shape_.k), out = row_of(out_, row, shape_.n);
      for (std::size_t j = 0; j < columns.size(); ++j) {
        double sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * weights[j][i];
        error.add(out[static_cast<std::size_t>(columns[j])], sum);
      }
    }
    return error.value();
  }

  traces::GemmCase shape_;
  std::uint64_t seed_;
  Buffers<T> x_, weights_;
  Buffers<Bf16> out_;
  std::unique_ptr<GemmLibrary::Gemm> gemm_;
};

template <class T>
std::unique_ptr<CudaCase> prepare_as(Machine& machine, const traces::GemmCase& what, std::uint64_t seed) {
  const auto m = static_cast<double>(what.m), n = static_cast<double>(what.n), k = static_cast<double>(what.k);
  const Work work{2 * m * n * k, (m + n) * k * sizeof(T) + m * n * sizeof(Bf16)};
  constexpr std::int64_t kAligned = 16 / sizeof(T);
  if (what.k % kAligned != 0 || what.n % 8 != 0 || !Machine::has_room(CudaCase::copies_for(work) * work.bytes))
    return nullptr;
  auto gemm = std::make_unique<GemmOf<T>>(machine, what, work, seed);
  if (!gemm->has_algorithm()) return nullptr;
  return gemm;
}

}  // namespace

std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::GemmCase& what, std::uint64_t seed) {
  if (machine.gemms == nullptr) return nullptr;
  if (what.format == "bf16") return prepare_as<Bf16>(machine, what, seed);
  if (what.format == "fp8") return prepare_as<Fp8>(machine, what, seed);
  return nullptr;
}

}  // namespace llmscape::hardware::harness::cuda
