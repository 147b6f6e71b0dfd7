// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/files.hpp"
#include "sim/cli/own_files.hpp"
#include "sim/cli/schemas.hpp"
#include "sim/cli/verbs.hpp"

namespace llmscape::cli::schema_verb {
namespace {

constexpr const char* kFooter =
    R"(Editors with a YAML language server complete and check a file whose first line names its schema:
  # yaml-language-server: $schema=../../schemas/scenario.schema.json
Schemas refer to each other: keep those of all kinds in one folder.

Examples:
  llmscape schema scenario
  llmscape schema -o schemas)";

namespace fs = std::filesystem;

struct Arguments {
  std::string name, folder;
};

int write_schemas(const Arguments& arguments) {
  for (const auto& [name, text] : schema_files()) {
    if (name == arguments.name) std::fputs(text.c_str(), stdout);
    if (arguments.folder.empty()) continue;
    make_folder(arguments.folder);
    write_file_atomically(fs::path(arguments.folder) / fmt::format("{}.schema.json", name), text);
  }
  return kDone;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("schema", "Print the JSON Schema (draft-07) of a kind of file");
  verb->footer(kFooter);
  CLI::Option* kind = verb->add_option("kind", arguments->name, fmt::format("One of {}", fmt::join(kSchemas, ", ")))
                          ->type_name("KIND")
                          ->check(CLI::IsMember(std::vector<std::string>(kSchemas.begin(), kSchemas.end())));
  verb->add_option("-o,--output", arguments->folder, "Folder to write the schemas of all kinds into")
      ->type_name("FOLDER")
      ->excludes(kind);
  verb->require_option(1);
  verb->callback([arguments, &session] { session.exit_code = write_schemas(*arguments); });
}

}  // namespace llmscape::cli::schema_verb
