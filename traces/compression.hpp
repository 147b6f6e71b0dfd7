// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace llmscape::traces {

// `content` as a file of that name holds it: gzip for .gz, zstd for .zst, else as it is. The same content gives the
// same bytes (no time stamp) with the same version of the compressor. Throws std::runtime_error when the compressor
// fails.
std::string compressed_for(const std::filesystem::path& path, std::string_view content);

}  // namespace llmscape::traces
