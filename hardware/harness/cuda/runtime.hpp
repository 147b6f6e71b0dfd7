// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

// The CUDA runtime's own handles, declared here so that these headers need no toolkit.
struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;

namespace llmscape::hardware::harness::cuda {

// cudaStream_t; the null stream is the default one.
using Stream = CUstream_st*;

// Any call to CUDA that failed: what was being done, and the runtime's own words.
class CudaError : public std::runtime_error {
 public:
  CudaError(const std::string& what, const std::string& reason) : std::runtime_error(what + ": " + reason) {}
};
// Throws CudaError unless `status`, a cudaError_t, is success.
void check(int status, const char* what);
// After a launch: whether it was one.
void check_launch(const char* kernel);

// Waits for all that was issued to the stream.
void synchronise(Stream stream);

class OwnedStream {
 public:
  OwnedStream();
  ~OwnedStream();
  OwnedStream(const OwnedStream&) = delete;
  OwnedStream& operator=(const OwnedStream&) = delete;
  operator Stream() const { return stream_; }  // NOLINT(google-explicit-constructor): it is one

 private:
  Stream stream_ = nullptr;
};

// Device time between two points of a stream, by events.
class Stopwatch {
 public:
  Stopwatch();
  ~Stopwatch();
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  void start(Stream stream);
  void stop(Stream stream);
  // Seconds between the two, once the second has passed: it waits for it.
  [[nodiscard]] double seconds() const;

 private:
  CUevent_st *begin_ = nullptr, *end_ = nullptr;
};

// What `issue` launches into a stream, captured once and launched again as one graph.
class Graph {
 public:
  Graph(Stream stream, const std::function<void()>& issue);
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  void launch(Stream stream) const;

 private:
  CUgraphExec_st* executable_ = nullptr;
};

namespace detail {
void* allocate(std::size_t bytes);
void release(void* data);
void copy_to_device(void* to, const void* from, std::size_t bytes);
void copy_to_host(void* to, const void* from, std::size_t bytes);
struct Release {
  void operator()(void* data) const { release(data); }
};
}  // namespace detail

// Device memory of `size` elements. Throws CudaError where there is not enough.
template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size)
      : size_(size), data_(static_cast<T*>(size == 0 ? nullptr : detail::allocate(size * sizeof(T)))) {}
  explicit DeviceArray(std::span<const T> host) : DeviceArray(host.size()) { upload(host); }
  explicit DeviceArray(const std::vector<T>& host) : DeviceArray(std::span<const T>(host)) {}

  [[nodiscard]] T* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t bytes() const { return size_ * sizeof(T); }

  // Both wait for what was issued before to the default stream only: synchronise first.
  void upload(std::span<const T> host) { detail::copy_to_device(data(), host.data(), host.size_bytes()); }
  [[nodiscard]] std::vector<T> download(std::size_t first, std::size_t count) const {
    std::vector<T> host(count);
    detail::copy_to_host(host.data(), data() + first, count * sizeof(T));
    return host;
  }
  [[nodiscard]] std::vector<T> download() const { return download(0, size_); }

 private:
  std::size_t size_ = 0;
  std::unique_ptr<T, detail::Release> data_;
};

}  // namespace llmscape::hardware::harness::cuda
