// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>

namespace llmscape::report {

// Text in HTML and SVG.
std::string escaped(std::string_view text);

// A text of a picture. `kind` is a class: "title", "tick", "figure" (a number at its mark), or one of a colour.
std::string svg_text(double x, double y, std::string_view anchor, std::string_view kind, std::string_view text);

// How wide a text of class "tick" is, about: the fonts of readers differ.
double text_width_of(std::string_view text);

// A picture that stands alone, as a file that pages show: its style has the colours of the report's page (classes s0 to
// s6 for series, `published`, `grid`, `zero`), light or dark as the reader's system is.
std::string svg_document(double width, double height, std::string_view title, std::string_view inside);

// A number for an axis whose unit is `unit`, in so many significant digits: "10 Gbit/s", "8 GB" of bytes, "40 ms",
// "80 %" of a share, "128K" of tokens (131,072: whole multiples of a power of two are told as such), "15k", "0.5".
std::string engineering(double value, std::string_view unit, int digits = 4);
// Whether such numbers have the unit in them.
bool says_unit(std::string_view unit);

}  // namespace llmscape::report
