// SPDX-License-Identifier: Apache-2.0
#include "workloads/durations.hpp"
#include "workloads/kind.hpp"
#include "workloads/lengths.hpp"
#include "workloads/streams/kinds.hpp"
#include "workloads/streams/prompts.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace llmscape::workloads {
namespace {

// append: passages come one after the other. update: each version is a whole list of passages, alike to the one before
// it up to the rank at which they differ.
enum class Mode { append, update };

constexpr std::int64_t kMostChunks = 100'000;  // a law may draw 2e9, and a program keeps them all

struct StreamedRetrieval : Stream {
  std::shared_ptr<const Lengths> question, context, chunk, chunks, output;
  std::optional<std::int64_t> context_max;
  std::shared_ptr<const Durations> first, gap;
  double delay_factor = 1;
  Mode mode = Mode::append;
  double chunk_cv = 0;
  double kept_min = 0, kept_max = 1;
  std::unique_ptr<ProgramMaker> maker(const RandomStreams& streams, std::uint64_t range) const override;
};

class StreamedRetrievalMaker : public ProgramMaker {
 public:
  StreamedRetrievalMaker(const StreamedRetrieval& config, const RandomStreams& streams, std::uint64_t range)
      : ids_(range), question_(*config.question, streams.stream("question")),
        context_(config.chunk ? *config.chunk : *config.context, streams.stream("context")),
        chunks_(*config.chunks, streams.stream("chunks")), of_a_chunk_(config.chunk != nullptr),
        context_max_(config.context_max.value_or(1LL << 31)), output_(*config.output, streams.stream("output")),
        first_(*config.first, streams.stream("first")), gap_(*config.gap, streams.stream("gap")),
        delay_factor_(config.delay_factor), mode_(config.mode), kept_min_(config.kept_min), kept_max_(config.kept_max),
        sizes_(streams.stream("sizes")), kept_(streams.stream("kept")) {
    if (config.chunk_cv > 0) weight_ = gamma_law(1, config.chunk_cv);
  }

  Program make(Seconds start) override {
    Program program;
    program.start = start;
    Stage& call = program.stages.emplace_back();
    const Segment question{ids_.fresh(), std::max<std::int64_t>(1, question_.next())};
    std::int64_t context = std::max<std::int64_t>(1, context_.next());
    std::int64_t chunks = std::clamp<std::int64_t>(chunks_.next(), 1, kMostChunks);
    if (of_a_chunk_) context *= chunks;
    context = std::min(context, context_max_);
    if (mode_ == Mode::append) chunks = std::min(chunks, context);
    const std::vector<Prompt> contexts = mode_ == Mode::append ? appended(context, chunks) : updated(context, chunks);
    Seconds at = delay_factor_ * first_.next();
    for (const Prompt& text : contexts) {
      PromptVersion& version = call.versions.emplace_back();
      version.at = at;
      append(version.prompt, question);
      append(version.prompt, text);
      at += delay_factor_ * gap_.next();
    }
    call.prompt = call.versions.back().prompt;
    call.output_tokens = std::max<std::int64_t>(1, output_.next());
    return program;
  }

 private:
  // Growing contexts; each chunk has a token at least, and what is left is dealt out by random weights.
  std::vector<Prompt> appended(std::int64_t context, std::int64_t chunks) {
    std::vector<double> sums;
    double sum = 0;
    for (std::int64_t i = 0; i < chunks; ++i) sums.push_back(sum += weight_ ? weight_(sizes_) : 1);
    const ContentId text = ids_.fresh();
    std::vector<Prompt> contexts;
    for (std::int64_t i = 0; i < chunks; ++i) {
      const double share = i + 1 == chunks || sum <= 0 ? 1 : sums[static_cast<std::size_t>(i)] / sum;
      contexts.push_back({{text, i + 1 + std::llround(static_cast<double>(context - chunks) * share)}});
    }
    return contexts;
  }

  // Contexts of one length, each with a head of the one before it.
  std::vector<Prompt> updated(std::int64_t context, std::int64_t versions) {
    std::vector<Prompt> contexts;
    for (std::int64_t i = 0; i < versions; ++i) {
      std::int64_t kept = 0;
      Prompt next;
      if (i > 0) {
        const double share = kept_min_ + (kept_max_ - kept_min_) * kept_.uniform();
        kept = std::llround(share * static_cast<double>(context));
        next = split(contexts.back(), kept).first;
      }
      append(next, {ids_.fresh(), context - kept});
      contexts.push_back(std::move(next));
    }
    return contexts;
  }

  ContentIds ids_;
  LengthDraws question_, context_, chunks_;
  bool of_a_chunk_;
  std::int64_t context_max_;
  LengthDraws output_;
  DurationDraws first_, gap_;
  double delay_factor_;
  Mode mode_;
  double kept_min_, kept_max_;
  RandomStream sizes_, kept_;
  Law weight_;
};

std::unique_ptr<ProgramMaker> StreamedRetrieval::maker(const RandomStreams& streams, std::uint64_t range) const {
  return std::make_unique<StreamedRetrievalMaker>(*this, streams, range);
}

}  // namespace

FamilyMember<Stream> streamed_retrieval_stream() {
  static const Fields<StreamedRetrieval> fields = [] {
    using T = StreamedRetrieval;
    Fields<T> f("streams/streamed_retrieval", "questions whose context comes in versions while a search goes on");
    // The question's length: RAGPulse, as of the stream 'rag'.
    f.add_family("question", &T::question, lengths(),
                 "tokens of the question, at the head of the prompt; at least 1 is taken")
        .otherwise("{kind: log_normal, mean: 7.5, cv: 0.87}");
    f.add_family("context", &T::context, lengths(),
                 "tokens of the whole context behind it, whatever its chunks; at least 1 is taken");
    f.add_family(
        "chunk", &T::chunk, lengths(),
        "instead of 'context': tokens of a chunk, the mean over those of a query. The context is this times the "
        "number of chunks: more chunks are more tokens");
    f.add("context_max", &T::context_max, "longer contexts are cut to this").between(1, 1'000'000'000);
    f.add_family("chunks", &T::chunks, lengths(),
                 "chunks that it comes in, or versions of it; of more than 100,000 the first 100,000 count")
        .required();
    f.add_family("first", &T::first, durations(), "time from the question to the first chunk").required();
    f.add_family("gap", &T::gap, durations(), "time from one chunk to the next").required();
    f.add("delay_factor", &T::delay_factor, "both times are multiplied by this: a slower search").between(0, 1e6);
    f.add_enum("mode", &T::mode, {{"append", Mode::append}, {"update", Mode::update}},
               "append: chunks are added to the prompt; update: each is a context of full length that replaces the one "
               "before it");
    f.add("chunk_cv", &T::chunk_cv,
          "append: coefficient of variation of the weights (gamma) by which the context is split into the chunks; 0: "
          "all alike")
        .between(0, 100);
    f.add("kept_min", &T::kept_min, "update: least share of the context that the next version begins with")
        .between(0, 1);
    f.add("kept_max", &T::kept_max, "update: largest such share; drawn uniformly between the two").between(0, 1);
    f.add_family("output", &T::output, lengths(), "tokens of the answer; at least 1 is taken").required();
    f.check([](const T& c, const YamlNode& node, Diagnostics& d) {
      if ((c.context != nullptr) == (c.chunk != nullptr))
        d.error(node.where, "either 'context' or 'chunk' says how long contexts are");
      if (c.chunk && c.mode == Mode::update)
        d.error(node.where, "'chunk' is for contexts that grow: with mode 'update' give 'context'");
      if (c.kept_max < c.kept_min) d.error(node.where, "'kept_max' must be at least 'kept_min'");
    });
    return f;
  }();
  return kind<Stream>("streamed_retrieval", fields);
}

}  // namespace llmscape::workloads
