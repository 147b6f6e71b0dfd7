// SPDX-License-Identifier: Apache-2.0
#include "traces/microbench_record.hpp"

#include "base/fields.hpp"
#include "base/files.hpp"
#include "traces/compression.hpp"
#include "traces/kernel_case.hpp"
#include "traces/kernel_case_fields.hpp"
#include "traces/record_file.hpp"
#include "traces/repeated_cases.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace llmscape::traces {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kMicrobenchSchema = "llmscape.microbench/1";

// What google-benchmark's tools look for in an entry, before what is ours. The times are the median; a reader takes
// them from the summary.
struct Entry : MicrobenchRow {
  std::string name, run_type, time_unit;
  std::int64_t iterations = 0;
  double real_time = 0, cpu_time = 0;
};

// The file without its context and the cases, whose keys depend on their kind.
struct RecordFile {
  std::string schema, backend, statistic;
  std::vector<Entry> rows;
  std::vector<Sentinel> sentinels;
  std::vector<PowerRow> power;
};

template <class Case>
const Fields<Case>& case_fields() {
  static const Fields<Case> fields = [] {
    Fields<Case> f(std::string(CaseKind<Case>::name), "The shape of a kernel.");
    for_each_field<Case>([&f](const auto& field) {
      auto added = f.add(std::string(field.key), field.member, "as in the record of kernel cases");
      added.required();
      if constexpr (!std::is_same_v<std::decay_t<decltype(Case().*field.member)>, std::string>)
        added.at_least(field.least);
    });
    return f;
  }();
  return fields;
}

const Fields<SampleSummary>& summary_fields() {
  static const Fields<SampleSummary> fields = [] {
    Fields<SampleSummary> f("summary", "The times of a case over its samples, in seconds.");
    f.add("samples", &SampleSummary::samples, "how many there are").at_least(1).required();
    f.add("min", &SampleSummary::min, "the shortest").above(0).required();
    f.add("p10", &SampleSummary::p10, "10th percentile").above(0).required();
    f.add("median", &SampleSummary::median, "50th percentile").above(0).required();
    f.add("p90", &SampleSummary::p90, "90th percentile").above(0).required();
    f.add("iqr", &SampleSummary::iqr, "between the quartiles").at_least(0).required();
    f.check([](const SampleSummary& s, const YamlNode& node, Diagnostics& d) {
      if (s.min > s.p10 || s.p10 > s.median || s.median > s.p90)
        d.error(node.where, "min, p10, median and p90 must not fall");
    });
    return f;
  }();
  return fields;
}

const Fields<Entry>& entry_fields() {
  static const Fields<Entry> fields = [] {
    Fields<Entry> f("benchmark", "One case as it was timed.");
    f.add("name", &Entry::name, "the case in one word").required();
    f.add("run_type", &Entry::run_type, "always iteration").one_of({"iteration"}).required();
    f.add("iterations", &Entry::iterations, "samples").at_least(1).required();
    f.add("real_time", &Entry::real_time, "the median").above(0).required();
    f.add("cpu_time", &Entry::cpu_time, "the median").above(0).required();
    f.add("time_unit", &Entry::time_unit, "always s").one_of({"s"}).required();
    f.add_group("summary", &Entry::time, summary_fields(), "the samples").required();
    f.add("flops", &Entry::flops, "of one launch").at_least(0).required();
    f.add("bytes", &Entry::bytes, "of one launch").at_least(0).required();
    f.add("error", &Entry::error, "largest relative error against the reference").at_least(0).required();
    f.add("clock_mhz", &Entry::clock_mhz, "after the samples").above(0);
    f.add("power_w", &Entry::power_w, "after the samples").at_least(0);
    f.add("flags", &Entry::flags, "what to mind").required();
    return f;
  }();
  return fields;
}

const Fields<Sentinel>& sentinel_fields() {
  static const Fields<Sentinel> fields = [] {
    Fields<Sentinel> f("sentinel", "A case that was timed several times in a run.");
    f.add("medians_s", &Sentinel::medians_s, "one after another").above(0).required();
    return f;
  }();
  return fields;
}

const Fields<PowerRow>& power_fields() {
  static const Fields<PowerRow> fields = [] {
    Fields<PowerRow> f("power", "Mean power over a steady loop of one kernel, or at rest.");
    f.add("power_w", &PowerRow::power_w, "mean").at_least(0).required();
    f.add("limit_w", &PowerRow::limit_w, "what the board was held to").above(0).required();
    f.add("time_s", &PowerRow::time_s, "of one launch; absent at rest").above(0);
    f.add("clock_mhz", &PowerRow::clock_mhz, "at the end").above(0);
    return f;
  }();
  return fields;
}

const Fields<RecordFile>& record_file_fields() {
  static const Fields<RecordFile> fields = [] {
    Fields<RecordFile> f("microbench", "A run of the harness.");
    f.add("schema", &RecordFile::schema, "always llmscape.microbench/1")
        .one_of({std::string(kMicrobenchSchema)})
        .required();
    f.add("backend", &RecordFile::backend, "where the kernels ran").one_of({"cpu", "cuda"}).required();
    f.add("statistic", &RecordFile::statistic, "what stands for a case").one_of({"median", "p10", "min"}).required();
    f.add_group("benchmarks", &RecordFile::rows, entry_fields(), "the cases").required();
    f.add_group("sentinels", &RecordFile::sentinels, sentinel_fields(), "cases timed again and again").required();
    f.add_group("power", &RecordFile::power, power_fields(), "steady loops").required();
    return f;
  }();
  return fields;
}

// Takes `op` and `axes` out of an entry: the case, or nothing after reporting what is wrong with it.
template <class Case>
bool read_if_named(std::string_view name, const YamlNode& axes, std::optional<KernelCase>& out, Diagnostics& d) {
  if (CaseKind<Case>::name != name) return false;
  Case read;
  if (case_fields<Case>().read(read, axes, d)) out = std::move(read);
  return true;
}

template <class... Cases>
bool read_any(std::string_view name, const YamlNode& axes, std::optional<KernelCase>& out, Diagnostics& d,
              std::type_identity<std::variant<Cases...>>) {
  return (read_if_named<Cases>(name, axes, out, d) || ...);
}

std::optional<KernelCase> take_case(YamlNode& entry, Diagnostics& diagnostics) {
  std::optional<KernelCase> what;
  const YamlNode* op = entry.find("op");
  const YamlNode* axes = entry.find("axes");
  if (!op || !axes) {
    diagnostics.error(entry.where, "an entry needs 'op' and 'axes'");
  } else if (!read_any(op->text, *axes, what, diagnostics, std::type_identity<KernelCase>())) {
    diagnostics.error(op->where, fmt::format("there is no kernel {}", in_quotes(op->text)));
  }
  entry.erase("op");
  entry.erase("axes");
  return what;
}

// The cases of the entries under `key`, in order, taken out of them.
std::vector<KernelCase> take_cases(YamlNode& root, std::string_view key, Diagnostics& diagnostics) {
  std::vector<KernelCase> cases;
  YamlNode* list = root.find(key);
  if (!list || !list->is_sequence()) return cases;  // the typed reader says so
  for (YamlNode& entry : list->items)
    if (auto what = take_case(entry, diagnostics)) cases.push_back(*std::move(what));
  return cases;
}

// The same of the loops of power, where an entry without a kernel is the device at rest.
std::vector<std::optional<KernelCase>> take_loads(YamlNode& root, Diagnostics& diagnostics) {
  std::vector<std::optional<KernelCase>> loads;
  YamlNode* list = root.find("power");
  if (!list || !list->is_sequence()) return loads;
  for (YamlNode& entry : list->items) {
    const bool at_rest = entry.is_mapping() && !entry.find("op") && !entry.find("axes");
    if (!at_rest && !entry.find("time_s")) diagnostics.error(entry.where, "a loop of a kernel needs 'time_s'");
    loads.push_back(at_rest ? std::nullopt : take_case(entry, diagnostics));
  }
  return loads;
}

OrderedJson axes_of(const KernelCase& what) {
  return std::visit(
      []<class Case>(const Case& c) {
        OrderedJson axes = OrderedJson::object();
        for_each_field<Case>([&](const auto& field) { axes[std::string(field.key)] = c.*field.member; });
        return axes;
      },
      what);
}

OrderedJson json_of(const MicrobenchRow& row) {
  const SampleSummary& t = row.time;
  OrderedJson object = {
      {"name", name_of(row.what)},
      {"run_type", "iteration"},
      {"iterations", t.samples},
      {"real_time", t.median},
      {"cpu_time", t.median},
      {"time_unit", "s"},
      {"op", operator_of(row.what)},
      {"axes", axes_of(row.what)},
      {"summary",
       {{"samples", t.samples}, {"min", t.min}, {"p10", t.p10}, {"median", t.median}, {"p90", t.p90}, {"iqr", t.iqr}}},
      {"flops", row.flops},
      {"bytes", row.bytes},
      {"error", row.error}};
  if (row.clock_mhz) object["clock_mhz"] = *row.clock_mhz;
  if (row.power_w) object["power_w"] = *row.power_w;
  object["flags"] = row.flags;
  return object;
}

OrderedJson json_of(const Sentinel& sentinel) {
  return {{"op", operator_of(sentinel.what)}, {"axes", axes_of(sentinel.what)}, {"medians_s", sentinel.medians_s}};
}

OrderedJson json_of(const PowerRow& power) {
  OrderedJson object = OrderedJson::object();
  if (power.what) object = {{"op", operator_of(*power.what)}, {"axes", axes_of(*power.what)}};
  object["power_w"] = power.power_w;
  object["limit_w"] = power.limit_w;
  if (power.time_s) object["time_s"] = *power.time_s;
  if (power.clock_mhz) object["clock_mhz"] = *power.clock_mhz;
  return object;
}

double chosen(const SampleSummary& time, std::string_view statistic) {
  return statistic == "min" ? time.min : statistic == "p10" ? time.p10 : time.median;
}

}  // namespace

std::optional<MicrobenchRecord> read_microbench_record(const std::string& path, Diagnostics& diagnostics) {
  const int errors_before = diagnostics.errors();
  YamlNode root = read_yaml_file(path, diagnostics);
  if (diagnostics.errors() != errors_before) return std::nullopt;
  if (!root.is_mapping()) {
    diagnostics.error(root.where, "a record of the harness is a mapping");
    return std::nullopt;
  }
  MicrobenchRecord record;
  record.context = take_context(root, diagnostics);
  const std::vector<KernelCase> cases = take_cases(root, "benchmarks", diagnostics);
  const std::vector<KernelCase> sentinels = take_cases(root, "sentinels", diagnostics);
  const std::vector<std::optional<KernelCase>> loads = take_loads(root, diagnostics);
  RecordFile file;
  record_file_fields().read(file, root, diagnostics);
  if (diagnostics.errors() != errors_before) return std::nullopt;
  record.backend = std::move(file.backend);
  record.statistic = std::move(file.statistic);
  record.rows.assign(file.rows.begin(), file.rows.end());
  for (std::size_t i = 0; i < cases.size(); ++i) record.rows[i].what = cases[i];
  record.sentinels = std::move(file.sentinels);
  for (std::size_t i = 0; i < sentinels.size(); ++i) record.sentinels[i].what = sentinels[i];
  record.power = std::move(file.power);
  for (std::size_t i = 0; i < loads.size(); ++i) record.power[i].what = loads[i];
  return record;
}

void write_microbench_record(const MicrobenchRecord& record, const std::string& path) {
  const auto line = [](const auto& entry) { return json_of(entry).dump(); };
  const std::string text = fmt::format(
      "{{\n  \"schema\": {},\n  \"context\": {},\n  \"backend\": {},\n  \"statistic\": {},\n  \"benchmarks\": {},\n"
      "  \"sentinels\": {},\n  \"power\": {}\n}}\n",
      OrderedJson(kMicrobenchSchema).dump(), OrderedJson(record.context).dump(), OrderedJson(record.backend).dump(),
      OrderedJson(record.statistic).dump(), list_of_lines(record.rows, line), list_of_lines(record.sentinels, line),
      list_of_lines(record.power, line));
  write_file_atomically(path, compressed_for(path, text));
}

KernelTables timed_cases(const MicrobenchRecord& record) {
  KernelTables tables;
  const auto text = [&record](const char* key) {
    const auto found = record.context.find(key);
    return found == record.context.end() ? std::string() : found->second;
  };
  tables.device = text("device");
  tables.software = text("software");
  tables.backend = record.backend;
  tables.threads = text("threads");
  for (const MicrobenchRow& row : record.rows) {
    std::visit(
        [&]<class Case>(const Case& what) {
          list_of<Case>(tables).push_back({what, Seconds(chosen(row.time, record.statistic))});
        },
        row.what);
  }
  for (const PowerRow& row : record.power)
    if (row.what && row.time_s)
      tables.power.push_back({*row.what, Seconds(*row.time_s), Watts(row.power_w), Watts(row.limit_w)});
    else if (!row.what) tables.rest.emplace_back(row.power_w);
  return tables;
}

KernelTables kernel_tables(const MicrobenchRecord& record) {
  KernelTables tables = timed_cases(record);
  average_repeats(tables);
  return tables;
}

}  // namespace llmscape::traces
