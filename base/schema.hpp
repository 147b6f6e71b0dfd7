// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "base/recent.hpp"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace llmscape {

// The catalogue entry of that name as a tree, or nothing after reporting (an unknown name lists the nearest and says
// how to list them all). `where` is the place that names it.
using PresetLoader = std::function<std::optional<YamlNode>(std::string_view catalog, std::string_view name,
                                                           const SourceRange& where, Diagnostics& diagnostics)>;

// Writes each bare scalar that stands for a mapping as that mapping, in place: `batcher: vllm_v1` becomes
// `batcher: {policy: vllm_v1}`, and NAME becomes `{preset: NAME}` where a catalogue is read. Overrides then find the
// mapping. Kinds that nobody wrote stay unwritten: a preset or an engine may choose them.
void spell_out_scalars(YamlNode& node, const StructInfo& info);

// The same with the kinds that nobody wrote, of fields that have a default.
void spell_out(YamlNode& node, const StructInfo& info);

// Adapts what an entry of that catalogue became with other keys laid over it: parameters of the entry that depend on
// figures which were laid over.
using PresetAdapter = std::function<void(std::string_view catalog, YamlNode& merged, const YamlNode& entry)>;

// What became of trees that catalogues describe, for who reads many scenarios that name the same ones: those of a
// device with its measured corrections have thousands of nodes.
struct TreeMemory {
  struct Preset {
    YamlNode entry;
    std::string origin, note;
  };
  struct Value {
    const FieldInfo* field = nullptr;
    YamlNode tree;
  };
  static constexpr std::size_t kMost = 64;
  Recent<Preset, YamlNode, kMost> stamped;
  Recent<Value, YamlNode, kMost> expanded, filled;
};

// The folder of the file that a preset brought this value from; nothing for one that somebody wrote into a scenario or
// on the command line. Paths of such values start there.
std::optional<std::filesystem::path> folder_of_preset(const YamlNode& value);

// Replaces each `preset: NAME` of fields that allow it by the catalogue's entry with the other keys laid over it, and
// adapted where an adapter is given; goes down into groups, lists and families. Nodes from a preset carry `origin`
// "preset CATALOG/NAME", and messages about them say where it was asked for.
void expand_presets(YamlNode& node, const StructInfo& info, const PresetLoader& load, Diagnostics& diagnostics,
                    const PresetAdapter& adapt = {}, TreeMemory* memory = nullptr);

// Adds every default that the user left out, with origin "default", and puts the keys in the order of the field tables:
// the complete configuration as a tree, the same for all ways to write it.
void fill_defaults(YamlNode& node, const StructInfo& info, TreeMemory* memory = nullptr);

// JSON Schema (draft-07) of the struct, with descriptions, units as patterns, ranges, choices and presets as strings.
std::string json_schema(const StructInfo& info, const std::string& id);

// A table of the fields for terminals and docs: key, unit or choices, default, range, description.
std::string fields_table(const StructInfo& info, int width);

// The tree with, behind each value, where it comes from: file:line, preset, --set, default; and the source of sourced
// values.
std::string annotated(const YamlNode& node);

}  // namespace llmscape
