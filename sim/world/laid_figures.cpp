// SPDX-License-Identifier: Apache-2.0
#include "sim/world/laid_figures.hpp"

#include "hardware/scaled_fits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace llmscape::world {
namespace {

constexpr std::array kWords = {std::string_view("name"),     std::string_view("description"),
                               std::string_view("tag"),      std::string_view("source"),
                               std::string_view("accuracy"), std::string_view("residuals")};

bool from_preset(const YamlNode& node) { return node.origin.starts_with("preset"); }

// Numbers that stand in the file or on the command line, where the rest of the device comes from elsewhere.
class LaidFinder {
 public:
  explicit LaidFinder(bool in_file) : in_file_(in_file) {}
  std::vector<LaidFigure> all;

  void visit(const YamlNode& node) {
    if (node.is_scalar()) {
      if (is_laid(node)) all.push_back({path(), steps_, {}});
      return;
    }
    for (std::size_t i = 0; i < node.entries.size(); ++i) {
      const auto& entry = node.entries[i];
      if (std::ranges::find(kWords, entry.key) == kWords.end()) enter(entry.value, entry.key, i);
    }
    for (std::size_t i = 0; i < node.items.size(); ++i)  // of thousands of numbers in tables hardly any is laid over
      if (!node.items[i].is_scalar() || is_laid(node.items[i])) enter(node.items[i], {}, i);
  }

 private:
  void enter(const YamlNode& node, std::string_view key, std::size_t step) {
    keys_.push_back(key);
    steps_.push_back(step);
    visit(node);
    keys_.pop_back();
    steps_.pop_back();
  }
  [[nodiscard]] bool is_laid(const YamlNode& node) const {
    const bool laid = node.origin.empty() ? in_file_ : node.origin == "--set";
    if (!laid || node.quoted) return false;
    double number = 0;
    const auto [end, error] = std::from_chars(node.text.data(), node.text.data() + node.text.size(), number);
    return error == std::errc() && number != 0;
  }
  [[nodiscard]] std::string path() const {
    std::string path;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      if (keys_[i].empty()) path += fmt::format("[{}]", steps_[i]);
      else if (keys_[i] != "value") path += (path.empty() ? "" : ".") + std::string(keys_[i]);
    }
    return path;
  }

  bool in_file_;
  std::vector<std::string_view> keys_;  // on the way to the node; of an item of a list: none
  std::vector<std::size_t> steps_;
};

template <class Node>
Node& node_at(Node& device, const LaidFigure& at) {
  Node* node = &device;
  for (const std::size_t step : at.steps) node = node->is_mapping() ? &node->entries[step].value : &node->items[step];
  return *node;
}

// Sizes may count only by what fits: "520 MB".
bool is_size(std::string_view value) { return value.ends_with('B') && value.find('/') == value.npos; }

// A figure's number, and the unit behind it.
struct Figure {
  double number = 0;
  std::string_view unit;
};
Figure figure_of(const YamlNode& node) {
  Figure figure;
  const char* last = node.text.data() + node.text.size();
  const auto [end, error] = std::from_chars(node.text.data(), last, figure.number);
  if (error == std::errc()) figure.unit = {end, static_cast<std::size_t>(last - end)};
  return figure;
}

// The devices that a figure is asked for instead of the one laid out.
class OtherDevices {
 public:
  OtherDevices(const YamlNode& written, const LaidFigure& at) : written_(written), at_(at) {}

  std::vector<std::shared_ptr<const hardware::Device>> all() {
    if (at_.path == "power_limit") {
      YamlNode free = written_;
      free.entries.erase_if([](const YamlNode::Entry& entry) { return entry.key == "power_limit"; });
      read(free);
      return std::move(devices_);
    }
    const YamlNode& node = node_at(written_, at_);
    const Figure figure = figure_of(node);
    const bool whole = figure.unit.empty() && figure.number == std::floor(figure.number);
    const bool doubled = with(2 * figure.number);
    if (!doubled && figure.unit.empty() && figure.number < 1) with(1);
    if (at_.is_limit()) return std::move(devices_);
    if (!with(0.5 * figure.number) && whole) with(std::floor(0.5 * figure.number));
    if (whole && figure.number > 3) with(1);
    if (is_size(node.text))
      for (const double factor : {1024., 1 / 1024.}) with(factor * figure.number);
    return std::move(devices_);
  }

 private:
  // With that number in place of the figure's, and what was fitted on it. False if it is refused.
  bool with(double number) {
    YamlNode device = written_;
    YamlNode& node = node_at(device, at_);
    node.text = fmt::format("{}{}", number, std::string(figure_of(node).unit));
    hardware::scale_fits(device, written_);
    return read(device);
  }
  bool read(const YamlNode& node) {
    Diagnostics refused;
    auto device = hardware::devices().read(node, refused);
    if (!device || refused.has_errors()) return false;
    devices_.push_back(std::move(device));
    return true;
  }

  const YamlNode& written_;
  const LaidFigure& at_;
  std::vector<std::shared_ptr<const hardware::Device>> devices_;
};

}  // namespace

std::vector<LaidFigure> laid_over(const YamlNode& device) {
  const bool preset = std::ranges::any_of(device.entries, [](const auto& entry) {
    const YamlNode* value = entry.value.find("value");
    return from_preset(entry.value) || (value && from_preset(*value));
  });
  LaidFinder finder(preset);
  finder.visit(device);
  // Every run takes it, and nearly every scenario sets it.
  std::erase_if(finder.all, [](const LaidFigure& figure) { return figure.path == "count"; });
  for (LaidFigure& figure : finder.all) figure.otherwise = OtherDevices(device, figure).all();
  return std::move(finder.all);
}

}  // namespace llmscape::world
