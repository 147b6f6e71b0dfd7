// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/fit.hpp"

#include "base/random.hpp"

#include <Eigen/Dense>
#include <unsupported/Eigen/LevenbergMarquardt>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace llmscape::hardware {
namespace {

constexpr double kOutlierScale = 0.1;  // log residual from where the loss turns linear
constexpr double kPriorScale = 0.07;   // log residual that weighs as much as one standard deviation of a prior
constexpr double kStep = 1e-3;         // of the numeric derivatives
constexpr double kBoundShare = 0.01;   // of the range of the log, at either end
constexpr int kMostEvaluations = 400;

Eigen::Index eigen_index(std::size_t i) { return static_cast<Eigen::Index>(i); }

// A parameter's logarithm as a function of a coordinate that is free to take any value.
double log_value(const FreeParameter& p, double coordinate) {
  const double low = std::log(p.low), high = std::log(p.high);
  return low + (high - low) / (1 + std::exp(-coordinate));
}
double coordinate_of(const FreeParameter& p, double value) {
  const double low = std::log(p.low), high = std::log(p.high);
  const double share = std::clamp((std::log(value) - low) / (high - low), kBoundShare, 1 - kBoundShare);
  return std::log(share / (1 - share));
}

// Residuals whose squares sum up to the loss; prior rows follow those of the data.
class ResidualFunction : public Eigen::DenseFunctor<double> {
 public:
  explicit ResidualFunction(const FitProblem& problem)
      : DenseFunctor(static_cast<int>(problem.parameters.size()),
                     static_cast<int>(problem.measured.size() + problem.parameters.size())),
        problem_(problem), predicted_(problem.measured.size()) {}

  [[nodiscard]] std::vector<double> parameters_at(const InputType& coordinates) const {
    std::vector<double> all;
    for (std::size_t i = 0; i < problem_.parameters.size(); ++i)
      all.push_back(std::exp(log_value(problem_.parameters[i], coordinates[eigen_index(i)])));
    return all;
  }

  // log(predicted / measured).
  [[nodiscard]] Eigen::VectorXd log_errors(const std::vector<double>& parameters) const {
    problem_.predict(parameters, predicted_);
    Eigen::VectorXd errors(eigen_index(predicted_.size()));
    for (std::size_t i = 0; i < predicted_.size(); ++i)
      errors[eigen_index(i)] = std::log(predicted_[i] / problem_.measured[i]);
    return errors;
  }

  int operator()(const InputType& coordinates, ValueType& residuals) const {
    const std::vector<double> parameters = parameters_at(coordinates);
    const Eigen::VectorXd errors = log_errors(parameters);
    for (Eigen::Index i = 0; i < errors.size(); ++i) {
      const double z = errors[i] / kOutlierScale;
      residuals[i] = std::copysign(kOutlierScale * std::sqrt(2 * (std::sqrt(1 + z * z) - 1)), z);
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const FreeParameter& p = problem_.parameters[i];
      residuals[errors.size() + eigen_index(i)] = kPriorScale * std::log(parameters[i] / p.median) / p.log_sd;
    }
    return 0;
  }

  int df(const InputType& coordinates, JacobianType& jacobian) const {
    InputType moved = coordinates;
    ValueType above(m_values), below(m_values);
    for (Eigen::Index i = 0; i < coordinates.size(); ++i) {
      moved[i] = coordinates[i] + kStep;
      (*this)(moved, above);
      moved[i] = coordinates[i] - kStep;
      (*this)(moved, below);
      moved[i] = coordinates[i];
      jacobian.col(i) = (above - below) / (2 * kStep);
    }
    return 0;
  }

 private:
  const FitProblem& problem_;
  mutable std::vector<double> predicted_;
};

// Standard errors of the logarithms: those of an M-estimator (Huber, Robust Statistics, 1981, 7.6), whose loss pulls by
// w r with w = 1 / sqrt(1 + (r / 0.1)^2) and bends by w^3, so that the variance is mean (w r)^2 / (mean w^3)^2 over the
// information of rows of weight 1. Directions that no row sees get a very large one.
Eigen::VectorXd standard_errors(const ResidualFunction& residuals, std::vector<double> parameters) {
  const Eigen::VectorXd errors = residuals.log_errors(parameters);
  const Eigen::VectorXd weights = (1 + (errors / kOutlierScale).array().square()).rsqrt();
  const Eigen::VectorXd bends = weights.array().cube();
  Eigen::MatrixXd jacobian(errors.size(), eigen_index(parameters.size()));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double value = parameters[i];
    parameters[i] = value * std::exp(kStep);
    const Eigen::VectorXd above = residuals.log_errors(parameters);
    parameters[i] = value * std::exp(-kStep);
    jacobian.col(eigen_index(i)) = (above - residuals.log_errors(parameters)) / (2 * kStep);
    parameters[i] = value;
  }
  const double freedom = static_cast<double>(std::max<Eigen::Index>(1, errors.size() - eigen_index(parameters.size())));
  const double variance = (weights.array() * errors.array()).square().sum() / freedom / bends.mean();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> information(jacobian.transpose() * bends.asDiagonal() *
                                                                   jacobian);
  const double least = std::max(1e-12 * information.eigenvalues().maxCoeff(), std::numeric_limits<double>::min());
  const Eigen::VectorXd spread = information.eigenvalues().cwiseMax(least).cwiseInverse();
  return (variance * information.eigenvectors().array().square().matrix() * spread).cwiseSqrt();
}

}  // namespace

FitOutcome fit_in_log(const FitProblem& problem, int starts) {
  ResidualFunction residuals(problem);
  Eigen::VectorXd best;
  double least_norm = std::numeric_limits<double>::infinity();
  for (int start = 0; start < starts; ++start) {
    RandomStream draws(static_cast<std::uint64_t>(start));
    Eigen::VectorXd coordinates(eigen_index(problem.parameters.size()));
    for (std::size_t i = 0; i < problem.parameters.size(); ++i) {
      const FreeParameter& p = problem.parameters[i];
      const double drawn = start == 0 ? p.median : p.median * std::exp(p.log_sd * draws.normal());
      coordinates[eigen_index(i)] = coordinate_of(p, drawn);
    }
    Eigen::LevenbergMarquardt<ResidualFunction> search(residuals);
    search.setMaxfev(kMostEvaluations);
    search.setFtol(1e-7);
    search.setXtol(1e-5);
    search.minimize(coordinates);
    if (search.fnorm() >= least_norm) continue;
    least_norm = search.fnorm();
    best = coordinates;
  }

  if (best.size() == 0) throw std::logic_error("a form that predicts no finite times");
  FitOutcome outcome;
  outcome.loss = least_norm * least_norm / (kOutlierScale * kOutlierScale);
  const std::vector<double> values = residuals.parameters_at(best);
  const Eigen::VectorXd errors = standard_errors(residuals, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const FreeParameter& p = problem.parameters[i];
    const double place = std::log(values[i] / p.low) / std::log(p.high / p.low);
    outcome.parameters.push_back(
        {p.name, values[i], errors[eigen_index(i)], place < kBoundShare || place > 1 - kBoundShare});
  }
  return outcome;
}

}  // namespace llmscape::hardware
