// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/diagnostics.hpp"
#include "base/shared_list.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace llmscape {

// A strict YAML tree (JSON is read by the same code). Scalars stay text: the typed fields decide what they mean.
// A copy of a tree shares its nodes, until one of the two is changed on the way down to what is changed (SharedList).
// Duplicate keys, several documents, merge keys, tags of foreign types and non-scalar keys are reported as errors.
struct YamlNode {
  // `invalid`: could not be read and was reported; readers say nothing more about it.
  enum class Kind { null, scalar, sequence, mapping, invalid };
  struct Entry;

  Kind kind = Kind::null;
  std::string text;     // of a scalar
  bool quoted = false;  // a quoted scalar is never a number
  SourceRange where;
  SharedList<YamlNode> items;  // of a sequence
  SharedList<Entry> entries;   // of a mapping, in file order
  std::string origin;          // "preset hardware/h100-sxm", "--set", or empty for the user's own file

  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }
  [[nodiscard]] bool is_mapping() const { return kind == Kind::mapping; }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::sequence; }
  [[nodiscard]] const YamlNode* find(std::string_view key) const;  // nullptr if absent or not a mapping
  YamlNode* find(std::string_view key);
  YamlNode& set(std::string_view key, YamlNode value);  // replaces or appends; makes a null node a mapping
  void erase(std::string_view key);
  static YamlNode scalar(std::string text, bool quoted = false);
  static YamlNode mapping(SourceRange where);
};

struct YamlNode::Entry {
  std::string key;
  SourceRange key_where;
  YamlNode value;
};

// Trees are no deeper than this and hold no more nodes than this, anchors and aliases counted with all they hold.
inline constexpr int kMaxYamlDepth = 64;
inline constexpr std::size_t kMaxYamlNodes = 1'000'000;

// Parses the text. What strictness refuses is reported and left out of the tree; after a syntax error the root is
// invalid. An alias is a copy whose outermost place is that of the alias. An empty text is a null node.
YamlNode read_yaml(std::shared_ptr<const SourceText> source, Diagnostics& diagnostics);
// Reads the file; one that cannot be opened is an error without a line.
YamlNode read_yaml_file(const std::filesystem::path& path, Diagnostics& diagnostics);

// Lays `over` on `base`: mappings merge key by key, or into a list by the numbers or names of its items; all else is
// replaced, and so is a mapping by one of another `kind` or `policy`. Places and origins stay with each node.
YamlNode merge(YamlNode base, const YamlNode& over);

// Whether both hold the same values with the same places and origins. Trees that share their nodes are not walked.
bool same(const YamlNode& a, const YamlNode& b);

// Applies "workload.rate=12 /s" or "hardware.devices[edge].count=4" ([name] finds the item of a sequence whose `name`
// is that or the key of a mapping, [3] counts from 0). The value is parsed as YAML; its nodes have origin "--set". Keys
// that a mapping lacks are added. A path that cannot exist is an error that names the deepest part that does.
void apply_override(YamlNode& root, std::string_view assignment, Diagnostics& diagnostics);

// The steps of such a path, with the number of an item where it is called by its name: two that mean the same place of
// `root` are equal. What `root` lacks, and what is no path, stays as it is written.
std::vector<std::string> override_path(const YamlNode& root, std::string_view path);

// Writes the tree as YAML that read_yaml reads back to the same tree: block style, but mappings and sequences of
// scalars on one line where they fit. Quotes stand where the tree has them and where plain text would be read as
// something else.
std::string write_yaml(const YamlNode& node);

}  // namespace llmscape
