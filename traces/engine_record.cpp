// SPDX-License-Identifier: Apache-2.0
#include "traces/engine_record.hpp"

#include "base/fields.hpp"
#include "base/files.hpp"
#include "traces/compression.hpp"
#include "traces/record_file.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace llmscape::traces {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "llmscape.engine/1";
constexpr double kLongestRun = 9e9;  // s; as in request traces

struct Settings {
  std::int64_t max_sequences = 0, max_batched_tokens = 0, block_tokens = 0, kv_blocks = 0;
  bool graphs = false;
};

// The file as it is written, without what has no fixed keys: its context and its model.
struct EngineFile {
  std::string schema, backend, clock;
  Settings settings;
  std::optional<double> energy_j;
  std::vector<EngineStep> steps;
  std::vector<EngineRequest> requests;
};

const Fields<models::PrefillChunk>& chunk_fields() {
  using models::PrefillChunk;
  static const Fields<PrefillChunk> fields = [] {
    Fields<PrefillChunk> f("chunk", "One prompt's part of a step.");
    f.add("tokens", &PrefillChunk::tokens, "tokens computed").at_least(1).required();
    f.add("cached", &PrefillChunk::cached, "tokens of the request computed before").at_least(0).required();
    f.add("ends_prompt", &PrefillChunk::ends_prompt, "the step answers a token of this request").required();
    return f;
  }();
  return fields;
}

const Fields<EngineStep>& step_fields() {
  static const Fields<EngineStep> fields = [] {
    Fields<EngineStep> f("step", "What one step computed and how long it took.");
    f.add_group("chunks", &EngineStep::chunks, chunk_fields(), "prompts' parts").required();
    f.add("decodes", &EngineStep::decodes, "context of each decoding sequence, the new token included")
        .at_least(1)
        .required();
    const auto time = [&f](const char* key, double EngineStep::* member, const char* text) {
      f.add(key, member, text).between(0, kLongestRun).required();
    };
    time("start_s", &EngineStep::start_s, "since the engine's start");
    time("schedule_s", &EngineStep::schedule_s, "choosing what to compute");
    time("issue_s", &EngineStep::issue_s, "preparing inputs and launching");
    time("device_s", &EngineStep::device_s, "the model's kernels");
    time("wall_s", &EngineStep::wall_s, "start to end");
    f.check([](const EngineStep& step, const YamlNode& node, Diagnostics& d) {
      if (step.chunks.empty() && step.decodes.empty()) d.error(node.where, "a step that computes nothing");
    });
    return f;
  }();
  return fields;
}

const Fields<EngineRequest>& request_fields() {
  static const Fields<EngineRequest> fields = [] {
    Fields<EngineRequest> f("request", "One request as the engine saw it.");
    f.add("id", &EngineRequest::id, "its name").required();
    f.add("prompt_tokens", &EngineRequest::prompt_tokens, "tokens of the prompt").at_least(1).required();
    f.add("output_tokens", &EngineRequest::output_tokens, "tokens answered").at_least(1).required();
    const auto time = [&f](const char* key, double EngineRequest::* member, const char* text) {
      f.add(key, member, text).between(0, kLongestRun).required();
    };
    time("arrival_s", &EngineRequest::arrival_s, "since the engine's start");
    time("scheduled_s", &EngineRequest::scheduled_s, "first planned into a step");
    time("first_token_s", &EngineRequest::first_token_s, "end of the step that answered the first token");
    time("last_token_s", &EngineRequest::last_token_s, "end of the step that answered the last token");
    f.check([](const EngineRequest& r, const YamlNode& node, Diagnostics& d) {
      if (r.scheduled_s < r.arrival_s || r.first_token_s < r.scheduled_s || r.last_token_s < r.first_token_s)
        d.error(node.where, "times of a request must not run backwards from arrival to last token");
    });
    return f;
  }();
  return fields;
}

const Fields<Settings>& settings_fields() {
  static const Fields<Settings> fields = [] {
    Fields<Settings> f("settings", "How the engine was set up.");
    f.add("max_sequences", &Settings::max_sequences, "most sequences at once").at_least(1).required();
    f.add("max_batched_tokens", &Settings::max_batched_tokens, "token budget of a step").at_least(1).required();
    f.add("block_tokens", &Settings::block_tokens, "tokens of a KV block").at_least(1).required();
    f.add("kv_blocks", &Settings::kv_blocks, "KV blocks of the pool").at_least(1).required();
    f.add("graphs", &Settings::graphs, "decode batches ran as captured graphs").required();
    return f;
  }();
  return fields;
}

// All requests of the run, in their order, each once: every step answers a token to each sequence that decodes and to
// each whose prompt it ends.
void check_requests(const EngineFile& file, const YamlNode& requests, Diagnostics& diagnostics) {
  std::set<std::string> ids;
  std::int64_t answered = 0, told = 0;
  for (const EngineStep& step : file.steps)
    answered += static_cast<std::int64_t>(step.decodes.size()) +
                std::ranges::count(step.chunks, true, &models::PrefillChunk::ends_prompt);
  for (std::size_t i = 0; i < file.requests.size(); ++i) {
    const EngineRequest& r = file.requests[i];
    told += r.output_tokens;
    if (!ids.insert(r.id).second)
      diagnostics.error(requests.items[i].where, fmt::format("request {} stands twice", in_quotes(r.id)));
    if (i > 0 && r.arrival_s < file.requests[i - 1].arrival_s)
      diagnostics.error(requests.items[i].where, "a request that arrives before the one in front of it");
  }
  if (answered != told)
    diagnostics.error(requests.where, fmt::format("the steps answer {} tokens and the requests have {}: of one or the "
                                                  "other some are missing",
                                                  answered, told));
}

const Fields<EngineFile>& engine_file_fields() {
  static const Fields<EngineFile> fields = [] {
    Fields<EngineFile> f("engine", "A run of the mini engine.");
    f.add("schema", &EngineFile::schema, "always llmscape.engine/1").one_of({std::string(kSchema)}).required();
    f.add("backend", &EngineFile::backend, "where the model ran").one_of({"cpu", "cuda"}).required();
    f.add("clock", &EngineFile::clock, "of all times but wall_s").one_of({"thread cpu time", "wall"}).required();
    f.add_group("settings", &EngineFile::settings, settings_fields(), "how the engine was set up").required();
    f.add("energy_j", &EngineFile::energy_j, "of the device, from the engine's start to the last step's end").above(0);
    f.add_group("steps", &EngineFile::steps, step_fields(), "in order").required();
    f.add_group("requests", &EngineFile::requests, request_fields(), "in order of arrival").required();
    f.check([](const EngineFile& file, const YamlNode& node, Diagnostics& d) {
      const YamlNode& steps = *node.find("steps");
      for (std::size_t i = 1; i < file.steps.size(); ++i)
        if (file.steps[i].start_s < file.steps[i - 1].start_s)
          d.error(steps.items[i].where, "a step that starts before the one in front of it");
      check_requests(file, *node.find("requests"), d);
    });
    return f;
  }();
  return fields;
}

Json json_of(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::mapping: {
      Json out = Json::object();
      for (const auto& entry : node.entries) out[entry.key] = json_of(entry.value);
      return out;
    }
    case YamlNode::Kind::sequence: {
      Json out = Json::array();
      for (const YamlNode& item : node.items) out.push_back(json_of(item));
      return out;
    }
    case YamlNode::Kind::scalar:
      return !node.quoted && Json::accept(node.text) ? Json::parse(node.text) : Json(node.text);
    default: return nullptr;
  }
}

Json model_json(const std::string& yaml) {
  Diagnostics diagnostics;
  const YamlNode node = read_yaml(std::make_shared<const SourceText>(SourceText{"model", yaml}), diagnostics);
  if (diagnostics.has_errors()) throw std::logic_error("the model of an engine record is not YAML");
  return json_of(node);
}

Json json_of(const EngineStep& step) {
  Json chunks = Json::array();
  for (const models::PrefillChunk& c : step.chunks)
    chunks.push_back({{"tokens", c.tokens}, {"cached", c.cached}, {"ends_prompt", c.ends_prompt}});
  return {{"chunks", std::move(chunks)},   {"decodes", step.decodes}, {"start_s", step.start_s},
          {"schedule_s", step.schedule_s}, {"issue_s", step.issue_s}, {"device_s", step.device_s},
          {"wall_s", step.wall_s}};
}

Json json_of(const EngineRequest& r) {
  return {{"id", r.id},
          {"prompt_tokens", r.prompt_tokens},
          {"output_tokens", r.output_tokens},
          {"arrival_s", r.arrival_s},
          {"scheduled_s", r.scheduled_s},
          {"first_token_s", r.first_token_s},
          {"last_token_s", r.last_token_s}};
}

}  // namespace

std::optional<EngineRecord> read_engine_record(const std::string& path, Diagnostics& diagnostics) {
  const int errors_before = diagnostics.errors();
  YamlNode root = read_yaml_file(path, diagnostics);
  if (diagnostics.errors() != errors_before) return std::nullopt;
  if (!root.is_mapping()) {
    diagnostics.error(root.where, "an engine record is a mapping");
    return std::nullopt;
  }
  EngineRecord record;
  record.context = take_context(root, diagnostics);
  if (const auto model = take_mapping(root, "model", diagnostics)) record.model = write_yaml(*model);
  EngineFile file;
  engine_file_fields().read(file, root, diagnostics);
  if (diagnostics.errors() != errors_before) return std::nullopt;
  record.backend = std::move(file.backend);
  record.clock = std::move(file.clock);
  record.max_sequences = file.settings.max_sequences;
  record.max_batched_tokens = file.settings.max_batched_tokens;
  record.block_tokens = file.settings.block_tokens;
  record.kv_blocks = file.settings.kv_blocks;
  record.graphs = file.settings.graphs;
  record.energy_j = file.energy_j;
  record.steps = std::move(file.steps);
  record.requests = std::move(file.requests);
  return record;
}

void write_engine_record(const EngineRecord& record, const std::string& path) {
  const Json settings = {{"max_sequences", record.max_sequences},
                         {"max_batched_tokens", record.max_batched_tokens},
                         {"block_tokens", record.block_tokens},
                         {"kv_blocks", record.kv_blocks},
                         {"graphs", record.graphs}};
  const auto line = [](const auto& entry) { return json_of(entry).dump(); };
  const std::string energy =
      record.energy_j ? fmt::format("  \"energy_j\": {},\n", Json(*record.energy_j).dump()) : std::string();
  const std::string text = fmt::format(
      "{{\n  \"schema\": {},\n  \"context\": {},\n  \"backend\": {},\n  \"clock\": {},\n  \"settings\": {},\n"
      "{}  \"model\": {},\n  \"steps\": {},\n  \"requests\": {}\n}}\n",
      Json(kSchema).dump(), Json(record.context).dump(), Json(record.backend).dump(), Json(record.clock).dump(),
      settings.dump(), energy, model_json(record.model).dump(), list_of_lines(record.steps, line),
      list_of_lines(record.requests, line));
  write_file_atomically(path, compressed_for(path, text));
}

}  // namespace llmscape::traces
