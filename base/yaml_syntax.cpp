// SPDX-License-Identifier: Apache-2.0
#include "base/yaml_syntax.hpp"

#include <algorithm>
#include <array>

namespace llmscape {
namespace {

struct Mistake {
  std::string_view theirs, ours;  // `theirs`: how their text begins
};

constexpr std::array kMistakes = {
    Mistake{"end of map flow not found",
            "a ',' or '}' is due here; a key or a text with brackets or commas stands in quotes"},
    Mistake{"end of sequence flow not found", "a ',' or ']' is due here"},
    Mistake{"end of map not found", "this does not go on with the mapping above; look at the indentation"},
    Mistake{"end of sequence not found", "this does not go on with the list above; look at the indentation"},
    Mistake{"illegal map value",
            "no value can follow here; look at the indentation, and quote a text that has ': ' in it"},
    Mistake{"illegal map key", "no key can begin here"},
    Mistake{"illegal block entry", "no item of a list can begin here"},
    Mistake{"illegal flow end", "this bracket closes nothing"},
    Mistake{"illegal EOF in scalar", "this quote is never closed"},
    Mistake{"illegal document indicator in scalar", "this quote is not closed before the document ends"},
    Mistake{"illegal character in scalar", "this character cannot stand in a text without quotes"},
    Mistake{"illegal tab", "indent with spaces, not with tabs"},
    Mistake{"unexpected character in block scalar", "this line does not belong to the text above"},
    Mistake{"cannot set zero indentation", "the text below '|' or '>' has to be indented"},
    Mistake{"the referenced anchor is not defined", "this alias has no anchor above it"},
    Mistake{"alias not found after *", "the name of an anchor is due behind '*'"},
    Mistake{"anchor not found after &", "a name is due behind '&'"},
    Mistake{"unknown escape character", "this escape is not known; write a backslash as '\\\\'"},
    Mistake{"invalid unicode", "this escape names no character"},
    Mistake{"bad character found while scanning hex number", "this escape names no character"},
    Mistake{"unknown token", "no value begins like this; quote a text that does"},
};

}  // namespace

std::string_view syntax_mistake(std::string_view parsers_words) {
  const auto known =
      std::ranges::find_if(kMistakes, [&](const Mistake& each) { return parsers_words.starts_with(each.theirs); });
  return known == kMistakes.end() ? "this is no YAML from here on" : known->ours;
}

}  // namespace llmscape
