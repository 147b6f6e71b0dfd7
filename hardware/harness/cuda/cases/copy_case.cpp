// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/cases/cases.hpp"

#include <cuda_runtime_api.h>

#include <cstring>

namespace llmscape::hardware::harness::cuda {
namespace {

using traces::CopyCase;

void copy_bytes(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, Stream stream) {
  check(cudaMemcpyAsync(to, from, bytes, kind, stream), "copying");
}

// Floats of the device into others.
class DeviceCopy : public CudaCase {
 public:
  [[nodiscard]] double tolerance() const override { return 0; }

 protected:
  DeviceCopy(Machine& machine, const CopyCase& what, const Work& work, std::uint64_t seed)
      : CudaCase(machine, work), seed_(seed), from_(static_cast<std::size_t>(what.bytes) / sizeof(float), copies()),
        to_(from_.elements(), copies()) {
    from_.fill(1, seed, stream());
  }
  void poison() override { poison_bytes(to_.at(0), to_.elements() * sizeof(float), stream()); }
  [[nodiscard]] virtual float wanted(std::size_t i) const { return from_.download(i, 1)[0]; }
  double compare() override {
    if (count_unwritten(to_.at(0), to_.elements(), stream()) > 0) return INFINITY;
    RelativeError error;
    for (const std::int64_t i : drawn_indices(static_cast<std::int64_t>(to_.elements()), 62, seed_ + 1)) {
      const auto at = static_cast<std::size_t>(i);
      error.add(static_cast<double>(to_.download(at, 1)[0]), static_cast<double>(wanted(at)));
    }
    return error.value();
  }

  std::uint64_t seed_;
  Buffers<float> from_, to_;
};

class PlainCopy final : public DeviceCopy {
 public:
  PlainCopy(Machine& machine, const CopyCase& what, std::uint64_t seed)
      : DeviceCopy(machine, what, {0, 2.0 * static_cast<double>(what.bytes)}, seed) {}

 private:
  void launch(int copy) override {
    copy_bytes(to_.at(copy), from_.at(copy), from_.elements() * sizeof(float), cudaMemcpyDeviceToDevice, stream());
  }
};

class Triad final : public DeviceCopy {
 public:
  Triad(Machine& machine, const CopyCase& what, std::uint64_t seed)
      : DeviceCopy(machine, what, {0.5 * static_cast<double>(what.bytes), 3.0 * static_cast<double>(what.bytes)}, seed),
        scaled_(from_.elements(), copies()) {
    scaled_.fill(1, seed + 2, stream());
  }
  // A product and a sum of numbers below 4, in float, fused or not.
  [[nodiscard]] double tolerance() const override { return 0x1p-22; }

 private:
  void launch(int copy) override {
    triad(to_.at(copy), from_.at(copy), scaled_.at(copy), kScale, to_.elements(), stream());
  }
  [[nodiscard]] float wanted(std::size_t i) const override {
    return from_.download(i, 1)[0] + kScale * scaled_.download(i, 1)[0];
  }
  static constexpr float kScale = 3;
  Buffers<float> scaled_;
};

class Gather final : public DeviceCopy {
 public:
  Gather(Machine& machine, const CopyCase& what, std::uint64_t seed)
      : DeviceCopy(machine, what, {0, 2.0 * static_cast<double>(what.bytes)}, seed),
        block_bytes_(static_cast<std::size_t>(what.block)),
        blocks_(shuffled(static_cast<int>(what.bytes / what.block), seed)), device_blocks_(blocks_) {}

 private:
  void launch(int copy) override {
    gather_blocks(reinterpret_cast<const std::byte*>(from_.at(copy)), device_blocks_.data(),
                  reinterpret_cast<std::byte*>(to_.at(copy)), static_cast<int>(blocks_.size()), block_bytes_, stream());
  }
  [[nodiscard]] float wanted(std::size_t i) const override {
    const std::size_t block = block_bytes_ / sizeof(float);
    return from_.download(static_cast<std::size_t>(blocks_[i / block]) * block + i % block, 1)[0];
  }
  std::size_t block_bytes_;
  std::vector<int> blocks_;
  DeviceArray<int> device_blocks_;
};

// Memory of the host, pinned or not.
class HostBytes {
 public:
  HostBytes(std::size_t size, bool pinned) : pageable_(pinned ? 0 : size) {
    if (pinned) check(cudaMallocHost(&pinned_, size), "allocating pinned memory");
  }
  ~HostBytes() { cudaFreeHost(pinned_); }
  HostBytes(const HostBytes&) = delete;
  HostBytes& operator=(const HostBytes&) = delete;
  [[nodiscard]] std::byte* data() { return pinned_ != nullptr ? static_cast<std::byte*>(pinned_) : pageable_.data(); }

 private:
  void* pinned_ = nullptr;
  std::vector<std::byte> pageable_;
};

// Over the link between host and device. Not as a graph: a copy of pageable memory passes through the driver's hands.
class HostCopy final : public CudaCase {
 public:
  HostCopy(Machine& machine, const CopyCase& what, std::uint64_t seed)
      : CudaCase(machine, {0, static_cast<double>(what.bytes)}, 1), to_host_(what.kind == "device_to_host"),
        host_(static_cast<std::size_t>(what.bytes), what.kind != "pageable_to_device"),
        device_(static_cast<std::size_t>(what.bytes) / sizeof(float)) {
    fill_random(device_.data(), device_.size(), 1, seed, stream());
    synchronise(stream());
    pattern_ = device_.download();
    std::memcpy(host_.data(), pattern_.data(), device_.bytes());
  }
  [[nodiscard]] double tolerance() const override { return 0; }
  Seconds sample() override {
    stopwatch_.start(stream());
    launch(0);
    stopwatch_.stop(stream());
    return Seconds(stopwatch_.seconds());
  }

 private:
  void launch(int) override {
    if (to_host_) copy_bytes(host_.data(), device_.data(), device_.bytes(), cudaMemcpyDeviceToHost, stream());
    else copy_bytes(device_.data(), host_.data(), device_.bytes(), cudaMemcpyHostToDevice, stream());
  }
  void poison() override {
    if (to_host_) std::memset(host_.data(), 0xff, device_.bytes());
    else poison_bytes(device_.data(), device_.bytes(), stream());
  }
  double compare() override {
    const bool same =
        to_host_ ? std::memcmp(host_.data(), pattern_.data(), device_.bytes()) == 0 : device_.download() == pattern_;
    return same ? 0 : INFINITY;
  }

  bool to_host_;
  HostBytes host_;
  DeviceArray<float> device_;
  std::vector<float> pattern_;
  Stopwatch stopwatch_;
};

}  // namespace

std::unique_ptr<CudaCase> prepare_case(Machine& machine, const CopyCase& what, std::uint64_t seed) {
  constexpr std::int64_t kVector = 16;
  constexpr double kArrays = 3;
  const Work traffic{0, kArrays * static_cast<double>(what.bytes)};
  if (what.bytes < kVector || what.bytes % kVector != 0) return nullptr;
  if (!Machine::has_room(CudaCase::copies_for(traffic) * traffic.bytes)) return nullptr;
  if (what.kind == "device") return std::make_unique<PlainCopy>(machine, what, seed);
  if (what.kind == "triad") return std::make_unique<Triad>(machine, what, seed);
  if (what.kind == "kv_gather") {
    const bool whole = what.block >= kVector && what.block % kVector == 0 && what.bytes % what.block == 0;
    return whole ? std::make_unique<Gather>(machine, what, seed) : nullptr;
  }
  if (what.kind == "host_to_device" || what.kind == "device_to_host" || what.kind == "pageable_to_device") {
    return std::make_unique<HostCopy>(machine, what, seed);
  }
  return nullptr;
}

}  // namespace llmscape::hardware::harness::cuda
