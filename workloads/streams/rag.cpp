// SPDX-License-Identifier: Apache-2.0
#include "workloads/durations.hpp"
#include "workloads/kind.hpp"
#include "workloads/lengths.hpp"
#include "workloads/streams/kinds.hpp"
#include "workloads/streams/prompts.hpp"

#include <algorithm>

namespace llmscape::workloads {
namespace {

enum class Search { station, hosts };

struct Rag : Stream {
  std::int64_t system_prompt = 1024;  // RAGPulse: the two texts of 512 tokens that begin a prompt and hardly vary
  // RAGPulse: passages that occur in the requests, and the exponent that gives the most popular 1 % of those of week 1
  // their 14.4 % of the references (their ten most popular then have 9.7 %; recorded are 8.5 %).
  std::int64_t corpus = 2737;
  double popularity = 0.65;
  std::shared_ptr<const Lengths> preamble, passage, passages, question, output;
  std::shared_ptr<const Durations> embedding, retrieval;
  Search search = Search::station;
  [[nodiscard]] bool searches() const override { return search == Search::hosts; }
  [[nodiscard]] bool asks_station() const override { return search == Search::station && retrieval; }
  std::unique_ptr<ProgramMaker> maker(const RandomStreams& streams, std::uint64_t range) const override;
};

std::vector<Segment> draw_corpus(std::int64_t size, LengthDraws passage, ContentIds& ids) {
  std::vector<Segment> corpus;
  for (std::int64_t i = 0; i < size; ++i) corpus.push_back({ids.fresh(), passage.next()});
  return corpus;
}

class RagMaker : public ProgramMaker {
 public:
  RagMaker(const Rag& config, const RandomStreams& streams, std::uint64_t range)
      : ids_(range), system_{ids_.fresh(), config.system_prompt},
        corpus_(draw_corpus(config.corpus, LengthDraws(*config.passage, streams.stream("passage")), ids_)),
        popularity_(config.corpus, config.popularity), rank_(streams.stream("rank")),
        passages_(*config.passages, streams.stream("passages")),
        question_(*config.question, streams.stream("question")), output_(*config.output, streams.stream("output")),
        search_(config.search) {
    if (config.preamble) preamble_.emplace(*config.preamble, streams.stream("preamble"));
    if (config.embedding) embedding_.emplace(*config.embedding, streams.stream("embedding"));
    if (config.retrieval) retrieval_.emplace(*config.retrieval, streams.stream("retrieval"));
  }

  Program make(Seconds start) override {
    Program program;
    program.start = start;
    const std::int64_t question = std::max<std::int64_t>(1, question_.next());
    if (embedding_) wait(program, {.kind = Stage::Kind::tool, .service = embedding_->next()});
    if (search_ == Search::hosts) {
      wait(program, {.kind = Stage::Kind::retrieval, .query_tokens = question});
    } else if (retrieval_) {
      wait(program, {.kind = Stage::Kind::retrieval, .service = retrieval_->next()});
    }
    Stage call;
    if (!program.stages.empty()) call.after = {static_cast<int>(program.stages.size()) - 1};
    append(call.prompt, system_);
    if (preamble_) append(call.prompt, {ids_.fresh(), preamble_->next()});
    for (const std::int64_t rank : retrieved()) append(call.prompt, corpus_[static_cast<std::size_t>(rank)]);
    append(call.prompt, {ids_.fresh(), question});
    call.output_tokens = std::max<std::int64_t>(1, output_.next());
    program.stages.push_back(std::move(call));
    return program;
  }

 private:
  static void wait(Program& program, Stage stage) {
    if (!program.stages.empty()) stage.after = {static_cast<int>(program.stages.size()) - 1};
    program.stages.push_back(std::move(stage));
  }

  // Different passages, drawn by popularity.
  std::vector<std::int64_t> retrieved() {
    const auto size = static_cast<std::int64_t>(corpus_.size());
    const std::int64_t wanted = std::min(passages_.next(), size);
    std::vector<std::int64_t> ranks;
    const auto is_new = [&ranks](std::int64_t rank) {
      return std::find(ranks.begin(), ranks.end(), rank) == ranks.end();
    };
    while (static_cast<std::int64_t>(ranks.size()) < wanted) {
      std::int64_t rank = popularity_.draw(rank_);
      while (!is_new(rank)) rank = (rank + 1) % size;  // one that is there already counts for the next less popular
      ranks.push_back(rank);
    }
    return ranks;
  }

  ContentIds ids_;
  Segment system_;
  std::vector<Segment> corpus_;  // by popularity
  Zipf popularity_;
  RandomStream rank_;
  LengthDraws passages_, question_, output_;
  std::optional<LengthDraws> preamble_;
  std::optional<DurationDraws> embedding_, retrieval_;
  Search search_;
};

std::unique_ptr<ProgramMaker> Rag::maker(const RandomStreams& streams, std::uint64_t range) const {
  return std::make_unique<RagMaker>(*this, streams, range);
}

}  // namespace

FamilyMember<Stream> rag_stream() {
  static const Fields<Rag> fields = [] {
    Fields<Rag> f("streams/rag", "questions answered from passages that a search found");
    f.add("system_prompt", &Rag::system_prompt, "tokens at the head of every prompt, the same for all")
        .between(0, kLongestText);
    f.add("corpus", &Rag::corpus, "passages that can be found").between(1, 1 << 24);
    f.add("popularity", &Rag::popularity, "Zipf exponent of the passages; 0: all alike").between(0, 10);
    f.add_family("preamble", &Rag::preamble, lengths(),
                 "tokens of the request's own before the passages; none if absent");
    // Lengths and counts: RAGPulse, week 1; the spread of the passages is that of its passage table.
    f.add_family("passage", &Rag::passage, lengths(), "tokens of a passage, drawn once for each")
        .otherwise("{kind: gamma, mean: 266, cv: 0.37, max: 512}");
    f.add_family("passages", &Rag::passages, lengths(), "different passages in a prompt")
        .otherwise("{kind: empirical, values: [0, 1, 3, 6], weights: [16, 1, 2, 81], min: 0}");
    f.add_family("question", &Rag::question, lengths(),
                 "tokens of the question, behind the passages; at least 1 is taken")
        .otherwise("{kind: log_normal, mean: 7.5, cv: 0.87}");
    f.add_family("output", &Rag::output, lengths(), "tokens of the answer; at least 1 is taken")
        .otherwise("{kind: log_normal, mean: 251, cv: 0.71}");
    f.add_family("embedding", &Rag::embedding, durations(), "time to embed the question as a tool; none if absent");
    f.add_family("retrieval", &Rag::retrieval, durations(),
                 "service time of a search in the station; absent: the station does not search");
    f.add_enum(
        "search", &Rag::search, {{"station", Search::station}, {"hosts", Search::hosts}},
        "who searches: the retrieval station, for the time of 'retrieval', or hardware.retrieval for each question, "
        "in a time of its own");
    f.check([](const Rag& rag, const YamlNode& node, Diagnostics& diagnostics) {
      const YamlNode* time = node.find("retrieval");
      if (time && rag.search == Search::hosts)
        diagnostics.warning(time->where,
                            "'retrieval' has no effect beside 'search: hosts', which search in a time of "
                            "their own");
    });
    return f;
  }();
  return kind<Stream>("rag", fields);
}

}  // namespace llmscape::workloads
