// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>

#include "base/diagnostics.hpp"

namespace llmscape::report {

// The result (schema run/1) in a file: run.json, the folder it stands in, or a point of a sweep (points/<id>.json). A
// JSON null after reporting a file that has none.
nlohmann::ordered_json read_result(std::filesystem::path path, Diagnostics& diagnostics);

}  // namespace llmscape::report
