// SPDX-License-Identifier: Apache-2.0
#include "sim/studies/study_config.hpp"

namespace llmscape::studies {
namespace {

constexpr double kMostSeeds = 10'000;  // of a run; more is an accident

const Fields<AssumedConfig>& assumed_fields() {
  static const Fields<AssumedConfig> fields = [] {
    Fields<AssumedConfig> f("assumed", "what the publication does not state, set once for all claims of the study");
    f.add("parameter", &AssumedConfig::parameter, "what is set: a path in the scenarios").required();
    f.add("value", &AssumedConfig::value, "to what").required();
    f.add("reason", &AssumedConfig::reason, "why to that value").required();
    return f;
  }();
  return fields;
}

const Fields<KernelsConfig>& kernels_fields() {
  static const Fields<ScenarioKernelsConfig> of_scenario = [] {
    Fields<ScenarioKernelsConfig> f("kernels of a scenario", "efficiencies of the kernels of one scenario's device");
    f.add("set", &ScenarioKernelsConfig::set, "values laid over this scenario, below those of the run").required();
    return f;
  }();
  static const Fields<KernelsConfig> fields = [] {
    Fields<KernelsConfig> f("kernels", "efficiencies of the kernels that the authors ran, as measured, not by a claim");
    f.add("set", &KernelsConfig::set, "values laid over every scenario, below those of the run").required();
    f.add_group("scenarios", &KernelsConfig::scenarios, of_scenario,
                "more for the runs of a scenario, by its file: {cluster.yaml: {set: [...]}}");
    f.add("source", &KernelsConfig::source, "measurements that they are taken from, and what the catalogue has")
        .required();
    return f;
  }();
  return fields;
}

const Fields<RunConfig>& run_fields() {
  static const Fields<RunConfig> fields = [] {
    Fields<RunConfig> f("study run", "a scenario that claims speak of by its name");
    f.add("scenario", &RunConfig::scenario, "scenario file, from the folder of the study").required();
    f.add("set", &RunConfig::set, "values laid over the scenario's, as 'llmscape run --set' takes them");
    f.add("axis", &RunConfig::axis, "path that is varied: the name then stands for a list of runs, NAME[0], NAME[1]");
    f.add("values", &RunConfig::values, "values of the axis");
    f.add("seeds", &RunConfig::seeds, "runs with seeds 1 to this; absent: the study's `seeds`").between(1, kMostSeeds);
    f.add("kernels", &RunConfig::kernels, "false: with the catalogue's kernels whatever the study says of others");
    f.add(
        "analytic", &RunConfig::analytic,
        "by arithmetic, as 'llmscape run --analytic': its values are those of schema analytic/1, NAME.best.threshold");
    f.check([](const RunConfig& run, const YamlNode& node, Diagnostics& diagnostics) {
      if (run.axis.has_value() == run.values.empty())
        diagnostics.error(node.where, "an axis has a path and values: 'axis' and 'values' stand together");
    });
    return f;
  }();
  return fields;
}

const Fields<ClaimConfig>& claim_fields() {
  static const Fields<ClaimConfig> fields = [] {
    Fields<ClaimConfig> f("claim", "a published number or statement, and the expression that simulates it");
    f.add("id", &ClaimConfig::id, "its name").required();
    f.add("what", &ClaimConfig::what, "what is compared, in a line").required();
    f.add_enum("kind", &ClaimConfig::kind,
               {{"exact", ClaimKind::exact},
                {"close", ClaimKind::close},
                {"range", ClaimKind::range},
                {"direction", ClaimKind::direction}},
               "exact: a count or a formula; close: a number and a tolerance; range: an interval to land in, which is "
               "reported; direction: a condition that holds for at least three seeds of four")
        .required();
    f.add_enum("evidence", &ClaimConfig::evidence,
               {{"abstract", Evidence::abstract},
                {"repository", Evidence::repository},
                {"vendor", Evidence::vendor},
                {"full_text", Evidence::full_text},
                {"note", Evidence::note},
                {"derived", Evidence::derived},
                {"memory", Evidence::memory},
                {"own", Evidence::own}},
               "where it was found. Published: abstract and full_text of the paper, repository (the authors' code, "
               "tables, figures and pages), vendor. Other: note (someone else's summary or measurement), derived "
               "(computed from other numbers), memory (unverified), own (of this project)")
        .required();
    f.add("value", &ClaimConfig::value,
          "expression over runs: computed for each seed, of which the median counts; of a direction only shown");
    f.add("holds", &ClaimConfig::holds, "of a direction: the condition");
    f.add("published", &ClaimConfig::published, "the number; of a range both ends: [low, high]");
    f.add("tolerance", &ClaimConfig::tolerance,
          "of exact and close: largest distance, as an amount (0.01) or as a share of the published number (\"6%\")");
    f.add("source", &ClaimConfig::source, "where exactly it stands: table, figure, file");
    f.add("calibration", &ClaimConfig::calibration,
          "a parameter was set from this number, or gives it back: shown, and not counted");
    f.add("miss", &ClaimConfig::miss,
          "of a claim that misses or ties: the input that is missing or the effect not "
          "modelled");
    return f;
  }();
  return fields;
}

const Fields<NegativeConfig>& negative_fields() {
  static const Fields<NegativeConfig> fields = [] {
    Fields<NegativeConfig> f("negative", "a test that the technique loses, or changes nothing, where it should");
    f.add("id", &NegativeConfig::id, "its name").required();
    f.add("what", &NegativeConfig::what, "what is expected, in a line").required();
    f.add("holds", &NegativeConfig::holds, "condition that holds for at least three seeds of four").required();
    f.add("miss", &NegativeConfig::miss, "of one that fails: the input that is missing or the effect not modelled");
    return f;
  }();
  return fields;
}

const Fields<FigureConfig>& figure_fields() {
  static const Fields<SeriesConfig> series = [] {
    Fields<SeriesConfig> f("figure series", "the values of one colour");
    f.add("name", &SeriesConfig::name, "in the legend").required();
    f.add("values", &SeriesConfig::values, "one expression for each label; or one that gives a list; null: no value")
        .required();
    return f;
  }();
  static const Fields<FigureConfig> fields = [] {
    Fields<FigureConfig> f("figure", "the picture of a study");
    f.add("title", &FigureConfig::title, "what it shows").required();
    f.add("y", &FigureConfig::y, "unit or name of the values").required();
    f.add("x", &FigureConfig::x, "unit or name of the labels");
    f.add("labels", &FigureConfig::labels,
          "texts: a group of bars for each; numbers, or one expression that gives a list of them: lines")
        .required();
    f.add_group("series", &FigureConfig::series, series, "what is drawn, a colour each").required();
    return f;
  }();
  return fields;
}

}  // namespace

bool is_published(Evidence evidence) {
  return evidence == Evidence::abstract || evidence == Evidence::repository || evidence == Evidence::vendor ||
         evidence == Evidence::full_text;
}

const Fields<StudyConfig>& study_fields() {
  static const Fields<StudyConfig> fields = [] {
    Fields<StudyConfig> f("study", "a published system: its scenarios and its claims");
    f.add("title", &StudyConfig::title, "name of the system and what it does, in a line").required();
    f.add("summary", &StudyConfig::summary, "what it does, and which models on which devices, in a line of plain words")
        .required();
    f.add("paper", &StudyConfig::paper, "where it was published").required();
    f.add("about", &StudyConfig::about,
          "Markdown of about a dozen lines: what it is, what was reproduced, what was not and why")
        .required();
    f.add_group("assumed", &StudyConfig::assumed, assumed_fields(),
                "what the publication does not state, set once for all claims");
    f.add_group("kernels", &StudyConfig::kernels, kernels_fields(),
                "kernels that are not the catalogue's; claims are then computed with the catalogue's as well");
    f.add("seeds", &StudyConfig::seeds, "runs with seeds 1 to this; 1 where nothing is random").between(1, kMostSeeds);
    f.add_group("runs", &StudyConfig::runs, run_fields(), "scenarios by the names that expressions use").required();
    f.add("let", &StudyConfig::let, "expressions by name, for those that stand below them: {gain: a.x / b.x}");
    f.add_group("claims", &StudyConfig::claims, claim_fields(), "what was published, and what is simulated").required();
    f.add_group("negative", &StudyConfig::negative, negative_fields(),
                "where the technique must lose, or change nothing");
    f.add("same", &StudyConfig::same, "pairs of runs whose results are the same bytes: [[baseline, technique_off]]");
    f.add_group("figure", &StudyConfig::figure, figure_fields(), "the picture of the study");
    return f;
  }();
  return fields;
}

}  // namespace llmscape::studies
