// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/fit_passages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <stdexcept>
#include <unordered_map>

#include "traces/prefix_reuse.hpp"
#include "workloads/fit/law_nodes.hpp"

namespace llmscape::workloads {
namespace {

constexpr double kFixedPlace = 0.75;  // of a content's occurrences at one place: it belongs there
constexpr std::size_t kTopShare = 100;

// Where a content stands in the prompts: how often at each place from the start, and from the end.
struct Places {
  std::map<std::size_t, double> from_start, from_end;
  double calls = 0;
  [[nodiscard]] bool moves() const {
    const auto most = [](const auto& places) {
      return std::ranges::max_element(places, {}, [](const auto& place) { return place.second; })->second;
    };
    return calls >= 2 && most(from_start) < kFixedPlace * calls && most(from_end) < kFixedPlace * calls;
  }
};

std::unordered_map<ContentId, Places> places_in(const Recording& recording) {
  std::unordered_map<ContentId, Places> out;
  for (const RecordedCall& call : recording.calls)
    for (std::size_t i = 0; i < call.prompt.size(); ++i) {
      Places& places = out[call.prompt[i].id];
      ++places.calls;
      ++places.from_start[i];
      ++places.from_end[call.prompt.size() - i];
    }
  return out;
}

// The passages of a prompt: from the first content that moves to behind the last one.
struct Zone {
  std::size_t from = 0, to = 0;
};
Zone zone_of(const Prompt& prompt, const std::unordered_map<ContentId, Places>& places) {
  Zone zone;
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    if (!places.at(prompt[i].id).moves()) continue;
    if (zone.to == 0) zone.from = i;
    zone.to = i + 1;
  }
  return zone;
}

struct PassageSamples {
  std::vector<double> heads, found, counts, questions;
  std::map<ContentId, double> references;
  std::map<ContentId, double> lengths;

  void add(const RecordedCall& call, const Zone& zone, traces::PrefixTree& tree) {
    const auto at = [&](std::size_t i) { return call.prompt.begin() + static_cast<std::ptrdiff_t>(i); };
    const Prompt head(call.prompt.begin(), at(zone.from)), question(at(zone.to), call.prompt.end());
    for (std::size_t i = zone.from; i < zone.to; ++i) {
      ++references[call.prompt[i].id];
      lengths[call.prompt[i].id] = static_cast<double>(call.prompt[i].tokens);
    }
    counts.push_back(static_cast<double>(zone.to - zone.from));
    if (zone.to == 0) return;  // where the head ends, and the question begins, is not to be seen
    heads.push_back(static_cast<double>(tokens_of(head)));
    found.push_back(static_cast<double>(tree.add(head)));
    questions.push_back(static_cast<double>(std::max<std::int64_t>(1, tokens_of(question))));
  }
};

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

double popularity_of(const std::map<ContentId, double>& references) {
  std::vector<double> counts;
  double total = 0, top = 0;
  for (const auto& [id, count] : references) {
    counts.push_back(count);
    total += count;
  }
  std::ranges::sort(counts, std::greater<>());
  const std::size_t first = std::max<std::size_t>(1, counts.size() / kTopShare);
  for (std::size_t i = 0; i < first; ++i) top += counts[i];
  return zipf_exponent(counts.size(), first, top / total);
}

}  // namespace

double zipf_exponent(std::size_t ranks, std::size_t top, double share) {
  const auto share_at = [&](double exponent) {
    double all = 0, first = 0;
    for (std::size_t k = 1; k <= ranks; ++k) {
      all += std::pow(static_cast<double>(k), -exponent);
      if (k == top) first = all;
    }
    return first / all;
  };
  double low = 0, high = 5;
  while (high - low > 1e-4) {
    const double middle = (low + high) / 2;
    (share_at(middle) < share ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::shared_ptr<const Stream> fit_passages(const Recording& recording, const std::string& name,
                                           Diagnostics& diagnostics) {
  const auto places = places_in(recording);
  PassageSamples samples;
  traces::PrefixTree tree;
  for (const RecordedCall& call : recording.calls) samples.add(call, zone_of(call.prompt, places), tree);
  if (samples.heads.empty()) {
    diagnostics.error({}, fmt::format("{} has no content that moves from prompt to prompt: it has no passages", name),
                      "leave '--passages' out");
    return nullptr;
  }
  const double system = std::round(mean_of(samples.found));
  std::vector<double> preambles, lengths;
  for (const double head : samples.heads) preambles.push_back(std::max(0.0, head - system));
  for (const auto& [id, tokens] : samples.lengths) lengths.push_back(tokens);

  YamlNode stream;
  stream.set("kind", YamlNode::scalar("rag"));
  stream.set("system_prompt", YamlNode::scalar(fmt::format("{:.0f}", system)));
  stream.set("corpus", YamlNode::scalar(fmt::format("{}", samples.references.size())));
  stream.set("popularity", number_node(popularity_of(samples.references)));
  stream.set("preamble", quantile_lengths(preambles));
  stream.set("passage", quantile_lengths(lengths));
  stream.set("passages", observed_counts(samples.counts));
  stream.set("question", quantile_lengths(samples.questions));
  std::vector<double> outputs;
  for (const RecordedCall& call : recording.calls) outputs.push_back(static_cast<double>(call.output_tokens));
  stream.set("output", quantile_lengths(outputs));
  Diagnostics mistakes;
  auto out = streams().read(stream, mistakes);
  if (!out) throw std::logic_error("a fitted stream is refused: " + mistakes.text(false));
  return out;
}

}  // namespace llmscape::workloads
