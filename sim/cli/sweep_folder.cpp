// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/sweep_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "base/program_path.hpp"
#include "base/standard_streams.hpp"
#include "sim/cli/manifest.hpp"
#include "sim/cli/own_files.hpp"
#include "sim/cli/version.hpp"

namespace llmscape::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::array<OwnFile, 3> kFiles = {{kPlanFile, {"results.csv", "point,id,"}, Manifest::kFile}};

}  // namespace

std::string tool() {
  const Version& v = version();
  std::string text = fmt::format("llmscape {} {}", v.number, v.revision);
  std::string error;  // two programs of changed sources have the same revision
  if (v.dirty) text += content_hash(read_file(program_path(), error).value_or(""));
  return text;
}

bool settle(const explore::Plan& plan, const explore::Store& store, Settling how, Diagnostics& diagnostics) {
  const fs::path& folder = store.folder();
  const SourceRange where{std::make_shared<const SourceText>(SourceText{folder.string(), ""})};
  report_foreign(folder, kFiles, how.overwrite, diagnostics);
  report_other(folder, kResultFile, "a run", diagnostics);
  if (diagnostics.has_errors()) return false;
  make_folder(folder);
  const std::string text = explore::plan_text(plan, folder);
  const bool foreign = fs::exists(store.plan()) && !is_own(folder, kFiles.front());
  if (foreign) write_file_atomically(store.plan(), text);
  else if (write_new_file_atomically(store.plan(), text)) return true;
  std::string error;
  const std::string before = read_file(store.plan(), error).value_or("");
  if (before != text && explore::without_folder(before) == explore::without_folder(text))
    write_file_atomically(store.plan(), text);  // it was moved, or the plan was
  else if (before != text)
    diagnostics.error(where, "this folder holds the sweep of another plan", "use another folder, or remove it");
  if (!diagnostics.has_errors() && !how.goes_on && store.has_points())
    diagnostics.error(where, "this folder holds points of this plan", "add --resume to go on, or remove it");
  return !diagnostics.has_errors();
}

void tell_damaged(const std::vector<fs::path>& set_aside) {
  for (const fs::path& file : set_aside)
    write_to_stderr(
        fmt::format("llmscape: a damaged result was set aside as {}; its point runs again\n", file.string()));
}

}  // namespace llmscape::cli
