// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>

namespace llmscape {

// Parts of the program that bring large libraries with them are modules, loaded when a verb needs them: SimGrid, pagmo
// and oneDNN take three times as long to load as the rest takes to answer.

// The function of that name in a module, which stays loaded; `llmscape-NAME.so` stands in ../lib/llmscape beside an
// installed program (the folder of libraries may be named otherwise), else where it was built. Throws
// std::runtime_error naming all places, or the reason.
void* module_symbol(const std::string& module, const char* function);

// Looks beside that program, too, after the other places: for programs of others that link to the archive, and whose
// modules are those of the installation that they were built with.
void find_modules_beside(const std::filesystem::path& program);

template <class Function>
Function* module_function(const std::string& module, const char* function) {
  return reinterpret_cast<Function*>(module_symbol(module, function));
}

}  // namespace llmscape
