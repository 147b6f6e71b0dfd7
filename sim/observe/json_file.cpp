// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/json_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/files.hpp"

namespace llmscape::observe {

std::optional<JsonFile> JsonFile::read(const std::string& path, Diagnostics& diagnostics) {
  std::string error;
  auto text = read_file(path, error);
  if (text) return parse(path, std::move(*text), 1, diagnostics);
  diagnostics.error({std::make_shared<const SourceText>(SourceText{path, ""})}, error);
  return std::nullopt;
}

std::optional<JsonFile> JsonFile::parse(const std::string& path, std::string text, int line, Diagnostics& diagnostics) {
  JsonFile file(std::make_shared<const SourceText>(SourceText{path, std::move(text), line}), diagnostics);
  try {
    file.root_ = Json::parse(file.source_->text);
  } catch (const Json::parse_error& broken) {
    diagnostics.error(file.place(broken.byte > 0 ? broken.byte - 1 : 0), "this is no JSON from here on",
                      "a file that was cut off, or written by something else");
    return std::nullopt;
  } catch (const Json::out_of_range& beyond) {  // "... number overflow parsing '1e999'"
    const std::string_view what = beyond.what();
    const std::size_t end = what.rfind('\''), start = end == what.npos ? end : what.rfind('\'', end - 1);
    const std::string_view number = start == what.npos ? what : what.substr(start + 1, end - start - 1);
    const std::size_t at = file.source_->text.find(number);
    diagnostics.error(file.place(at == std::string::npos ? 0 : at), fmt::format("{} is too large", in_quotes(number)));
    return std::nullopt;
  }
  if (file.root_.is_object()) return file;
  diagnostics.error(file.place(0), "the document is no object");
  return std::nullopt;
}

SourceRange JsonFile::place(std::size_t byte) const {
  const std::string_view before = std::string_view(source_->text).substr(0, byte);
  const auto line = static_cast<int>(std::ranges::count(before, '\n'));
  const std::size_t start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  return {source_, source_->first_line + line, static_cast<int>(before.size() - start) + 1, 1};
}

void JsonFile::error(const std::string& key, std::string message) const {
  const std::size_t at = source_->text.find('"' + key + '"');
  diagnostics_->error(place(at == std::string::npos ? 0 : at), std::move(message));
}

const JsonFile::Json* JsonFile::list(const Json& object, const std::string& key) const {
  const auto found = object.find(key);
  if (found != object.end() && found->is_array()) return &*found;
  error(key, fmt::format("'{}' must be a list", key));
  return nullptr;
}

std::optional<std::int64_t> JsonFile::tokens(const Json& object, const std::string& key) const {
  const auto value = number(object, key);
  if (!value) return std::nullopt;
  if (*value <= static_cast<double>(kMostTokens) && *value == std::floor(*value))
    return static_cast<std::int64_t>(*value);
  error(key, fmt::format("'{}' must be a whole number of tokens up to {}", key, kMostTokens));
  return std::nullopt;
}

std::string JsonFile::text(const Json& object, const std::string& key) const {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return "";
  if (found->is_string()) return found->get<std::string>();
  error(key, fmt::format("'{}' must be a text", key));
  return "";
}

std::optional<double> JsonFile::number(const Json& object, const std::string& key, bool needed) const {
  const auto found = object.find(key);
  const bool absent = found == object.end() || found->is_null();
  if (absent && !needed) return std::nullopt;
  if (!absent && found->is_number() && std::isfinite(found->get<double>()) && found->get<double>() >= 0)
    return found->get<double>();
  error(key, fmt::format("'{}' must be a number of at least 0", key));
  return std::nullopt;
}

}  // namespace llmscape::observe
