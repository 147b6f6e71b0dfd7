// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

namespace llmscape::cli {

// The entry of our catalogue that a Hugging Face name means, by the habits of such names:
// "meta-llama/Meta-Llama-3.1-8B-Instruct" is llama-3.1-8b. Empty if there is none.
std::string catalogue_model(const std::string& hugging_face_name, const std::vector<std::string>& catalogue);

// What to say of a version in such a name ("v0.3", "2507") that is not the one of the entry's config.json: contexts and
// windows differ between versions of the same shapes. Empty where there is none, or the files agree.
std::string version_note(const std::string& hugging_face_name, const std::string& entry);

// The number formats that such a name says its checkpoint to have ("-FP8", "-AWQ", "-NVFP4", "quantized.w4a16"); those
// that are empty are the model's own.
struct NamedFormats {
  std::string weights, activations;
};
NamedFormats formats_in_name(const std::string& hugging_face_name);

}  // namespace llmscape::cli
