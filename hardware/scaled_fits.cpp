// SPDX-License-Identifier: Apache-2.0
#include "hardware/scaled_fits.hpp"

#include "base/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace llmscape::hardware {
namespace {

// A fitted parameter goes with (new figure / reference) ^ exponent.
struct Influence {
  std::string_view figure;
  double exponent;
};
struct ScaledFit {
  std::string path;  // `*`: every entry of a mapping, every item of a list
  std::vector<Influence> with;
};

// A root term is a time per square root of a byte: dimensionally the root of a latency over a bandwidth.
// The same of kernels in a set of an engine.
std::vector<ScaledFit> with_sets(std::vector<ScaledFit> all) {
  const std::size_t own = all.size();
  for (std::size_t i = 0; i < own; ++i) {
    constexpr std::string_view kLinks = "links.";
    const std::string_view path = all[i].path;
    if (path.find('.') == std::string_view::npos) continue;  // a figure of the data sheet
    const std::string_view inside = path.starts_with(kLinks) ? path.substr(kLinks.size()) : path;
    all.push_back({fmt::format("kernel_sets.*.{}", inside), all[i].with});
  }
  return all;
}

const std::vector<ScaledFit>& scaled_fits() {
  static const std::vector<ScaledFit> all = with_sets({
      {"gemm.cta_bandwidth", {{"hbm_bandwidth", 1}}},
      {"expert_gemm.cta_bandwidth", {{"hbm_bandwidth", 1}}},
      {"gemm_by_format.*.cta_bandwidth", {{"hbm_bandwidth", 1}}},
      {"expert_gemm_by_format.*.cta_bandwidth", {{"hbm_bandwidth", 1}}},
      {"decode_attention.cta_bandwidth", {{"hbm_bandwidth", 1}}},
      {"decode_attention.ungrouped.cta_bandwidth", {{"hbm_bandwidth", 1}}},
      {"decode_attention.tail_bandwidth", {{"hbm_bandwidth", 1}}},
      {"decode_attention_by_kv.*.cta_bandwidth", {{"hbm_bandwidth", 1}}},
      {"decode_attention_by_kv.*.ungrouped.cta_bandwidth", {{"hbm_bandwidth", 1}}},
      {"decode_attention_by_kv.*.tail_bandwidth", {{"hbm_bandwidth", 1}}},
      {"prefill_attention_by_kv.*.widening", {{"hbm_bandwidth", 1}}},
      {"latent_prefill_attention.*.widening", {{"hbm_bandwidth", 1}}},
      {"latent_decode_attention.*.cta_bandwidth", {{"hbm_bandwidth", 1}}},
      {"latent_decode_attention.*.widening", {{"hbm_bandwidth", 1}}},
      {"peak_bf16", {{"multiprocessors", 1}}},
      {"peak_fp8", {{"multiprocessors", 1}}},
      {"peak_int8", {{"multiprocessors", 1}}},
      {"peak_fp4", {{"multiprocessors", 1}}},
      {"gemm.l2_bandwidth", {{"multiprocessors", 1}}},
      {"decode_attention.l2_bandwidth", {{"multiprocessors", 1}}},
      {"decode_attention_by_kv.*.l2_bandwidth", {{"multiprocessors", 1}}},
      {"expert_gemm.l2_bandwidth", {{"multiprocessors", 1}}},
      {"gemm_by_format.*.l2_bandwidth", {{"multiprocessors", 1}}},
      {"expert_gemm_by_format.*.l2_bandwidth", {{"multiprocessors", 1}}},
      {"links.collectives.*.bandwidth", {{"links.bandwidth", 1}}},
      {"links.collectives.*.latency", {{"links.latency", 1}}},
      {"links.collectives.*.root_term", {{"links.latency", 0.5}, {"links.bandwidth", -0.5}}},
  });
  return all;
}

template <class Node>
Node* at(Node* node, std::string_view path) {
  while (node && !path.empty()) {
    const std::size_t dot = path.find('.');
    node = node->find(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return node;
}

// {value: 3.35 TB/s, ...} and 3.35 TB/s are the same figure.
const YamlNode* scalar_of(const YamlNode* node) {
  if (node && node->is_mapping()) node = node->find("value");
  return node && node->is_scalar() ? node : nullptr;
}

std::optional<double> read(const YamlNode* figure, Dimension dimension) {
  const YamlNode* scalar = scalar_of(figure);
  if (!scalar) return std::nullopt;
  const auto value = parse_quantity(scalar->text, dimension);
  const double* si = std::get_if<double>(&value);
  return si && *si > 0 ? std::optional(*si) : std::nullopt;
}

// Groups of fits, and the figures of the data sheet that their forms multiply; `kernel_sets` has the same ones.
struct FitGroup {
  std::string_view key;
  bool by_name = false;  // a mapping of such groups
};
constexpr std::array kFitGroups = {FitGroup{"gemm"},
                                   FitGroup{"expert_gemm"},
                                   FitGroup{"prefill_attention"},
                                   FitGroup{"decode_attention"},
                                   FitGroup{"gemm_by_format", true},
                                   FitGroup{"expert_gemm_by_format", true},
                                   FitGroup{"prefill_attention_by_kv", true},
                                   FitGroup{"decode_attention_by_kv", true},
                                   FitGroup{"latent_prefill_attention", true},
                                   FitGroup{"latent_decode_attention", true}};

struct Figure {
  std::string_view path;
  Dimension dimension;
  double ratio = 1;  // new / reference
};

std::vector<Figure> changed_figures(const YamlNode& device, const YamlNode& reference) {
  std::vector<Figure> figures = {{"peak_bf16", DimensionOf<FlopsPerSecond>::value},
                                 {"peak_fp8", DimensionOf<FlopsPerSecond>::value},
                                 {"peak_int8", DimensionOf<FlopsPerSecond>::value},
                                 {"peak_fp4", DimensionOf<FlopsPerSecond>::value},
                                 {"l2", DimensionOf<Bytes>::value},
                                 {"hbm_bandwidth", DimensionOf<BytesPerSecond>::value},
                                 {"multiprocessors", DimensionOf<double>::value},
                                 {"links.bandwidth", DimensionOf<BytesPerSecond>::value},
                                 {"links.latency", DimensionOf<Seconds>::value}};
  for (Figure& figure : figures) {
    const auto now = read(at(&device, figure.path), figure.dimension);
    const auto then = read(at(&reference, figure.path), figure.dimension);
    if (now && then) figure.ratio = *now / *then;
  }
  std::erase_if(figures, [](const Figure& figure) { return figure.ratio == 1; });
  return figures;
}

// "24.92 GB/s" times 2 is "49.84 GB/s".
std::optional<std::string> times(const std::string& text, double factor) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  return fmt::format("{:.12g}{}", number * factor, std::string(end, text.data() + text.size()));
}

struct Change {
  double factor = 1;
  std::string why;  // "links.bandwidth x 0.5"
};

Change change_of(const ScaledFit& fit, const std::vector<Figure>& figures) {
  Change change;
  for (const Influence& with : fit.with) {
    const auto figure = std::ranges::find(figures, with.figure, &Figure::path);
    if (figure == figures.end()) continue;
    change.factor *= std::pow(figure->ratio, with.exponent);
    change.why += fmt::format("{}{} x {:.4g}", change.why.empty() ? "" : ", ", figure->path, figure->ratio);
  }
  return change;
}

// The mapping that holds a parameter says what it is worth, once for all of them.
void mark_assumed(YamlNode& holder, const Change& change) {
  YamlNode* tag = holder.find("tag");
  YamlNode* source = holder.find("source");
  if (!tag || !tag->is_scalar()) return;
  tag->text = "assumed";
  const std::string note = fmt::format("scaled with {}", change.why);
  if (source && source->is_scalar() && source->text.find(note) == std::string::npos) {
    source->text += "; " + note;
    source->quoted = true;
  }
}

// Whose residuals were those of another chip: what they say is not of this one.
void forget_residuals(YamlNode& group) {
  group.entries.erase_if([](const YamlNode::Entry& entry) { return entry.key == "residuals"; });
}

bool scale_leaf(YamlNode& leaf, const YamlNode& reference, const Change& change) {
  // What comes from the reference has its text and its origin; what somebody laid over it has another origin.
  if (!leaf.is_scalar() || !reference.is_scalar() || leaf.text != reference.text || leaf.origin != reference.origin)
    return false;
  auto text = times(leaf.text, change.factor);
  if (!text) return false;
  leaf.text = std::move(*text);
  leaf.origin += fmt::format("{}scaled with {}", leaf.origin.empty() ? "" : ", ", change.why);
  return true;
}

void scale(YamlNode& holder, const YamlNode& reference, std::string_view path, const Change& change) {
  const std::size_t dot = path.find('.');
  const std::string_view key = path.substr(0, dot);
  const bool last = dot == std::string_view::npos;
  const std::string_view rest = last ? std::string_view() : path.substr(dot + 1);
  if (key == "*") {
    for (auto& entry : holder.entries)
      if (const YamlNode* then = reference.find(entry.key)) scale(entry.value, *then, rest, change);
    for (std::size_t i = 0; i < std::min(holder.items.size(), reference.items.size()); ++i)
      scale(holder.items[i], reference.items[i], rest, change);
    return;
  }
  YamlNode* node = holder.find(key);
  const YamlNode* then = reference.find(key);
  if (!node || !then) return;
  if (!last) return scale(*node, *then, rest, change);
  if (node->is_mapping()) return scale(*node, *then, "value", change);
  if (scale_leaf(*node, *then, change)) mark_assumed(holder, change);
}

// Fits that are still the reference's, of a chip with these figures.
void carry_group(YamlNode& group, const YamlNode& reference, const Change& change) {
  const YamlNode* source = group.find("source");
  const YamlNode* then = reference.find("source");
  if (change.why.empty() || !source || !then || !source->is_scalar() || !then->is_scalar() ||
      !source->text.starts_with(then->text))
    return;
  mark_assumed(group, change);
  forget_residuals(group);
}

// The peak of a narrow format counts in the fits of kernels that compute in it, by their names ("fp8_block", "nvfp4").
bool concerns(std::string_view figure, std::string_view format) {
  constexpr std::string_view kPeak = "peak_";
  if (!figure.starts_with(kPeak) || figure == "peak_bf16") return !figure.starts_with("links.");
  return format.find(figure.substr(kPeak.size())) != std::string_view::npos;
}

// What has changed of a chip that kernels of that format notice: peaks, memory, multiprocessors, L2.
Change change_of_chip(const std::vector<Figure>& figures, std::string_view format) {
  Change change;
  for (const Figure& figure : figures)
    if (concerns(figure.path, format))
      change.why += fmt::format("{}{} x {:.4g}", change.why.empty() ? "" : ", ", figure.path, figure.ratio);
  return change;
}

void carry_groups(YamlNode& device, const YamlNode& reference, const std::vector<Figure>& figures) {
  for (const FitGroup& fit : kFitGroups) {
    YamlNode* group = device.find(fit.key);
    const YamlNode* then = reference.find(fit.key);
    if (!group || !then) continue;
    if (!fit.by_name) carry_group(*group, *then, change_of_chip(figures, ""));
    else
      for (YamlNode::Entry& entry : group->entries)
        if (const YamlNode* own = then->find(entry.key))
          carry_group(entry.value, *own, change_of_chip(figures, entry.key));
  }
}

// Rows of collectives that are still the reference's, inside its domains, and have more ranks than these domains hold.
void forget_wide_collectives(YamlNode* rows, const YamlNode* reference, double devices) {
  if (!rows || !reference) return;
  rows->items.erase_if([&](const YamlNode& row) {
    const auto ranks = read(row.find("ranks"), DimensionOf<double>::value);
    const auto same = [&](const YamlNode& then) {
      const YamlNode *a = row.find("ranks"), *b = then.find("ranks");
      return a && b && a->text == b->text && a->origin == b->origin;
    };
    return ranks && *ranks > devices && std::ranges::any_of(reference->items, same);
  });
}

void shrink_domains(YamlNode& device, const YamlNode& reference) {
  constexpr std::string_view kDevices = "links.domain.devices";
  const auto now = read(at(&device, kDevices), DimensionOf<double>::value);
  const auto then = read(at(&reference, kDevices), DimensionOf<double>::value);
  if (!now || (then && *then <= *now)) return;
  forget_wide_collectives(at(&device, "links.collectives"), at(&reference, "links.collectives"), *now);
  YamlNode* sets = device.find("kernel_sets");
  const YamlNode* own_sets = reference.find("kernel_sets");
  if (!sets || !own_sets) return;
  for (YamlNode::Entry& set : sets->entries)
    if (const YamlNode* own = own_sets->find(set.key))
      forget_wide_collectives(set.value.find("collectives"), own->find("collectives"), *now);
}

// Where another device is laid over the one whose steps were measured, that one is what they were measured on.
void change_measured(YamlNode& steps, const YamlNode& reference) {
  YamlNode* device = steps.find("device");
  const YamlNode* measured = reference.find("device");
  if (!device || !measured || same(*device, *measured)) return;
  scale_fits(*device, *measured);
  if (!steps.find("measured_on")) steps.set("measured_on", *measured);
}

}  // namespace

void scale_fits(YamlNode& device, const YamlNode& reference) {
  if (const YamlNode* kind = reference.find("kind"); kind && kind->text == "steps")
    return change_measured(device, reference);
  shrink_domains(device, reference);
  const std::vector<Figure> figures = changed_figures(device, reference);
  if (figures.empty()) return;
  carry_groups(device, reference, figures);
  YamlNode* sets = device.find("kernel_sets");
  const YamlNode* own_sets = reference.find("kernel_sets");
  if (sets && own_sets)
    for (YamlNode::Entry& set : sets->entries)
      if (const YamlNode* own = own_sets->find(set.key)) carry_groups(set.value, *own, figures);
  for (const ScaledFit& fit : scaled_fits())
    if (const Change change = change_of(fit, figures); change.factor != 1) scale(device, reference, fit.path, change);
}

}  // namespace llmscape::hardware
