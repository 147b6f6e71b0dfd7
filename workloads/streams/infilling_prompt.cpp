// SPDX-License-Identifier: Apache-2.0
#include "workloads/streams/infilling_prompt.hpp"

namespace llmscape::workloads {
namespace {

// One marked part: a special token and the text behind it.
void append_part(Prompt& prompt, ContentId marker, const Prompt& text) {
  append(prompt, {marker, 1});
  append(prompt, text);
}

// Whether all edits since `before` were made at the end of its prefix.
bool grew_from(const EditedFile& before, const EditedFile& now) {
  return now.suffix() == before.suffix() && common_prefix(before.prefix(), now.prefix()) == tokens_of(before.prefix());
}

}  // namespace

Prompt InfillingPrompts::next(const EditedFile& file) {
  Prompt prompt;
  if (form_ == PromptForm::spm) {
    append_part(prompt, markers_.suf, file.suffix());
    append_part(prompt, markers_.pre, file.prefix());
    append_part(prompt, markers_.mid, {});
    return prompt;
  }
  if (form_ == PromptForm::psm || !kept_ || !grew_from(*kept_, file)) kept_ = file;
  append_part(prompt, markers_.pre, kept_->prefix());
  append_part(prompt, markers_.suf, kept_->suffix());
  append_part(prompt, markers_.mid, split(file.prefix(), tokens_of(kept_->prefix())).second);
  return prompt;
}

}  // namespace llmscape::workloads
