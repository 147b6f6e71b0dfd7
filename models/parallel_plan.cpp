// SPDX-License-Identifier: Apache-2.0
#include "models/parallel_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace llmscape::models {
namespace {

class Problems {
 public:
  // The same sentence from several layer groups is said once.
  void add(std::string sentence) {
    if (std::find(all_.begin(), all_.end(), sentence) == all_.end()) all_.push_back(std::move(sentence));
  }
  void unless_divides(int degree, std::string_view degree_name, std::int64_t width, std::string_view width_name) {
    if (width % degree != 0)
      add(fmt::format("{} {} does not divide the {} {}", degree_name, degree, width, width_name));
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(all_); }

 private:
  std::vector<std::string> all_;
};

void check_group(const LayerGroup& group, const ParallelPlan& plan, Problems& problems) {
  for (const HeadCount& heads : head_counts(group.mixer)) {
    if (!heads.replicates || plan.tensor <= heads.count) {
      problems.unless_divides(plan.tensor, "tensor parallelism", heads.count, heads.name);
    } else if (plan.tensor % heads.count != 0) {
      problems.add(fmt::format("tensor parallelism {} is no multiple of the {} {} that it would replicate", plan.tensor,
                               heads.count, heads.name));
    }
  }
  const FeedForward& kind = group.feed_forward;
  if (!kind.routed()) {  // a layer without any has no channels to divide
    problems.unless_divides(plan.tensor, "tensor parallelism", kind.width, "feed-forward channels");
    return;
  }
  problems.unless_divides(plan.tensor, "tensor parallelism", kind.shared_width, "channels of the shared experts");
  problems.unless_divides(plan.expert, "expert parallelism", placed_experts(plan, kind),
                          plan.redundant_experts > 0 ? "experts and their copies" : "experts");
  if (plan.tensor * plan.data % plan.expert == 0)
    problems.unless_divides(expert_shards(plan), "a cut of each expert by", kind.expert_width, "expert channels");
}

}  // namespace

std::vector<std::string> problems(const ParallelPlan& plan, const ModelSpec& model) {
  Problems found;
  for (const auto& [name, degree] :
       {std::pair{"tensor", plan.tensor}, {"pipeline", plan.pipeline}, {"expert", plan.expert}, {"data", plan.data}})
    if (degree < 1) found.add(fmt::format("{} parallelism must be at least 1, not {}", name, degree));
  if (auto wrong = found.take(); !wrong.empty()) return wrong;

  for (const LayerGroup& group : model.groups) check_group(group, plan, found);
  found.unless_divides(plan.tensor, "tensor parallelism", model.vocabulary, "tokens of the vocabulary");
  if (plan.pipeline > model.layers())
    found.add(fmt::format("pipeline parallelism {} leaves stages without any of the {} layers", plan.pipeline,
                          model.layers()));
  if (plan.tensor * plan.data % plan.expert != 0)
    found.add(fmt::format("expert parallelism {} does not divide the {} ranks (tensor {} x data {})", plan.expert,
                          plan.tensor * plan.data, plan.tensor, plan.data));
  const bool routed = std::any_of(model.groups.begin(), model.groups.end(),
                                  [](const LayerGroup& group) { return group.feed_forward.routed(); });
  if (plan.redundant_experts > 0 && plan.expert == 1)
    found.add("redundant experts are copies on other ranks: they need expert parallelism");
  if (plan.expert > 1 && !routed) found.add("expert parallelism needs a model with routed experts");
  if (plan.data > 1 && !routed) found.add("data-parallel ranks of a dense model share nothing: they are replicas");
  return found.take();
}

int expert_shards(const ParallelPlan& plan) { return plan.tensor * plan.data / plan.expert; }

double share_of_fullest_stage(const ModelSpec& model, const ParallelPlan& plan) {
  const int layers = model.layers();
  return static_cast<double>((layers + plan.pipeline - 1) / plan.pipeline) / layers;
}

}  // namespace llmscape::models
