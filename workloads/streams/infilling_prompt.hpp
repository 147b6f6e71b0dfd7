// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "workloads/streams/edited_file.hpp"

namespace llmscape::workloads {

// The order of a fill-in-the-middle prompt. PRE, SUF and MID are one special token each.
enum class PromptForm {
  psm,   // PRE prefix SUF suffix MID
  spm,   // SUF suffix PRE prefix MID
  efim,  // PRE prefix SUF suffix MID growth: an earlier prompt's prefix, and at the end what was typed since then
};

struct InfillingMarkers {
  ContentId pre, suf, mid;
};

// Writes the prompts of one editing session. In the EFIM form (arXiv 2505.21889) it keeps the prefix and the suffix of
// the last prompt in PSM form: while the suffix stays and the prefix only grows at its end, prompts repeat that pair
// and add the growth; after any other edit the prompt is in PSM form and its pair is kept instead.
class InfillingPrompts {
 public:
  InfillingPrompts(PromptForm form, InfillingMarkers markers) : form_(form), markers_(markers) {}
  Prompt next(const EditedFile& file);

 private:
  PromptForm form_;
  InfillingMarkers markers_;
  std::optional<EditedFile> kept_;
};

}  // namespace llmscape::workloads
