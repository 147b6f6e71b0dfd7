// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/interrupt.hpp"

#include <csignal>

namespace llmscape::cli {
namespace {

volatile std::sig_atomic_t pressed = 0;

void remember(int) { pressed = 1; }

}  // namespace

void catch_interrupts() {
  struct sigaction action{};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
}

bool interrupted() { return pressed != 0; }

void stop_if_interrupted() {
  if (interrupted()) throw Interrupted();
}

}  // namespace llmscape::cli
