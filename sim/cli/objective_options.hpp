// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <vector>

#include "base/yaml_reader.hpp"
#include "sim/explore/objective.hpp"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace llmscape::cli {

// What a verb takes as objectives: those typed, in the order in which they were typed, else those of the plan in its
// order. The first one goes up in pictures, and decides between configurations that meet an SLO.
class ObjectiveOptions {
 public:
  // Adds --max and --min.
  void add_options(CLI::App& verb);
  // Adds --objectives and --preset as well.
  void add_more_options(CLI::App& verb);
  [[nodiscard]] bool typed() const;
  // `plan` is the tree of the plan, null where there is none. Reports names that the table does not have, and an
  // objective that stands twice.
  [[nodiscard]] std::vector<explore::Objective> read(const YamlNode& plan, const explore::ResultsTable& table,
                                                     Diagnostics& diagnostics) const;

 private:
  struct List {
    const CLI::Option* option;
    explore::Direction direction;
  };

  const CLI::App* verb_ = nullptr;
  std::vector<List> lists_;
  const CLI::Option* preset_ = nullptr;
};

}  // namespace llmscape::cli
