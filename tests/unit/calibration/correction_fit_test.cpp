// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/correction_fit.hpp"
#include "hardware/calibration/form_corrections.hpp"

#include "base/random.hpp"
#include "hardware/calibration/errors.hpp"
#include "tests/support/approx.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

const CorrectionPlan kPlan = {{{Feature::rows}, {Feature::columns}}, {{Feature::depth}}};

// Products over octaves of their sides, timed at `law` times the form's microsecond, with noise.
template <class Law>
std::vector<CorrectionRow> rows_of(Law law, double noise, int count = 600) {
  RandomStream draws(7);
  std::vector<CorrectionRow> rows;
  for (int i = 0; i < count; ++i) {
    const double m = std::exp2(8 * draws.uniform()), n = std::exp2(std::floor(9 + 5 * draws.uniform())),
                 k = std::exp2(std::floor(9 + 5 * draws.uniform()));
    CorrectionRow& row = rows.emplace_back();
    Features f;
    f.set(Feature::rows, m);
    f.set(Feature::columns, n);
    f.set(Feature::depth, k);
    row.kernels = {{f, 1e-6}};
    row.measured = 1e-6 * law(m, n, k) * std::exp(noise * draws.normal());
    row.shape = {static_cast<std::int64_t>(n), static_cast<std::int64_t>(k)};
  }
  return rows;
}

double form_alone(const std::vector<CorrectionRow>& rows) {
  std::vector<double> times, measured;
  for (const CorrectionRow& row : rows) {
    times.push_back(row.predicted());
    measured.push_back(row.measured);
  }
  return summarise(times, measured).mean;
}

// A product of powers: even in the logarithms, so that the tables can hold it without an error.
double powers(double m, double n, double k) {
  return 1.1 * std::pow(m / 16, 0.05) * std::pow(n / 4096, -0.04) * std::pow(k / 4096, 0.03);
}

TEST_CASE("a factor that depends on the shape is found again, and earned") {
  const auto rows = rows_of(powers, 0.02);
  const auto earned = earn_correction(kPlan, rows, form_alone(rows));
  REQUIRE(earned);
  double worst = 0;
  for (const CorrectionRow& row : rows_of(powers, 0)) {
    CHECK(row.predicted(earned->correction) == approx(row.measured).epsilon(0.03));
    worst = std::max(worst, std::abs(row.predicted(earned->correction) / row.predicted() - 1));
  }
  CHECK(worst > 0.2);  // so that the check above says something
  // Noise of 2 % alone is a mean error of sqrt(2 / pi) x 2 % = 1.6 %: nothing earns less than that.
  CHECK(earned->error == approx(0.016).epsilon(0.25));
  CHECK(earn_correction(kPlan, rows, 1.01 * earned->error));
  CHECK_FALSE(earn_correction(kPlan, rows, earned->error));
}

TEST_CASE("a form that is right but for noise earns no correction, and neither do few rows") {
  const auto right = rows_of([](double, double, double) { return 1.0; }, 0.05);
  CHECK_FALSE(earn_correction(kPlan, right, form_alone(right)));
  const auto few = rows_of(powers, 0.02, 149);
  CHECK_FALSE(earn_correction(kPlan, few, form_alone(few)));
}

TEST_CASE("tables of more than three points for a row, relatives' among them, are not tried") {
  // Over 8 octaves of rows, 4 of columns and of depth: 9 x 5 + 5 points.
  const CorrectionPlans plans = {{{{Feature::bytes}}}, kPlan};
  const std::vector<Relatives> relatives = {{{}, "nobody's"}, {rows_of(powers, 0, 1), "another's"}};
  const auto tries_of = [&](int count) {
    std::string tried;
    for (const CorrectionTry& next : correction_tries(plans, rows_of(powers, 0, count), relatives))
      tried += fmt::format("{} {}; ", next.plan == &plans[0] ? "first" : "second", next.relatives->whose);
    return tried;
  };
  CHECK(tries_of(15) == "first nobody's; first another's; ");
  CHECK(tries_of(16) == "first nobody's; first another's; second another's; ");
  CHECK(tries_of(17) == "first nobody's; first another's; second nobody's; second another's; ");
}

TEST_CASE("rows of one shape are held out one by one") {
  auto rows = rows_of([](double m, double, double) { return powers(m, 4096, 4096); }, 0.02);
  for (CorrectionRow& row : rows) {
    row.shape = {4096, 4096};
    row.kernels.front().features.set(Feature::columns, 4096);
    row.kernels.front().features.set(Feature::depth, 4096);
  }
  const auto earned = earn_correction(kPlan, rows, form_alone(rows));
  REQUIRE(earned);
  for (std::size_t i = 0; i < rows.size(); ++i) CHECK(earned->held_out[i] == approx(rows[i].measured).epsilon(0.1));
}

TEST_CASE("kernels inside a longer time are corrected, the rest is not") {
  auto rows = rows_of(powers, 0);
  for (CorrectionRow& row : rows) {
    row.rest = 3e-6;
    row.measured += 3e-6;
  }
  const Correction correction = learn_correction(kPlan, rows);
  for (const CorrectionRow& row : rows)
    CHECK(row.predicted(correction) - row.rest == approx(row.measured - row.rest).epsilon(0.03));
}

// Grouped products whose sides run from -1 to 1, each over six octaves, timed at e^(0.6 a b c d) of the form's
// microsecond: none of the four sides says anything without the other three.
std::vector<CorrectionRow> rows_of_four_sides(int count, std::uint64_t key) {
  constexpr std::array kSides = {Feature::rows, Feature::experts, Feature::columns, Feature::depth};
  RandomStream draws(key);
  std::vector<CorrectionRow> rows;
  for (int i = 0; i < count; ++i) {
    Features f;
    f.set(Feature::bytes, 2);
    f.set(Feature::seconds, 1e-6);
    double all = 1;
    for (const Feature side : kSides) {
      const double place = std::round(8 * (2 * draws.uniform() - 1)) / 8;
      f.set_log2(side, 8 + 3 * place);
      all *= place;
    }
    CorrectionRow& row = rows.emplace_back();
    row.kernels = {{f, 1e-6}};
    row.measured = 1e-6 * std::exp(0.6 * all + 0.02 * draws.normal());
  }
  return rows;
}

// Every other product ran in a kernel that takes e^0.3 of the form's microsecond, the others e^-0.3: no feature tells
// which. One table is off by sinh 0.3 = 30 %; with noise of 2 % one for each kernel by 1.6 %.
std::vector<CorrectionRow> rows_of_two_kernels(int count) {
  auto rows = rows_of([](double, double, double) { return 1.0; }, 0.02, count);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].alone = i % 2 == 0;
    rows[i].measured *= std::exp(rows[i].alone ? 0.3 : -0.3);
  }
  return rows;
}

TEST_CASE("two kernels have corrections of their own where their rows differ, from as many rows as one needs") {
  const CorrectionPlans plans = {kPlan};
  const std::vector<Relatives> nobody(1);
  const CorrectionPlans few = {{{{Feature::depth}}}};
  const auto apart_of = [&](const std::vector<CorrectionRow>& rows) {
    std::vector<double> form;
    for (const CorrectionRow& row : rows) form.push_back(row.predicted());
    return corrections_apart(few, rows, form, nobody, true, form_alone(rows));
  };
  const auto rows = rows_of_two_kernels(600);
  const auto apart = apart_of(rows);
  REQUIRE(apart);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CHECK(rows[i].predicted(apart->of(rows[i])) == approx(1e-6 * std::exp(i % 2 == 0 ? 0.3 : -0.3)).epsilon(0.03));
    CHECK(apart->held_out[i] == approx(rows[i].measured).epsilon(0.1));
  }
  CHECK(apart_of(rows_of_two_kernels(200)));  // 100 of each
  CHECK_FALSE(apart_of(rows_of_two_kernels(149)));
  auto one = rows_of(powers, 0.02);
  for (std::size_t i = 0; i < one.size(); ++i) one[i].alone = i % 2 == 0;
  std::vector<double> form;
  for (const CorrectionRow& row : one) form.push_back(row.predicted());
  const auto together = best_correction(plans, one, nobody, true, form_alone(one));
  REQUIRE(together);
  CHECK_FALSE(corrections_apart(plans, one, form, nobody, true, together->earned.error));
}

TEST_CASE("what rows, experts, columns and depth say only together is learned for grouped products") {
  const auto seen = rows_of_four_sides(1500, 1), unseen = rows_of_four_sides(400, 2);
  const CorrectionPlan& with = expert_gemm_correction_plans().back();
  CorrectionPlan without = with;
  std::erase_if(without, [](const auto& table) { return table.size() == 4; });
  const auto error = [&](const CorrectionPlan& plan) {
    const Correction correction = learn_correction(plan, seen);
    double sum = 0;
    for (const CorrectionRow& row : unseen) sum += std::abs(row.predicted(correction) / row.measured - 1);
    return sum / static_cast<double>(unseen.size());
  };
  // Noise alone makes sqrt(2 / pi) x 2 % = 1.6 %, and the form is off by 3.9 %.
  CHECK(error(without) > 0.038);
  CHECK(error(with) < 0.029);
}

// Kernels of 1 to 256 us by their form, 5 % off for each octave from 16 us: sides say nothing of it.
TEST_CASE("GEMMs learn by how long their form takes, unless rows were chosen by their time") {
  RandomStream draws(3);
  auto rows = rows_of([](double, double, double) { return 1.0; }, 0.01);
  for (CorrectionRow& row : rows) {
    auto& [features, seconds] = row.kernels.front();
    const double octaves = 8 * draws.uniform();
    row.measured *= std::exp2(octaves) * std::exp(0.05 * (octaves - 4));
    seconds = 1e-6 * std::exp2(octaves);
    features.set(Feature::seconds, seconds);
    for (const Feature feature : {Feature::padding, Feature::wide_waves, Feature::tall_waves, Feature::bytes})
      features.set(feature, 1);
  }
  const auto error = [&](bool chosen) {
    const std::vector<Relatives> nobody(1);
    const auto best = best_correction(gemm_correction_plans(chosen), rows, nobody, true, form_alone(rows));
    return best ? best->earned.error : form_alone(rows);
  };
  CHECK(form_alone(rows) == approx(0.1).epsilon(0.1));  // 0.05 x 2 octaves, on average
  CHECK(error(true) > 0.08);
  CHECK(error(false) < 0.015);  // noise: 0.8 %
}

TEST_CASE("of helpers the one that lowers the error most counts, and finer tables only where they do so clearly") {
  const auto rows = rows_of(powers, 0.05, 200), more = rows_of(powers, 0.02, 600);
  const std::vector<Relatives> helpers = {{{}, "nobody"}, {rows_of(powers, 0.05, 100), "some"}, {more, "all"}};
  const CorrectionPlans twice = {kPlan, kPlan};
  const auto best = best_correction(twice, rows, helpers, true, form_alone(rows));
  REQUIRE(best);
  double least = 1;
  for (const Relatives& helper : helpers) {
    const auto earned = earn_correction(kPlan, rows, 1, helper.rows);
    REQUIRE(earned);
    least = std::min(least, earned->error);
  }
  CHECK(best->earned.error == least);
  CHECK(std::string(best->whose) == "all");
}

}  // namespace
}  // namespace llmscape::hardware
