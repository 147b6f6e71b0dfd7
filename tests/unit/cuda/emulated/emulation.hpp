// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

namespace llmscape::hardware::harness::cuda {

struct BlockIndex {
  int x, y, z;
};

// Runs blocks of GPU threads on the host: a thread is a coroutine that goes on until it meets a barrier or an
// instruction of its whole warp, so that a barrier that is missing shows. Asynchronous copies happen as late as their
// waits allow; until then their destination holds no numbers, and so does shared memory in the beginning.
namespace emulated {

enum class Order { kForward, kBackward };  // in which threads get their turns
void run_block(int threads, BlockIndex block, Order order, const std::function<void()>& body);

BlockIndex block_index();
int thread_index();
std::byte* shared_memory();
void block_barrier();

// A round that all 32 lanes of a warp take part in, or all 128 of four warps: each brings `mine`, and whoever comes
// last calls act(lanes), where lanes[i] is what lane i brought.
void with_warp(void* mine, const std::function<void(void* const* lanes)>& act);
void with_four_warps(void* mine, const std::function<void(void* const* lanes)>& act);

void copy_async(void* to, const void* from, bool valid);
void close_copy_group();
void await_copies(int pending);

}  // namespace emulated
}  // namespace llmscape::hardware::harness::cuda
