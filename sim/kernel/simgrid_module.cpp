// SPDX-License-Identifier: Apache-2.0
#include <xbt/base.h>

#include <simgrid/version.h>  // needs the macros of the other

#include "base/module.hpp"
#include "sim/kernel/kernel.hpp"

namespace llmscape::kernel {

std::unique_ptr<Kernel> make_simgrid_kernel() {
  return std::unique_ptr<Kernel>(module_function<Kernel*()>("simgrid", "llmscape_simgrid_kernel")());
}

std::string simgrid_version() {
  return std::to_string(SIMGRID_VERSION_MAJOR) + "." + std::to_string(SIMGRID_VERSION_MINOR);
}

}  // namespace llmscape::kernel
