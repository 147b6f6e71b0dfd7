// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/runtime.hpp"

#include <cuda_runtime_api.h>

namespace llmscape::hardware::harness::cuda {

void check(int status, const char* what) {
  if (status != cudaSuccess) throw CudaError(what, cudaGetErrorString(static_cast<cudaError_t>(status)));
}
void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

void synchronise(Stream stream) { check(cudaStreamSynchronize(stream), "waiting for a stream"); }

OwnedStream::OwnedStream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"); }
OwnedStream::~OwnedStream() { cudaStreamDestroy(stream_); }

Stopwatch::Stopwatch() {
  check(cudaEventCreate(&begin_), "creating an event");
  check(cudaEventCreate(&end_), "creating an event");
}
Stopwatch::~Stopwatch() {
  cudaEventDestroy(begin_);
  cudaEventDestroy(end_);
}
void Stopwatch::start(Stream stream) { check(cudaEventRecord(begin_, stream), "recording an event"); }
void Stopwatch::stop(Stream stream) { check(cudaEventRecord(end_, stream), "recording an event"); }
double Stopwatch::seconds() const {
  float milliseconds = 0;
  check(cudaEventSynchronize(end_), "waiting for an event");
  check(cudaEventElapsedTime(&milliseconds, begin_, end_), "reading events");
  return milliseconds * 1e-3;
}

Graph::Graph(Stream stream, const std::function<void()>& issue) {
  // Relaxed: a kernel that was not launched before is loaded while it is captured.
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capturing a graph");
  cudaGraph_t graph = nullptr;
  try {
    issue();
  } catch (...) {
    cudaStreamEndCapture(stream, &graph);
    cudaGraphDestroy(graph);
    throw;
  }
  check(cudaStreamEndCapture(stream, &graph), "capturing a graph");
  const auto status = cudaGraphInstantiate(&executable_, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "instantiating a graph");
}
Graph::~Graph() { cudaGraphExecDestroy(executable_); }
void Graph::launch(Stream stream) const { check(cudaGraphLaunch(executable_, stream), "launching a graph"); }

namespace detail {

void* allocate(std::size_t bytes) {
  void* data = nullptr;
  const auto status = cudaMalloc(&data, bytes);
  if (status != cudaSuccess) cudaGetLastError();  // not sticky: the next launch must not report it
  check(status, "allocating device memory");
  return data;
}
void release(void* data) { cudaFree(data); }
void copy_to_device(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "copying to the device");
  // It may return before the last bytes arrive, and other streams do not wait for this one.
  check(cudaStreamSynchronize(nullptr), "copying to the device");
}
void copy_to_host(void* to, const void* from, std::size_t bytes) {
  check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "copying to the host");
}

}  // namespace detail
}  // namespace llmscape::hardware::harness::cuda
