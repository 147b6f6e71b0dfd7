// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

namespace llmscape::hardware {

// Solves symmetric positive definite systems one after the other that are near each other: normal matrices of the same
// points in which rows weigh differently, or a fifth of them is left out. To factorise one takes some hundred times as
// long as to apply its factor, and conjugate gradients that the last factor preconditions need a few tens of steps. The
// answer is as exact as that of a factor of its own, which is made where they need more.
class NearSolver {
 public:
  using Matrix = Eigen::SparseMatrix<double>;

  // The x of `matrix` x = `right`. `guess` is where to begin.
  Eigen::VectorXd solve(const Matrix& matrix, const Eigen::VectorXd& right, const Eigen::VectorXd& guess);

  [[nodiscard]] int factors() const { return factors_; }  // that were made

 private:
  Eigen::SimplicialLDLT<Matrix> factor_;
  int factors_ = 0;
};

}  // namespace llmscape::hardware
