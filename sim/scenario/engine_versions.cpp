// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/engine_versions.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <vector>

namespace llmscape::scenario {
namespace {

std::vector<std::int64_t> version_numbers(std::string_view version) {
  std::vector<std::int64_t> numbers;
  const char* at = version.data();
  const char* const end = at + version.size();
  while (at < end) {
    std::int64_t number = 0;
    at = std::from_chars(at, end, number).ptr;
    numbers.push_back(number);
    if (at < end) ++at;
  }
  return numbers;
}

}  // namespace

int compare_versions(std::string_view a, std::string_view b) {
  std::vector<std::int64_t> left = version_numbers(a), right = version_numbers(b);
  const std::size_t size = std::max(left.size(), right.size());
  left.resize(size);
  right.resize(size);
  return left < right ? -1 : left > right ? 1 : 0;
}

bool is_version(std::string_view text) {
  if (text.empty() || text.front() == '.' || text.back() == '.') return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.' && text[i - 1] == '.') return false;
    if (text[i] != '.' && (text[i] < '0' || text[i] > '9')) return false;
  }
  return text.size() <= 32;
}

}  // namespace llmscape::scenario
