// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/prometheus_sample.hpp"

#include <algorithm>

namespace llmscape::observe {
namespace {

std::size_t behind_blanks(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(" \t", at), text.size());
}

// The end of the labels that begin at `at`; nothing where they have none.
std::optional<std::size_t> read_labels(std::string_view text, std::size_t at,
                                       std::map<std::string, std::string>& labels) {
  for (++at; at < text.size();) {
    at = std::min(text.find_first_not_of(" \t,", at), text.size());
    if (at < text.size() && text[at] == '}') return at + 1;
    const std::size_t equals = std::min(text.find('=', at), text.size());
    const std::string_view name = text.substr(at, equals - at);
    at = behind_blanks(text, std::min(equals + 1, text.size()));
    if (at == text.size() || text[at] != '"') return std::nullopt;
    std::string value;
    for (++at; at < text.size() && text[at] != '"'; ++at) {
      const bool escape = text[at] == '\\' && at + 1 < text.size();
      if (escape) ++at;
      value += escape && text[at] == 'n' ? '\n' : text[at];
    }
    labels[std::string(name.substr(0, name.find_last_not_of(" \t") + 1))] = value;
    ++at;
  }
  return std::nullopt;
}

}  // namespace

std::string PrometheusSample::label(const std::string& key) const {
  const auto found = labels.find(key);
  return found == labels.end() ? "" : found->second;
}

std::string PrometheusSample::labels_without(std::string_view key) const {
  std::string all;
  for (const auto& [each, value] : labels)
    if (each != key) all += each + '=' + value + '\n';
  return all;
}

std::optional<PrometheusSample> prometheus_sample(const traces::Row& row) {
  const std::string_view text = row.text();
  PrometheusSample sample;
  const std::size_t begin = behind_blanks(text, 0), end = std::min(text.find_first_of("{ \t", begin), text.size());
  sample.name = text.substr(begin, end - begin);
  std::size_t at = behind_blanks(text, end);
  if (at < text.size() && text[at] == '{') {
    const auto close = read_labels(text, at, sample.labels);
    if (!close) {
      row.error({at}, "the labels have no '}'");
      return std::nullopt;
    }
    at = behind_blanks(text, *close);
  }
  sample.values = {at, std::max<std::size_t>(1, text.size() - at)};
  const std::string_view values = text.substr(at, text.find_last_not_of(" \t\r") + 1 - at);
  sample.number = values.substr(0, values.find_first_of(" \t"));
  sample.stamp = values.substr(behind_blanks(values, sample.number.size()));
  return sample;
}

}  // namespace llmscape::observe
