// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/messages.hpp"

#include <CLI/CLI.hpp>

#include "base/standard_streams.hpp"
#include "base/table.hpp"

namespace llmscape::cli {

void Messages::add_options(CLI::App& verb) {
  verb.add_option("--color", colour_, "Colours: auto (on a terminal, without NO_COLOR), always or never")
      ->type_name("WHEN")
      ->check(CLI::IsMember({"auto", "always", "never"}))
      ->capture_default_str();
  verb.add_option("--error-format", format_, "Mistakes on stderr as text or as a JSON array")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

void Messages::show(const Diagnostics& diagnostics, std::string_view closing, std::string_view ran) const {
  if (diagnostics.sorted().empty()) return;
  const std::string text = format_ == "json" ? diagnostics.json() : diagnostics.text(colour(stderr), closing, ran);
  write_to_stderr(text);
}

bool Messages::colour(std::FILE* stream) const {
  return use_colour(colour_ == "always"  ? ColourMode::always
                    : colour_ == "never" ? ColourMode::never
                                         : ColourMode::automatic,
                    stream);
}

}  // namespace llmscape::cli
