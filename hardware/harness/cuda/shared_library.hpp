// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <initializer_list>
#include <memory>
#include <string>

namespace llmscape::hardware::harness::cuda {

// A library of the system's that is loaded when it is asked for, so that the program starts where it is not there.
class SharedLibrary {
 public:
  // The first of `names` that there is; nothing, with the loader's words, where there is none.
  static std::unique_ptr<SharedLibrary> open(std::initializer_list<std::string> names, std::string& reason);
  ~SharedLibrary();
  SharedLibrary(const SharedLibrary&) = delete;
  SharedLibrary& operator=(const SharedLibrary&) = delete;

  // Sets `function` to the symbol; throws CudaError where the library has none of that name.
  template <class Function>
  void bind(Function*& function, const char* symbol) const {
    function = reinterpret_cast<Function*>(find(symbol));
  }

 private:
  explicit SharedLibrary(void* handle) : handle_(handle) {}
  [[nodiscard]] void* find(const char* symbol) const;
  void* handle_;
};

}  // namespace llmscape::hardware::harness::cuda
