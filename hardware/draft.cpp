// SPDX-License-Identifier: Apache-2.0
#include "hardware/draft.hpp"

#include <algorithm>
#include <utility>

namespace llmscape::hardware {
namespace {

constexpr auto kHost = static_cast<std::size_t>(OperatorFamily::host);
constexpr Bytes kTokenId{4};

void add_energy(StepCost& sum, const StepCost& more, double times) {
  for (std::size_t i = 0; i < sum.energy.size(); ++i) sum.energy[i] += times * more.energy[i];
  for (std::size_t i = 0; i < sum.energy_by_family.size(); ++i)
    sum.energy_by_family[i] += times * more.energy_by_family[i];
}

void add_work(StepCost& sum, const StepCost& more, double times) {
  sum.device += times * more.device;
  for (std::size_t i = 0; i < kHost; ++i) sum.by_family[i] += times * more.by_family[i];
  add_energy(sum, more, times);
  for (std::size_t i = 0; i < sum.busy.size(); ++i) sum.busy[i] += times * more.busy[i];
  sum.extrapolated += times * more.extrapolated;
  sum.flops += times * more.flops;
  sum.bytes += times * more.bytes;
  sum.expert_bytes += times * more.expert_bytes;
}

class DraftHeads final : public StepModel {
 public:
  DraftHeads(std::unique_ptr<StepModel> model, double share) : model_(std::move(model)), share_(share) {}
  StepCost step(const models::Batch& batch) override {
    StepCost cost = model_->step(batch);
    const StepCost alone = cost;
    add_work(cost, alone, share_);
    return cost;
  }
  [[nodiscard]] std::vector<std::string> range_warnings() const override { return model_->range_warnings(); }

 private:
  std::unique_ptr<StepModel> model_;
  double share_;
};

class DraftModel final : public StepModel {
 public:
  DraftModel(std::unique_ptr<StepModel> model, std::unique_ptr<StepModel> draft, ContextsOfDraft contexts)
      : model_(std::move(model)), draft_(std::move(draft)), contexts_(std::move(contexts)) {}
  StepCost step(const models::Batch& batch) override {
    StepCost cost = model_->step(batch);
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
  static void add(StepCost& sum, const StepCost& more, double times) {
    add_work(sum, more, times);
    sum.host += times * more.host;
    sum.launch += times * more.launch;
    sum.by_family[kHost] = sum.host + (sum.stage() - sum.device);
    sum.sync += times * more.sync;
  }

  std::unique_ptr<StepModel> model_, draft_;
  ContextsOfDraft contexts_;
};

class DraftDevice final : public StepModel {
 public:
  DraftDevice(std::unique_ptr<StepModel> model, std::unique_ptr<StepModel> draft, ContextsOfDraft contexts,
              const DraftLink& link)
      : model_(std::move(model)), draft_(std::move(draft)), contexts_(std::move(contexts)), link_(link) {}
  StepCost step(const models::Batch& batch) override {
    StepCost cost = model_->step(batch);
    const std::int64_t drafts = batch.tokens_per_decode - 1;
    if (batch.decodes == 0 || drafts == 0) return cost;
    std::vector<models::Attended> longest = contexts_.of(batch);
    for (models::Attended& law : longest) law.sum = law.max;
    models::Batch one;
    one.decodes = 1;
    one.attended = longest;
    const StepCost draft = draft_->step(one);
    const auto steps = static_cast<double>(drafts);
    cost.sync += steps * (draft.stage() + draft.host + draft.sync) + link_.round_trip(drafts);
    add_energy(cost, draft, steps * static_cast<double>(batch.decodes));
    return cost;
  }
  [[nodiscard]] std::vector<std::string> range_warnings() const override { return model_->range_warnings(); }

 private:
  std::unique_ptr<StepModel> model_, draft_;
  ContextsOfDraft contexts_;
  DraftLink link_;
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

std::unique_ptr<StepModel> with_draft_heads(std::unique_ptr<StepModel> model, double share) {
  return std::make_unique<DraftHeads>(std::move(model), share);
}

std::unique_ptr<StepModel> with_draft_model(std::unique_ptr<StepModel> model, std::unique_ptr<StepModel> draft,
                                            ContextsOfDraft contexts) {
  return std::make_unique<DraftModel>(std::move(model), std::move(draft), std::move(contexts));
}

std::unique_ptr<StepModel> with_draft_device(std::unique_ptr<StepModel> model, std::unique_ptr<StepModel> draft,
                                             ContextsOfDraft contexts, const DraftLink& link) {
  return std::make_unique<DraftDevice>(std::move(model), std::move(draft), std::move(contexts), link);
}

}  // namespace llmscape::hardware
