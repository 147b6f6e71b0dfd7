// SPDX-License-Identifier: Apache-2.0
#include "hardware/calibration/near_solver.hpp"

#include <doctest/doctest.h>

#include "tests/support/approx.hpp"

using llmscape::hardware::NearSolver;

namespace {

// A chain of springs of stiffness `between` its `size` points, each held to its place by `held`.
NearSolver::Matrix chain(int size, double between, double held) {
  NearSolver::Matrix matrix(size, size);
  for (int i = 0; i < size; ++i) {
    matrix.coeffRef(i, i) += held;
    if (i + 1 == size) break;
    matrix.coeffRef(i, i) += between;
    matrix.coeffRef(i + 1, i + 1) += between;
    matrix.coeffRef(i, i + 1) -= between;
    matrix.coeffRef(i + 1, i) -= between;
  }
  return matrix;
}

}  // namespace

TEST_CASE("systems near one that was factorised are solved as exactly without a factor of their own") {
  NearSolver solver;
  const Eigen::VectorXd right = Eigen::VectorXd::Constant(200, 3), guess = Eigen::VectorXd::Zero(200);
  // Under equal forces a chain does not bend: each point moves by 3 / held.
  for (const double held : {0.5, 0.6, 1.5}) {
    const Eigen::VectorXd moved = solver.solve(chain(200, 20, held), right, guess);
    CHECK((moved.array() - 3 / held).abs().maxCoeff() < 1e-11);
  }
  CHECK(solver.factors() == 1);
  // Where one end alone is pulled, they fall by x + 1/x = 2 + held / between from point to point.
  Eigen::VectorXd pulled = Eigen::VectorXd::Zero(200);
  pulled[0] = 1;
  const Eigen::VectorXd moved = solver.solve(chain(200, 20, 10), pulled, guess);  // x = 0.5
  for (int i = 0; i < 8; ++i) CHECK(moved[i + 1] / moved[i] == llmscape::testing::approx(0.5).epsilon(1e-9));
}

TEST_CASE("a system that is far from the last, or of another size, gets a factor of its own") {
  NearSolver solver;
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(400);
  solver.solve(chain(400, 1, 1e-3), Eigen::VectorXd::Constant(400, 1), none);
  CHECK(solver.factors() == 1);
  Eigen::VectorXd pulled = none;
  pulled[0] = 1;
  // Points without neighbours: each moves for itself.
  const Eigen::VectorXd alone = solver.solve(chain(400, 0, 2), pulled, none);
  CHECK(solver.factors() == 2);
  CHECK(alone[0] == 0.5);
  CHECK(alone[1] == 0);
  CHECK(solver.solve(chain(3, 0, 4), Eigen::VectorXd::Constant(3, 1), Eigen::VectorXd::Zero(3))[2] == 0.25);
  CHECK(solver.factors() == 3);
}
