// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "traces/cells.hpp"
#include "traces/csv_header.hpp"
#include "traces/date_time.hpp"
#include "traces/formats.hpp"
#include "traces/row_reader.hpp"

// Azure LLM inference traces (github.com Azure/AzurePublicDataset, AzureLLMInferenceTrace_*.csv; CC-BY-4.0). Every
// answer of the 2023 files has at least one token, so a row without output is refused like any other broken row.
namespace llmscape::traces {
namespace {

constexpr std::string_view kAzureFormat = "azure-csv";
enum AzureColumn { kTimestamp, kContextTokens, kGeneratedTokens, kColumns };
const std::vector<CsvColumn> kColumnsOfFile = {{"TIMESTAMP"}, {"ContextTokens"}, {"GeneratedTokens"}};

class AzureReader final : public RowReader {
 public:
  explicit AzureReader(const std::string& path) : RowReader(kAzureFormat, path) {}

 private:
  bool read_header(const Row& row) override {
    place_ = read_csv_header(row, kColumnsOfFile).place;
    return true;
  }

  std::optional<TimedRecord> read(const Row& row) override {
    split_cells(row.text(), cells_);
    if (!cells_fit(row, cells_, kColumns)) return std::nullopt;
    const Span stamp = cells_[*place_[kTimestamp]];
    const auto time = parse_date_time(row.text(stamp));
    if (!time)
      row.error(stamp, fmt::format("'TIMESTAMP' must look like 2023-11-16 18:17:03.9799600; got {}",
                                   in_quotes(row.text(stamp))));
    const auto prompt = row.tokens({kColumnsOfFile[kContextTokens].name, cells_[*place_[kContextTokens]]});
    const auto output = row.tokens({kColumnsOfFile[kGeneratedTokens].name, cells_[*place_[kGeneratedTokens]]});
    if (!time || !prompt || !output) return std::nullopt;
    TimedRecord timed;
    timed.nanoseconds = *time;
    timed.time = stamp;
    timed.record.prompt = {unique_content(*prompt)};
    timed.record.prompt_tokens = *prompt;
    timed.record.output_tokens = *output;
    return timed;
  }

  std::vector<std::optional<std::size_t>> place_;  // of each column in a row
  std::vector<Span> cells_;                        // of the row being read
};

}  // namespace

TraceFormat azure_csv() {
  return {kAzureFormat, "Azure LLM inference traces: arrival, prompt and output length, no content",
          [](std::string_view, std::string_view first_line) {
            return first_line.find("TIMESTAMP,") != first_line.npos ||
                   first_line.find("ContextTokens") != first_line.npos;
          },
          &open_as<AzureReader>};
}

}  // namespace llmscape::traces
