// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "traces/kernel_record.hpp"

#include <string>
#include <string_view>

namespace llmscape::traces {

// "gemm", "decode_attention", ...: the case's list in KernelTables.
std::string_view operator_of(const KernelCase& what);

// In one word, for lists, patterns and messages: "gemm/m:17/n:2048/k:1024/format:fp32".
std::string name_of(const KernelCase& what);

}  // namespace llmscape::traces
