// SPDX-License-Identifier: Apache-2.0
#include "traces/repeated_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>
#include <utility>

#include "traces/kernel_case.hpp"

namespace llmscape::traces {
namespace {

constexpr double kUnlike = 1.1;  // what the harness calls noisy is half as wide

// Kind and name of a case. Attention to latents is no kernel of the harness, which names its own.
template <class Case>
std::pair<std::string, std::string> named(const Case& what) {
  if constexpr (std::is_constructible_v<KernelCase, const Case&>)
    return {std::string(operator_of(what)), name_of(what)};
  else
    return {std::is_same_v<Case, LatentAttentionCase> ? "latent_attention" : "indexed_attention",
            fmt::format("{} x {} tokens behind {}, {} heads", what.sequences, what.tokens, what.cached, what.heads)};
}

template <class Case>
void average_list(std::vector<Timed<Case>>& records, std::vector<UnlikeRepeats>& all) {
  const auto what = [](const Timed<Case>& record) {
    return std::pair<const Case&, const std::string&>(record, record.engine);
  };
  std::ranges::sort(records, [&](const auto& a, const auto& b) { return what(a) < what(b); });
  UnlikeRepeats unlike;
  double widest = kUnlike;
  auto kept = records.begin();
  for (auto first = records.begin(); first != records.end();) {
    auto last = first;
    Seconds sum, shortest = first->time, longest = first->time;
    for (; last != records.end() && what(*last) == what(*first); ++last) {
      sum += last->time;
      shortest = std::min(shortest, last->time);
      longest = std::max(longest, last->time);
    }
    if (longest > kUnlike * shortest) ++unlike.cases;
    if (longest > widest * shortest) {
      widest = longest / shortest;
      std::tie(unlike.kind, unlike.widest) = named(static_cast<const Case&>(*first));
      unlike.shortest = shortest;
      unlike.longest = longest;
    }
    const Seconds mean = sum / static_cast<double>(last - first);
    if (kept != first) *kept = std::move(*first);
    (kept++)->time = mean;
    first = last;
  }
  records.erase(kept, records.end());
  if (unlike.cases > 0) all.push_back(std::move(unlike));
}

}  // namespace

std::vector<UnlikeRepeats> average_repeats(KernelTables& tables) {
  std::vector<UnlikeRepeats> unlike;
  std::apply([&](auto&... records) { (average_list(records, unlike), ...); }, lists_of(tables));
  return unlike;
}

}  // namespace llmscape::traces
