// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"

namespace llmscape::studies {

// What a published claim is held to.
enum class ClaimKind {
  exact,      // a count or a formula: the tolerance is for rounding
  close,      // a published number and a tolerance
  range,      // an interval to land in; reported, and no failure outside
  direction,  // a sign or an order, never a number
};

// Where the number or statement of a claim was found.
enum class Evidence {
  abstract,    // of the publication
  repository,  // the authors': code, result tables, figures, model cards, project pages
  vendor,      // a publication of who made the device or the system
  full_text,   // of the publication
  note,        // someone else's summary or measurement
  derived,     // computed from other published numbers or from a law
  memory,      // unverified
  own,         // of this project: a measurement or an analysis of its own
};
// The first four: what the authors or the vendor published themselves.
bool is_published(Evidence evidence);

// study.yaml (schema study/1) as it is written; `read_study` makes a Study of it.
struct AssumedConfig {
  std::string parameter, reason;
  YamlNode value;
};

// What more holds for the runs of one scenario: another device has other kernels.
struct ScenarioKernelsConfig {
  std::vector<std::string> set;
};

// What is known of the kernels that the authors ran, where these are not those of the catalogue.
struct KernelsConfig {
  std::vector<std::string> set;
  std::map<std::string, ScenarioKernelsConfig> scenarios;  // by file, as runs name it
  std::string source;
};

struct RunConfig {
  std::string scenario;
  std::vector<std::string> set;
  std::optional<std::string> axis;
  std::vector<YamlNode> values;
  std::optional<std::int64_t> seeds;
  bool kernels = true;
  bool analytic = false;
};

struct ClaimConfig {
  std::string id, what;
  ClaimKind kind = ClaimKind::close;
  Evidence evidence = Evidence::own;
  YamlNode value, holds, published, tolerance;
  std::optional<std::string> source, miss;
  bool calibration = false;
};

struct NegativeConfig {
  std::string id, what;
  YamlNode holds;
  std::optional<std::string> miss;
};

struct SeriesConfig {
  std::string name;
  std::vector<YamlNode> values;
};

struct FigureConfig {
  std::string title, y;
  std::optional<std::string> x;
  std::vector<YamlNode> labels;
  std::vector<SeriesConfig> series;
};

struct StudyConfig {
  std::string title, summary, paper, about;
  std::vector<AssumedConfig> assumed;
  std::optional<KernelsConfig> kernels;
  std::int64_t seeds = 20;
  std::map<std::string, RunConfig> runs;
  YamlNode let;
  std::vector<ClaimConfig> claims;
  std::vector<NegativeConfig> negative;
  std::vector<YamlNode> same;
  std::optional<FigureConfig> figure;
};
const Fields<StudyConfig>& study_fields();

}  // namespace llmscape::studies
