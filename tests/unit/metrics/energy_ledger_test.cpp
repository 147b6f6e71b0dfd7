// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/energy_ledger.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace llmscape::metrics {

TEST_CASE("the ledger adds up by component and by group") {
  EnergyLedger ledger;
  ledger.spend("gpu", 0, Joules(1));
  ledger.spend("edge", kStatic, Joules(20));
  ledger.spend("gpu", kStatic, Joules(300));
  CHECK(ledger.sums()[0] == Joules(1));
  CHECK(ledger.sums()[kStatic] == Joules(320));
  CHECK(ledger.total() == Joules(321));
  CHECK(EnergyLedger::total_of(ledger.by_group().at("gpu")) == Joules(301));
  CHECK(ledger.by_group().begin()->first == "edge");
  CHECK(name_of_spending(0) == "active");
  CHECK(name_of_spending(1) == "compute");
  CHECK(name_of_spending(kStatic) == "static");
}

TEST_CASE("a ledger that is not the integral of power breaks INV-6") {
  EnergyLedger ledger;
  ledger.spend("gpu", 0, Joules(1e6));
  CHECK_NOTHROW(ledger.check(Joules(1e6 + 1e-4)));
  CHECK_THROWS_WITH_AS(ledger.check(Joules(1e6 + 1)), doctest::Contains("INV-6"), std::logic_error);
  CHECK_NOTHROW(EnergyLedger().check(Joules()));
}

}  // namespace llmscape::metrics
