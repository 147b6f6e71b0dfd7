// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace llmscape {

// A 64-bit hash of bytes for tables and stream keys: the same in every version and on every platform.
std::uint64_t hash64(std::string_view bytes, std::uint64_t seed = 0);
// A 128-bit hash for the ids of contents, as 32 hexadecimal digits; stable too. It resists chance, not an adversary.
std::string content_hash(std::string_view bytes);

}  // namespace llmscape
