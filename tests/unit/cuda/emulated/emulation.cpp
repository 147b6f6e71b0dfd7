// SPDX-License-Identifier: Apache-2.0
#include "emulation.hpp"

#include <ucontext.h>

#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace llmscape::hardware::harness::cuda::emulated {
namespace {

constexpr std::size_t kStackBytes = 256 << 10, kSharedBytes = 228 << 10, kCopyBytes = 16;

struct Copy {
  void* to;
  const void* from;  // nothing: zeros
};

// Where threads wait for each other. `round` grows when all have come.
struct Meeting {
  int arrived = 0;
  long round = 0;
  std::array<void*, 128> brought{};
};

struct Thread {
  ucontext_t context{};
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
  bool done = false;
  const Meeting* waits_at = nullptr;
  long waits_for = 0;  // a round later than this
  std::vector<std::vector<Copy>> groups;
  std::vector<Copy> open;

  [[nodiscard]] bool ready() const { return !done && (waits_at == nullptr || waits_at->round > waits_for); }
};

struct Block {
  BlockIndex index{};
  const std::function<void()>* body = nullptr;
  std::vector<Thread> threads;
  std::vector<Meeting> warps, groups;
  Meeting all;
  ucontext_t scheduler{};
  std::size_t current = 0;
};

Block* running = nullptr;
alignas(1024) std::array<std::byte, kSharedBytes> shared;

Thread& self() { return running->threads[running->current]; }

void enter() {
  (*running->body)();
  self().done = true;
  swapcontext(&self().context, &running->scheduler);
}

// True for the one who came last.
bool meet(Meeting& meeting, int expected) {
  if (++meeting.arrived == expected) return true;
  Thread& me = self();
  me.waits_at = &meeting;
  me.waits_for = meeting.round;
  swapcontext(&me.context, &running->scheduler);
  return false;
}
void release(Meeting& meeting) {
  meeting.arrived = 0;
  ++meeting.round;
}

void together(std::vector<Meeting>& meetings, std::size_t size, void* mine,
              const std::function<void(void* const*)>& act) {
  Meeting& meeting = meetings[running->current / size];
  meeting.brought[running->current % size] = mine;
  if (!meet(meeting, static_cast<int>(size))) return;
  act(meeting.brought.data());
  release(meeting);
}

}  // namespace

void run_block(int threads, BlockIndex index, Order order, const std::function<void()>& body) {
  Block block;
  block.index = index;
  block.body = &body;
  block.threads.resize(static_cast<std::size_t>(threads));
  block.warps.resize(static_cast<std::size_t>(threads) / 32);
  block.groups.resize(static_cast<std::size_t>(threads) / 128);
  running = &block;
  shared.fill(std::byte{0xff});
  for (Thread& thread : block.threads) {
    getcontext(&thread.context);
    thread.context.uc_stack.ss_sp = thread.stack.get();
    thread.context.uc_stack.ss_size = kStackBytes;
    makecontext(&thread.context, &enter, 0);
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t i = 0; i < block.threads.size(); ++i) {
      block.current = order == Order::kForward ? i : block.threads.size() - 1 - i;
      if (!self().ready()) continue;
      moved = true;
      swapcontext(&block.scheduler, &self().context);
    }
  }
  running = nullptr;
  for (const Thread& thread : block.threads) {
    if (!thread.done) throw std::logic_error("threads wait for others that do not come");
    for (const auto& group : thread.groups) {
      if (!group.empty()) throw std::logic_error("a thread ended before its copies");
    }
  }
}

BlockIndex block_index() { return running->index; }
int thread_index() { return static_cast<int>(running->current); }
std::byte* shared_memory() { return shared.data(); }

void block_barrier() {
  if (meet(running->all, static_cast<int>(running->threads.size()))) release(running->all);
}

void with_warp(void* mine, const std::function<void(void* const*)>& act) { together(running->warps, 32, mine, act); }
void with_four_warps(void* mine, const std::function<void(void* const*)>& act) {
  together(running->groups, 128, mine, act);
}

void copy_async(void* to, const void* from, bool valid) {
  std::memset(to, 0xff, kCopyBytes);
  self().open.push_back({to, valid ? from : nullptr});
}
void close_copy_group() { self().groups.push_back(std::move(self().open)), self().open.clear(); }
void await_copies(int pending) {
  auto& groups = self().groups;
  for (; groups.size() > static_cast<std::size_t>(pending); groups.erase(groups.begin())) {
    for (const Copy& copy : groups.front()) {
      if (copy.from != nullptr) {
        std::memcpy(copy.to, copy.from, kCopyBytes);
      } else {
        std::memset(copy.to, 0, kCopyBytes);
      }
    }
  }
}

}  // namespace llmscape::hardware::harness::cuda::emulated
