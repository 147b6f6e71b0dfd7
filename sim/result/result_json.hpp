// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sim/result/metric_table.hpp"
#include "sim/result/result.hpp"

namespace llmscape::result {

// The result as JSON (schema run/1), two-space indented, with a final newline. A part that was not computed is absent.
// No wall time, no host: the same run gives the same bytes. Throws std::logic_error naming a value that is NaN or
// infinite, or that no metric of the table is there to write.
std::string to_json(const RunResult& result);
// The same on one line, without its end.
std::string to_json_line(const RunResult& result);

// What such JSON, parsed, has in a column: Column::value() of the result that was written. Nothing where it has none.
std::optional<double> number_in(const nlohmann::json& run, const metrics::Column& column);
std::optional<double> number_in(const nlohmann::ordered_json& run, const metrics::Column& column);

// What such JSON says of the whole run, in the places of what is taken from its window: throughput, energy, cost and
// utilisation of `overall`, and its time.
nlohmann::ordered_json of_whole_run(nlohmann::ordered_json run);
// The same of a result that is not written yet.
RunResult of_whole_run(RunResult result);

}  // namespace llmscape::result
