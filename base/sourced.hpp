// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string>
#include <string_view>

namespace llmscape {

// How much a number is worth, best first.
// fitted_end_to_end: set from what a whole model was published or measured to do. What this figure goes into does not
// predict that; for anything else it is a figure carried over, and worth less than a data sheet's.
enum class Tag { measured, fitted, datasheet, fitted_end_to_end, assumed };
inline constexpr std::array<std::string_view, 5> kTagNames = {"measured", "fitted", "datasheet", "fitted end to end",
                                                              "assumed"};
constexpr std::string_view name_of(Tag tag) { return kTagNames[static_cast<std::size_t>(tag)]; }
// The weaker of two: what a figure derived from both is worth.
constexpr Tag weaker(Tag a, Tag b) { return a > b ? a : b; }

// A value that knows where it comes from. In YAML either {value: 3.35 TB/s, tag: datasheet, source: "H100 datasheet"},
// or a bare value, which is the user's own and counts as assumed.
template <class T>
struct Sourced {
  T value{};
  Tag tag = Tag::assumed;
  std::string source{};
  constexpr const T& operator*() const { return value; }
};

}  // namespace llmscape
