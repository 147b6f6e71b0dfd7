// SPDX-License-Identifier: Apache-2.0
#include "sim/serving/routers/prefix_affinity.hpp"

namespace llmscape::serving {

namespace {

class PrefixAffinityRouter : public Router {
 public:
  explicit PrefixAffinityRouter(double load_weight) : load_weight_(load_weight) {}

  std::size_t choose(const Request& request, const std::vector<RoutingTarget*>& targets, Seconds now) override {
    std::size_t best = 0;
    double least = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const std::int64_t cached = targets[i]->replica->cached_tokens(request.prompt, request.prompt_tokens, now);
      const double work = static_cast<double>(request.prompt_tokens - cached) +
                          load_weight_ * static_cast<double>(targets[i]->outstanding_tokens);
      if (i == 0 || work < least) {
        best = i;
        least = work;
      }
    }
    return best;
  }

 private:
  double load_weight_;
};

}  // namespace

std::unique_ptr<Router> PrefixAffinity::make() const { return std::make_unique<PrefixAffinityRouter>(load_weight); }

const Fields<PrefixAffinity>& prefix_affinity_fields() {
  static const Fields<PrefixAffinity> fields = [] {
    Fields<PrefixAffinity> f("prefix_affinity",
                             "the replica that has to compute least: longest cached prefix against load");
    f.add("load_weight", &PrefixAffinity::load_weight,
          "what one outstanding token of a replica counts against one uncached token of the prompt")
        .between(0, 10);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::serving
