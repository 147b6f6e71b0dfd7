// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/cpu_fit.hpp"

#include "hardware/calibration/cross_validation.hpp"
#include "hardware/calibration/family_fits.hpp"
#include "hardware/calibration/fitted_group.hpp"
#include "hardware/calibration/sampling.hpp"
#include "models/format.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace llmscape::hardware {
namespace {

using traces::TimedDecodeAttention;
using traces::TimedElementwise;
using traces::TimedGemm;
using traces::TimedPrefillAttention;

constexpr std::string_view kFormat = "fp32";
constexpr std::uint64_t kCpuRowsKey = 0x637075;  // any fixed number

models::Format single_precision() { return *models::format_named(kFormat); }

// Bounds and priors are wide: a processor of any year.
FreeParameter rate(std::string name) { return {std::move(name), 1e9, 5e12, 1e11, 1}; }
FreeParameter bandwidth(std::string name) { return {std::move(name), 0.5e9, 1e12, 2e10, 1}; }
FreeParameter launch(std::string name) { return {std::move(name), 1e-9, 1e-3, 5e-7, 1.5}; }

// The fp32 rows of a family, at most so many of them; none where they are too few to be fitted.
template <class TimedCase>
std::vector<TimedCase> usable(const std::vector<TimedCase>& rows, std::size_t most) {
  std::vector<TimedCase> all, kept;
  std::ranges::copy_if(rows, std::back_inserter(all), [](const TimedCase& r) {
    if constexpr (requires { r.kv_format; })
      if (r.kv_format != kFormat) return false;
    return r.format == kFormat;
  });
  if (all.size() < kFewestFittedRows) return {};
  for (const std::size_t i : random_subset(all.size(), most, kCpuRowsKey)) kept.push_back(all[i]);
  return kept;
}

template <class TimedCase>
void add_row(FormProblem& problem, const TimedCase& row, Group group, std::int64_t tokens) {
  problem.measured.push_back(row.time.si());
  problem.groups.push_back(group);
  problem.regime.push_back(regime_of(tokens));
}

// The parameters that the fit found, tagged and with what its residuals were.
template <class Parameters, class Make>
Parameters fitted(const FormProblem& problem, const Make& make, std::vector<FamilyReport>& reports) {
  FamilyReport& report = reports.emplace_back(fit_and_validate(problem));
  report.data = "fp32, " + report.data;
  Parameters p = make(values_of(report.fitted));
  p.tag = Tag::fitted;
  p.residuals = residuals_of(report);
  return p;
}

CpuProducts products_of(std::span<const double> free) {
  CpuProducts p;
  p.rate = FlopsPerSecond(free[0]);
  p.hidden_rows = free[1];
  p.bandwidth = BytesPerSecond(free[2]);
  p.launch = Seconds(free[3]);
  return p;
}

CpuProducts fit_products(const std::vector<TimedGemm>& rows, std::vector<FamilyReport>& reports) {
  const models::Format format = single_precision();
  FormProblem problem;
  problem.family = "gemm";
  problem.parameters = {rate("rate"), {"hidden_rows", 0.5, 50, 4, 0.7}, bandwidth("bandwidth"), launch("launch")};
  for (const TimedGemm& r : rows) add_row(problem, r, {r.n, r.k}, r.m);
  problem.form = [&](std::span<const double> free) {
    return [&, p = products_of(free)](std::size_t row) {
      const TimedGemm& r = rows[row];
      return product_cost(p, 1, {r.m, r.n, r.k, format, format}).time.si();
    };
  };
  return fitted<CpuProducts>(problem, products_of, reports);
}

CpuAttention attention_of(std::span<const double> free) {
  CpuAttention p;
  p.rate = FlopsPerSecond(free[0]);
  p.softmax = Seconds(free[1]);
  p.bandwidth = BytesPerSecond(free[2]);
  p.launch = Seconds(free[3]);
  return p;
}

models::PrefillAttention operator_of(const TimedPrefillAttention& r) {
  models::PrefillAttention a;
  a.chunks.assign(static_cast<std::size_t>(r.sequences), {r.tokens, r.cached, true});
  a.heads = static_cast<int>(r.heads);
  a.kv_heads = static_cast<int>(r.kv_heads);
  a.head_dim = static_cast<int>(r.head_dim);
  a.kv = single_precision();
  return a;
}

models::DecodeAttention operator_of(const TimedDecodeAttention& r) {
  models::DecodeAttention a;
  a.sequences = r.sequences;
  a.attended.sum = r.sequences * r.context;
  a.attended.max = r.context;
  a.heads = static_cast<int>(r.heads);
  a.kv_heads = static_cast<int>(r.kv_heads);
  a.head_dim = static_cast<int>(r.head_dim);
  a.kv = single_precision();
  return a;
}

template <class TimedCase, class Tokens>
CpuAttention fit_attention(const char* family, const std::vector<TimedCase>& rows, const Tokens& tokens,
                           std::vector<FamilyReport>& reports) {
  FormProblem problem;
  problem.family = family;
  problem.parameters = {rate("rate"), {"softmax", 1e-12, 1e-6, 5e-10, 1}, bandwidth("bandwidth"), launch("launch")};
  std::vector<decltype(operator_of(rows.front()))> operators;
  for (const TimedCase& r : rows) {
    add_row(problem, r, {r.heads, r.kv_heads * r.head_dim}, tokens(r));
    operators.push_back(operator_of(r));
  }
  problem.form = [&operators](std::span<const double> free) {
    return [&operators, p = attention_of(free)](std::size_t row) {
      return attention_cost(p, 1, operators[row]).time.si();
    };
  };
  return fitted<CpuAttention>(problem, attention_of, reports);
}

// The kernels that rows are read and written by, and how many times each element is moved (models/token_work.cpp).
struct StreamKind {
  const char* name;
  CpuStream CpuElementwise::* row;
  double moves;
};
constexpr std::array<StreamKind, 6> kStreams = {{{"norm", &CpuElementwise::norm, 2},
                                                 {"activation", &CpuElementwise::activation, 3},
                                                 {"rope", &CpuElementwise::rope, 2},
                                                 {"add", &CpuElementwise::add, 3},
                                                 {"embedding", &CpuElementwise::embedding, 2},
                                                 {"sampling", &CpuElementwise::sampling, 1}}};

CpuElementwise elementwise_of(std::span<const double> free) {
  CpuElementwise p;
  for (std::size_t i = 0; i < kStreams.size(); ++i)
    p.*kStreams[i].row = {Seconds(free[2 * i]), BytesPerSecond(free[2 * i + 1])};
  return p;
}

bool has_every_kind(const std::vector<TimedElementwise>& rows) {
  return std::ranges::all_of(kStreams, [&](const StreamKind& kind) {
    return std::ranges::any_of(rows, [&](const TimedElementwise& r) { return r.kind == kind.name; });
  });
}

CpuElementwise fit_elementwise(const std::vector<TimedElementwise>& rows, std::vector<FamilyReport>& reports) {
  const double element = single_precision().bytes;
  FormProblem problem;
  problem.family = "elementwise";
  std::vector<TimedElementwise> known;
  std::vector<std::size_t> kinds;
  for (std::size_t i = 0; i < kStreams.size(); ++i) {
    const std::string name = kStreams[i].name;
    problem.parameters.push_back(launch(name + ".launch"));
    problem.parameters.push_back(bandwidth(name + ".bandwidth"));
    for (const TimedElementwise& r : rows) {
      if (r.kind != name) continue;
      add_row(problem, r, {static_cast<std::int64_t>(i), r.width}, r.rows);
      known.push_back(r);
      kinds.push_back(i);
    }
  }
  problem.form = [&](std::span<const double> free) {
    return [&, p = elementwise_of(free)](std::size_t row) {
      const StreamKind& kind = kStreams[kinds[row]];
      const double bytes = kind.moves * element * static_cast<double>(known[row].rows * known[row].width);
      return stream_cost(p.*kind.row, 1, bytes).time.si();
    };
  };
  return fitted<CpuElementwise>(problem, elementwise_of, reports);
}

}  // namespace

bool is_cpu_elementwise_kind(std::string_view kind) {
  return std::ranges::any_of(kStreams, [kind](const StreamKind& known) { return known.name == kind; });
}

CpuCalibration fit_cpu(const traces::KernelTables& tables, const CpuFamilies& families) {
  CpuCalibration c;
  const auto rows_of = [&](const char* family, const auto& all) {
    const bool wanted = families.wanted.empty() || std::ranges::find(families.wanted, family) != families.wanted.end();
    return wanted ? usable(all, families.most_rows) : std::decay_t<decltype(all)>();
  };
  if (const auto rows = rows_of("gemm", tables.gemm); !rows.empty()) c.products = fit_products(rows, c.reports);
  if (const auto rows = rows_of("prefill_attention", tables.prefill_attention); !rows.empty())
    c.prefill_attention = fit_attention("prefill_attention", rows, [](const auto& r) { return r.tokens; }, c.reports);
  if (const auto rows = rows_of("decode_attention", tables.decode_attention); !rows.empty())
    c.decode_attention = fit_attention("decode_attention", rows, [](const auto& r) { return r.sequences; }, c.reports);
  if (const auto rows = rows_of("elementwise", tables.elementwise); has_every_kind(rows))
    c.elementwise = fit_elementwise(rows, c.reports);
  return c;
}

}  // namespace llmscape::hardware
