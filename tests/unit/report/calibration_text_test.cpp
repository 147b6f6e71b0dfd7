// SPDX-License-Identifier: Apache-2.0
#include "sim/report/calibration.hpp"

#include <doctest/doctest.h>

namespace llmscape::report {

TEST_CASE("the table of errors names the part of a family that a line is of, and not the form of a whole one") {
  hardware::FamilyReport whole, part;
  whole.family = part.family = "energy";
  whole.form = "physical + residual table";
  whole.data = "50 rows";
  part.form = "dense, bf16";
  part.data = "23 of these";
  const std::string text = calibration_text({whole, part}, 200);
  CHECK(text.find("\nenergy  ") != std::string::npos);
  CHECK(text.find("\nenergy: dense, bf16  23 of these") != std::string::npos);
  CHECK(text.find("residual table") == std::string::npos);
}

}  // namespace llmscape::report
