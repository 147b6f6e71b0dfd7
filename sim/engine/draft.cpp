// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace llmscape::engine {
namespace {

constexpr Bytes kTokenId{4};

class DraftHeads final : public EngineModel {
 public:
  DraftHeads(std::unique_ptr<EngineModel> model, double share) : model_(std::move(model)), share_(share) {}
  EngineCost step(const models::Batch& batch) override {
    EngineCost cost = model_->step(batch);
    const EngineCost alone = cost;
    cost.add(alone, share_);
    cost.settle_host();
    return cost;
  }
  [[nodiscard]] std::vector<std::string> range_warnings() const override { return model_->range_warnings(); }

 private:
  std::unique_ptr<EngineModel> model_;
  double share_;
};

class DraftModel final : public EngineModel {
 public:
  DraftModel(std::unique_ptr<EngineModel> model, std::unique_ptr<EngineModel> draft, ContextsOfDraft contexts)
      : model_(std::move(model)), draft_(std::move(draft)), contexts_(std::move(contexts)) {}
  EngineCost step(const models::Batch& batch) override {
    EngineCost cost = model_->step(batch);
    const std::vector<models::Attended> attended = contexts_.of(batch);
    models::Batch drafting;
    drafting.decodes = batch.decodes;
    drafting.attended = attended;
    std::int64_t steps = batch.decodes > 0 ? batch.tokens_per_decode - 1 : 0;
    if (!batch.chunks.empty()) {
      drafting.chunks = batch.chunks;
      add(cost, draft_->step(drafting), 1);
      drafting.chunks = {};
      --steps;
    }
    if (steps > 0) add(cost, draft_->step(drafting), static_cast<double>(steps));
    return cost;
  }
  [[nodiscard]] std::vector<std::string> range_warnings() const override { return model_->range_warnings(); }

 private:
  static void add(EngineCost& sum, const EngineCost& more, double times) {
    sum.add(more, times);
    sum.host += times * more.host;
    sum.launch += times * more.launch;
    sum.settle_host();
    sum.sync += times * more.sync;
  }

  std::unique_ptr<EngineModel> model_, draft_;
  ContextsOfDraft contexts_;
};

class DraftDevice final : public EngineModel {
 public:
  DraftDevice(std::unique_ptr<EngineModel> model, std::unique_ptr<EngineModel> draft, ContextsOfDraft contexts,
              const DraftLink& link, Seconds deadline)
      : model_(std::move(model)), draft_(std::move(draft)), contexts_(std::move(contexts)), link_(link),
        deadline_(deadline) {}
  EngineCost step(const models::Batch& batch) override {
    EngineCost cost = model_->step(batch);
    const std::int64_t drafts = batch.tokens_per_decode - 1;
    late_ = late_ || batch.late > 0;
    if (batch.decodes == batch.late || drafts == 0) return cost;
    in_time_ = true;
    models::Batch drafted;
    drafted.decodes = batch.decodes - batch.late;
    drafted.attended = batch.late > 0 ? batch.drafted : batch.attended;
    const std::vector<models::Attended> contexts = contexts_.of(drafted);
    std::vector<models::Attended> longest = contexts, mean = contexts;
    for (models::Attended& law : longest) law.sum = law.max;
    for (models::Attended& law : mean) law.sum = law.max = (law.sum + drafted.decodes / 2) / drafted.decodes;
    models::Batch one;
    one.decodes = 1;
    one.attended = longest;
    // Contexts of a batch are those of the mean pass, or padded: the one that was drawn is in time.
    cost.sync += std::min(deadline_, draft_time(draft_->step(one), drafts, link_));
    // All wait for the longest, and each spends the joules of its own.
    one.attended = mean;
    const std::array spent = draft_->step(one).energy;
    cost.drafting += static_cast<double>(drafts) * static_cast<double>(drafted.decodes) *
                     std::accumulate(spent.begin(), spent.end(), Joules());
    return cost;
  }
  [[nodiscard]] std::vector<std::string> range_warnings() const override {
    std::vector<std::string> all = model_->range_warnings();
    if (late_ && !in_time_)
      all.push_back(
          fmt::format("no draft of a user's device came in time: a pass waits for {:.3g} ms ('deadline' of 'draft'; by "
                      "default no longer than drafts gain a sequence that is alone)",
                      1e3 * deadline_.si()));
    return all;
  }

 private:
  std::unique_ptr<EngineModel> model_, draft_;
  ContextsOfDraft contexts_;
  DraftLink link_;
  Seconds deadline_;
  bool late_ = false, in_time_ = false;  // some decode was, with or without drafts
};

}  // namespace

ContextsOfDraft::ContextsOfDraft(std::vector<std::int64_t> model_laws, std::vector<std::int64_t> draft_laws)
    : model_laws_(std::move(model_laws)), draft_laws_(std::move(draft_laws)) {}

bool ContextsOfDraft::known() const {
  const bool full = std::ranges::find(model_laws_, 0) != model_laws_.end();
  return full || std::ranges::all_of(draft_laws_, [this](std::int64_t law) {
           return std::ranges::find(model_laws_, law) != model_laws_.end();
         });
}

std::vector<models::Attended> ContextsOfDraft::of(const models::Batch& batch) const {
  std::vector<models::Attended> attended;
  if (batch.decodes == 0) return attended;
  for (const std::int64_t law : draft_laws_) {
    const auto same = std::ranges::find(model_laws_, law);
    if (same != model_laws_.end()) {
      attended.push_back(batch.attended[static_cast<std::size_t>(same - model_laws_.begin())]);
    } else {
      const models::Attended& full = batch.attended.front();
      attended.push_back({std::min(full.sum, batch.decodes * law), std::min(full.max, law)});
    }
  }
  return attended;
}

Seconds DraftLink::round_trip(std::int64_t drafts) const {
  const double tokens = static_cast<double>(drafts) + 2;
  return 2 * latency + tokens * kTokenId / bandwidth;
}

std::unique_ptr<EngineModel> with_draft_heads(std::unique_ptr<EngineModel> model, double share) {
  return std::make_unique<DraftHeads>(std::move(model), share);
}

std::unique_ptr<EngineModel> with_draft_model(std::unique_ptr<EngineModel> model, std::unique_ptr<EngineModel> draft,
                                              ContextsOfDraft contexts) {
  return std::make_unique<DraftModel>(std::move(model), std::move(draft), std::move(contexts));
}

std::unique_ptr<EngineModel> with_draft_device(std::unique_ptr<EngineModel> model, std::unique_ptr<EngineModel> draft,
                                               ContextsOfDraft contexts, const DraftLink& link, Seconds deadline) {
  return std::make_unique<DraftDevice>(std::move(model), std::move(draft), std::move(contexts), link, deadline);
}

Seconds draft_time(const EngineCost& draft, std::int64_t drafts, const DraftLink& link) {
  return static_cast<double>(drafts) * (draft.stage() + draft.host + draft.sync) + link.round_trip(drafts);
}

std::int64_t longest_in_time(EngineModel& draft, const std::vector<std::int64_t>& laws, std::int64_t drafts,
                             const DraftLink& link, Seconds deadline, std::int64_t longest) {
  std::vector<models::Attended> attended(laws.size());
  models::Batch one;
  one.decodes = 1;
  one.attended = attended;
  const auto in_time = [&](std::int64_t context) {
    for (std::size_t law = 0; law < laws.size(); ++law) {
      const std::int64_t entries = laws[law] > 0 ? std::min(laws[law], context) : context;
      attended[law] = {entries, entries};
    }
    return draft_time(draft.step(one), drafts, link) <= deadline;
  };
  if (in_time(longest)) return longest;
  std::int64_t good = 0, late = longest;  // in time up to the one, late from the other on
  while (late - good > 1) {
    const std::int64_t middle = good + (late - good) / 2;
    (in_time(middle) ? good : late) = middle;
  }
  return good;
}

Seconds draft_break_even(EngineModel& model, std::size_t laws, std::int64_t drafts, double tokens_per_pass,
                         int stages) {
  const std::vector<models::Attended> attended(laws, {1 + drafts, 1 + drafts});
  const auto pass = [&](std::int64_t tokens) {
    models::Batch batch;
    batch.decodes = 1;
    batch.tokens_per_decode = tokens;
    batch.attended = attended;
    const EngineCost cost = model.step(batch);
    return cost.stage() * static_cast<double>(stages) + cost.host + cost.sync;
  };
  return std::max(Seconds(), tokens_per_pass * pass(1) - pass(1 + drafts));
}

}  // namespace llmscape::engine
