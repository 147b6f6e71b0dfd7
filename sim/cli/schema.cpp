// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "sim/cli/schemas.hpp"
#include "sim/cli/verbs.hpp"

namespace llmscape::cli {
namespace {

constexpr const char* kFooter =
    R"(Editors with a YAML language server complete and check a file whose first line names its schema:
  # yaml-language-server: $schema=../../schemas/scenario.schema.json

Examples:
  llmscape schema scenario > scenario.schema.json)";

}  // namespace

void add_schema(CLI::App& app, Session& session) {
  auto name = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("schema", "Print the JSON Schema (draft-07) of a kind of file");
  verb->footer(kFooter);
  verb->add_option("kind", *name, fmt::format("One of {}", fmt::join(kSchemas, ", ")))
      ->type_name("KIND")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>(kSchemas.begin(), kSchemas.end())));
  verb->callback([name, &session] {
    std::fputs(schema_of(*name).c_str(), stdout);
    session.exit_code = kDone;
  });
}

}  // namespace llmscape::cli
