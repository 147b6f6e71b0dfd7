// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu_kernels/linear.hpp"

#include "hardware/harness/cpu_kernels/large_vector.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>

// Of GCC's OpenMP runtime, whose header other compilers do not find.
extern "C" void omp_set_num_threads(int threads);

namespace llmscape::hardware::harness::cpu_kernels {
namespace {

using Layout = dnnl::memory::desc;
constexpr auto kFloat = dnnl::memory::data_type::f32;

Layout rows_layout(std::int64_t rows, std::int64_t width, std::int64_t stride) {
  return {{rows, width}, kFloat, dnnl::memory::dims{stride, 1}};
}

// The description of a GEMM, in the one step of oneDNN 3 or the two of oneDNN 2.
template <class Matmul>
auto describe(const dnnl::engine& engine, const Layout& x, const Layout& weights, const Layout& y) {
  using Description = typename Matmul::primitive_desc;
  if constexpr (requires { typename Matmul::desc; }) {
    return Description(typename Matmul::desc(x, weights, y), engine);
  } else {
    return Description(engine, x, weights, y);
  }
}

// oneDNN's state and the kernels made so far: making one costs as much as many a GEMM.
class Library {
 public:
  Library() { omp_set_num_threads(1); }

  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};

  // The kernels' own choice of layout, which does not depend on the number of rows.
  [[nodiscard]] Layout weights_layout(std::int64_t inputs, std::int64_t outputs) const {
    constexpr std::int64_t kTypicalRows = 64;
    return describe<dnnl::matmul>(engine, rows_layout(kTypicalRows, inputs, inputs),
                                  {{inputs, outputs}, kFloat, dnnl::memory::format_tag::any},
                                  rows_layout(kTypicalRows, outputs, outputs))
        .weights_desc();
  }

  // Kept between calls: fresh pages would cost more than the copies into them.
  LargeVector& room_for(std::int64_t floats) {
    if (static_cast<std::int64_t>(room_.size()) < floats) room_.resize(static_cast<std::size_t>(floats));
    return room_;
  }

  const dnnl::matmul& product(Rows<const float> x, const Layout& weights, Rows<float> y) {
    const auto [found, fresh] = products_.try_emplace({x.rows, x.width, x.stride, y.width, y.stride});
    if (fresh) {
      found->second = dnnl::matmul(describe<dnnl::matmul>(engine, rows_layout(x.rows, x.width, x.stride), weights,
                                                          rows_layout(y.rows, y.width, y.stride)));
    }
    return found->second;
  }

 private:
  using Shape = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;
  std::map<Shape, dnnl::matmul> products_;
  LargeVector room_;
};

Library& library() {
  static Library the_library;
  return the_library;
}

dnnl::memory memory_of(Rows<const float> rows) {
  // oneDNN takes what it only reads as void*, too.
  return {rows_layout(rows.rows, rows.width, rows.stride), library().engine, const_cast<float*>(rows.data)};  // NOLINT
}

}  // namespace

struct Linear::Packed {
  Layout layout;
  LargeVector weights;
  dnnl::memory memory;
};

Linear::Linear(std::int64_t outputs, std::int64_t inputs, std::span<const float> weights)
    : outputs_(outputs), inputs_(inputs) {
  if (static_cast<std::int64_t>(weights.size()) != outputs * inputs)
    throw std::invalid_argument("weights of a linear layer are not outputs x inputs");
  Library& lib = library();
  const Layout layout = lib.weights_layout(inputs, outputs);
  LargeVector storage(layout.get_size() / sizeof(float));
  dnnl::memory memory(layout, lib.engine, storage.data());
  packed_ = std::make_unique<Packed>(Packed{layout, std::move(storage), std::move(memory)});
  const Layout given({inputs, outputs}, kFloat, dnnl::memory::dims{1, inputs});
  dnnl::memory source(given, lib.engine, const_cast<float*>(weights.data()));  // NOLINT: only read
  dnnl::reorder(source, packed_->memory).execute(lib.stream, source, packed_->memory);
  lib.stream.wait();
}
Linear::~Linear() = default;
Linear::Linear(Linear&&) noexcept = default;
Linear& Linear::operator=(Linear&&) noexcept = default;

void Linear::run(Rows<const float> x, Rows<float> y) const {
  // One to three rows take oneDNN 2.6 longer than four.
  constexpr std::int64_t kLeastRows = 4;
  if (x.rows >= kLeastRows) return multiply(x, y);
  if (x.rows == 0) return;
  LargeVector& padded = library().room_for(kLeastRows * (inputs_ + outputs_));
  const Rows<float> inputs{padded.data(), kLeastRows, inputs_, inputs_};
  const Rows<float> outputs{padded.data() + kLeastRows * inputs_, kLeastRows, outputs_, outputs_};
  for (std::int64_t row = 0; row < x.rows; ++row) std::ranges::copy(x[row], inputs[row].begin());
  multiply(inputs, outputs);
  for (std::int64_t row = 0; row < x.rows; ++row) std::ranges::copy(outputs[row], y[row].begin());
}

void Linear::multiply(Rows<const float> x, Rows<float> y) const {
  Library& lib = library();
  lib.product(x, packed_->layout, y)
      .execute(lib.stream,
               {{DNNL_ARG_SRC, memory_of(x)}, {DNNL_ARG_WEIGHTS, packed_->memory}, {DNNL_ARG_DST, memory_of(y)}});
  lib.stream.wait();
}

std::string onednn_version() {
  const dnnl_version_t* v = dnnl_version();
  return std::to_string(v->major) + '.' + std::to_string(v->minor) + '.' + std::to_string(v->patch);
}

}  // namespace llmscape::hardware::harness::cpu_kernels
