// SPDX-License-Identifier: Apache-2.0
// 2,000 real scenarios: all of them, a tenth of them, and all of them with hopeless ones dropped early.
#include "sim/explore/optimize_plan.hpp"

#include <doctest/doctest.h>

#include "base/process_pool.hpp"
#include "sim/explore/hypervolume.hpp"
#include "tests/cli/scratch.hpp"
#include "tests/unit/explore/rows.hpp"

using namespace llmscape;
using namespace llmscape::explore;
using namespace llmscape::explore::test;

namespace {

const scenario::Catalogs kCatalogs = {"models/catalog", "hardware/catalog", "workloads/catalog",
                                      std::make_shared<scenario::Catalogs::Remembered>()};

constexpr const char* kSpace = R"(schema: sweep/1
base:
  schema: scenario/1
  model: qwen2.5-1.5b
  hardware: {devices: [{preset: l4, count: 1}]}
  workload:
    arrivals: {kind: poisson, rate: 4 /s}
    requests: 80
    stream: {kind: lengths, prompt: {kind: fixed, value: 512}, output: {kind: fixed, value: 32}}
  window: {rule: whole}  # runs are too short for a steady part, and halving drops none whose window is not the asked one
  seed: 5
variants:
  hardware:
    l4: {"hardware.devices[0].preset": l4}
    a100: {"hardware.devices[0].preset": a100-80}
    h100: {"hardware.devices[0].preset": h100-sxm}
    orin: {"hardware.devices[0].preset": agx-orin}
axes:
  hardware.devices[0].count: [1, 2, 4, 8]
  serving.batcher.max_num_seqs: [1, 2, 4, 8, 16]
  serving.batcher.max_num_batched_tokens: [64, 128, 256, 512, 1024]
  workload.arrivals.rate: [1 /s, 2 /s, 4 /s, 8 /s, 16 /s]
)";

class Space {
 public:
  Space() {
    Diagnostics diagnostics;
    plan_ = load_plan(scratch_.file("space.yaml", kSpace), {}, diagnostics);
    REQUIRE_MESSAGE(plan_, diagnostics.text(false));
    ResultsTable table;
    table.axes = plan_->columns();
    query_.objectives = read_objectives("output_tokens_per_joule", Direction::maximize, "--max", table, diagnostics);
    auto latency = read_objectives("e2e.p50", Direction::minimize, "--min", table, diagnostics);
    query_.objectives.push_back(latency.front());
    query_.include_invalid = true;  // runs are short
    REQUIRE(configurations_of(*plan_) == 2000);
  }

  struct Found {
    std::vector<Losses> losses;
    OptimizationCounts counts;
  };
  Found optimize(const std::string& folder, std::size_t evaluations, bool halving) {
    PlanOptimization query = query_;
    query.evaluations = evaluations;
    query.halving = halving;
    PointNames names(*plan_, "test", kCatalogs);
    const Store store(scratch_.path(folder));
    SweepOptions options;
    options.jobs = default_jobs();
    options.catalogs = kCatalogs;
    options.interrupted = [] { return false; };
    options.progress = [](std::uint64_t, std::uint64_t) {};
    Found found;
    found.counts = optimize_plan(*plan_, query, names, store, options);
    CHECK(found.counts.failed == 0);
    Diagnostics diagnostics;
    const auto table = read_results(store.folder(), diagnostics);
    REQUIRE(table);
    for (const Configuration& configuration : configurations(*table)) {
      Losses& losses = found.losses.emplace_back();
      for (const Objective& objective : query.objectives)
        losses.push_back(objective.loss(estimate_of(objective, *table, configuration)->value));
    }
    return found;
  }

 private:
  llmscape::test::Scratch scratch_;
  std::optional<Plan> plan_;
  PlanOptimization query_;
};

}  // namespace

TEST_CASE(
    "of 2,000 scenarios a tenth has 95 % of the hypervolume; halving loses 1 % of it at most, for half the work") {
  Space space;
  const auto all = space.optimize("all", 2000, false);
  REQUIRE(all.losses.size() == 2000);
  CHECK(all.counts.full_lengths == 2000);
  Losses worst = all.losses.front();
  for (const Losses& losses : all.losses)
    for (std::size_t k = 0; k < worst.size(); ++k) worst[k] = std::max(worst[k], losses[k]);
  const double whole = hypervolume(all.losses, worst);

  const auto tenth = space.optimize("all", 200, false);  // from the points that are there
  CHECK(tenth.losses.size() == 200);
  CHECK(hypervolume(tenth.losses, worst) >= 0.95 * whole);

  const auto halved = space.optimize("all", 2000, true);
  MESSAGE("halving: ", halved.counts.full_lengths, " full lengths, ", halved.counts.dropped, " dropped, ",
          hypervolume(halved.losses, worst) / whole,
          " of the hypervolume; a tenth: ", hypervolume(tenth.losses, worst) / whole);
  CHECK(hypervolume(halved.losses, worst) >= 0.99 * whole);
  CHECK(halved.counts.full_lengths <= 1000);
}
