// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "sim/result/metric_table.hpp"
#include "sim/result/result.hpp"

namespace llmscape::metrics {
namespace {

using models::MemoryKind;
using result::RunResult;
using Number = std::optional<double>;

Number of_peak(const RunResult& r, MemoryKind kind) { return r.memory ? Number(r.memory->bytes(kind)) : std::nullopt; }

constexpr std::array kMemory = {
    Metric{
        .key = "peak_memory_bytes",
        .section = "memory",
        .unit = "B",
        .text = "most that a step took of a device: the sum of the kinds below, in that step",
        .better = Better::lower,
        .value = [](const RunResult& r) { return r.memory ? Number(r.memory->by_kind.total().si()) : std::nullopt; }},
    Metric{.key = "weights_bytes",
           .section = "memory",
           .unit = "B",
           .text = "of it: weights, those of adapters and of a model that makes drafts included",
           .value = [](const RunResult& r) { return of_peak(r, MemoryKind::weights); }},
    Metric{.key = "kv_entries_bytes",
           .section = "memory",
           .unit = "B",
           .text = "of it: KV entries of sequences that ran; of a static cache all slots",
           .value = [](const RunResult& r) { return of_peak(r, MemoryKind::kv); }},
    Metric{.key = "activations_bytes",
           .section = "memory",
           .unit = "B",
           .text = "of it: hidden states and the widest part of a layer",
           .value = [](const RunResult& r) { return of_peak(r, MemoryKind::activations); }},
    Metric{.key = "scores_bytes",
           .section = "memory",
           .unit = "B",
           .text = "of it: scores of eager attention, of one layer",
           .value = [](const RunResult& r) { return of_peak(r, MemoryKind::scores); }},
    Metric{.key = "logits_bytes",
           .section = "memory",
           .unit = "B",
           .text = "of it: logits of the rows that the head computed",
           .value = [](const RunResult& r) { return of_peak(r, MemoryKind::logits); }},
    Metric{.key = "copies_bytes",
           .section = "memory",
           .unit = "B",
           .text = "of it: entries of a layer whose concatenated cache was made anew",
           .value = [](const RunResult& r) { return of_peak(r, MemoryKind::copies); }},
};

constexpr std::array kTurns = {
    Metric{.key = "model_loads",
           .section = "turns",
           .unit = "",
           .text = "weights of models that take turns loaded into their devices' memory; of the whole run",
           .better = Better::lower,
           .value =
               [](const RunResult& r) { return r.turns ? Number(static_cast<double>(r.turns->loads)) : std::nullopt; }},
    Metric{.key = "model_load_s",
           .section = "turns",
           .unit = "s",
           .text = "time that these took, summed over the groups of devices that models take turns at",
           .better = Better::lower,
           .value = [](const RunResult& r) { return r.turns ? Number(r.turns->load_s) : std::nullopt; }},
};

}  // namespace

std::span<const Metric> memory_numbers() { return kMemory; }
std::span<const Metric> turns_numbers() { return kTurns; }

}  // namespace llmscape::metrics
