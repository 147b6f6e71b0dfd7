// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string_view>

namespace llmscape {

// Writes to stderr what a user may read while the program goes on. That nobody can (it is closed, full, or a pipe whose
// reader is gone) is no error: a sweep of days must not end with the terminal that it was started from.
void write_to_stderr(std::string_view text);

// For the start of a program. Descriptors 0 to 2 that are closed become ones that cannot be used, so that no file
// opened later takes the place of stdout; a pipe without a reader is an error of the write and ends nothing.
void secure_standard_streams();

// Ends the program as one that writes to a pipe without a reader ends: silently, by SIGPIPE.
[[noreturn]] void end_without_reader();

}  // namespace llmscape
