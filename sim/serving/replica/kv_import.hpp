// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>

#include "sim/serving/request.hpp"

namespace llmscape::serving {

// KV entries of a prompt that another replica computes, seen from the one that will decode: blocks are taken before
// they come, so that what is sent can always be held (vLLM: WAITING_FOR_REMOTE_KVS).
struct KvImport {
  Request* request = nullptr;
  std::uint64_t id = 0;  // of the request: its place may hold another one later
  int priority = 0;
  int adapter = -1;             // that it will need
  std::int64_t hit_blocks = 0;  // found in this replica's own prefix cache: need not come
  Lease lease;
};

}  // namespace llmscape::serving
