// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/hash.hpp"
#include "traces/cells.hpp"
#include "traces/csv_header.hpp"
#include "traces/formats.hpp"
#include "traces/row_reader.hpp"

// Runs of a coding agent as lengths, one row a model call: the form in which calls of github.com LMCache/
// lmcache-agent-trace were reduced. Columns: session, session_id, call, t_s (s since the run's first call), gap_s,
// in_chars, new_in_chars, out_chars, ctx_chars, ctx_tokens_est (tokens of the prompt), out_tokens_est (of the answer),
// reusable_frac. A run's context only grows, so its prompts are one content of which each call has a longer head. The
// runs were made one after another, and so they are read: a run begins where the one before had its last call.
namespace llmscape::traces {
namespace {

constexpr std::string_view kAgentCsv = "agent-csv";
const std::vector<CsvColumn> kAgentColumns = {{"session_id"},          {"t_s"},
                                              {"ctx_tokens_est"},      {"out_tokens_est"},
                                              {"session", false},      {"call", false},
                                              {"gap_s", false},        {"in_chars", false},
                                              {"ctx_chars", false},    {"out_chars", false},
                                              {"new_in_chars", false}, {"reusable_frac", false}};

class AgentReader final : public RowReader {
 public:
  explicit AgentReader(const std::string& path) : RowReader(kAgentCsv, path) {}

 private:
  bool read_header(const Row& row) override {
    header_ = read_csv_header(row, kAgentColumns);
    return true;
  }

  std::optional<TimedRecord> read(const Row& row) override {
    split_cells(row.text(), cells_);
    if (!cells_fit(row, cells_, header_.width)) return std::nullopt;
    const Cell time = cell(kTime);
    const auto since_first = row.nanoseconds(time, kNanosecondsPerSecond);
    const auto prompt = row.tokens(cell(kPrompt)), output = row.tokens(cell(kOutput));
    if (!since_first || !prompt || !output) return std::nullopt;
    const std::string_view session = row.text(cell(kSession).span);
    if (session != session_) {
      session_ = session;
      began_ = last_;
      content_ = hash64(session);
    }
    last_ = began_ + *since_first;
    TimedRecord timed;
    timed.nanoseconds = last_;
    timed.time = time.span;
    timed.record.prompt = {{content_, *prompt}};
    timed.record.prompt_tokens = *prompt;
    timed.record.output_tokens = *output;
    timed.record.session = session;
    timed.record.known_content = true;
    return timed;
  }

  // Of the required columns, as they stand in kAgentColumns.
  enum Column { kSession, kTime, kPrompt, kOutput };
  [[nodiscard]] Cell cell(Column column) const { return {kAgentColumns[column].name, cells_[*header_.place[column]]}; }

  CsvHeader header_;
  std::vector<Span> cells_;  // of the row being read
  std::string session_;
  ContentId content_ = 0;
  std::int64_t began_ = 0, last_ = 0;  // ns; of the run, and of the call before
};

}  // namespace

TraceFormat agent_csv() {
  return {kAgentCsv, "runs of a coding agent, lengths of each call; the context of a run only grows",
          [](std::string_view, std::string_view first_line) {
            return first_line.find("ctx_tokens_est") != first_line.npos;
          },
          &open_as<AgentReader>};
}

}  // namespace llmscape::traces
