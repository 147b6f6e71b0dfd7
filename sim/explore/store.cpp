// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/store.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <vector>

#include "base/files.hpp"
#include "base/hash.hpp"
#include "sim/explore/point.hpp"

namespace llmscape::explore {
namespace {

namespace fs = std::filesystem;

// Empty where there is none.
std::string hash_of_file(const fs::path& file) {
  std::string error;
  const auto content = read_file(file, error);
  return content ? content_hash(*content) : "";
}

// PointNames and contents of all files below the folder.
std::string hash_of_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::ranges::sort(files);
  std::string all;
  for (const fs::path& file : files) all += file.lexically_relative(folder).string() + hash_of_file(file);
  return content_hash(all);
}

fs::path whole(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

bool is_below(const fs::path& path, const fs::path& folder) {
  const fs::path from_there = path.lexically_relative(folder);
  return !from_there.empty() && *from_there.begin() != "..";
}

// Everything that is written in the tree, with what separates it.
void append(std::string& out, const YamlNode& node) {
  out += static_cast<char>('0' + static_cast<int>(node.kind));
  out += node.quoted ? '"' : ' ';
  out += node.text;
  for (const YamlNode& item : node.items) append(out += '\n', item);
  for (const YamlNode::Entry& entry : node.entries) append(out += '\n' + entry.key + '\t', entry.value);
  out += '\0';
}

void visit_scalars(const YamlNode& node, const std::function<void(const std::string&)>& visit) {
  if (node.is_scalar()) visit(node.text);
  for (const YamlNode& item : node.items) visit_scalars(item, visit);
  for (const YamlNode::Entry& entry : node.entries) visit_scalars(entry.value, visit);
}

// Values of an assignment that may be files, whole ones and those inside of values: a path has no quotes, brackets or
// commas around it.
std::vector<std::string> texts_in(const std::string& assignment) {
  std::vector<std::string> texts;
  for (std::size_t at = assignment.find('=') + 1; at < assignment.size();) {
    const std::size_t start = assignment.find_first_not_of(" \"'{}[],:", at);
    if (start == std::string::npos) break;
    const std::size_t end = std::min(assignment.find_first_of(" \"'{}[],:", start), assignment.size());
    texts.push_back(assignment.substr(start, end - start));
    at = end;
  }
  return texts;
}

}  // namespace

PointNames::PointNames(const Plan& plan, const std::string& tool, const scenario::Catalogs& catalogs)
    : folder_(plan.folder()) {
  common_ = tool;
  for (const fs::path& catalog : {catalogs.models, catalogs.hardware, catalogs.workloads}) {
    common_ += '\n' + hash_of_folder(catalog);
    catalogs_.push_back(whole(catalog));
  }
  common_ += plan.config().intervals ? "\nintervals\n" : "\n";
  append(common_, plan.base());
  visit_scalars(plan.base(), [this](const std::string& text) {
    const std::string& content = files_in(text);
    if (!content.empty()) in_base_.insert(whole("." / folder_ / text));
    common_ += content;
  });
}

const std::string& PointNames::files_in(const std::string& text) {
  const auto known = files_.find(text);
  if (known != files_.end()) return known->second;
  std::error_code none;
  const fs::path file = folder_ / text;
  const bool there = !text.empty() && text.size() < 1000 && fs::is_regular_file(file, none);
  return files_[text] = there ? hash_of_file(file) : "";
}

std::string PointNames::of(const Point& point) {
  std::string all = fmt::format("{}\n{}", common_, point.seed);
  for (const std::string& assignment : point.overrides) {
    all += '\n' + assignment;
    for (const std::string& text : texts_in(assignment)) all += files_in(text);
  }
  return content_hash(all);
}

std::map<std::string, std::string> PointNames::inputs_of(const Point& point, const std::set<fs::path>& opened) const {
  const fs::path folder = whole("." / folder_);
  std::set<fs::path> named = in_base_;
  for (const std::string& assignment : point.overrides)
    for (const std::string& text : texts_in(assignment)) named.insert(whole(folder / text));
  std::map<std::string, std::string> inputs;
  for (const fs::path& path : opened) {
    const fs::path file = whole(path);
    const auto covers = [&](const fs::path& catalog) { return is_below(file, catalog); };
    if (!named.contains(file) && std::ranges::none_of(catalogs_, covers))
      inputs[file.lexically_proximate(folder).string()] = hash_of_file(file);
  }
  return inputs;
}

bool PointNames::has_run(const Store& store, const std::string& id) {
  if (!fs::exists(store.point(id))) return false;
  const auto inputs = explore::inputs_of(store.point(id));
  return inputs && std::ranges::all_of(*inputs, [this](const auto& input) {
           const auto known = now_.find(input.first);
           if (known != now_.end()) return known->second == input.second;
           return (now_[input.first] = hash_of_file(folder_ / input.first)) == input.second;
         });
}

bool Store::has_points() const {
  std::error_code none;
  return fs::directory_iterator(folder_ / "points", none) != fs::directory_iterator();
}

void Store::require() const {
  std::error_code none;
  if (!fs::is_directory(folder_, none))
    throw FolderGone(fmt::format("{} is gone: it was removed or renamed while its sweep ran", folder_.string()));
}

bool Store::is_damaged(const std::string& id) const {
  std::error_code none;
  return fs::exists(point(id), none) && !inputs_of(point(id));
}

fs::path Store::set_aside(const std::string& id) const {
  const fs::path place = folder_ / "damaged" / (id + ".json");
  std::error_code taken;  // by another shard
  fs::create_directories(place.parent_path(), taken);
  fs::rename(point(id), place, taken);
  return place;
}

void Store::keep(const fs::path& file, std::string_view text, const std::string& id) const {
  require();
  write_file_atomically(file, text);
  std::error_code none;
  for (const fs::path& other : {point(id), failed(id), refused(id)})
    if (other != file) fs::remove(other, none);
}
void Store::keep_point(const std::string& id, std::string_view json) const { keep(point(id), json, id); }
void Store::keep_failed(const std::string& id, std::string_view log) const { keep(failed(id), log, id); }
void Store::keep_refused(const std::string& id, std::string_view log) const { keep(refused(id), log, id); }

std::string plan_text(const Plan& plan, const fs::path& folder) {
  YamlNode root = plan.tree();
  root.set("base", plan.base());
  root.set("folder", YamlNode::scalar(fs::proximate(fs::absolute("." / plan.folder()), fs::absolute(folder)).string()));
  root.erase("set");
  return "# The plan of this sweep with the scenario that its points start from: what '--merge' and '--resume' "
         "read.\n" +
         write_yaml(root);
}

std::string without_folder(std::string text) {
  const std::string key = "\nfolder: ";
  const std::size_t begin = text.find(key);
  if (begin != std::string::npos) text.erase(begin, text.find('\n', begin + 1) - begin);
  return text;
}

}  // namespace llmscape::explore
