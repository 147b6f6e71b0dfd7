// SPDX-License-Identifier: Apache-2.0
#include "model_fixtures.hpp"
#include "models/memory.hpp"
#include "models/step_work.hpp"
#include "tests/support/approx.hpp"

#include <cmath>

using namespace llmscape::models;
using llmscape::testing::approx;

namespace {

constexpr ExpertCoverage kSpread{ExpertCoverage::Law::uniform};

}  // namespace

TEST_CASE("routed layers compute the experts of each token, and the router") {
  const auto work = token_work(catalogued("qwen3-30b-a3b"), {}, 0, 32, kSpread);
  const auto products = all_of<GroupedGemm>(work);
  REQUIRE(products.size() == 2);
  CHECK(products[0].count == 48);
  CHECK(products[0].what.rows == 32 * 8);
  CHECK(products[0].what.k == 2048);
  CHECK(products[0].what.n == 2 * 768);
  CHECK(products[1].what.k == 768);
  CHECK(products[1].what.n == 2048);
  for (const auto& [product, count] : products) {
    CHECK(product.experts_held == 128);
    CHECK(product.experts_touched == approx(111.77).epsilon(1e-4));
  }
  const auto gemms = all_of<Gemm>(work);
  CHECK(std::count_if(gemms.begin(), gemms.end(), [](const auto& g) { return g.what.n == 128 && g.count == 48; }) == 1);
}

// A step waits for the fullest rank, but all of them together do what one device would.
TEST_CASE("ranks of experts have the rows and the experts of one device between them") {
  const ModelSpec model = catalogued("deepseek-v3");
  for (const auto law : {ExpertCoverage::Law::uniform, ExpertCoverage::Law::skewed}) {
    const ExpertCoverage coverage{law};
    const auto alone = all_of<GroupedGemm>(token_work(model, {}, 0, 64, coverage)).front().what;
    CHECK_FALSE(alone.average);
    for (const int ranks : {4, 64}) {
      const ParallelPlan plan{.expert = ranks, .data = ranks, .exchange = ExpertExchange::all_to_all};
      const auto shared = all_of<GroupedGemm>(token_work(model, plan, 0, 64 / ranks, coverage)).front().what;
      REQUIRE(shared.average);
      CHECK(shared.average->rows * ranks == 64 * 8);
      CHECK(shared.average->experts_touched * ranks == approx(alone.experts_touched));
      CHECK(shared.average->rows < static_cast<double>(shared.rows));
    }
  }
}

// DeepSeek-V3 as its authors and SGLang's serve it: 256 experts and 32 copies on 72 ranks.
TEST_CASE("copies of experts let any number of ranks hold as many each, share the rows, and take their memory") {
  const ModelSpec model = catalogued("deepseek-v3");
  ParallelPlan plan{.expert = 72, .data = 72, .exchange = ExpertExchange::all_to_all};
  REQUIRE(problems(plan, model).size() == 1);
  CHECK(problems(plan, model)[0] == "expert parallelism 72 does not divide the 256 experts");
  plan.redundant_experts = 31;
  CHECK(problems(plan, model)[0] == "expert parallelism 72 does not divide the 287 experts and their copies");
  plan.redundant_experts = 32;
  CHECK(problems(plan, model).empty());

  const auto product = all_of<GroupedGemm>(token_work(model, plan, 0, 128, kSpread)).front().what;
  CHECK(product.experts_held == 4);  // 288 / 72
  CHECK(product.average->rows == 128 * 8);
  const auto exchanges = collectives(token_work(model, plan, 0, 128, kSpread), Collective::Kind::all_to_all);
  REQUIRE(exchanges.size() == 2);
  // To eight experts each, and 7,168 bytes of a token in fp8.
  CHECK(exchanges[0].what.bytes == approx(128 * 7168 * 8));
  CHECK(exchanges[0].what.ranks == 72);
  // Four experts a rank, as 64 ranks without copies have.
  const ParallelPlan fewer{.expert = 64, .data = 64, .exchange = ExpertExchange::all_to_all};
  CHECK(memory_need(model, plan, 1, 1).weights == memory_need(model, fewer, 1, 1).weights);
  CHECK(problems({.redundant_experts = 32}, model)[0] ==
        "redundant experts are copies on other ranks: they need expert parallelism");
}

// The rows of all ranks are those of T tokens, k each, and each rank sorts the tokens that it has.
TEST_CASE("kernels around experts move on average what their rows come to, however unlike the experts are") {
  const ModelSpec model = catalogued("deepseek-v3");
  const ParallelPlan plan{.expert = 8, .data = 8, .exchange = ExpertExchange::all_to_all};
  const auto of = [&](Elementwise::Kind kind, ExpertCoverage::Law law) {
    const auto found = elementwise(token_work(model, plan, 0, 64, ExpertCoverage{law}), kind);
    return std::find_if(found.begin(), found.end(), [](const auto& e) { return e.what.average.has_value(); })->what;
  };
  for (const auto law : {ExpertCoverage::Law::uniform, ExpertCoverage::Law::skewed}) {
    CHECK(*of(Elementwise::Kind::permute, law).average == (64 * 8 + 64) * 7168 * 2);
    CHECK(*of(Elementwise::Kind::activation, law).average == 3 * 2 * 64 * 8 * 2048);
    CHECK(of(Elementwise::Kind::permute, law).bytes > *of(Elementwise::Kind::permute, law).average);
  }
  CHECK(of(Elementwise::Kind::activation, ExpertCoverage::Law::skewed).bytes >
        of(Elementwise::Kind::activation, ExpertCoverage::Law::uniform).bytes);
  for (const auto& e : all_of<Elementwise>(token_work(model, {}, 0, 64, kSpread))) CHECK_FALSE(e.what.average);
}

TEST_CASE("a token costs two FLOPs per active parameter of a routed model") {
  const ModelSpec model = catalogued("mixtral-8x7b");
  const double vectors = (2 * 32 + 1) * 4096;
  const double matrices = static_cast<double>(active_parameters(model) - table_parameters(model)) - vectors;
  CHECK(linear_flops(token_work(model, {}, 5, 6, {})) == 2 * 11 * matrices);
  CHECK(2 * linear_flops(token_work(model, {.tensor = 2}, 5, 6, {})) ==
        2 * 11 * (matrices + 32 * 8 * 4096));  // every rank runs the whole router
}

TEST_CASE("a shared expert serves every token, dense layers stay dense") {
  const auto work = token_work(catalogued("deepseek-v3"), {}, 0, 16, {});
  const auto gemms = all_of<Gemm>(work);
  const auto count_of = [&](std::int64_t n, std::int64_t k) {
    const auto found =
        std::find_if(gemms.begin(), gemms.end(), [&](const auto& g) { return g.what.n == n && g.what.k == k; });
    return found == gemms.end() ? 0 : found->count;
  };
  CHECK(count_of(2 * 2048, 7168) == 58);
  CHECK(count_of(2 * 18432, 7168) == 3);
  CHECK(all_of<GroupedGemm>(work).front().count == 58);
}

TEST_CASE("without expert parallelism, tensor ranks cut each expert and hold all of them") {
  const auto product =
      all_of<GroupedGemm>(token_work(catalogued("mixtral-8x7b"), {.tensor = 4}, 0, 10, {})).front().what;
  CHECK(product.experts_held == 8);
  CHECK(product.rows == 20);
  CHECK(product.n == 2 * 14336 / 4);
}

TEST_CASE("expert ranks of one attention group hold whole experts and all tokens: they wait for the fullest, and sum") {
  const ModelSpec model = catalogued("deepseek-v3");
  const ParallelPlan plan{.tensor = 8, .expert = 8};
  const auto work = token_work(model, plan, 0, 800, kSpread);
  const auto product = all_of<GroupedGemm>(work).front().what;
  CHECK(product.experts_held == 32);
  CHECK(product.n == 2 * 2048);
  CHECK(product.rows == 858);  // m = 800 x 8 / 8, + sqrt(2 m ln 8) = 57.7, rounded up
  CHECK(product.experts_touched == approx(32).epsilon(1e-6));
  CHECK(collectives(work, Collective::Kind::all_to_all).empty());
  CHECK(collectives(work, Collective::Kind::all_reduce).front().count == 2 * 61);
}

TEST_CASE("attention groups that share the experts bring all their tokens to them, and exchange twice per layer") {
  const ModelSpec model = catalogued("deepseek-v3");
  const auto work = token_work(model, {.tensor = 1, .expert = 8, .data = 8}, 0, 100, kSpread);
  CHECK(all_of<GroupedGemm>(work).front().what.rows == 858);  // as 800 tokens of one group on eight tensor ranks
  CHECK(collectives(work, Collective::Kind::all_reduce).empty());
  // Each rank sends its 100 decodes to eight experts in fp8, and their outputs come back in bf16.
  const auto exchanges = collectives(work, Collective::Kind::all_to_all);
  REQUIRE(exchanges.size() == 2);
  const double elements = 100 * 7168 * 8;
  CHECK(exchanges[0].what.bytes == approx(elements));
  CHECK(exchanges[1].what.bytes == approx(2 * elements));
  for (const auto& exchange : exchanges) {
    CHECK(exchange.count == 58);
    CHECK(exchange.what.ranks == 8);
    CHECK_FALSE(exchange.what.routing);
  }
  // Those of a prompt once to each rank that holds one of them: the four whose groups were chosen, of eight.
  const auto of_prompt = collectives(token_work(model, {.tensor = 1, .expert = 8, .data = 8}, 100, 0, kSpread),
                                     Collective::Kind::all_to_all);
  REQUIRE(of_prompt.size() == 2);
  CHECK(of_prompt[0].what.bytes == approx(100 * 7168 * 4));
  CHECK(of_prompt[0].what.routing == Routing{256, 8, 8, 4});

  // Without expert parallelism each expert is cut over the groups, which gather the tokens and scatter the sums.
  const auto cut = token_work(model, {.data = 8}, 0, 100, kSpread);
  CHECK(all_of<GroupedGemm>(cut).front().what.rows == 800 * 8);
  CHECK(all_of<GroupedGemm>(cut).front().what.n == 2 * 2048 / 8);
  CHECK(collectives(cut, Collective::Kind::all_gather).front().what.bytes == 800 * 7168 * 2);
  CHECK(collectives(cut, Collective::Kind::reduce_scatter).front().what.bytes == 800 * 7168 * 2);

  // A prompt of 100 tokens on one rank beside a token on each of the others: as many are gathered, 107, as experts see.
  RankTokens lone;
  lone.chunks = 100, lone.decodes = 7, lone.most = 100;
  const auto uneven = token_work(model, {.data = 8}, 100, 0, kSpread, 1, lone);
  CHECK(all_of<GroupedGemm>(uneven).front().what.rows == 107 * 8);
  CHECK(collectives(uneven, Collective::Kind::all_gather).front().what.bytes == 107 * 7168 * 2);
  CHECK(collectives(uneven, Collective::Kind::reduce_scatter).front().what.bytes == 107 * 7168 * 2);
}

// A step waits for the rank that sends the most, but all of them together send what their tokens come to.
TEST_CASE("ranks that hold unlike numbers of tokens send these and no more") {
  const ModelSpec model = catalogued("deepseek-v3");
  const ParallelPlan plan{.expert = 8, .data = 8, .exchange = ExpertExchange::all_to_all};
  // A prompt of 100 tokens on one rank, a token on each of the others.
  const RankTokens lone{100, 7, 100};
  for (const auto& work :
       {token_work(model, plan, 100, 0, kSpread, 1, lone), token_work(model, plan, 0, 1, kSpread, 0, lone)}) {
    const auto exchanges = collectives(work, Collective::Kind::all_to_all);
    REQUIRE(exchanges.size() == 2);
    const double each = 7168 * 4;  // the ranks of the groups that are chosen
    for (const int width : {1, 2}) {
      const Collective& exchange = exchanges[static_cast<std::size_t>(width - 1)].what;
      CHECK(exchange.bytes == approx(100 * each * width));
      REQUIRE(exchange.average);
      CHECK(8 * *exchange.average == approx(107 * each * width));
    }
  }
  // As many on each: the same bytes as one group of them says by itself.
  const auto alike =
      collectives(token_work(model, plan, 0, 100, kSpread, 0, {0, 800, 100}), Collective::Kind::all_to_all);
  const auto alone = collectives(token_work(model, plan, 0, 100, kSpread), Collective::Kind::all_to_all);
  REQUIRE(alike.size() == alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) {
    CHECK_FALSE(alike[i].what.average);
    CHECK(alike[i].what == alone[i].what);
  }
}

// 256 experts of unlike popularity on 8 ranks, 8 x 1,024 decodes: the fullest gets its share of their rows.
TEST_CASE("an all-to-all to experts of unlike popularity waits for the rank that gets the most") {
  const ModelSpec model = catalogued("deepseek-v3");
  const ParallelPlan plan{.expert = 8, .data = 8, .exchange = ExpertExchange::all_to_all};
  const auto dispatch = [&](const ExpertCoverage& coverage, std::int64_t tokens, const RankTokens& ranks = {}) {
    return collectives(token_work(model, plan, 0, tokens, coverage, 0, ranks), Collective::Kind::all_to_all)
        .front()
        .what;
  };
  const ExpertCoverage skewed{ExpertCoverage::Law::skewed};
  const double even = 1024 * 7168 * 8;
  const double share = fullest_rank(skewed, 256, 8, 8 * 1024, 8) / (8 * 1024 * 8);
  CHECK(share > 1.3 / 8);
  const Collective unlike = dispatch(skewed, 1024);
  CHECK(unlike.bytes == approx(8 * 1024 * 7168 * 8 * share));
  CHECK(unlike.bytes > 1.1 * even);
  REQUIRE(unlike.average);
  CHECK(*unlike.average == approx(even));
  CHECK(dispatch(kSpread, 1024) == dispatch({}, 1024));
  CHECK(dispatch(kSpread, 1024).bytes == approx(even));
  // One rank that has all the tokens sends more than the fullest receives.
  const RankTokens lone{0, 1024 + 7, 1024};
  CHECK(dispatch(skewed, 1024, lone).bytes == dispatch(kSpread, 1024, lone).bytes);
}

TEST_CASE("a step never reads more experts than it has rows") {
  const auto product =
      all_of<GroupedGemm>(token_work(catalogued("deepseek-v3"), {.tensor = 8, .expert = 8}, 0, 1, {})).front();
  // Eight experts over eight ranks: one on each in the mean, 1 + sqrt(2 (31 / 32) ln 8) on the fullest.
  CHECK(product.what.experts_touched == approx(1 + std::sqrt(2 * 31.0 / 32 * std::log(8))));
  CHECK(product.what.experts_touched <= static_cast<double>(product.what.rows));
}

TEST_CASE("only the experts of GPT-OSS are 4-bit") {
  const auto work = token_work(catalogued("gpt-oss-20b"), {}, 0, 4, {});
  for (const auto& [product, count] : all_of<GroupedGemm>(work)) CHECK(product.weights.name == "mxfp4");
  for (const auto& [gemm, count] : all_of<Gemm>(work)) CHECK(gemm.weights.name == "bf16");
}

// 0.97153 of 128 experts (expert_coverage_test) where the same tokens of one prompt touch 0.825.
TEST_CASE("many short prompts of a step touch more experts than one long one, also over data-parallel ranks") {
  const ModelSpec model = catalogued("qwen3-30b-a3b");
  const auto touched = [&](const std::vector<PrefillChunk>& chunks, const ParallelPlan& plan = {},
                           const RankTokens& ranks = {}) {
    Batch batch;
    batch.chunks = chunks;
    batch.ranks = ranks;
    return all_of<GroupedGemm>(step_work(model, plan, batch, {})).front().what.experts_touched;
  };
  const std::vector<PrefillChunk> one = {{512, 0, true}}, many(64, {8, 0, true});
  CHECK(touched(one) == approx(128 * 0.825));
  CHECK(touched(many) == approx(128 * 0.97153).epsilon(1e-5));
  // Two ranks with a prompt of 512 each: 27.007 * 2^0.7 = 43.873 independent tokens, 1 - (15/16)^43.873 = 0.94108.
  const ParallelPlan two{.data = 2};
  CHECK(touched(one, two) == approx(128 * 0.94108).epsilon(1e-5));
  CHECK(touched(one, two, {1024, 0, 512, 2 * unrelated_tokens({}, 512)}) == approx(touched(one, two)));
  // The other one decodes: one text.
  CHECK(touched(one, two, {512, 0, 512, unrelated_tokens({}, 512)}) == touched(one));
}
