// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/window_fields.hpp"

#include "sim/scenario/scenario.hpp"

namespace llmscape::scenario {

using metrics::WindowConfig;
using metrics::WindowRule;

const Fields<WindowConfig>& window_fields() {
  static const Fields<WindowConfig> fields = [] {
    Fields<WindowConfig> f("window", "which part of the run figures are taken from; 'overall' has the whole of it");
    f.add_enum("rule", &WindowConfig::rule,
               {{"steady", WindowRule::steady},
                {"whole", WindowRule::whole},
                {"between", WindowRule::between},
                {"full_batch", WindowRule::full_batch}},
               "steady: from the end of the warm-up until the load falls; whole: to the end of the run; between: two "
               "given times; full_batch: from the first token of request number 'sequences' to the end of all tasks "
               "but so many (ML.ENERGY's)");
    f.add("from", &WindowConfig::from, "of 'between': the end of the warm-up if absent").between(0, 1e9);
    f.add("to", &WindowConfig::to, "of 'between': the end of the run if absent").above(0).at_most(1e9);
    f.add("sequences", &WindowConfig::sequences, "of 'full_batch': the most that the engine runs at once")
        .between(1, 1e9);
    f.check([](const WindowConfig& c, const YamlNode& node, Diagnostics& d) {
      const bool between = c.rule == WindowRule::between, full = c.rule == WindowRule::full_batch;
      if (!between && (c.from || c.to)) d.error(node.where, "'from' and 'to' have no effect without 'rule: between'");
      if (between && !c.from && !c.to) d.error(node.where, "'rule: between' needs 'from', 'to' or both");
      if (c.from && c.to && *c.from >= *c.to) d.error(node.where, "a window ends after it begins: 'from' below 'to'");
      if (full != c.sequences.has_value())
        d.error(node.where,
                full ? "'rule: full_batch' needs 'sequences'" : "'sequences' has no effect without 'rule: full_batch'");
    });
    return f;
  }();
  return fields;
}

void check_window(const ScenarioConfig& config, const YamlNode& node, Diagnostics& diagnostics) {
  if (config.window.rule != WindowRule::full_batch || !config.window.sequences) return;
  const YamlNode* window = node.find("window");
  const SourceRange where = window ? window->where : node.where;
  const auto& requests = config.workload.requests;
  if (!requests)
    diagnostics.error(where, "'rule: full_batch' counts tasks from the end: the workload must state its 'requests'");
  else if (*requests <= 2 * *config.window.sequences)
    diagnostics.error(where, "'rule: full_batch' needs more than twice 'sequences' tasks in 'workload.requests'");
}

}  // namespace llmscape::scenario
