// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "hardware/harness/cuda/cases/cuda_case.hpp"
#include "traces/kernel_record.hpp"

namespace llmscape::hardware::harness::cuda {

// A kernel that goes over rows of numbers: what those of all kinds share. In and Out are what it reads and writes, so
// many elements a row.
template <class In, class Out>
class RowsCase : public CudaCase {
 protected:
  struct Layout {
    std::int64_t read, written;  // elements of a row
    float amplitude = 1;         // of what is read
  };

  RowsCase(Machine& machine, const traces::ElementwiseCase& what, const Layout& layout, std::uint64_t seed)
      : CudaCase(machine, {0, static_cast<double>(what.rows) *
                                  static_cast<double>(layout.read * sizeof(In) + layout.written * sizeof(Out))}),
        rows_(static_cast<int>(what.rows)), width_(static_cast<int>(what.width)), seed_(seed), layout_(layout),
        x_(static_cast<std::size_t>(what.rows * layout.read), copies()),
        out_(static_cast<std::size_t>(what.rows * layout.written), copies()) {
    x_.fill(layout.amplitude, seed, stream());
  }

  // Adds one row's differences; `x` and `out` are what was read and what was written.
  virtual void compare_row(std::int64_t row, const std::vector<In>& x, const std::vector<Out>& out,
                           RelativeError& error) const = 0;

  void poison() override { poison_bytes(out_.at(0), out_.elements() * sizeof(Out), stream()); }
  double compare() override {
    if (!all_written()) return INFINITY;
    RelativeError error;
    for (const std::int64_t row : drawn_indices(rows_, 6, seed_ + 9)) {
      compare_row(row, row_of(x_, row, layout_.read), row_of(out_, row, layout_.written), error);
    }
    return error.value();
  }

  template <class T>
  static std::vector<T> row_of(const Buffers<T>& rows, std::int64_t row, std::int64_t width) {
    return rows.download(static_cast<std::size_t>(row * width), static_cast<std::size_t>(width));
  }

  int rows_, width_;
  std::uint64_t seed_;
  Layout layout_;
  Buffers<In> x_;
  Buffers<Out> out_;

 private:
  [[nodiscard]] bool all_written() const {
    if constexpr (std::is_same_v<Out, int>) {
      return true;  // compare_row sees whether a token is one
    } else {
      return count_unwritten(out_.at(0), out_.elements(), stream()) == 0;
    }
  }
};

inline double number(Bf16 x) { return static_cast<double>(to_float(x)); }
inline double number(Fp8 x) { return static_cast<double>(to_float(x)); }

// Whole numbers below `end`, `count` of them.
inline std::vector<int> random_integers(std::int64_t count, int end, std::uint64_t seed) {
  std::vector<int> numbers;
  for (std::int64_t i = 0; i < count; ++i) {
    numbers.push_back(
        std::min(static_cast<int>(uniform(seed, static_cast<std::uint64_t>(i)) * static_cast<float>(end)), end - 1));
  }
  return numbers;
}

// Kinds over rows of logits; nothing for others.
std::unique_ptr<CudaCase> prepare_logits_case(Machine& machine, const traces::ElementwiseCase& what,
                                              std::uint64_t seed);

}  // namespace llmscape::hardware::harness::cuda
