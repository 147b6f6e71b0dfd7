// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/schema.hpp"
#include "hardware/device.hpp"
#include "sim/scenario/scenario.hpp"

namespace llmscape::cli {

// The files that llmscape reads. From `dram` on they are parts: small descriptions that others name as presets.
enum class FileKind {
  scenario,
  device,
  workload,
  model,
  trace,
  sweep,
  study,
  rows,
  host_constants,
  dram,
  host,
  link,
  node,
  tier,
  prices
};
std::string_view name_of(FileKind kind);

// What the file is: by its `schema` key (in the first line, if its name is none of YAML or JSON), or, where it has
// none, by its name: *.json is a config.json of Hugging Face, anything but YAML a trace. YAML without a known schema
// counts as a scenario, whose reader says what is missing, and so does JSON with an unknown one.
FileKind kind_of(const std::filesystem::path& file);

// A device/1 file as fields, for its schema and its defaults: the kinds of device under the one key `device`.
struct DeviceFile {
  std::shared_ptr<const hardware::Device> device;
};
const Fields<DeviceFile>& device_file_fields();

// The device, workload or part as a complete tree, presets and defaults spelled out, or nothing after reporting what is
// wrong with it. The tree comes without its `schema`.
std::optional<YamlNode> complete_device(YamlNode tree, const scenario::Catalogs& catalogs, Diagnostics& diagnostics);
std::optional<YamlNode> complete_workload(YamlNode tree, Diagnostics& diagnostics);
// Throws std::logic_error where `kind` is none of a part.
std::optional<YamlNode> complete_part(YamlNode tree, FileKind kind, Diagnostics& diagnostics);

// The tree of a file whose first key must be `schema: KIND/1`, without that key; nothing after reporting.
std::optional<YamlNode> read_description(const std::filesystem::path& file, FileKind kind, Diagnostics& diagnostics);

}  // namespace llmscape::cli
