// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/manual.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

namespace llmscape::cli {
namespace {

// Text that roff takes as it stands: no escapes, no hyphens that it may change, no requests at the start of a line.
std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
    if (c == '\\') out += "\\e";
    else if (c == '-') out += "\\-";
    else out += c;
  }
  return out;
}

// Lines that keep their breaks.
std::string verbatim(const std::string& text) { return fmt::format(".PP\n.nf\n{}\n.fi\n", plain(text)); }

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", plain(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", plain(text)); }

std::string capitals(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// A footer is paragraphs; one that begins with "Examples:" alone in its line has that as its title.
std::string footer(const std::string& text, std::string_view title_macro) {
  std::string out, paragraph;
  const auto end = [&] {
    if (paragraph.empty()) return;
    paragraph.pop_back();
    const std::size_t line = paragraph.find(":\n  ");
    if (line != paragraph.npos && line < paragraph.find('\n')) {
      const std::string title = paragraph.substr(0, line);
      out += fmt::format("{} {}\n", title_macro, title_macro == ".SH" ? capitals(title) : title);
      paragraph = paragraph.substr(line + 2);
    }
    out += verbatim(std::exchange(paragraph, {}));
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty()) end();
    else paragraph += line + '\n';
  }
  end();
  return out;
}

std::string described(const Parameter& parameter) {
  std::vector<std::string> names;
  for (const std::string& name : parameter.names) names.push_back(bold(name));
  std::string text = parameter.text;
  if (!parameter.fallback.empty()) text += fmt::format(" [{}]", parameter.fallback);
  return fmt::format(".TP\n{}{}\n{}\n", fmt::join(names, ", "),
                     parameter.type.empty() ? "" : ' ' + italic(parameter.type), plain(text));
}

std::string synopsis(const Command& command) {
  std::string line = bold(fmt::format("{}", fmt::join(command.path, " ")));
  if (!command.options.empty()) line += " [" + italic("OPTION") + "]...";
  if (!command.verbs.empty()) line += ' ' + italic("VERB") + " ...";
  for (const Parameter& positional : command.positionals) {
    const std::string name = italic(positional.type) + (positional.repeatable ? "..." : "");
    line += positional.required ? ' ' + name : " [" + name + ']';
  }
  return line + '\n';
}

std::string parameters(const Command& command) {
  std::string out;
  for (const Parameter& positional : command.positionals) out += described(positional);
  for (const Parameter& option : command.options) out += described(option);
  return out;
}

void add_verbs(const Command& command, std::string& out) {
  for (const Command& verb : command.verbs) {
    out += fmt::format(".SS {}\n{}.PP\n{}.\n", fmt::join(verb.path.begin() + 1, verb.path.end(), " "), synopsis(verb),
                       plain(verb.text));
    out += parameters(verb) + footer(verb.footer, ".PP\n.B");
    add_verbs(verb, out);
  }
}

}  // namespace

std::string manual(const Command& program, std::string_view version) {
  std::string out = fmt::format(
      ".\\\" SPDX-License-Identifier: Apache-2.0\n.TH LLMSCAPE 1 \"\" \"llmscape {}\" \"User Commands\"\n.nh\n.ad l\n",
      plain(version));
  std::string text = program.text;
  text.pop_back();  // its full stop
  text.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(text.front())));
  out += fmt::format(".SH NAME\nllmscape \\- {}\n.SH SYNOPSIS\n{}.SH OPTIONS\n{}.SH VERBS\n", plain(text),
                     synopsis(program), parameters(program));
  add_verbs(program, out);
  return out + footer(program.footer, ".SH");
}

}  // namespace llmscape::cli
