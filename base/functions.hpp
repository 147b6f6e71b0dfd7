// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmscape {

// A function that expressions can call. Each argument is a list; a number is a list of one.
struct Function {
  enum class Gives {
    number,
    list,      // of a list a list, of a number a number
    condition  // whether something holds
  };
  std::string_view name;
  std::string_view form;    // how it is written: "crossing(xs, ys, level)"
  std::string_view text;    // what it gives
  std::size_t least, most;  // arguments
  Gives gives;              // of a condition `of` says 1 where it holds, else 0
  // Nothing where it cannot be computed: lists of other lengths than it needs, a correlation of what does not vary.
  std::optional<std::vector<double>> (*of)(const std::vector<std::vector<double>>& arguments);
  bool takes_conditions = false;  // instead of numbers: 1 for each that holds, 0 for each that does not
};

// All of them.
const std::vector<Function>& functions();
std::vector<std::string> function_names();
const Function* find_function(std::string_view name);  // nullptr if there is none

}  // namespace llmscape
