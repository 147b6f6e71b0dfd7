// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

#include "sim/cli/verbs.hpp"

int main(int argc, char** argv) {
  using namespace llmscape::cli;
  CLI::App app("predicts how a language model would be served on hardware that may not exist yet", "llmscape");
  app.require_subcommand(1);
  int exit_code = kDone;
  add_run(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "llmscape: %s\n", error.what());
    return kBroken;
  }
  return exit_code;
}
