// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>

namespace llmscape {

// The file of the running program, absolute, links resolved; empty where the system does not tell. Without /proc (a
// chroot into which it is not mounted) it is what the kernel was asked to execute.
std::filesystem::path program_path();

}  // namespace llmscape
