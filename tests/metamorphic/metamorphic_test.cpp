// SPDX-License-Identifier: Apache-2.0
// What must hold between the answers to related questions, over random scenarios: nobody knows the right answer to one
// of them, but everybody knows how two must differ. LLMSCAPE_METAMORPHIC=N asks for N scenarios of each law instead of
// 200, LLMSCAPE_METAMORPHIC_FIRST=N begins with the Nth.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

#include "models/model.hpp"
#include "tests/metamorphic/draft.hpp"
#include "tests/support/scenario_run.hpp"

using namespace llmscape;
using namespace llmscape::testing;

namespace {

// Of the data sheets: dense bf16 Tflop/s, main memory TB/s, links of one device one way GB/s.
struct Sheet {
  double peak, memory, links;
};
const std::map<std::string, Sheet> kSheets = {{"h100-sxm", {989.5, 3.35, 450}}, {"h200", {989.5, 4.8, 450}},
                                              {"a100-80", {312, 2.039, 300}},   {"l40s", {362, 0.864, 32}},
                                              {"b200", {2250, 8, 900}},         {"rtx-4090", {165.2, 1.008, 20}}};

std::uint64_t number(const char* variable, std::uint64_t otherwise) {
  const char* asked = std::getenv(variable);
  return asked ? std::strtoull(asked, nullptr, 10) : otherwise;
}
std::uint64_t scenarios() { return number("LLMSCAPE_METAMORPHIC", 200); }

// A law says what is wrong with a draft, or nothing. A run that throws is wrong whatever the law.
using Law = std::string (*)(const Draft&);

std::string verdict_of(Law law, const Draft& draft) {
  try {
    return law(draft);
  } catch (const std::exception& error) {
    return error.what();
  }
}

void check(Law law, Draft (*draft)(std::uint64_t)) {
  std::uint64_t broken = 0, ran = 0;
  const std::uint64_t first = number("LLMSCAPE_METAMORPHIC_FIRST", 1);
  for (std::uint64_t seed = first; seed < first + scenarios(); ++seed) {
    const Draft drawn = draft(seed);
    if (!drawn.scenario()) continue;
    ++ran;
    if (verdict_of(law, drawn).empty()) continue;
    if (++broken > 3) continue;  // enough to read
    const Draft small = shrunk(drawn, [&](const Draft& d) { return d.scenario() && !verdict_of(law, d).empty(); });
    FAIL_CHECK("seed " << seed << ": " << verdict_of(law, small) << "\n" << small.yaml());
  }
  CHECK(broken == 0);
  CHECK(ran > scenarios() / 2);
}

double mean(const result::Percentiles* distribution) { return distribution ? distribution->mean : 0; }

double joules(const result::RunResult& result) { return result.energy ? result.energy->total_joules : 0; }

// "A 1.2 is not B 1.3", where two figures differ by more than `relative`.
std::string unlike(const char* what, double was, double is, double relative) {
  if (std::abs(is - was) <= relative * std::max(std::abs(was), std::abs(is))) return "";
  return fmt::format("{}: {:.17g} is not {:.17g}; ", what, is, was);
}

std::string unlike(const result::RunResult& was, const result::RunResult& is, double factor, double relative) {
  return unlike("simulated", factor * was.simulated_s, is.simulated_s, relative) +
         unlike("TTFT", factor * mean(was.latency["ttft_s"]), mean(is.latency["ttft_s"]), relative) +
         unlike("TPOT", factor * mean(was.latency["tpot_s"]), mean(is.latency["tpot_s"]), relative) +
         unlike("E2E", factor * mean(was.latency["e2e_s"]), mean(is.latency["e2e_s"]), relative) +
         unlike("joules", joules(was), joules(is), relative) +
         unlike("completed", static_cast<double>(was.requests.completed), static_cast<double>(is.requests.completed),
                0);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::string preset_of(const Draft& draft) {
  std::string preset = "h100-sxm";
  for (const std::string& change : draft.changes)
    if (const std::string key = "hardware.devices[0].preset="; change.starts_with(key))
      preset = change.substr(key.size());
  return preset;
}

std::string never_slower(const Draft& draft) {
  const auto scenario = draft.scenario();
  const result::RunResult was = run_on_event_queue(*scenario);
  if (was.kv.preemptions > 0) return "";
  const Sheet& sheet = kSheets.at(preset_of(draft));
  std::string wrong;
  for (const std::string& change :
       {fmt::format("hbm_bandwidth={} TB/s", 1.5 * sheet.memory), fmt::format("peak_bf16={} Tflop/s", 1.5 * sheet.peak),
        fmt::format("links.bandwidth={} GB/s", 1.5 * sheet.links)}) {
    const auto better = draft.with("hardware.devices[0]." + change).scenario();
    if (!better) return "cannot be run with " + change;
    const result::RunResult is = run_on_event_queue(*better);
    if (is.simulated_s > 1.001 * was.simulated_s)
      wrong += fmt::format("{}: {:.9g} s, before {:.9g} s; ", change, is.simulated_s, was.simulated_s);
    if (mean(is.latency["e2e_s"]) > 1.001 * mean(was.latency["e2e_s"]))
      wrong += fmt::format("{}: E2E {:.9g} s, before {:.9g} s; ", change, mean(is.latency["e2e_s"]),
                           mean(was.latency["e2e_s"]));
  }
  return wrong;
}

std::string parts_sum_up(const Draft& draft) {
  const result::RunResult result = run_on_event_queue(*draft.scenario());
  if (!result.energy) return "";
  double components = 0, groups = 0;
  for (const auto& [name, share] : result.energy->joules) components += share;
  for (const auto& [group, parts] : result.energy->by_group)
    for (const auto& [name, share] : parts) groups += share;
  return unlike("components", joules(result), components, 1e-9) + unlike("groups", joules(result), groups, 1e-9);
}

// Arithmetic of all tokens (2 FLOP a weight that a token passes; the table of embeddings is looked up) within the peak,
// and the weights read once in each step of a replica within the bandwidth, of all devices and for the whole run.
std::string below_the_roofline(const Draft& draft) {
  const auto scenario = draft.scenario();
  const result::RunResult result = run_on_event_queue(*scenario);
  double peak = 0, memory = 0;
  const std::string yaml = draft.yaml();
  for (const auto& device : scenario->config.hardware.devices) {
    // The group's preset stands behind its name.
    const std::size_t name = yaml.find("name: " + device->name), at = yaml.find("preset: ", name) + 8;
    const Sheet& sheet = kSheets.at(yaml.substr(at, yaml.find_first_of(",}\n", at) - at));
    peak += static_cast<double>(device->count) * sheet.peak * 1e12;
    memory += static_cast<double>(device->count) * sheet.memory * 1e12;
  }
  const models::ModelSpec& model = scenario->model_of(scenario->pools[0]);
  const auto weights = static_cast<double>(models::active_parameters(model) - models::table_parameters(model));
  const auto tokens = static_cast<double>(result.tokens.computed +
                                          std::max<std::int64_t>(0, result.tokens.emitted - result.requests.completed));
  const auto steps = static_cast<double>(std::max<std::int64_t>(0, result.steps - 2 * result.replicas));
  std::string wrong;
  if (const double flops = 2 * weights * tokens; flops > peak * result.simulated_s)
    wrong += fmt::format("{:.4g} FLOP in {:.4g} s at a peak of {:.4g}; ", flops, result.simulated_s, peak);
  if (const double bytes = 2 * weights * steps;
      !model.groups[0].feed_forward.routed() && bytes > memory * result.simulated_s)
    wrong += fmt::format("{:.4g} B of weights in {:.4g} s at {:.4g} B/s; ", bytes, result.simulated_s, memory);
  return wrong;
}

std::string names_and_order_do_not_matter(const Draft& draft) {
  const result::RunResult was = run_on_event_queue(*draft.scenario());
  Draft other = draft;
  other.base = replaced(draft.base, "gpus", "zebra");
  for (std::string& change : other.changes) {
    change = replaced(replaced(replaced(change, "gpus", "zebra"), "senders", "yak"), "takers", "ape");
    if (const std::string key = "hardware.devices=[{"; change.starts_with(key)) {
      const std::size_t middle = change.find("}, {");
      change = key + change.substr(middle + 4, change.size() - middle - 6) + "}, {" +
               change.substr(key.size(), middle - key.size()) + "}]";
    }
  }
  const auto scenario = other.scenario();
  if (!scenario) return "cannot be run with other names:\n" + other.yaml();
  return unlike(was, run_on_event_queue(*scenario), 1, 1e-12);  // sums in another order
}

std::string same_on_both_clocks(const Draft& draft) {
  const auto scenario = draft.scenario();
  const std::string queue = result::to_json(run_on_event_queue(*scenario)), simgrid = json_on_simgrid(*scenario);
  if (simgrid.empty()) return "does not end under SimGrid";
  return queue == simgrid ? "" : "other bytes under SimGrid";
}

std::string twice_the_time(const Draft& draft) {
  const result::RunResult was = run_on_event_queue(*draft.scenario());
  Draft slow = draft;
  for (const auto& [was_text, is_text] : {std::pair{"100 Tflop/s", "50 Tflop/s"},
                                          {"1 TB/s", "500 GB/s"},
                                          {"10 GB/s", "5 GB/s"},
                                          {"2 us, tag", "4 us, tag"},
                                          {"500 us", "1000 us"},
                                          {"5 us, tag", "10 us, tag"},
                                          {"50 GB/s", "25 GB/s"},
                                          {"300 W", "150 W"},
                                          {"60 W", "30 W"},
                                          {"3 ms", "6 ms"},
                                          {"4 us}", "8 us}"},
                                          {"20 /s", "10 /s"}})
    slow.base = replaced(slow.base, was_text, is_text);
  const auto scenario = slow.scenario();
  if (!scenario) return "cannot be run";
  return unlike(was, run_on_event_queue(*scenario), 2, 1e-9);
}

}  // namespace

TEST_CASE("is a faster memory, arithmetic or link ever slower?") { check(never_slower, plain_draft); }
TEST_CASE("do joules sum to their parts?") { check(parts_sum_up, any_draft); }
TEST_CASE("is any rate above its roofline?") { check(below_the_roofline, any_draft); }
TEST_CASE("do names and order of device groups matter?") { check(names_and_order_do_not_matter, any_draft); }
TEST_CASE("are the bytes the same on both clocks?") { check(same_on_both_clocks, any_draft); }
TEST_CASE("does a world in which everything takes twice as long take twice as long?") {
  check(twice_the_time, closed_form_draft);
}
