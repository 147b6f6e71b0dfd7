// SPDX-License-Identifier: Apache-2.0
#include "workloads/streams/edited_file.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace llmscape::workloads {

void EditedFile::insert_behind(Segment text) {
  Prompt suffix;
  append(suffix, text);
  append(suffix, suffix_);
  suffix_ = std::move(suffix);
}

void EditedFile::move(std::int64_t tokens) {
  Prompt file = prefix_;
  append(file, suffix_);
  std::tie(prefix_, suffix_) = split(file, std::max<std::int64_t>(0, tokens_of(prefix_) + tokens));
}

}  // namespace llmscape::workloads
