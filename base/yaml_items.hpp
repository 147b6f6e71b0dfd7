// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string_view>

#include "base/yaml_reader.hpp"

namespace llmscape {

// The place of an item that a path chooses in brackets: its number, from 0, or its name (else that of the preset which
// it is laid over). Nothing if there is none.
std::optional<std::size_t> item_index(const YamlNode& sequence, std::string_view text);

}  // namespace llmscape
