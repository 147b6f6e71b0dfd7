// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/model_card.hpp"

#include <fmt/format.h>

#include <string_view>

#include "hardware/precision.hpp"
#include "models/memory.hpp"
#include "sim/report/units.hpp"

namespace llmscape::cli {
namespace {

using models::FeedForward;

std::string mixer(const models::LayerGroup& group) {
  std::string out = models::description(group.mixer);
  const std::int64_t reach = group.state({}).reach;
  if (reach > 0) out += fmt::format(", window {}", report::grouped(reach));
  return out;
}

std::string feed_forward(const FeedForward& f) {
  const std::string_view gated = f.gated ? "gated " : "";
  if (!f.present()) return "";
  if (!f.routed()) return fmt::format("{}{}", gated, f.width);
  std::string out = fmt::format("{} of {} experts, {}{}", f.experts_per_token, f.experts, gated, f.expert_width);
  if (f.shared_width > 0) out += fmt::format(", shared {}", f.shared_width);
  return out;
}

std::string parameter_count(const models::ModelSpec& m) {
  const double counted = static_cast<double>(models::parameters(m));
  std::string out = fmt::format("{:.4g} billion", counted / 1e9);
  if (m.published_parameters)
    out += fmt::format("; published {:.4g} billion ({:+.2f} %)", *m.published_parameters / 1e9,
                       100 * (counted / *m.published_parameters - 1));
  return out;
}

}  // namespace

std::string model_card(const models::ModelSpec& m) {
  std::string out;
  const auto line = [&out](std::string_view label, const std::string& text) {
    if (!text.empty()) out += fmt::format("{:<18}{}\n", label, text);
  };
  line("name", m.name);
  line("family", m.family);
  line("source", m.source);
  line("parameters", parameter_count(m));
  line("  of one token", fmt::format("{:.4g} billion", static_cast<double>(models::active_parameters(m)) / 1e9));
  line("hidden", report::grouped(m.hidden));
  line("vocabulary", report::grouped(m.vocabulary) + (m.tied_embeddings ? ", embedding and head tied" : ""));
  line("longest context", report::grouped(m.max_position) + " tokens");
  for (const models::LayerGroup& group : m.groups) {
    line(fmt::format("{} layers", group.count), mixer(group));
    line("", feed_forward(group.feed_forward));
    if (group.own_attention) line("", "their attention in " + group.own_attention->name);
    if (group.own_dense) line("", "their dense feed-forward in " + group.own_dense->name);
  }
  line("number formats", hardware::in_words(m.precision));
  const Bytes weights = models::memory_need(m, {}, 1, 1).weights;
  line("weights", fmt::format("{:.4g} GB", weights.si() / 1e9));
  line("KV of a token", report::grouped(static_cast<std::int64_t>(models::kv_bytes_per_token(m))) + " B");
  if (const double state = models::state_bytes_per_sequence(m); state > 0)
    line("state", report::grouped(static_cast<std::int64_t>(state)) + " B a sequence");
  return out;
}

}  // namespace llmscape::cli
