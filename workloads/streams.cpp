// SPDX-License-Identifier: Apache-2.0
#include "workloads/streams/kinds.hpp"

namespace llmscape::workloads {

const Family<Stream>& streams() {
  static const Family<Stream> family(
      "streams", "kind",
      {lengths_stream(), chat_stream(), infilling_stream(), rag_stream(), streamed_retrieval_stream(), agents_stream(),
       workflow_stream(), joint_lengths_stream()});
  return family;
}

}  // namespace llmscape::workloads
