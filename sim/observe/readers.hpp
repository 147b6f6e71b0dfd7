// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.hpp"
#include "base/expression.hpp"
#include "sim/observe/observed.hpp"

namespace llmscape::observe {

// One kind of file that a server, a client or a device leaves.
struct Reader {
  std::string_view name;
  std::string_view text;  // what it is, for lists
  // Whether a file that begins like this is one; the beginning may end anywhere.
  bool (*recognises)(std::string_view beginning);
  // Adds what the file says; reports what is wrong with it at its line. Lines of no meaning here are passed over.
  void (*read)(const std::string& path, Observed& observed, Diagnostics& diagnostics);
};

// All of them; a file is read by the first that recognises it.
const std::vector<Reader>& readers();

Reader vllm_log();
Reader sglang_log();
Reader vllm_bench();
Reader guidellm();
Reader aiperf();
Reader prometheus();
Reader power_csv();

// Reads the file by its kind, or by that of the name. Nothing is added after reporting.
void read_observed(const std::string& path, std::string_view format, Observed& observed, Diagnostics& diagnostics);

// A table by a mapping (schema rows/1): rows with a column `arrival_s` are requests (prompt_tokens, output_tokens,
// ttft_s, e2e_s), those with `t_s` samples of quantities (columns running, waiting, kv_use, ..., and `device`), all
// others figures by the names of metrics. Only rows for which `where` holds count.
void read_observed_table(const std::string& path, const std::optional<std::filesystem::path>& mapping,
                         const std::optional<Expression>& where, Observed& observed, Diagnostics& diagnostics);

}  // namespace llmscape::observe
