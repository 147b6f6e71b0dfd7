// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/files.hpp"
#include "base/statistics.hpp"
#include "base/table.hpp"
#include "models/catalog.hpp"
#include "sim/cli/catalogs.hpp"
#include "sim/cli/interrupt.hpp"
#include "sim/cli/messages.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/cli/version.hpp"
#include "sim/live/cpu_executor.hpp"
#include "sim/live/pace.hpp"
#include "sim/live/traffic.hpp"
#include "sim/serving/batchers/vllm_v1.hpp"
#include "traces/request_trace.hpp"

namespace llmscape::cli::engine_verb {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();
constexpr double kLoad = 0.7;  // of what full batches could serve: queues come and go

constexpr const char* kFooter =
    R"(A real engine on this machine: a Llama-shaped model with random weights, paged KV and the batcher of
the simulator. What each step computed and how long it took goes into the record, which
'llmscape validate' reads. On a CPU one thread computes, and the engine's clock is its CPU time.

MODEL is one of tiny, small, medium, large (up to 0.5 billion parameters), 1b and 8b (Llama-3.2-1B,
Llama-3.1-8B), a model of the catalogue, or a model file.

Examples:
  llmscape engine -o engine.json
  llmscape engine --model small --requests 100 --rate '20 /s' --prompt 200 -o engine.json.gz
  llmscape engine --backend cuda --model 8b --trace trace.jsonl --requests 500 -o engine.json)";

struct Arguments {
  std::string backend = "cpu", model = "medium", trace, trace_format, output;
  std::optional<std::int64_t> requests;
  std::string rate, time_budget;
  std::int64_t prompt = 64, answer = 32;
  std::optional<std::int64_t> max_sequences, max_tokens, kv_blocks;
  std::uint64_t seed = 1;
  bool eager = false, graphs = false, wall = false, quiet = false;
  Messages messages;

  [[nodiscard]] bool cuda() const { return backend == "cuda"; }
};

SourceRange typed(const std::string& text) { return {std::make_shared<const SourceText>(SourceText{text, ""})}; }

// In SI units; nothing when it was not given, or after reporting.
std::optional<double> quantity(const char* option, const std::string& text, Dimension dimension,
                               Diagnostics& diagnostics) {
  if (text.empty()) return std::nullopt;
  const auto parsed = parse_quantity(text, dimension);
  if (const auto* error = std::get_if<QuantityError>(&parsed)) {
    diagnostics.error(typed(option), error->message, error->suggestion);
    return std::nullopt;
  }
  const double value = std::get<double>(parsed);
  if (!(value > 0)) diagnostics.error(typed(option), fmt::format("must be above 0; got {}", text));
  return value;
}

std::optional<live::LlamaShape> shape_of(const std::string& name, Diagnostics& diagnostics) {
  const auto size = std::ranges::find(live::sizes(), name, &live::Size::name);
  if (size != live::sizes().end()) return size->shape;
  const std::string published = name == "1b" ? "llama-3.2-1b" : name == "8b" ? "llama-3.1-8b" : name;
  const SourceRange where = typed("--model " + name);
  const auto model = std::filesystem::exists(published)
                         ? models::load_model_file(published, diagnostics)
                         : models::load_model(catalogs().models, published, where, diagnostics);
  if (!model) return std::nullopt;
  std::string reason;
  auto shape = live::llama_shape(*model, reason);
  if (!shape) diagnostics.error(where, "the engine computes Llama-shaped models only: " + reason);
  return shape;
}

std::vector<live::LiveRequest> requests_of_trace(const Arguments& arguments, Diagnostics& diagnostics) {
  std::vector<live::LiveRequest> all;
  const auto trace = traces::open_trace(arguments.trace, arguments.trace_format, typed(arguments.trace), diagnostics);
  const std::int64_t most = arguments.requests.value_or(std::numeric_limits<std::int64_t>::max());
  while (trace && static_cast<std::int64_t>(all.size()) < most) {
    const auto record = trace->next(diagnostics);
    if (!record) break;
    all.push_back({record->arrival.si(), record->prompt_tokens, record->output_tokens});
  }
  return all;
}

std::int64_t longest(const std::vector<live::LiveRequest>& requests) {
  std::int64_t tokens = 0;
  for (const live::LiveRequest& r : requests) tokens = std::max(tokens, r.prompt_tokens + r.output_tokens);
  return tokens;
}

std::int64_t blocks_for(std::int64_t tokens) { return (tokens + live::kBlockTokens - 1) / live::kBlockTokens; }

// As the engine schedules; without the limits of the command line, small steps on a CPU.
serving::VllmV1 policy_of(const Arguments& arguments) {
  serving::VllmV1 policy;
  policy.max_num_seqs = arguments.max_sequences.value_or(arguments.cuda() ? 128 : 16);
  policy.max_num_batched_tokens = arguments.max_tokens.value_or(arguments.cuda() ? 2048 : 64);
  policy.async_scheduling = false;
  policy.enable_prefix_caching = false;
  return policy;
}

// What the command line asks for, checked.
struct Plan {
  live::LlamaShape shape;
  serving::VllmV1 policy;
  live::Traffic traffic;                    // unless there is a trace
  std::vector<live::LiveRequest> requests;  // of the trace
  live::ExecutorLimits limits;
  double rate = 0;  // 0: from the engine's own pace
  double budget = kForever;
};

std::optional<Plan> plan_of(const Arguments& arguments, Diagnostics& diagnostics) {
  Plan plan;
  if (const auto shape = shape_of(arguments.model, diagnostics)) plan.shape = *shape;
  plan.policy = policy_of(arguments);
  plan.rate = quantity("--rate", arguments.rate, Dimension::rate, diagnostics).value_or(0);
  const auto budget = quantity("--time-budget", arguments.time_budget, Dimension::time, diagnostics);
  constexpr double kUsualBudget = 45;
  const bool endless = arguments.trace.empty() && !arguments.requests;
  plan.budget = budget.value_or(endless ? kUsualBudget : kForever);
  plan.traffic = {plan.rate, arguments.prompt, arguments.answer, arguments.seed};
  if (!arguments.trace.empty()) plan.requests = requests_of_trace(arguments, diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;

  const serving::VllmV1& policy = plan.policy;
  const std::int64_t length = arguments.trace.empty() ? plan.traffic.longest() : longest(plan.requests);
  const std::int64_t blocks = arguments.kv_blocks.value_or(policy.max_num_seqs * blocks_for(length));
  plan.limits = {policy.max_num_batched_tokens, policy.max_num_seqs, length, blocks};
  if (policy.max_num_batched_tokens < policy.max_num_seqs)
    diagnostics.error(typed("--max-num-batched-tokens"),
                      fmt::format("{} tokens a step are fewer than {} sequences", policy.max_num_batched_tokens,
                                  policy.max_num_seqs));
  if (length > plan.shape.max_position)
    diagnostics.error(typed("--model " + arguments.model),
                      fmt::format("has {} positions; a request has {}", plan.shape.max_position, length));
  if (blocks_for(length) > blocks)
    diagnostics.error(typed("--kv-blocks"), fmt::format("a request of {} tokens needs {} blocks; there are {}", length,
                                                        blocks_for(length), blocks));
  if (arguments.graphs && !arguments.cuda())
    diagnostics.error(typed("--graphs"), "graphs of kernels are captured by --backend cuda only");
  if (diagnostics.has_errors()) return std::nullopt;
  return plan;
}

double memory_bytes() {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
}

std::unique_ptr<live::Executor> executor_of(const Arguments& arguments, const Plan& plan, Diagnostics& diagnostics) {
  if (!arguments.cuda()) {
    const double needed = live::CpuExecutor::bytes(plan.shape, plan.limits), there = memory_bytes();
    if (needed < there) return std::make_unique<live::CpuExecutor>(plan.shape, plan.limits);
    diagnostics.error(
        typed("--model " + arguments.model),
        fmt::format("takes {:.3g} GB in single precision; this machine has {:.3g}", needed * 1e-9, there * 1e-9));
    return nullptr;
  }
  std::string reason;
  auto executor = live::make_cuda_executor(plan.shape, plan.limits, !arguments.eager, reason);
  if (!executor) diagnostics.error(typed("--backend cuda"), reason);
  return executor;
}

void describe(const Arguments& arguments, const std::vector<std::string>& command, traces::EngineRecord& record) {
  const Version& v = version();
  record.context["tool_version"] = fmt::format("llmscape {} ({}{})", v.number, v.revision, v.dirty ? ", dirty" : "");
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const std::chrono::year_month_day date{std::chrono::floor<std::chrono::days>(now)};
  record.context["date"] = fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()),
                                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  record.context["model"] = arguments.model;
  record.context["seed"] = std::to_string(arguments.seed);
  std::string line = "llmscape";
  for (std::size_t i = 1; i < command.size(); ++i) line += ' ' + command[i];
  record.context["command"] = line;
  record.graphs = arguments.cuda() && !arguments.eager;
}

std::string milliseconds(double seconds) { return fmt::format("{:.4g} ms", 1e3 * seconds); }

void print_summary(const traces::EngineRecord& record) {
  double device = 0, host = 0, end = 0;
  std::int64_t mixed = 0, chunked = 0, answered = 0;
  for (const traces::EngineStep& step : record.steps) {
    device += step.device_s;
    host += step.schedule_s + step.issue_s;
    mixed += !step.chunks.empty() && !step.decodes.empty() ? 1 : 0;
    chunked += step.decodes.empty() ? 1 : 0;
  }
  Distribution ttft, tpot;
  for (const traces::EngineRequest& r : record.requests) {
    ttft.add(r.first_token_s - r.arrival_s);
    if (r.output_tokens > 1) tpot.add((r.last_token_s - r.first_token_s) / static_cast<double>(r.output_tokens - 1));
    answered += r.output_tokens;
    end = std::max(end, r.last_token_s);
  }
  const auto steps = static_cast<std::int64_t>(record.steps.size());
  Table table({"", ""});
  table.row({"requests", std::to_string(record.requests.size())});
  table.row({"steps", fmt::format("{}: {} of decodes, {} of prompts, {} mixed", steps, steps - mixed - chunked, chunked,
                                  mixed)});
  table.row({"clock", fmt::format("{:.4g} s of {}", end, record.clock)});
  table.row({"device", fmt::format("{} a step, host {}", milliseconds(device / static_cast<double>(steps)),
                                   milliseconds(host / static_cast<double>(steps)))});
  const auto row = [&table](const char* name, const Distribution& times) {
    table.row({name, times.count() == 0
                         ? "-"  // no answer has a second token
                         : fmt::format("mean {}, p50 {}, p90 {}", milliseconds(times.mean()),
                                       milliseconds(times.quantile(0.5)), milliseconds(times.quantile(0.9)))});
  };
  row("ttft", ttft);
  row("tpot", tpot);
  table.row({"answers", fmt::format("{:.4g} tokens/s", static_cast<double>(answered) / end)});
  if (record.energy_j) {
    table.row({"energy", fmt::format("{:.4g} W in the mean, {:.4g} J a token", *record.energy_j / end,
                                     *record.energy_j / static_cast<double>(answered))});
  }
  std::fputs(table.text().c_str(), stdout);
}

int serve(const Arguments& arguments, const std::vector<std::string>& command) {
  Diagnostics diagnostics;
  auto plan = plan_of(arguments, diagnostics);
  const auto executor = plan ? executor_of(arguments, *plan, diagnostics) : nullptr;
  arguments.messages.show(diagnostics);
  if (!executor) return kUsage;
  catch_interrupts();
  executor->prepare();
  if (arguments.trace.empty()) {
    if (plan->rate == 0)
      plan->traffic.rate = kLoad / live::busy_seconds(*executor, plan->limits, arguments.prompt, arguments.answer);
    plan->requests =
        plan->traffic.requests(arguments.requests.value_or(std::numeric_limits<std::int64_t>::max()), plan->budget);
  }
  live::EngineSettings settings;
  settings.kv_blocks = plan->limits.kv_blocks;
  settings.clock = arguments.cuda() || arguments.wall ? live::Clock::Kind::wall : live::Clock::Kind::thread_cpu_time;
  settings.closes_s = plan->budget;
  settings.seed = arguments.seed;
  live::Engine engine(plan->shape, plan->policy, *executor, settings);
  Progress progress("engine", arguments.quiet);
  engine.run(plan->requests, [&progress](double share) {
    stop_if_interrupted();
    progress.update(share);
  });
  traces::EngineRecord record = engine.record();
  describe(arguments, command, record);
  if (!arguments.output.empty()) traces::write_engine_record(record, arguments.output);
  if (!is_stdout(arguments.output)) print_summary(record);
  return kDone;
}

}  // namespace

void add(CLI::App& app, Session& session) {
  auto a = std::make_shared<Arguments>();
  CLI::App* verb = app.add_subcommand("engine", "Serve requests with a real model and record every step");
  verb->footer(kFooter);
  const auto count = [&](const char* name, auto& value, const char* text) {
    return verb->add_option(name, value, text)
        ->type_name("N")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30));
  };
  verb->add_option("--backend", a->backend, "Where the model runs: cpu or cuda")
      ->type_name("NAME")
      ->check(CLI::IsMember({"cpu", "cuda"}))
      ->capture_default_str();
  verb->add_option("--model", a->model, "A size, a name or a file, see below")
      ->type_name("MODEL")
      ->capture_default_str();
  CLI::Option* trace = verb->add_option("--trace", a->trace, "Serve the requests of this trace")->type_name("FILE");
  verb->add_option("--trace-format", a->trace_format,
                   "Format of the trace; recognised from its first line if not given")
      ->type_name("NAME")
      ->needs(trace);
  count("--requests", a->requests, "Requests to serve; without it all of the trace, or as many as come in time");
  verb->add_option("--rate", a->rate,
                   "Arrivals per second, with the unit: '4 /s'; without it 0.7 of what the engine can do")
      ->type_name("RATE")
      ->excludes(trace);
  count("--prompt", a->prompt, "Mean length of a prompt; each is from 1 to twice as long")
      ->excludes(trace)
      ->capture_default_str();
  count("--output", a->answer, "Mean length of an answer; each is from 1 to twice as long")
      ->excludes(trace)
      ->capture_default_str();
  verb->add_option("--seed", a->seed, "Seed of arrivals, lengths and prompts")->type_name("N")->capture_default_str();
  count("--max-num-seqs", a->max_sequences, "Most sequences at once")->default_str("16; cuda: 128");
  count("--max-num-batched-tokens", a->max_tokens, "Most tokens of a step")->default_str("64; cuda: 2048");
  count("--kv-blocks", a->kv_blocks, "KV blocks of 16 tokens; without it enough for all sequences at their longest");
  CLI::Option* eager = verb->add_flag("--eager", a->eager, "Launch each kernel by itself");
  verb->add_flag("--graphs", a->graphs, "Launch decode steps as CUDA graphs, the default with cuda")->excludes(eager);
  verb->add_flag("--wall", a->wall, "Let the engine's clock be real time on a CPU, too");
  verb->add_option("--time-budget", a->time_budget,
                   "No request is taken up later on the engine's clock; without --trace and --requests 45 s")
      ->type_name("TIME");
  verb->add_option("-o", a->output, "Write the record here; compressed if it ends in .gz or .zst")->type_name("FILE");
  verb->add_flag("-q,--quiet", a->quiet, "No progress on stderr");
  a->messages.add_options(*verb);
  verb->callback([a, &session] { session.exit_code = serve(*a, session.arguments); });
}

}  // namespace llmscape::cli::engine_verb
