// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <stdexcept>

namespace llmscape::cli {

struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

// From here on Ctrl-C is remembered instead of ending the program; a second one ends it.
void catch_interrupts();
// Whether it was pressed since.
bool interrupted();
// Throws Interrupted if Ctrl-C was pressed since.
void stop_if_interrupted();

}  // namespace llmscape::cli
