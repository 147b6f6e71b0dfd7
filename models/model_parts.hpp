// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "models/model.hpp"

namespace llmscape::models {

// Models that are what one device of several does of another model. They are priced like any model; the KV entries and
// weights that they hold are the part's own.

// Layers `first` to `first + count` of the model. How groups lie in it is not known: their layers are taken as spread
// evenly. Final norm and head go with the last layer; a part without it has a vocabulary of 0, so that its steps
// compute no logits. The table of the embedding, of which a step reads but a few rows, is nobody's.
ModelSpec layers_of(const ModelSpec& model, int first, int count);
// Attention and nothing else: the KV cache of the model, and matrices one element wide, one for each of `ranks`.
ModelSpec attention_alone(const ModelSpec& model, int ranks);
// Everything but attention: each token attends to itself, a window of 1, so that there is one KV law.
ModelSpec without_context(ModelSpec model);

}  // namespace llmscape::models
