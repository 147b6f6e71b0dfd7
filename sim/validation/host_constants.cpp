// SPDX-License-Identifier: Apache-2.0
#include "sim/validation/host_constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/catalog.hpp"
#include "base/yaml_lines.hpp"

namespace llmscape::validation {

namespace {

constexpr double kScale = 0.1;  // of a logarithm, where the loss turns from square to linear

struct Axis {
  double HostConstants::* constant;
  double step, finest;
};
using Axes = std::vector<Axis>;
using Loss = std::function<double(const HostConstants&)>;

struct Tried {
  HostConstants constants;
  double loss = 0;
};

// From `best` on, steps along one axis after the other.
Tried along_axes(const Loss& loss, Axes axes, Tried best) {
  const auto helps = [&](const Axis& axis, double step) {
    HostConstants tried = best.constants;
    tried.*axis.constant = std::max(0.0, tried.*axis.constant + step);
    if (tried.*axis.constant == best.constants.*axis.constant) return false;
    const double sum = loss(tried);
    if (sum >= best.loss) return false;
    best = {tried, sum};
    return true;
  };
  const auto goes_on = [](const Axis& axis) { return axis.step >= axis.finest; };
  while (std::ranges::any_of(axes, goes_on))
    for (Axis& axis : axes)
      if (goes_on(axis)) axis.step *= helps(axis, axis.step) || helps(axis, -axis.step) ? 2 : 0.5;
  return best;
}

// From `start` on across the axes: the constants trade off (of a call with a prompt the sum is known before its parts
// are), so that what single steps end in is a valley rather than its least. The simplex of Nelder and Mead (Computer
// Journal 7, 1965) with its usual coefficients.
Tried across_axes(const Loss& loss, const Axes& axes, const Tried& start) {
  constexpr int kMostRuns = 80;
  std::vector<Tried> simplex = {start};
  int runs = 0;
  const auto tried = [&](HostConstants constants) {
    for (const Axis& axis : axes) constants.*axis.constant = std::max(0.0, constants.*axis.constant);
    ++runs;
    return Tried{constants, loss(constants)};
  };
  const auto between = [&](const HostConstants& from, const HostConstants& to, double share) {
    HostConstants point;
    for (const Axis& axis : axes)
      point.*axis.constant = from.*axis.constant + share * (to.*axis.constant - from.*axis.constant);
    return point;
  };
  for (const Axis& axis : axes) {
    HostConstants corner = start.constants;
    corner.*axis.constant += std::max(8 * axis.finest, 0.25 * corner.*axis.constant);
    simplex.push_back(tried(corner));
  }
  const auto wide = [&](const Axis& axis) {
    const auto [least, most] =
        std::ranges::minmax(simplex, {}, [&](const Tried& corner) { return corner.constants.*axis.constant; });
    return most.constants.*axis.constant - least.constants.*axis.constant >= axis.finest;
  };
  std::ranges::stable_sort(simplex, {}, &Tried::loss);
  while (runs < kMostRuns && std::ranges::any_of(axes, wide)) {
    Tried& worst = simplex.back();
    HostConstants centre;  // of the others
    for (const Axis& axis : axes)
      for (std::size_t i = 0; i + 1 < simplex.size(); ++i)
        centre.*axis.constant += simplex[i].constants.*axis.constant / static_cast<double>(axes.size());
    const Tried mirrored = tried(between(centre, worst.constants, -1));
    if (mirrored.loss < simplex.front().loss) {
      const Tried farther = tried(between(centre, worst.constants, -2));
      worst = farther.loss < mirrored.loss ? farther : mirrored;
    } else if (mirrored.loss < simplex[simplex.size() - 2].loss) {
      worst = mirrored;
    } else {
      const Tried nearer = tried(between(centre, worst.constants, mirrored.loss < worst.loss ? -0.5 : 0.5));
      if (nearer.loss < std::min(mirrored.loss, worst.loss)) worst = nearer;
      else
        for (std::size_t i = 1; i < simplex.size(); ++i)
          simplex[i] = tried(between(simplex[0].constants, simplex[i].constants, 0.5));
    }
    std::ranges::stable_sort(simplex, {}, &Tried::loss);
  }
  return simplex.front();
}

}  // namespace

std::vector<std::string> HostConstants::overrides() const {
  return {fmt::format("hardware.devices[0].host.per_prefill_step={} ms", per_prefill_step_ms),
          fmt::format("serving.front_end.per_call={} ms", per_call_ms),
          fmt::format("serving.front_end.per_token={} us", per_token_us)};
}

double log_loss(double predicted, double measured) {
  const double r = std::log(predicted / measured) / kScale;
  return 2 * (std::sqrt(1 + r * r) - 1);
}

HostConstants fit_host_constants(const std::function<double(const HostConstants&)>& loss) {
  const Axes axes = {Axis{&HostConstants::per_prefill_step_ms, 8, 0.25}, Axis{&HostConstants::per_call_ms, 8, 0.5},
                     Axis{&HostConstants::per_token_us, 8, 0.25}};
  // Again from where it ends, as a simplex may fall flat; runs jump where a call comes a step later.
  constexpr int kTurns = 4;
  const Tried none{{}, loss({})};
  Tried least = along_axes(loss, axes, none);
  // What one constant explains alone, single steps of all three do not find once the others have taken a part of it.
  for (const Axis& axis : axes)
    if (const Tried other = along_axes(loss, axes, along_axes(loss, {axis}, none)); other.loss < least.loss)
      least = other;
  for (int turn = 0; turn < kTurns; ++turn) {
    const double before = least.loss;
    least = across_axes(loss, axes, least);
    if (least.loss > 0.99 * before) break;
  }
  HostConstants best = least.constants;
  for (const Axis& axis : axes) best.*axis.constant = std::round(best.*axis.constant * 100) / 100;  // as it is known
  return best;
}

const Fields<HostConstantsConfig>& host_constants_fields() {
  static const Fields<HostConstantsConfig> fields = [] {
    Fields<HostConstantsConfig> f("host_constants", "what a host and its engine cost beside the kernels");
    f.add("set", &HostConstantsConfig::set,
          "paths of a scenario and their values: {\"hardware.devices[0].host.per_prefill_step\": 8 ms, "
          "serving.front_end.per_call: 20 ms}")
        .required();
    f.add("source", &HostConstantsConfig::source, "where they come from");
    return f;
  }();
  return fields;
}

std::optional<std::vector<std::string>> read_host_constants(const std::filesystem::path& file,
                                                            Diagnostics& diagnostics) {
  const auto tree = description_file(file, "host_constants", diagnostics);
  HostConstantsConfig config;
  if (!tree || !host_constants_fields().read(config, *tree, diagnostics)) return std::nullopt;
  if (!config.set.is_mapping()) {
    diagnostics.error(config.set.where, "'set' is a mapping from paths to values");
    return std::nullopt;
  }
  std::vector<std::string> overrides;
  for (const YamlNode::Entry& entry : config.set.entries) overrides.push_back(entry.key + '=' + yaml_flow(entry.value));
  return overrides;
}

}  // namespace llmscape::validation
