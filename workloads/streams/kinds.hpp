// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "workloads/generator.hpp"

namespace llmscape::workloads {

// The kinds of stream, one row of the table streams() each.
FamilyMember<Stream> lengths_stream();
FamilyMember<Stream> chat_stream();
FamilyMember<Stream> infilling_stream();
FamilyMember<Stream> rag_stream();
FamilyMember<Stream> streamed_retrieval_stream();
FamilyMember<Stream> agents_stream();
FamilyMember<Stream> workflow_stream();
FamilyMember<Stream> joint_lengths_stream();

}  // namespace llmscape::workloads
