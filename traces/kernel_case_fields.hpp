// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "traces/kernel_record.hpp"

#include <string_view>
#include <tuple>
#include <type_traits>

// Each kind of kernel case once, for reading, writing and naming it.
namespace llmscape::traces {

template <class Case, class Value>
struct CaseField {
  std::string_view key;
  Value Case::* member;
  double least;  // of numbers
};
template <class Case>
constexpr CaseField<Case, std::int64_t> count(std::string_view key, std::int64_t Case::* member, double least = 1) {
  return {key, member, least};
}
template <class Case>
constexpr CaseField<Case, std::string> word(std::string_view key, std::string Case::* member) {
  return {key, member, 0};
}

template <class Case>
struct CaseKind;

template <>
struct CaseKind<GemmCase> {
  static constexpr std::string_view name = "gemm";
  static constexpr std::tuple fields = {count("m", &GemmCase::m), count("n", &GemmCase::n), count("k", &GemmCase::k),
                                        word("format", &GemmCase::format)};
};

template <>
struct CaseKind<GroupedGemmCase> {
  using Case = GroupedGemmCase;
  static constexpr std::string_view name = "grouped_gemm";
  static constexpr std::tuple fields = {count("tokens", &Case::tokens),
                                        count("experts", &Case::experts),
                                        count("experts_per_token", &Case::experts_per_token),
                                        count("n", &Case::n),
                                        count("k", &Case::k),
                                        word("format", &Case::format)};
};

template <>
struct CaseKind<ExpertLayerCase> {
  using Case = ExpertLayerCase;
  static constexpr std::string_view name = "expert_layer";
  static constexpr std::tuple fields = {count("tokens", &Case::tokens),
                                        count("hidden", &Case::hidden),
                                        count("expert_width", &Case::expert_width),
                                        count("experts", &Case::experts),
                                        count("experts_per_token", &Case::experts_per_token),
                                        count("tensor_parallel", &Case::tensor_parallel),
                                        count("expert_parallel", &Case::expert_parallel),
                                        CaseField<Case, double>{"experts_touched", &Case::experts_touched, 0},
                                        word("routing", &Case::routing),
                                        word("format", &Case::format)};
};

template <>
struct CaseKind<DecodeAttentionCase> {
  using Case = DecodeAttentionCase;
  static constexpr std::string_view name = "decode_attention";
  static constexpr std::tuple fields = {count("sequences", &Case::sequences), count("context", &Case::context),
                                        count("heads", &Case::heads),         count("kv_heads", &Case::kv_heads),
                                        count("head_dim", &Case::head_dim),   word("format", &Case::format),
                                        word("kv_format", &Case::kv_format)};
};

template <>
struct CaseKind<PrefillAttentionCase> {
  using Case = PrefillAttentionCase;
  static constexpr std::string_view name = "prefill_attention";
  static constexpr std::tuple fields = {count("sequences", &Case::sequences), count("tokens", &Case::tokens),
                                        count("cached", &Case::cached, 0),    count("heads", &Case::heads),
                                        count("kv_heads", &Case::kv_heads),   count("head_dim", &Case::head_dim),
                                        word("format", &Case::format),        word("kv_format", &Case::kv_format)};
};

template <>
struct CaseKind<MixedAttentionCase> {
  using Case = MixedAttentionCase;
  static constexpr std::string_view name = "mixed_attention";
  static constexpr std::tuple fields = {
      count("tokens", &Case::tokens),     count("cached", &Case::cached, 0), count("decodes", &Case::decodes),
      count("context", &Case::context),   count("heads", &Case::heads),      count("kv_heads", &Case::kv_heads),
      count("head_dim", &Case::head_dim), word("format", &Case::format),     word("kv_format", &Case::kv_format)};
};

template <>
struct CaseKind<ElementwiseCase> {
  using Case = ElementwiseCase;
  static constexpr std::string_view name = "elementwise";
  static constexpr std::tuple fields = {word("kind", &Case::kind), count("rows", &Case::rows),
                                        count("width", &Case::width), word("format", &Case::format)};
};

template <>
struct CaseKind<CollectiveCase> {
  using Case = CollectiveCase;
  static constexpr std::string_view name = "collective";
  static constexpr std::tuple fields = {word("kind", &Case::kind), count("bytes", &Case::bytes),
                                        count("ranks", &Case::ranks), word("implementation", &Case::implementation),
                                        count("ranks_per_node", &Case::ranks_per_node)};
};

template <>
struct CaseKind<CopyCase> {
  using Case = CopyCase;
  static constexpr std::string_view name = "copy";
  static constexpr std::tuple fields = {word("kind", &Case::kind), count("bytes", &Case::bytes),
                                        count("block", &Case::block, 0)};
};

template <>
struct CaseKind<LaunchCase> {
  using Case = LaunchCase;
  static constexpr std::string_view name = "launch";
  static constexpr std::tuple fields = {word("kind", &Case::kind), count("nodes", &Case::nodes)};
};

// Calls `visit` with each field of the kind.
template <class Case, class Visit>
void for_each_field(const Visit& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, CaseKind<Case>::fields);
}

// The list of the tables that cases of the kind stand in.
template <class Case>
auto& list_of(KernelTables& tables) {
  if constexpr (std::is_same_v<Case, GemmCase>) return tables.gemm;
  else if constexpr (std::is_same_v<Case, GroupedGemmCase>) return tables.grouped_gemm;
  else if constexpr (std::is_same_v<Case, ExpertLayerCase>) return tables.expert_layer;
  else if constexpr (std::is_same_v<Case, DecodeAttentionCase>) return tables.decode_attention;
  else if constexpr (std::is_same_v<Case, PrefillAttentionCase>) return tables.prefill_attention;
  else if constexpr (std::is_same_v<Case, MixedAttentionCase>) return tables.mixed_attention;
  else if constexpr (std::is_same_v<Case, ElementwiseCase>) return tables.elementwise;
  else if constexpr (std::is_same_v<Case, CollectiveCase>) return tables.collective;
  else if constexpr (std::is_same_v<Case, CopyCase>) return tables.copy;
  else return tables.launch;
}

}  // namespace llmscape::traces
