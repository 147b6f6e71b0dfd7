// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cuda/shared_library.hpp"

#include "hardware/harness/cuda/runtime.hpp"

#include <dlfcn.h>

namespace llmscape::hardware::harness::cuda {

std::unique_ptr<SharedLibrary> SharedLibrary::open(std::initializer_list<std::string> names, std::string& reason) {
  for (const std::string& name : names) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return std::unique_ptr<SharedLibrary>(new SharedLibrary(handle));
    }
    reason = dlerror();
  }
  return nullptr;
}
SharedLibrary::~SharedLibrary() { dlclose(handle_); }

void* SharedLibrary::find(const char* symbol) const {
  void* found = dlsym(handle_, symbol);
  if (found == nullptr) throw CudaError("loading a library", std::string("it has no ") + symbol);
  return found;
}

}  // namespace llmscape::hardware::harness::cuda
