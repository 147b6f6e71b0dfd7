// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/cases/cases.hpp"
#include "hardware/harness/cuda/shared_library.hpp"

#include <cuda_runtime_api.h>

#include <numeric>

namespace llmscape::hardware::harness::cuda {
namespace {

// The part of NCCL's interface that is used, as its header nccl.h declares it; it has not changed since version 2.2.
struct Nccl {
  using Communicator = struct ncclComm*;
  static constexpr int kSum = 0, kBfloat16 = 9;

  explicit Nccl(std::unique_ptr<SharedLibrary> opened) : library(std::move(opened)) {
    library->bind(init_all, "ncclCommInitAll");
    library->bind(destroy, "ncclCommDestroy");
    library->bind(group_start, "ncclGroupStart");
    library->bind(group_end, "ncclGroupEnd");
    library->bind(all_reduce, "ncclAllReduce");
  }
  std::unique_ptr<SharedLibrary> library;
  int (*init_all)(Communicator*, int, const int*) = nullptr;
  int (*destroy)(Communicator) = nullptr;
  int (*group_start)() = nullptr;
  int (*group_end)() = nullptr;
  int (*all_reduce)(const void*, void*, std::size_t, int, int, Communicator, Stream) = nullptr;
};

void check_nccl(int status, const char* what) {
  if (status != 0) throw CudaError(what, "NCCL status " + std::to_string(status));
}

struct Rank {
  DeviceArray<Bf16> data, sum;
  std::unique_ptr<OwnedStream> stream;
  Nccl::Communicator communicator = nullptr;
};

// One process with a stream and a communicator on each GPU. Times are of rank 0, on its stream, and hold the host's
// launches of the other ranks behind its own: some microseconds a rank, which small messages do not hide.
class AllReduce final : public CudaCase {
 public:
  AllReduce(Machine& machine, const traces::CollectiveCase& what, std::unique_ptr<SharedLibrary> library,
            std::uint64_t seed)
      : CudaCase(machine, {0, static_cast<double>(what.bytes)}, 1), nccl_(std::move(library)),
        elements_(static_cast<std::size_t>(what.bytes) / sizeof(Bf16)), ranks_(static_cast<std::size_t>(what.ranks)) {
    std::vector<int> devices(ranks_.size());
    std::iota(devices.begin(), devices.end(), 0);
    std::vector<Nccl::Communicator> communicators(ranks_.size());
    check_nccl(nccl_.init_all(communicators.data(), static_cast<int>(what.ranks), devices.data()), "starting NCCL");
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      check(cudaSetDevice(devices[i]), "choosing a device");
      ranks_[i] = {DeviceArray<Bf16>(elements_), DeviceArray<Bf16>(elements_), std::make_unique<OwnedStream>(),
                   communicators[i]};
      fill_random(ranks_[i].data.data(), elements_, 1, seed + i, *ranks_[i].stream);
      synchronise(*ranks_[i].stream);
    }
    check(cudaSetDevice(machine_.device), "choosing a device");
  }
  ~AllReduce() override {
    for (const Rank& rank : ranks_) nccl_.destroy(rank.communicator);
  }
  AllReduce(const AllReduce&) = delete;
  AllReduce& operator=(const AllReduce&) = delete;

  // Partial sums may be rounded at every rank.
  [[nodiscard]] double tolerance() const override { return static_cast<double>(ranks_.size()) * kBf16Rounding; }
  Seconds sample() override {
    Stopwatch stopwatch;
    synchronise_all();
    stopwatch.start(*ranks_[0].stream);
    launch(0);
    stopwatch.stop(*ranks_[0].stream);
    const double seconds = stopwatch.seconds();
    synchronise_all();
    return Seconds(seconds);
  }

 private:
  void synchronise_all() const {
    for (const Rank& rank : ranks_) synchronise(*rank.stream);
  }
  void launch(int) override {
    check_nccl(nccl_.group_start(), "all-reduce");
    for (const Rank& rank : ranks_) {
      check_nccl(nccl_.all_reduce(rank.data.data(), rank.sum.data(), elements_, Nccl::kBfloat16, Nccl::kSum,
                                  rank.communicator, *rank.stream),
                 "all-reduce");
    }
    check_nccl(nccl_.group_end(), "all-reduce");
  }
  void poison() override {
    for (const Rank& rank : ranks_) poison_bytes(rank.sum.data(), rank.sum.bytes(), *rank.stream);
    synchronise_all();
  }
  double compare() override {
    synchronise_all();
    std::vector<double> wanted(elements_);
    for (const Rank& rank : ranks_) {
      const auto data = rank.data.download();
      for (std::size_t i = 0; i < elements_; ++i) wanted[i] += static_cast<double>(to_float(data[i]));
    }
    RelativeError error;
    for (const Rank& rank : ranks_) {
      const auto sum = rank.sum.download();
      for (std::size_t i = 0; i < elements_; ++i) error.add(static_cast<double>(to_float(sum[i])), wanted[i]);
    }
    return error.value();
  }

  Nccl nccl_;
  std::size_t elements_;
  std::vector<Rank> ranks_;
};

}  // namespace

std::unique_ptr<CudaCase> prepare_case(Machine& machine, const traces::CollectiveCase& what, std::uint64_t seed) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices), "counting devices");
  const bool here = what.ranks >= 2 && what.ranks <= devices && what.ranks_per_node == what.ranks;
  if (!here || machine.device != 0 || what.kind != "all_reduce" || what.implementation != "nccl") return nullptr;
  if (what.bytes < 2 || !Machine::has_room(2.0 * static_cast<double>(what.bytes))) return nullptr;
  std::string reason;
  auto library = SharedLibrary::open({"libnccl.so.2", LLMSCAPE_CUDA_LIBRARIES "/libnccl.so.2"}, reason);
  return library ? std::make_unique<AllReduce>(machine, what, std::move(library), seed) : nullptr;
}

}  // namespace llmscape::hardware::harness::cuda
