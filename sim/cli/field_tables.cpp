// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/field_tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "models/native.hpp"
#include "sim/cli/description.hpp"
#include "sim/explore/plan_config.hpp"
#include "sim/studies/study_config.hpp"
#include "sim/validation/host_constants.hpp"
#include "sim/validation/row_mapping.hpp"

namespace llmscape::cli {
namespace {

// A family or a struct, and how its table is printed.
struct Place {
  const FamilyInfo* family = nullptr;
  const StructInfo* fields = nullptr;
  [[nodiscard]] const std::string& name() const { return family ? family->name : fields->name; }
  [[nodiscard]] std::string text() const {
    if (fields) return fields->text;
    std::vector<std::string> kinds;
    for (const auto& member : family->members) kinds.push_back(member.name);
    return fmt::format("one of {}", fmt::join(kinds, ", "));
  }
};

class Walk {
 public:
  std::vector<Place> places() {
    visit(scenario::scenario_fields().info());
    visit(explore::plan_fields().info());
    visit(explore::range_fields().info());
    visit(models::native_model_fields().info());
    visit(studies::study_fields().info());
    visit(validation::row_mapping_fields().info());
    visit(validation::host_constants_fields().info());
    return std::move(places_);
  }

 private:
  void visit(const StructInfo& info) {
    if (!seen_.insert(&info).second) return;
    places_.push_back({nullptr, &info});
    for (const FieldInfo& field : info.fields) {
      if (field.group) visit(*field.group);
      if (field.family) visit(*field.family);
    }
  }
  void visit(const FamilyInfo& family) {
    if (!seen_.insert(&family).second) return;
    places_.push_back({&family, nullptr});
    for (const auto& member : family.members) visit(*member.info);
  }

  std::vector<Place> places_;
  std::set<const void*> seen_;  // only asked, never walked
};

std::string table_of(const StructInfo& info, const std::string& heading, const std::string& text) {
  constexpr int kNeverCut = 10'000;
  return fmt::format("{}: {}\n{}\n", heading, text,
                     info.fields.empty() ? "no fields\n" : fields_table(info, kNeverCut));
}

std::string table_of(const Place& place) {
  if (place.fields) return table_of(*place.fields, place.fields->name, place.fields->text);
  std::string out;
  for (const auto& member : place.family->members)
    out += table_of(*member.info, fmt::format("{} with {}: {}", place.family->name, place.family->tag, member.name),
                    member.text);
  return out;
}

}  // namespace

std::vector<std::string> field_table_names() {
  std::vector<std::string> names;
  for (const Place& place : Walk().places())
    if (std::ranges::find(names, place.name()) == names.end()) names.push_back(place.name());
  return names;
}

Table field_table_list() {
  Table table({"name", "what it is"});
  for (const Place& place : Walk().places()) table.row({place.name(), place.text()});
  return table;
}

std::string field_tables(std::string_view name) {
  std::string out;
  const std::vector<Place> places = Walk().places();
  // A key that holds one of several kinds is called as one of them: 'stream' of the 'streams'.
  for (const Place& place : places)
    if (place.family && place.name() == fmt::format("{}s", name)) out += table_of(place);
  for (const Place& place : places)
    if (place.name() == name || place.name().ends_with(fmt::format("/{}", name))) out += table_of(place);
  if (!out.empty()) out.pop_back();  // the empty line after the last table
  return out;
}

}  // namespace llmscape::cli
