// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/kernels/gemm.hpp"

#include "hardware/harness/cuda/shared_library.hpp"

#include <cublasLt.h>

#include <array>
#include <limits>

namespace llmscape::hardware::harness::cuda {
namespace {

constexpr std::size_t kWorkspaceBytes = 64 << 20;  // what the library asks for on Hopper is 32 MiB
constexpr int kSuggestions = 8;                    // of the library's that are timed

// The functions of the library that are used, under their own names without the prefix.
struct Functions {
  explicit Functions(std::unique_ptr<SharedLibrary> opened) : library(std::move(opened)) {
    library->bind(get_version, "cublasLtGetVersion");
    library->bind(create, "cublasLtCreate");
    library->bind(destroy, "cublasLtDestroy");
    library->bind(matmul, "cublasLtMatmul");
    library->bind(get_heuristic, "cublasLtMatmulAlgoGetHeuristic");
    library->bind(desc_create, "cublasLtMatmulDescCreate");
    library->bind(desc_set, "cublasLtMatmulDescSetAttribute");
    library->bind(desc_destroy, "cublasLtMatmulDescDestroy");
    library->bind(layout_create, "cublasLtMatrixLayoutCreate");
    library->bind(layout_destroy, "cublasLtMatrixLayoutDestroy");
    library->bind(preference_create, "cublasLtMatmulPreferenceCreate");
    library->bind(preference_set, "cublasLtMatmulPreferenceSetAttribute");
    library->bind(preference_destroy, "cublasLtMatmulPreferenceDestroy");
  }
  std::unique_ptr<SharedLibrary> library;
  decltype(cublasLtGetVersion)* get_version = nullptr;
  decltype(cublasLtCreate)* create = nullptr;
  decltype(cublasLtDestroy)* destroy = nullptr;
  decltype(cublasLtMatmul)* matmul = nullptr;
  decltype(cublasLtMatmulAlgoGetHeuristic)* get_heuristic = nullptr;
  decltype(cublasLtMatmulDescCreate)* desc_create = nullptr;
  decltype(cublasLtMatmulDescSetAttribute)* desc_set = nullptr;
  decltype(cublasLtMatmulDescDestroy)* desc_destroy = nullptr;
  decltype(cublasLtMatrixLayoutCreate)* layout_create = nullptr;
  decltype(cublasLtMatrixLayoutDestroy)* layout_destroy = nullptr;
  decltype(cublasLtMatmulPreferenceCreate)* preference_create = nullptr;
  decltype(cublasLtMatmulPreferenceSetAttribute)* preference_set = nullptr;
  decltype(cublasLtMatmulPreferenceDestroy)* preference_destroy = nullptr;
};

void check_cublas(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) throw CudaError(what, "cuBLASLt status " + std::to_string(status));
}

struct Library {
  explicit Library(std::unique_ptr<SharedLibrary> opened) : functions(std::move(opened)), workspace(kWorkspaceBytes) {
    check_cublas(functions.create(&handle), "starting cuBLASLt");
  }
  ~Library() { functions.destroy(handle); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  Functions functions;
  cublasLtHandle_t handle = nullptr;
  DeviceArray<std::byte> workspace;
};

// The library's matrices are column-major: seen so, out^T [n x m] = (weights [k x n])^T x [k x m].
class PlannedGemm final : public GemmLibrary::Gemm {
 public:
  PlannedGemm(std::shared_ptr<const Library> library, std::int64_t m, std::int64_t n, std::int64_t k, GemmFormat format)
      : library_(std::move(library)) {
    const Functions& f = library_->functions;
    const auto type = format == GemmFormat::kFp8 ? CUDA_R_8F_E4M3 : CUDA_R_16BF;
    const cublasOperation_t transposed = CUBLAS_OP_T;
    const auto rows = static_cast<std::uint64_t>(m), columns = static_cast<std::uint64_t>(n);
    const auto depth = static_cast<std::uint64_t>(k);
    check_cublas(f.desc_create(&product_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "describing a GEMM");
    check_cublas(f.desc_set(product_, CUBLASLT_MATMUL_DESC_TRANSA, &transposed, sizeof transposed),
                 "describing a GEMM");
    if (format == GemmFormat::kFp8) {
      for (const auto scale : {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER}) {
        const float* one = one_.data();
        check_cublas(f.desc_set(product_, scale, &one, sizeof one), "describing a GEMM");
      }
    }
    check_cublas(f.layout_create(&weights_, type, depth, columns, k), "describing a GEMM");
    check_cublas(f.layout_create(&x_, type, depth, rows, k), "describing a GEMM");
    check_cublas(f.layout_create(&out_, CUDA_R_16BF, columns, rows, n), "describing a GEMM");
  }
  ~PlannedGemm() override {
    const Functions& f = library_->functions;
    f.layout_destroy(weights_);
    f.layout_destroy(x_);
    f.layout_destroy(out_);
    f.desc_destroy(product_);
  }
  PlannedGemm(const PlannedGemm&) = delete;
  PlannedGemm& operator=(const PlannedGemm&) = delete;

  void run(const void* x, const void* weights, Bf16* out, Stream stream) override {
    check_cublas(try_run(algorithm_, x, weights, out, stream), "GEMM");
  }

  // False where there is nothing to choose from.
  bool choose(const void* x, const void* weights, Bf16* out, Stream stream) {
    Stopwatch stopwatch;
    double best = std::numeric_limits<double>::infinity();
    for (const cublasLtMatmulAlgo_t& algorithm : suggestions()) {
      // The second run is the one that counts: the first loads the kernel.
      if (try_run(algorithm, x, weights, out, stream) != CUBLAS_STATUS_SUCCESS) continue;
      stopwatch.start(stream);
      check_cublas(try_run(algorithm, x, weights, out, stream), "GEMM");
      stopwatch.stop(stream);
      if (const double seconds = stopwatch.seconds(); seconds < best) {
        best = seconds;
        algorithm_ = algorithm;
      }
    }
    return best < std::numeric_limits<double>::infinity();
  }

 private:
  [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> suggestions() const {
    const Functions& f = library_->functions;
    cublasLtMatmulPreference_t preference = nullptr;
    check_cublas(f.preference_create(&preference), "choosing a GEMM");
    const std::size_t limit = library_->workspace.bytes();
    std::array<cublasLtMatmulHeuristicResult_t, kSuggestions> found{};
    int count = 0;
    auto status = f.preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &limit, sizeof limit);
    if (status == CUBLAS_STATUS_SUCCESS) {
      status = f.get_heuristic(library_->handle, product_, weights_, x_, out_, out_, preference, kSuggestions,
                               found.data(), &count);
    }
    f.preference_destroy(preference);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
    check_cublas(status, "choosing a GEMM");
    std::vector<cublasLtMatmulAlgo_t> algorithms;
    for (int i = 0; i < count; ++i) {
      const auto& suggestion = found[static_cast<std::size_t>(i)];
      if (suggestion.state == CUBLAS_STATUS_SUCCESS) algorithms.push_back(suggestion.algo);
    }
    return algorithms;
  }

  cublasStatus_t try_run(const cublasLtMatmulAlgo_t& algorithm, const void* x, const void* weights, Bf16* out,
                         Stream stream) const {
    const float one = 1, zero = 0;
    return library_->functions.matmul(library_->handle, product_, &one, weights, weights_, x, x_, &zero, out, out_, out,
                                      out_, &algorithm, library_->workspace.data(), library_->workspace.bytes(),
                                      stream);
  }

  std::shared_ptr<const Library> library_;
  DeviceArray<float> one_ = DeviceArray<float>(std::vector<float>{1});
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t weights_ = nullptr, x_ = nullptr, out_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

class CublasLt final : public GemmLibrary {
 public:
  explicit CublasLt(std::unique_ptr<SharedLibrary> opened) : library_(std::make_shared<Library>(std::move(opened))) {}

  [[nodiscard]] std::string version() const override { return std::to_string(library_->functions.get_version()); }
  std::unique_ptr<Gemm> plan(std::int64_t m, std::int64_t n, std::int64_t k, GemmFormat format, const void* x,
                             const void* weights, Bf16* out, Stream stream) override {
    auto gemm = std::make_unique<PlannedGemm>(library_, m, n, k, format);
    if (!gemm->choose(x, weights, out, stream)) return nullptr;
    return gemm;
  }

 private:
  std::shared_ptr<const Library> library_;
};

}  // namespace

std::unique_ptr<GemmLibrary> GemmLibrary::load(std::string& reason) {
  const std::string name = "libcublasLt.so." + std::to_string(CUBLAS_VER_MAJOR);
  // The toolkit's folder, where the system's loader does not look by itself.
  auto opened = SharedLibrary::open({name, LLMSCAPE_CUDA_LIBRARIES "/" + name}, reason);
  if (!opened) return nullptr;
  try {
    return std::make_unique<CublasLt>(std::move(opened));
  } catch (const CudaError& error) {  // another version's interface, or a device it does not know
    reason = error.what();
    return nullptr;
  }
}

}  // namespace llmscape::hardware::harness::cuda
