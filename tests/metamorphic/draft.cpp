// SPDX-License-Identifier: Apache-2.0
#include "tests/metamorphic/draft.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/random.hpp"
#include "base/yaml_reader.hpp"
#include "tests/support/scenario_run.hpp"

namespace llmscape::testing {
namespace {

constexpr const char* kPlain = R"(schema: scenario/1
model: llama-3.2-1b
hardware: {devices: [{name: gpus, preset: h100-sxm, count: 1}]}
serving: {batcher: {policy: vllm_v1}}
workload:
  arrivals: {kind: burst, programs: 24}
  stream: {kind: lengths, prompt: {kind: fixed, value: 500}, output: {kind: fixed, value: 20}}
)";

constexpr const char* kClosedForm = R"(schema: scenario/1
model: llama-3.2-1b
hardware:
  devices:
    - kind: roofline
      name: sheet
      accuracy: made up
      count: 1
      peak_bf16: {value: 100 Tflop/s, tag: assumed, source: test}
      memory_bandwidth: {value: 1 TB/s, tag: assumed, source: test}
      memory_capacity: {value: 16 GB, tag: assumed, source: test}
      load_bandwidth: {value: 10 GB/s, tag: assumed, source: test}
      compute_efficiency: {value: 0.6, tag: assumed, source: test}
      attention_efficiency: {value: 0.3, tag: assumed, source: test}
      memory_efficiency: {value: 0.8, tag: assumed, source: test}
      per_operator: {value: 2 us, tag: assumed, source: test}
      per_step: {value: 500 us, tag: assumed, source: test}
      per_request: {value: 5 us, tag: assumed, source: test}
      links: {bandwidth: {value: 50 GB/s, tag: assumed, source: test}, latency: {value: 2 us, tag: assumed, source: test}}
      tdp: {value: 300 W, tag: assumed, source: test}
      idle_power: {value: 60 W, tag: assumed, source: test}
      compute_energy: {value: 0.5 pJ/flop, tag: assumed, source: test}
      memory_energy: {value: 7 pJ/bit, tag: assumed, source: test}
      link_energy: {value: 5 pJ/bit, tag: assumed, source: test}
serving: {batcher: {policy: vllm_v1}, front_end: {per_call: 3 ms, per_token: 4 us}}
workload:
  requests: 60
  arrivals: {kind: poisson, rate: 20 /s}
  stream: {kind: lengths, prompt: {kind: fixed, value: 500}, output: {kind: fixed, value: 20}}
)";

class Drawing {
 public:
  Drawing(std::uint64_t seed, const char* base) : random_(seed) { draft_.base = base; }

  void set(std::string change) { draft_.changes.push_back(std::move(change)); }
  template <class... Args>
  void set(fmt::format_string<Args...> text, Args&&... args) {
    set(fmt::format(text, std::forward<Args>(args)...));
  }
  bool chance(double p) { return random_.chance(p); }
  std::int64_t integer(std::int64_t low, std::int64_t high) { return random_.integer(low, high); }
  double between(double low, double high) { return low + (high - low) * random_.uniform(); }
  std::string one_of(const std::vector<std::string>& words) { return words[random_.below(words.size())]; }
  Draft take() { return std::move(draft_); }

  void seed() { set("seed={}", integer(1, 1000)); }
  void lengths() {
    set("workload.stream.prompt={}",
        one_of({"{kind: fixed, value: 1}", "{kind: fixed, value: 3000}", "{kind: uniform, min: 1, max: 2000}",
                "{kind: log_normal, mean: 900, cv: 1.2, max: 9000}", "{kind: geometric, mean: 200, max: 4000}"}));
    set("workload.stream.output={}",
        one_of({"{kind: fixed, value: 1}", "{kind: fixed, value: 200}", "{kind: uniform, min: 1, max: 100}",
                "{kind: geometric, mean: 60, max: 600}"}));
  }
  void batcher(bool async) {
    const std::string policy = one_of({"vllm_v1", "vllm_v1", "vllm_v0", "orca", "trtllm", "sglang", "sarathi"});
    set("serving.batcher={{policy: {}}}", policy);
    if (policy == "vllm_v1") {
      if (!async) set("serving.batcher.async_scheduling=false");
      if (chance(0.5)) set("serving.batcher.max_num_seqs={}", integer(2, 64));
      if (chance(0.5)) set("serving.batcher.max_num_batched_tokens={}", integer(256, 8192));
      if (chance(0.3)) set("serving.batcher.enable_prefix_caching=false");
    }
  }
  // Devices of one replica, and how the model is cut over them.
  std::int64_t cut(bool links) {
    const std::int64_t tensor = links ? std::int64_t{1} << integer(1, 2) : std::int64_t{1} << integer(0, 2);
    if (tensor > 1) set("serving.tensor_parallel={}", tensor);
    std::int64_t devices = tensor;
    if (chance(0.15)) {
      set("serving.pipeline_parallel=2");
      devices *= 2;
    }
    return devices;
  }

 private:
  RandomStream random_;
  Draft draft_;
};

// Dense, windows, experts, latents; recurrent states; unlike formats; budgets of entries.
const std::vector<std::string> kModels = {
    "llama-3.1-8b",
    "qwen3-4b",
    "mistral-7b",
    "qwen3-30b-a3b",
    "gemma-3-12b",
    "deepseek-v2-lite",
    "{preset: qwen3.5-35b-a3b, weights: fp8}",
    "nemotron-3-nano-30b-a3b",
    "{preset: llama-3.2-1b, kv: {keys: int8, values: int4, group: 64, zero_point: true}}",
    "{preset: llama-3.2-1b, token_plan: {policy: kv_budget, share: 0.3}}",
    "{preset: llama-3.2-1b, token_plan: {policy: kv_budget, keep: 400, select: each_chunk, by_layer: [2, 1]}}",
    "{preset: llama-3.2-1b, token_plan: {policy: kv_budget, keep: 400, then: ring}}"};
const std::vector<std::string> kGpus = {"h100-sxm", "h200", "a100-80", "l40s", "b200", "rtx-4090"};

void add_streams(Drawing& d) {
  switch (d.integer(0, 4)) {
    case 0:
      d.set(
          "workload.stream={kind: chat, turns: {kind: fixed, value: 3}, message: {kind: log_normal, mean: 400, cv: 1, "
          "max: 3000}, output: {kind: geometric, mean: 60, max: 300}, think: {kind: log_normal, mean: 2 s, cv: 0.5}, "
          "context: 8000}");
      break;
    case 1:
      d.set("workload={{preset: coding-agent, requests: {}, arrivals: {{kind: poisson, rate: 1 /s}}}}",
            d.integer(5, 20));
      break;
    case 2:
      d.set("workload={{preset: rag-qa, requests: {}, arrivals: {{kind: poisson, rate: 4 /s}}}}", d.integer(20, 60));
      break;
    case 3:
      d.set("workload={{preset: ide-infilling, requests: {}, arrivals: {{kind: poisson, rate: 1 /s}}}}",
            d.integer(5, 20));
      break;
    default: d.lengths();
  }
}

void add_pools(Drawing& d) {
  d.set("hardware.devices=[{{name: senders, preset: {}, count: {}}}, {{name: takers, preset: {}, count: {}}}]",
        d.one_of({"h100-sxm", "h200"}), d.integer(1, 3), d.one_of({"h200", "a100-80"}), d.integer(1, 3));
  d.set(
      "hardware.fabric={{groups: {{senders: {{node: hgx-h200, site: here}}, takers: {{node: hgx-h200, site: there}}}}, "
      "sites: {{here: {{uplink: {0}, latency: 1 ms}}, there: {{uplink: {0}, latency: 1 ms}}}}}}",
      d.one_of({"400 Gbit/s", "10 Gbit/s", "1 Gbit/s"}));
  d.set("serving.pools=[{devices: [senders], role: prefill}, {devices: [takers], role: decode}]");
  if (d.chance(0.5)) d.set("serving.kv_by_layer=false");
  if (d.chance(0.3))
    d.set("faults.schedule=[{{at: {:.3f} s, lasts: {:.3f} s, site: here, uplink: {}}}]", d.between(0, 3),
          d.between(0.01, 2), d.one_of({"0 B/s", "100 Mbit/s"}));
}

// Ranks with queues of their own: those of a mixture share its experts.
std::int64_t add_ranks(Drawing& d, std::int64_t devices) {
  if (!d.chance(0.2)) return devices;
  const std::int64_t ranks = d.integer(2, 4);
  d.set("serving.data_parallel={}", ranks);
  if (d.chance(0.5)) {
    d.set("serving.expert_parallel={}", ranks * devices);
    d.set("serving.expert_exchange={}", d.one_of({"all_to_all", "allgather_reducescatter"}));
  }
  return ranks * devices;
}

void add_guesses(Drawing& d) {
  if (d.chance(0.15))
    d.set("serving.speculation={{tokens: {}, acceptance: {:.2f}{}}}", d.integer(1, 5), d.between(0.2, 0.95),
          d.one_of({"", ", draft: {share: 0.05}"}));
  if (d.chance(0.1))
    d.set("serving.lora={{adapters: {}, resident: {}, rank: 16, targets: [q, v], popularity: 1}}", d.integer(4, 12),
          d.integer(1, 4));
}

void add_fleet(Drawing& d) {
  if (d.chance(0.5)) {
    d.set("serving.cold_start={{boot: {:.3f} s, bandwidth: 20 GB/s}}", d.between(0.01, 2));
    d.set("serving.controllers=[{{policy: autoscale, min: 1, up_at: 6, down_at: 2, interval: {:.3f} s}}]",
          d.between(0.1, 1));
  }
  if (d.chance(0.4))
    d.set("faults.schedule=[{{at: {:.3f} s, lasts: {:.3f} s, group: gpus, device: 0}}]", d.between(0, 3),
          d.between(0.01, 2));
}

}  // namespace

Draft Draft::with(std::string change) const {
  Draft copy = *this;
  copy.changes.push_back(std::move(change));
  return copy;
}

std::string Draft::yaml() const {
  Diagnostics diagnostics;
  YamlNode root = read_yaml(std::make_shared<const SourceText>(SourceText{"draft", base}), diagnostics);
  for (const std::string& change : changes) apply_override(root, change, diagnostics);
  return diagnostics.has_errors() ? "" : write_yaml(root);
}

namespace {

std::optional<scenario::Scenario> scenario_of(const Draft& draft, Diagnostics& diagnostics) {
  YamlNode root = read_yaml(std::make_shared<const SourceText>(SourceText{"draft", draft.base}), diagnostics);
  auto scenario =
      scenario::read_scenario(std::move(root), ".", draft.changes, std::nullopt, source_catalogs(), diagnostics);
  return diagnostics.has_errors() ? std::nullopt : std::move(scenario);
}

}  // namespace

std::optional<scenario::Scenario> Draft::scenario() const {
  Diagnostics diagnostics;
  return scenario_of(*this, diagnostics);
}

Draft plain_draft(std::uint64_t seed) {
  Drawing d(seed, kPlain);
  d.set("hardware.devices[0].preset={}", d.one_of({"h100-sxm", "h200", "a100-80", "l40s", "b200"}));
  if (d.chance(0.4)) d.set("model={}", d.one_of({"llama-3.1-8b", "qwen3-4b", "mistral-7b", "qwen3-30b-a3b"}));
  const std::int64_t devices = d.cut(d.chance(0.6));
  d.set("hardware.devices[0].count={}", devices);
  d.batcher(false);
  d.lengths();
  d.set("workload.arrivals.programs={}", d.integer(1, 60));
  d.seed();
  return d.take();
}

Draft any_draft(std::uint64_t seed) {
  Drawing d(seed, kPlain);
  const std::string model = d.chance(0.5) ? d.one_of(kModels) : "";
  if (!model.empty()) d.set("model={}", model);
  if (model.find("kv_budget") == std::string::npos) d.batcher(true);
  else d.set("serving.batcher={}", d.one_of({"{policy: vllm_v1, enable_prefix_caching: false}", "{policy: sarathi}"}));
  d.set("workload.requests={}", d.integer(1, 150));
  d.set("workload.arrivals={}",
        d.one_of({"{kind: poisson, rate: 5 /s}", "{kind: poisson, rate: 60 /s}", "{kind: gamma, rate: 10 /s, cv: 3}",
                  "{kind: closed_loop, users: 6}", "{kind: burst, programs: 40}", "{kind: periodic, rate: 7 /s}"}));
  add_streams(d);
  if (d.chance(0.4)) {
    add_pools(d);
  } else {
    const std::int64_t devices = add_ranks(d, d.cut(false));
    if (d.chance(0.2)) {
      d.set("hardware.devices=[{{name: senders, preset: {}, count: {}}}, {{name: takers, preset: {}, count: {}}}]",
            d.one_of(kGpus), devices, d.one_of(kGpus), 2 * devices);
    } else {
      d.set("hardware.devices[0].preset={}", d.one_of(kGpus));
      d.set("hardware.devices[0].count={}", devices * d.integer(1, 3));
      add_fleet(d);
    }
    if (d.chance(0.2)) d.set("serving.kv_tiers=[{{preset: host-ddr5, capacity: {} GB}}]", d.integer(1, 64));
    if (d.chance(0.2)) d.set("serving.kv_blocks={}", d.integer(1000, 4000));
  }
  add_guesses(d);
  d.set("serving.router={}", d.one_of({"round_robin", "least_tokens", "prefix_affinity", "vllm_data_parallel"}));
  if (d.chance(0.2))
    d.set("serving.admission={{max_outstanding: {}, max_waiting: {}}}", d.integer(2, 60), d.integer(0, 60));
  if (d.chance(0.2)) d.set("workload.timeout={:.3f} s", d.between(0.05, 5));
  if (d.chance(0.15)) d.set("horizon={:.3f} s", d.between(0.5, 8));
  if (d.chance(0.3)) d.set("serving.front_end={per_call: 5 ms, per_token: 4 us}");
  d.seed();
  return d.take();
}

Draft closed_form_draft(std::uint64_t seed) {
  Drawing d(seed, kClosedForm);
  d.batcher(true);
  const std::int64_t devices = d.cut(false);
  d.set("hardware.devices[0].count={}", devices * d.integer(1, 2));
  d.lengths();
  d.set("workload.requests={}", d.integer(1, 100));
  d.seed();
  return d.take();
}

Draft shrunk(Draft draft, const std::function<bool(const Draft&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = false;
    for (std::size_t i = draft.changes.size(); i-- > 0;) {
      Draft without = draft;
      without.changes.erase(without.changes.begin() + static_cast<std::ptrdiff_t>(i));
      if (!fails(without)) continue;
      draft = std::move(without);
      smaller = true;
    }
  }
  return draft;
}

}  // namespace llmscape::testing
