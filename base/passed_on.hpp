// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"

namespace llmscape {

// Adds a message of Diagnostics::sorted() to others; the note of its source comes by itself again.
inline Diagnostic& pass_on(const Diagnostic& one, Diagnostics& to) {
  Diagnostic& added = one.severity == Severity::error ? to.error(one.where, one.message, one.suggestion)
                                                      : to.warning(one.where, one.message, one.suggestion);
  for (const std::string& note : one.notes)
    if (!one.where.source || note != one.where.source->note) added.notes.push_back(note);
  return added;
}

// All of what was found by itself, as where one mistake would end the look at others.
inline void pass_on(const Diagnostics& found, Diagnostics& to) {
  for (const Diagnostic& one : found.sorted()) pass_on(one, to);
}

}  // namespace llmscape
