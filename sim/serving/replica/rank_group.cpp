// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/replica/rank_group.hpp"

#include <algorithm>

namespace llmscape::serving {

Seconds RankGroup::next_event() const {
  if (exchanged_.open()) return exchanged_.next_event();
  Seconds next = kNever;
  for (const Replica* rank : ranks_) next = std::min(next, rank->next_event());
  return next;
}

void RankGroup::wake(Seconds now) {
  if (exchanged_.open()) {
    if (!exchanged_.advance(*exchange_, now)) return;
    for (Replica* rank : ranks_) rank->run_draft(exchanged_.planned_at(), now);
  }
  for (Replica* rank : ranks_) rank->receive(now);
  while (std::ranges::all_of(ranks_, [&](const Replica* rank) { return rank->may_plan(now); }) && plan_step(now)) {
  }
}

bool RankGroup::plan_step(Seconds now) {
  bool any = false;
  for (Replica* rank : ranks_) any = rank->draft(now) || any;
  if (!any) return false;
  models::RankTokens tokens;
  for (Replica* rank : ranks_) {
    const models::RankTokens own = rank->drafted_tokens();
    tokens.chunks += own.chunks;
    tokens.decodes += own.decodes;
    tokens.unrelated += own.unrelated;
    tokens.most = std::max(tokens.most, own.most);
  }
  Seconds end, computed;
  for (Replica* rank : ranks_) {
    const Seconds priced = rank->price_draft(now, tokens);
    end = std::max(end, priced);
    computed = std::max(computed, priced - rank->exchanged());
  }
  if (computed < end) {
    for (Replica* rank : ranks_) rank->hold_draft(now, end);
    exchanged_.plan(now, computed, end);
    return true;
  }
  for (Replica* rank : ranks_) rank->run_draft(now, end);
  return true;
}

}  // namespace llmscape::serving
