// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/elementwise.hpp"

#include "hardware/harness/cuda/cases/cases.hpp"
#include "hardware/harness/cuda/cases/rows_case.hpp"

namespace llmscape::hardware::harness::cuda {
namespace {

using traces::ElementwiseCase;
using Rows = RowsCase<Bf16, Bf16>;

class Norm final : public Rows {
 public:
  Norm(Machine& machine, const ElementwiseCase& what, std::uint64_t seed)
      : Rows(machine, what, {what.width, what.width}, seed), gain_(static_cast<std::size_t>(what.width), 1) {
    gain_.fill(1, seed + 1, stream());
  }
  [[nodiscard]] double tolerance() const override { return 2 * kBf16Rounding; }

 private:
  void launch(int copy) override { rms_norm(x_.at(copy), gain_.at(0), out_.at(copy), rows_, width_, stream()); }
  void compare_row(std::int64_t, const std::vector<Bf16>& x, const std::vector<Bf16>& out,
                   RelativeError& error) const override {
    const auto gain = gain_.download();
    double squares = 0;
    for (const Bf16 each : x) squares += number(each) * number(each);
    const double root = std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
    for (std::size_t i = 0; i < x.size(); ++i) error.add(number(out[i]), number(x[i]) / root * number(gain[i]));
  }
  Buffers<Bf16> gain_;
};

class Activation final : public Rows {
 public:
  Activation(Machine& machine, const ElementwiseCase& what, std::uint64_t seed)
      : Rows(machine, what, {2 * what.width, what.width, 4}, seed) {}
  [[nodiscard]] double tolerance() const override { return 2 * kBf16Rounding; }

 private:
  void launch(int copy) override { silu_mul(x_.at(copy), out_.at(copy), rows_, width_, stream()); }
  void compare_row(std::int64_t, const std::vector<Bf16>& x, const std::vector<Bf16>& out,
                   RelativeError& error) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double gate = number(x[i]), up = number(x[i + out.size()]);
      error.add(number(out[i]), gate / (1 + std::exp(-gate)) * up);
    }
  }
};

// The two summands of a row stand behind each other only for the count of bytes: they are two matrices.
class Add final : public Rows {
 public:
  Add(Machine& machine, const ElementwiseCase& what, std::uint64_t seed)
      : Rows(machine, what, {2 * what.width, what.width}, seed) {}
  [[nodiscard]] double tolerance() const override { return 2 * kBf16Rounding; }

 private:
  [[nodiscard]] long elements() const { return static_cast<long>(rows_) * width_; }
  void launch(int copy) override { add(x_.at(copy), x_.at(copy) + elements(), out_.at(copy), elements(), stream()); }
  void compare_row(std::int64_t row, const std::vector<Bf16>&, const std::vector<Bf16>& out,
                   RelativeError& error) const override {
    const auto a = row_of(x_, row, width_), b = row_of(x_, row + rows_, width_);
    for (std::size_t i = 0; i < out.size(); ++i) error.add(number(out[i]), number(a[i]) + number(b[i]));
  }
};

// Turns its output in place: what it reads stands there before.
class Rope final : public Rows {
 public:
  Rope(Machine& machine, const ElementwiseCase& what, std::uint64_t seed)
      : Rows(machine, what, {what.width, what.width}, seed), head_dim_(what.width % 128 == 0 ? 128 : 64),
        positions_(random_integers(what.rows, kPositions, seed + 1)), device_positions_(positions_) {
    out_.fill(1, seed, stream());  // as x_
  }
  // The angle of position 4,096 is off by 2^-22 of itself, a thousandth of a radian, where exp2 is off by two units.
  [[nodiscard]] double tolerance() const override { return 2 * kBf16Rounding + 1e-3; }

 private:
  void poison() override { out_.fill(1, seed_, stream()); }
  void launch(int copy) override {
    rope(out_.at(copy), device_positions_.data(), rows_, width_, width_ / head_dim_, head_dim_, kBase, stream());
  }
  void compare_row(std::int64_t row, const std::vector<Bf16>& x, const std::vector<Bf16>& out,
                   RelativeError& error) const override {
    const int half = head_dim_ / 2;
    for (int head = 0; head < width_; head += head_dim_) {
      for (int i = 0; i < half; ++i) {
        const auto low = static_cast<std::size_t>(head) + static_cast<std::size_t>(i),
                   high = low + static_cast<std::size_t>(half);
        const double angle = positions_[static_cast<std::size_t>(row)] *
                             std::pow(static_cast<double>(kBase), -static_cast<double>(i) / half);
        error.add(number(out[low]), number(x[low]) * std::cos(angle) - number(x[high]) * std::sin(angle));
        error.add(number(out[high]), number(x[high]) * std::cos(angle) + number(x[low]) * std::sin(angle));
      }
    }
  }
  static constexpr int kPositions = 4096;
  static constexpr float kBase = 10000;
  int head_dim_;
  std::vector<int> positions_;
  DeviceArray<int> device_positions_;
};

// Rows of one table, others for each set.
class Embedding final : public Rows {
 public:
  Embedding(Machine& machine, const ElementwiseCase& what, std::uint64_t seed)
      : Rows(machine, what, {what.width, what.width}, seed),
        table_(static_cast<std::size_t>(kVocabulary * what.width), 1),
        tokens_(random_integers(what.rows * copies(), kVocabulary, seed + 1)), device_tokens_(tokens_) {
    table_.fill(1, seed + 2, stream());
  }
  [[nodiscard]] double tolerance() const override { return 0; }

 private:
  void launch(int copy) override {
    embedding(device_tokens_.data() + static_cast<long>(copy) * rows_, table_.at(0), out_.at(copy), rows_, width_,
              stream());
  }
  void compare_row(std::int64_t row, const std::vector<Bf16>&, const std::vector<Bf16>& out,
                   RelativeError& error) const override {
    const auto wanted = row_of(table_, tokens_[static_cast<std::size_t>(row)], width_);
    for (std::size_t i = 0; i < out.size(); ++i) error.add(number(out[i]), number(wanted[i]));
  }
  static constexpr int kVocabulary = 32768;
  Buffers<Bf16> table_;
  std::vector<int> tokens_;
  DeviceArray<int> device_tokens_;
};

class Quantise final : public RowsCase<Bf16, Fp8> {
 public:
  Quantise(Machine& machine, const ElementwiseCase& what, std::uint64_t seed)
      : RowsCase(machine, what, {what.width, what.width}, seed), scales_(static_cast<std::size_t>(what.rows)) {}
  // Half the distance of numbers near 448, which is 32, and a little for the division.
  [[nodiscard]] double tolerance() const override { return 16.1 / static_cast<double>(kLargestFp8); }

 private:
  void launch(int copy) override { quantise(x_.at(copy), out_.at(copy), scales_.data(), rows_, width_, stream()); }
  void compare_row(std::int64_t row, const std::vector<Bf16>& x, const std::vector<Fp8>& out,
                   RelativeError& error) const override {
    const auto scale = static_cast<double>(scales_.download(static_cast<std::size_t>(row), 1)[0]);
    for (std::size_t i = 0; i < x.size(); ++i) error.add(number(out[i]) * scale, number(x[i]));
  }
  DeviceArray<float> scales_;
};

}  // namespace

std::unique_ptr<CudaCase> prepare_case(Machine& machine, const ElementwiseCase& what, std::uint64_t seed) {
  constexpr double kMostBytes = 24;  // of an element of a row: read, written, and the embedding's table
  if (what.rows < 1 || what.width < 8 || what.width % 8 != 0) return nullptr;
  if (!Machine::has_room(kMostBytes * static_cast<double>(what.rows * what.width) + 8e9)) return nullptr;
  if (what.kind == "quantise") return what.format == "fp8" ? std::make_unique<Quantise>(machine, what, seed) : nullptr;
  if (what.format != "bf16") return prepare_logits_case(machine, what, seed);
  if (what.kind == "norm") return std::make_unique<Norm>(machine, what, seed);
  if (what.kind == "activation") return std::make_unique<Activation>(machine, what, seed);
  if (what.kind == "add") return std::make_unique<Add>(machine, what, seed);
  if (what.kind == "rope") return what.width % 64 == 0 ? std::make_unique<Rope>(machine, what, seed) : nullptr;
  if (what.kind == "embedding") return std::make_unique<Embedding>(machine, what, seed);
  return prepare_logits_case(machine, what, seed);
}

}  // namespace llmscape::hardware::harness::cuda
