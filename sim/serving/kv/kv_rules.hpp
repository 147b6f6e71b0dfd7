// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace llmscape::serving {

// What a part of a replica may ask of the others for the sake of its KV entries. It is there unless some part does not
// leave it; what a part has to bring along (`swap_space`) is there where one does.
enum class KvProperty : std::uint8_t {
  cached_prefixes,  // blocks stay cached for whoever comes with the same prefix
  own_blocks,       // nobody but its sequence holds a block
  growing_blocks,   // sequences take blocks as they grow
  whole_requests,   // one replica computes a prompt and decodes it
  one_stage,        // all layers lie behind one link
  one_stream,       // one stream of batches has the memory and its link
  one_model,        // no entries beside those of the model that is served
  entries_alone,    // sequences keep entries and no recurrent states
  swapping,         // the batcher swaps preempted sequences out
  swap_space,       // there is memory for them
};

// A part of a replica as KV memory sees it: the batcher, a token plan, a place below the pool, and what else has a say.
struct KvPart {
  std::string name;                  // "'kv_swap'", "batcher vllm_v1"
  std::vector<KvProperty> needs;     // to work
  std::vector<KvProperty> takes;     // from the others: is not there with it
  std::vector<KvProperty> provides;  // of those that have to be brought along
};

struct KvConflict {
  std::size_t part = 0;  // the one that lacks something
  std::string message, hint;
};

// What does not go together, part by part, in words made from their needs.
std::vector<KvConflict> kv_conflicts(const std::vector<KvPart>& parts);

}  // namespace llmscape::serving
