// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>

namespace llmscape::cli {

// Calls the verb and returns its exit code. What it throws becomes a message on stderr and the exit code for it; so
// does a stdout that took not all of the result.
int guarded(const std::function<int()>& verb);

}  // namespace llmscape::cli
