// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/vllm_batch.hpp"

#include "hardware/device.hpp"
#include "hardware/device_entry.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/description.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>

namespace llmscape::cli {

VllmBatchDefaults vllm_batch_defaults(const std::string& device, Bytes memory) {
  constexpr Bytes kLarge(70.0 * 1024 * 1024 * 1024);
  std::string name = device;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (memory >= kLarge && name.find("a100") == std::string::npos) return {};
  return {2048, 256};
}

std::optional<VllmBatchDefaults> vllm_batch_defaults_of(const std::string& device, Diagnostics& diagnostics) {
  const SourceRange where{std::make_shared<const SourceText>(SourceText{"--device", ""})};
  const auto entry = std::filesystem::exists(device)
                         ? read_description(device, FileKind::device, diagnostics)
                         : hardware::device_entry(catalogs().hardware, device, where, diagnostics);
  if (!entry) return std::nullopt;
  const auto read = hardware::devices().read(*entry, diagnostics);
  if (!read) return std::nullopt;
  return vllm_batch_defaults(read->name + " " + read->description, read->memory());
}

}  // namespace llmscape::cli
