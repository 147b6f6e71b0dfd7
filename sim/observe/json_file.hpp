// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/diagnostics.hpp"

namespace llmscape::observe {

// A JSON document that some tool exported, and where mistakes in it are.
class JsonFile {
 public:
  using Json = nlohmann::json;
  // Nothing after reporting: a file that cannot be read, or is no JSON, at the place where it breaks.
  static std::optional<JsonFile> read(const std::string& path, Diagnostics& diagnostics);
  // A text that was read already, as line `line` of the file.
  static std::optional<JsonFile> parse(const std::string& path, std::string text, int line, Diagnostics& diagnostics);

  [[nodiscard]] const Json& root() const { return root_; }
  // Reports at the first place of the key, or at the document's beginning.
  void error(const std::string& key, std::string message) const;
  // The list under the key; nullptr after reporting that there is none.
  const Json* list(const Json& object, const std::string& key) const;
  // A finite number of at least 0; nothing after reporting. Absent and null are no mistakes where it is not `needed`.
  std::optional<double> number(const Json& object, const std::string& key, bool needed = true) const;
  // The same for a number of tokens, whole and at most kMostTokens.
  std::optional<std::int64_t> tokens(const Json& object, const std::string& key) const;
  static constexpr std::int64_t kMostTokens = 2147483647;
  // A text; empty where it is absent or null, and after reporting that it is none.
  [[nodiscard]] std::string text(const Json& object, const std::string& key) const;

 private:
  JsonFile(std::shared_ptr<const SourceText> source, Diagnostics& diagnostics)
      : source_(std::move(source)), diagnostics_(&diagnostics) {}
  [[nodiscard]] SourceRange place(std::size_t byte) const;

  std::shared_ptr<const SourceText> source_;
  Diagnostics* diagnostics_;
  Json root_;
};

}  // namespace llmscape::observe
