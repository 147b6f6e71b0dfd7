// SPDX-License-Identifier: Apache-2.0
#include "models/expert_coverage.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>
#include <utility>

using namespace llmscape::models;
using llmscape::testing::approx;

namespace {

constexpr ExpertCoverage kUniform{ExpertCoverage::Law::uniform};
constexpr ExpertCoverage kRelated{};
constexpr ExpertCoverage kSkewed{ExpertCoverage::Law::skewed};

// A published figure, right to its last digit.
auto rounded(double value, double last_digit) { return approx(value).epsilon(0.51 * last_digit / value); }

}  // namespace

TEST_CASE("distinct experts under a uniform router are the published figures") {
  struct Row {
    int experts, per_token;
    std::int64_t tokens;
    double distinct;
  };
  const Row rows[] = {{256, 8, 8, 57.42},    {256, 8, 32, 163.31},  {256, 8, 64, 222.44},
                      {256, 8, 128, 251.60}, {256, 8, 256, 255.92}, {8, 2, 4, 5.47},
                      {8, 2, 8, 7.20},       {128, 8, 8, 51.62},    {128, 8, 32, 111.77}};
  for (const Row& row : rows) {
    CAPTURE(row.experts);
    CAPTURE(row.tokens);
    const double share = expert_share(kUniform, row.experts, row.per_token, 0, row.tokens);
    CHECK(row.experts * share == rounded(row.distinct, 0.01));
    CHECK(expert_share(kUniform, row.experts, row.per_token, row.tokens, 0) == share);
  }
}

TEST_CASE("a decode batch of Qwen3-30B-A3B touches the published share of experts") {
  for (const auto& [tokens, share] : {std::pair{16, 0.362}, {32, 0.518}, {64, 0.695}, {128, 0.854}})
    CHECK(expert_share(kRelated, 128, 8, 0, tokens) == rounded(share, 0.001));
}

TEST_CASE("a chunk of one prompt touches the shares that were observed") {
  for (const auto& [tokens, share] : {std::pair{512, 0.825}, {1024, 0.880}, {2048, 0.927}, {4096, 0.949}})
    CHECK(expert_share(kRelated, 128, 8, tokens, 0) == approx(share).epsilon(1e-12));
  CHECK(expert_share(kRelated, 128, 8, 8192, 0) > 0.995);
}

TEST_CASE("between its rows the chunk table follows a power of the tokens") {
  // Of 512 tokens, ln(1 - 0.825) / ln(1 - 1/16) = 27.01 route independently; of sqrt(512), so do sqrt(27.01).
  const double independent = std::pow(std::log(1 - 0.825) / std::log(15.0 / 16), std::log(22.0) / std::log(512.0));
  CHECK(expert_share(kRelated, 128, 8, 22, 0) == approx(1 - std::pow(15.0 / 16, independent)));
}

TEST_CASE("chunks and decodes of one step miss an expert independently") {
  const double chunk = expert_share(kRelated, 128, 8, 700, 0), decode = expert_share(kRelated, 128, 8, 0, 40);
  CHECK(expert_share(kRelated, 128, 8, 700, 40) == approx(1 - (1 - chunk) * (1 - decode)));
}

// A chunk is as many unrelated tokens as touch what it does, and T unrelated ones touch what T^0.7 independent ones do.
// By the table one prompt of 512 tokens is 27.01 independent tokens, one of 64 is 27.01^(2/3) = 9.002 and one of 8
// 27.01^(1/3) = 3.000. So 8 prompts of 64 are 9.002 * 8^0.7 = 38.59 and 64 of 8 3.000 * 64^0.7 = 55.14: 0.9171 and
// 0.9715 of the experts, where all as one text are 0.825. A prompt of one token beside one of 512 makes
// (27.007^(1/0.7) + 1)^0.7 = 27.177 of 27.007: 0.82691.
TEST_CASE("prompts of one step are texts of their own, as unrelated as decodes") {
  const auto share = [](std::initializer_list<std::pair<int, std::int64_t>> prompts, double* of_one = nullptr) {
    double unrelated = 0;
    std::int64_t tokens = 0;
    for (const auto& [count, length] : prompts)
      for (int i = 0; i < count; ++i, tokens += length) unrelated += unrelated_tokens(kRelated, length);
    if (of_one) *of_one = expert_share(kRelated, 128, 8, tokens, 0);
    CHECK(expert_share(kUniform, 128, 8, tokens, 0, unrelated) == expert_share(kUniform, 128, 8, tokens, 0));
    CHECK(expert_share(kSkewed, 128, 8, tokens, 0, unrelated) == expert_share(kSkewed, 128, 8, tokens, 0));
    return expert_share(kRelated, 128, 8, tokens, 0, unrelated);
  };
  CHECK(share({{8, 64}}) == rounded(0.9171, 0.0001));
  CHECK(share({{64, 8}}) == rounded(0.9715, 0.0001));
  CHECK(share({{1, 512}, {1, 1}}) == rounded(0.82691, 0.00001));
  CHECK(share({{128, 1}}) == approx(expert_share(kRelated, 128, 8, 0, 128)));  // 0.854
  // One prompt is what it was, to the bit, and cutting up a text touches no fewer, beyond the table too.
  for (const std::int64_t length : {1, 22, 512, 700, 8192, 20'000}) {
    double of_one = 0;
    CHECK(share({{1, length}}, &of_one) == expert_share(kRelated, 128, 8, length, 0));
    CHECK(share({{2, length}}, &of_one) >= of_one);
    CHECK(share({{2, length}}) <= expert_share(kUniform, 128, 8, 2 * length, 0));
  }
}

// Five tokens of one text are 5^(ln 27.007 / ln 512) = 2.340 independent ones and 2.340^(1/0.7) = 3.369 unrelated: one
// pass with four drafts touches 1 - (15/16)^2.340 = 0.1401, as a chunk of five does, where five decodes touch 0.1807;
// eight passes are (8 x 3.369)^0.7 = 10.03 independent tokens.
TEST_CASE("the drafts that a pass verifies are of its sequence's text") {
  ExpertCoverage drafted = kRelated;
  drafted.tokens_per_decode = 5;
  CHECK(expert_share(drafted, 128, 8, 0, 5) == approx(expert_share(kRelated, 128, 8, 5, 0)));
  CHECK(expert_share(drafted, 128, 8, 0, 5) == approx(0.1401).epsilon(1e-3));
  CHECK(expert_share(kRelated, 128, 8, 0, 5) == approx(0.1807).epsilon(1e-3));
  CHECK(expert_share(drafted, 128, 8, 0, 40) == approx(1 - std::pow(15.0 / 16, 10.03)).epsilon(1e-3));
  CHECK(expert_share(drafted, 128, 8, 700, 0) == expert_share(kRelated, 128, 8, 700, 0));
}

TEST_CASE("every law starts at k/E, never falls and never exceeds the uniform router") {
  for (const auto& [experts, per_token] : {std::pair{256, 8}, {128, 8}, {60, 4}, {8, 2}, {4, 4}}) {
    for (const bool in_chunk : {false, true}) {
      const auto share = [&](const ExpertCoverage& law, std::int64_t tokens) {
        return expert_share(law, experts, per_token, in_chunk ? tokens : 0, in_chunk ? 0 : tokens);
      };
      for (const ExpertCoverage& law : {kRelated, kSkewed}) {
        CHECK(share(law, 0) == 0);
        CHECK(share(law, 1) == approx(static_cast<double>(per_token) / experts));
        double before = 0;
        for (std::int64_t tokens = 1; tokens <= 100'000; tokens += 1 + tokens / 7) {
          const double now = share(law, tokens);
          CHECK(now >= before);
          CHECK(now <= share(kUniform, tokens) + 1e-15);
          before = now;
        }
        CHECK(before <= 1);
      }
    }
  }
}

TEST_CASE("a token's eight experts of 256 lie on 5.295 of eight ranks") {
  CHECK(distinct_ranks({256, 8}, 8) == rounded(5.295, 0.001));
  CHECK(distinct_ranks({256, 8}, 1) == 1);
  CHECK(distinct_ranks({8, 2}, 8) == approx(2));  // one expert on each rank
  CHECK(distinct_ranks({8, 8}, 4) == approx(4));  // every expert is taken
  CHECK(distinct_ranks({8, 1}, 4) == approx(1));
}

// Eight of 256 from four of eight groups, nodes that hold whole groups: one of h groups is left out in C(8 - h, 4) /
// C(8, 4) of 70 cases. Scores drawn at random and groups by their two best: 1.96, 3.12 and 3.95.
TEST_CASE("a token whose experts lie in the best groups reaches fewer nodes") {
  const Routing routing{256, 8, 8, 4};
  CHECK(distinct_ranks(routing, 2) == approx(2 * (1 - 1.0 / 70)));
  CHECK(distinct_ranks(routing, 4) == approx(4 * (1 - 15.0 / 70)));
  CHECK(distinct_ranks(routing, 8) == approx(4));
  CHECK(distinct_ranks(routing, 1) == 1);
  // One expert on each rank: as many as are chosen. Between that and whole groups there are more and more.
  CHECK(distinct_ranks(routing, 256) == approx(8));
  double before = 4;
  for (const int ranks : {16, 32, 64, 128}) {
    CHECK(distinct_ranks(routing, ranks) > before);
    CHECK(distinct_ranks(routing, ranks) < distinct_ranks({256, 8}, ranks));
    before = distinct_ranks(routing, ranks);
  }
  CHECK(before < 8);
  // Two of eight, one from each of two groups of two that are chosen among four.
  CHECK(distinct_ranks({8, 2, 4, 2}, 8) == approx(2));
  CHECK(distinct_ranks({8, 2, 4, 2}, 4) == approx(2));
  // All groups, or more groups than experts of a token: as without.
  CHECK(distinct_ranks({256, 8, 8, 8}, 32) == distinct_ranks({256, 8}, 32));
  CHECK(distinct_ranks({256, 2, 8, 4}, 32) == distinct_ranks({256, 2}, 32));
}

TEST_CASE("rows of a power law touch as many experts as the tables' times say") {
  // Layers of 128 and 256 experts, 8 a token, bf16 and fp8 in blocks, of vLLM 0.24 on an H100: as many as the balanced
  // rows touch that take as long, medians of 9 to 41 rows each (ai-dynamo/aiconfigurator @ 095f58a). The law has 2
  // to 4.5 % fewer throughout.
  struct Row {
    int experts;
    std::int64_t tokens;
    double share;
  };
  for (const Row& row : {Row{128, 16, 0.509},
                         {128, 32, 0.838},
                         {128, 64, 0.905},
                         {128, 256, 0.987},
                         {256, 32, 0.520},
                         {256, 64, 0.757},
                         {256, 128, 0.835},
                         {256, 256, 0.877},
                         {256, 512, 0.915}}) {
    CAPTURE(row.experts);
    CAPTURE(row.tokens);
    CHECK(expert_share(kSkewed, row.experts, 8, 0, row.tokens) == approx(row.share).epsilon(0.046));
  }
}

TEST_CASE("the fullest of 8 ranks holds the mean and sqrt(2 m ln 8) rows where experts are alike") {
  CHECK(fullest_rank(kUniform, 256, 8, 100, 8) == approx(100 + std::sqrt(200 * std::log(8))));
  CHECK(fullest_rank(kUniform, 256, 8, 100, 1) == 800);
  CHECK(fullest_rank(kSkewed, 256, 8, 100, 1) == 800);
  CHECK(fullest_rank(kUniform, 256, 1, 1, 2) == 1);  // no rank holds more rows than there are
  CHECK(fullest_rank(kUniform, 256, 8, 0, 8) == 0);
}

TEST_CASE("a token reaches a rank once, however many of its experts are there") {
  // 8 experts, 2 a token: C(6, 2) / C(8, 2) = 15 / 28 have none of two experts, C(4, 2) / C(8, 2) = 6 / 28 none of
  // four.
  CHECK(reaching_share({8, 2}, 2) == approx(13.0 / 28));
  CHECK(reaching_share({8, 2}, 4) == approx(22.0 / 28));
  CHECK(reaching_share({8, 2}, 8) == 1);
  CHECK(reaching_share({8, 2}, 7.5) == 1);  // half an expert is left for two
  CHECK(distinct_ranks({8, 2}, 4) == approx(4 * 13.0 / 28));
}

TEST_CASE("the fullest rank of skewed experts is that of drawn loads") {
  // Loads over a range of 0.8 x 100, exponent 1.5: E[x] = sqrt(80), E[x^2] = (80^1.5 - 1) / 3 / (1 - 80^-0.5) = 268.16,
  // c^2 = 2.35203. 32 experts a rank: v = 2.35203 x 7 / 256 = 0.064313; a share of 0.56146 / 8 is above 1.4737
  // (26.2.23; 1.4741 in truth); sums of a gamma distribution (1 - 0.007146 + 1.4737 x 0.253600 / 3)^3 = 1.39509. The
  // fullest of 256 has, with u = 0.56146 / 256, x^-0.5 = 0.111803 + 0.888197 u = 0.113751, x = 77.284; the others
  // 0.113751^-1 = 8.79113 in the mean; p = 8 (77.284 + 31 x 8.79113) / (77.284 + 255 x 8.79113) = 1.20704.
  CHECK(fullest_dealt_rank({1.5, 80}, 256, 800, 8) ==
        approx(100 * (1.20704 + (1.39509 - 1.20704) * 31 / 32)).epsilon(1e-3));
  // Tokens that draw their experts scatter by 1 / 100 more: (1 - 0.008257 + 1.4737 x 0.272604 / 3)^3 = 1.42632.
  CHECK(fullest_rank({ExpertCoverage::Law::skewed, 0, 1.5}, 256, 8, 100, 8) ==
        approx(100 * (1.20704 + (1.42632 - 1.20704) * 31 / 32)).epsilon(1e-3));
  CHECK(fullest_dealt_rank({1.5, 80}, 256, 800, 1) == 800);
  // Means of 2,000 draws of the tables' law (dealt_popularity), over the mean rank.
  struct Row {
    double exponent;
    int experts, experts_per_token;
    double tokens;
    int ranks;
    double fullest;
  };
  for (const Row& row : {Row{1.01, 8, 2, 8192, 2, 1.54},
                         {1.01, 8, 2, 256, 8, 3.47},
                         {1.01, 16, 1, 8192, 4, 2.14},
                         {1.01, 128, 8, 16, 8, 1.49},
                         {1.01, 128, 8, 8192, 128, 8.69},
                         {1.01, 256, 8, 256, 32, 2.10},
                         {1.01, 256, 8, 8192, 128, 6.07},
                         {1.2, 128, 8, 8192, 128, 16.98},
                         {1.2, 256, 8, 8192, 64, 6.00},
                         {1.2, 256, 8, 16, 4, 1.21}}) {
    CAPTURE(row.experts);
    CAPTURE(row.ranks);
    const double rows = row.tokens * row.experts_per_token;
    CHECK(fullest_dealt_rank(dealt_popularity(row.exponent, row.tokens, rows, row.experts), row.experts, rows,
                             row.ranks) == approx(rows / row.ranks * row.fullest).epsilon(0.09));
  }
}
