// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/yaml_reader.hpp"
#include "models/attention_pairs.hpp"
#include "models/catalog.hpp"
#include "models/operator.hpp"

namespace llmscape::models {

inline ModelSpec catalogued(const std::string& name) {
  Diagnostics diagnostics;
  const auto model = load_model("models/catalog", name, {}, diagnostics);
  REQUIRE_MESSAGE(model, diagnostics.text(false));
  return *model;
}

inline YamlNode parsed(std::string text) {
  Diagnostics diagnostics;
  YamlNode root = read_yaml(std::make_shared<SourceText>(SourceText{"model", std::move(text)}), diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.text(false));
  return root;
}

// "line:column: message (suggestion)" of each error, in file order.
inline std::vector<std::string> messages(const Diagnostics& diagnostics) {
  std::vector<std::string> all;
  for (const Diagnostic& d : diagnostics.sorted()) {
    const std::string place = std::to_string(d.where.line) + ":" + std::to_string(d.where.column) + ": ";
    all.push_back(place + d.message + (d.suggestion.empty() ? "" : " (" + d.suggestion + ")"));
  }
  return all;
}

// The entries of one operator type, with their counts.
template <class T>
struct Counted {
  T what;
  double count;
};
template <class T>
std::vector<Counted<T>> all_of(const std::vector<Operator>& work) {
  std::vector<Counted<T>> found;
  for (const Operator& entry : work)
    if (const T* what = std::get_if<T>(&entry.what)) found.push_back({*what, entry.count});
  return found;
}

inline std::vector<Counted<Elementwise>> elementwise(const std::vector<Operator>& work, Elementwise::Kind kind) {
  auto all = all_of<Elementwise>(work);
  std::erase_if(all, [&](const auto& entry) { return entry.what.kind != kind; });
  return all;
}

inline std::vector<Counted<Collective>> collectives(const std::vector<Operator>& work, Collective::Kind kind) {
  auto all = all_of<Collective>(work);
  std::erase_if(all, [&](const auto& entry) { return entry.what.kind != kind; });
  return all;
}

// FLOPs of the GEMMs with weights.
inline double linear_flops(const std::vector<Operator>& work) {
  double sum = 0;
  for (const auto& [gemm, count] : all_of<Gemm>(work)) sum += 2.0 * count * gemm.m * gemm.n * gemm.k;
  for (const auto& [gemm, count] : all_of<GroupedGemm>(work)) sum += 2.0 * count * gemm.rows * gemm.n * gemm.k;
  return sum;
}

inline double pairs(const PrefillAttention& attention) {
  double sum = 0;
  for (const PrefillChunk& chunk : attention.chunks)
    sum += windowed_pairs(chunk.tokens, chunk.cached, attention.window);
  return sum;
}

}  // namespace llmscape::models
