// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/near_solver.hpp"

#include <Eigen/IterativeLinearSolvers>

namespace llmscape::hardware {
namespace {

using Matrix = NearSolver::Matrix;

constexpr int kMostSteps = 60;
constexpr double kResidual = 1e-13;  // of the right side: tables keep three digits

// A factor of another matrix, as Eigen's solvers ask for a preconditioner.
class OtherFactor {
 public:
  void is(const Eigen::SimplicialLDLT<Matrix>& factor) { factor_ = &factor; }
  template <class Any>
  OtherFactor& analyzePattern(const Any&) {
    return *this;
  }
  template <class Any>
  OtherFactor& factorize(const Any&) {
    return *this;
  }
  template <class Any>
  OtherFactor& compute(const Any&) {
    return *this;
  }
  template <class Side>
  [[nodiscard]] Eigen::VectorXd solve(const Side& right) const {
    return factor_->solve(right);
  }
  [[nodiscard]] Eigen::ComputationInfo info() const { return Eigen::Success; }

 private:
  const Eigen::SimplicialLDLT<Matrix>* factor_ = nullptr;
};

}  // namespace

Eigen::VectorXd NearSolver::solve(const Matrix& matrix, const Eigen::VectorXd& right, const Eigen::VectorXd& guess) {
  if (factors_ > 0 && factor_.rows() == matrix.rows()) {
    Eigen::ConjugateGradient<Matrix, Eigen::Lower | Eigen::Upper, OtherFactor> gradients;
    gradients.preconditioner().is(factor_);
    gradients.setMaxIterations(kMostSteps).setTolerance(kResidual);
    gradients.compute(matrix);
    Eigen::VectorXd found = gradients.solveWithGuess(right, guess);
    if (gradients.info() == Eigen::Success) return found;
  }
  factor_.compute(matrix);
  ++factors_;
  return factor_.solve(right);
}

}  // namespace llmscape::hardware
