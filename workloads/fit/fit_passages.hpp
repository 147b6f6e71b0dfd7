// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <string>

#include "workloads/fit/recording.hpp"
#include "workloads/generator.hpp"

namespace llmscape::workloads {

// Questions with passages from a corpus, as a stream `rag`. A content is a passage where it comes in two calls or more,
// and neither at one place from the start of the prompts nor at one from their ends, as system prompts and histories
// do; what stands between two passages is one. The corpus is the passages seen; the exponent of their
// popularity is the one that gives the most popular 1 % of them the share of the references that they have. What
// stands before the passages is the system prompt, in the mean as long as a cache finds of it, and the call's own
// preamble; what stands behind them is the question. Reports, and returns nothing, where nothing is a passage.
std::shared_ptr<const Stream> fit_passages(const Recording& recording, const std::string& name,
                                           Diagnostics& diagnostics);

// The exponent of a Zipf law over `ranks` ranks whose first `top` have this share of the draws (from top / ranks, that
// of exponent 0, to below 1); at most 5.
double zipf_exponent(std::size_t ranks, std::size_t top, double share);

}  // namespace llmscape::workloads
