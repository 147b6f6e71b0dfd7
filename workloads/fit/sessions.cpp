// SPDX-License-Identifier: Apache-2.0
#include "workloads/fit/sessions.hpp"

#include <string>
#include <unordered_map>

namespace llmscape::workloads {

std::vector<Session> sessions_of(const Recording& recording) {
  std::vector<Session> out;
  std::unordered_map<std::string, std::size_t> places;
  for (const RecordedCall& call : recording.calls) {
    if (call.session.empty()) continue;
    const auto [place, is_new] = places.try_emplace(call.session, out.size());
    if (is_new) out.emplace_back();
    out[place->second].push_back(&call);
  }
  return out;
}

}  // namespace llmscape::workloads
