// SPDX-License-Identifier: Apache-2.0
// The module that brings oneDNN: no other file includes it.
#include "hardware/harness/cpu_kernels/packed_product.hpp"

#include "hardware/harness/cpu_kernels/large_vector.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <map>
#include <tuple>
#include <utility>

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
};

Library& library() {
  static Library the_library;
  return the_library;
}

dnnl::memory memory_of(Rows<const float> rows) {
  // oneDNN takes what it only reads as void*, too.
  return {rows_layout(rows.rows, rows.width, rows.stride), library().engine, const_cast<float*>(rows.data)};  // NOLINT
}

class OneDnnProduct final : public PackedProduct {
 public:
  OneDnnProduct(std::int64_t outputs, std::int64_t inputs, std::span<const float> weights)
      : layout_(library().weights_layout(inputs, outputs)), weights_(layout_.get_size() / sizeof(float)),
        memory_(layout_, library().engine, weights_.data()) {
    const Layout given({inputs, outputs}, kFloat, dnnl::memory::dims{1, inputs});
    dnnl::memory source(given, library().engine, const_cast<float*>(weights.data()));  // NOLINT: only read
    dnnl::reorder(source, memory_).execute(library().stream, source, memory_);
    library().stream.wait();
  }

  void multiply(Rows<const float> x, Rows<float> y) const override {
    Library& lib = library();
    lib.product(x, layout_, y)
        .execute(lib.stream, {{DNNL_ARG_SRC, memory_of(x)}, {DNNL_ARG_WEIGHTS, memory_}, {DNNL_ARG_DST, memory_of(y)}});
    lib.stream.wait();
  }

 private:
  Layout layout_;
  LargeVector weights_;
  dnnl::memory memory_;
};

std::unique_ptr<PackedProduct> pack(std::int64_t outputs, std::int64_t inputs, std::span<const float> weights) {
  return std::make_unique<OneDnnProduct>(outputs, inputs, weights);
}

std::string version() {
  const dnnl_version_t* v = dnnl_version();
  return std::to_string(v->major) + '.' + std::to_string(v->minor) + '.' + std::to_string(v->patch);
}

}  // namespace
}  // namespace llmscape::hardware::harness::cpu_kernels

extern "C" const llmscape::hardware::harness::cpu_kernels::OneDnn* llmscape_onednn() {
  using namespace llmscape::hardware::harness::cpu_kernels;
  static constexpr OneDnn functions{&pack, &version};
  return &functions;
}
