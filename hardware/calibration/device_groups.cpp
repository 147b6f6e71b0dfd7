// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/device_groups.hpp"

#include "hardware/calibration/correction_group.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace llmscape::hardware {
namespace {

constexpr std::array<std::string_view, 5> kKindNames = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all",
                                                        "send"};  // in the order of models::Collective::Kind

double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

// Writes the entries of one group in their order.
class Group {
 public:
  Group& add(std::string_view key, double value) { return set(key, fmt::format("{:.4g}", value)); }
  Group& add(std::string_view key, std::int64_t value) { return set(key, std::to_string(value)); }
  Group& add(std::string_view key, bool value) { return set(key, value ? "true" : "false"); }
  Group& add(std::string_view key, Seconds value) { return set(key, fmt::format("{:.4g} us", value.si() * 1e6)); }
  Group& add(std::string_view key, BytesPerSecond value) {
    return set(key, format(BytesPerSecond(rounded(value.si()))));
  }
  Group& add(std::string_view key, YamlNode value) {
    node_.set(key, std::move(value));
    return *this;
  }
  Group& add(std::string_view key, const StreamParameters& p) {
    return add(key, Group().add("launch", p.launch).add("efficiency", p.efficiency).node());
  }
  Group& fit(const Fit& fit) {
    set("tag", std::string(name_of(fit.tag)));
    node_.set("source", YamlNode::scalar(fit.source, true));
    return *this;
  }
  Group& residuals(const FamilyReport& report) {
    YamlNode all;
    for (const RegimeReport& regime : report.regimes) {
      if (regime.residual_quantiles.empty()) continue;
      YamlNode quantiles;
      quantiles.kind = YamlNode::Kind::sequence;
      for (const double q : regime.residual_quantiles)
        quantiles.items.push_back(YamlNode::scalar(fmt::format("{:.3f}", q)));
      all.set(regime.name, std::move(quantiles));
    }
    return all.entries.empty() ? *this : add("residuals", std::move(all));
  }
  Group& correction(const std::optional<Correction>& correction) {
    return correction ? add("correction", correction_group(*correction)) : *this;
  }
  [[nodiscard]] YamlNode node() const { return node_; }

 private:
  Group& set(std::string_view key, std::string text) {
    node_.set(key, YamlNode::scalar(std::move(text)));
    return *this;
  }
  YamlNode node_;
};

}  // namespace

YamlNode group_of(const GemmParameters& p, const FamilyReport& report) {
  return Group()
      .add("compute_efficiency", p.compute_efficiency)
      .add("memory_efficiency", p.memory_efficiency)
      .add("launch", p.launch)
      .add("tile", p.tile)
      .add("cta_bandwidth", p.cta_bandwidth)
      .add("wave_quantisation", p.wave_quantisation)
      .add("l2_bandwidth", p.l2_bandwidth)
      .add("split", p.split)
      .add("least_tile_rows", p.least_tile_rows)
      .add("most_rows", p.most_rows)
      .add("least_width", p.least_width)
      .fit(p)
      .residuals(report)
      .correction(p.correction)
      .node();
}

YamlNode group_of(const PrefillAttentionParameters& p, const FamilyReport& report) {
  return Group()
      .add("tile_edge", p.tile_edge)
      .add("compute_efficiency", p.compute_efficiency)
      .add("softmax_flops", p.softmax_flops)
      .add("memory_efficiency", p.memory_efficiency)
      .add("launch", p.launch)
      .add("tile", p.tile)
      .add("wave_quantisation", p.wave_quantisation)
      .add("takes_decodes", p.takes_decodes)
      .add("most_tokens", p.most_tokens)
      .add("longest_context", p.longest_context)
      .fit(p)
      .residuals(report)
      .correction(p.correction)
      .node();
}

YamlNode group_of(const DecodeAttentionParameters& p, const FamilyReport& report) {
  Group group;
  group.add("compute_efficiency", p.compute_efficiency)
      .add("memory_efficiency", p.memory_efficiency)
      .add("launch", p.launch)
      .add("cta", p.cta)
      .add("cta_bandwidth", p.cta_bandwidth)
      .add("split", p.split);
  if (p.packing) group.add("packing", *p.packing);
  return group.add("most_sequences", p.most_sequences)
      .add("longest_context", p.longest_context)
      .fit(p)
      .residuals(report)
      .correction(p.correction)
      .node();
}

YamlNode group_of(const ElementwiseParameters& p, const FamilyReport& report) {
  Group group;
  group.add("norm", p.norm).add("activation", p.activation).add("rope", p.rope);
  if (p.add) group.add("add", *p.add);
  return group.add("embedding", p.embedding).add("sampling", p.sampling).fit(p).residuals(report).node();
}

YamlNode group_of(const CollectiveFit& p) {
  return Group()
      .add("kind", YamlNode::scalar(std::string(kKindNames[static_cast<std::size_t>(p.kind)])))
      .add("ranks", static_cast<std::int64_t>(p.ranks))
      .add("latency", p.latency)
      .add("bandwidth", p.bandwidth)
      .add("root_term", YamlNode::scalar(fmt::format("{:.4g} ns", p.root_term.si() * 1e9)))
      .fit(p)
      .node();
}

}  // namespace llmscape::hardware
