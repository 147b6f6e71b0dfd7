// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "models/model.hpp"

namespace llmscape::models {

// How much of a model each token passes and attends to, and what of it stays in the KV cache: methods that change that
// without changing the checkpoint's shapes. A plan rewrites the layer groups of a model once, when it is loaded; work,
// memory and devices look at the groups alone, and at what is changed of them (TokenChange). Quality is outside the
// simulator.
struct TokenPlan {
  virtual ~TokenPlan() = default;
  // Why this model cannot take it, one sentence each; empty: it can.
  [[nodiscard]] virtual std::vector<std::string> problems(const ModelSpec&) const { return {}; }
  // `model` has no problems().
  virtual void apply(ModelSpec& model) const = 0;
};

// The plans that key `policy` of `token_plan` chooses from (token_plans.cpp).
const Family<TokenPlan>& token_plans();

// Whether a plan has changed any layer: devices that price steps by forms of their own refuse such models.
bool changed_by_plan(const ModelSpec& model);
// Whether what plans have changed, if anything, is which entries are kept and attended to.
bool changed_in_entries_only(const ModelSpec& model);

// The problem of plans that need softmax attention over keys and values as they are: of latent attention.
std::vector<std::string> latent_attention_problem(const ModelSpec& model, const std::string& plan);

}  // namespace llmscape::models
