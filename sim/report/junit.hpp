// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

#include "sim/explore/check.hpp"

namespace llmscape::report {

// A check as JUnit XML, in the shape that Jenkins, GitLab and GitHub's report actions read: a suite for each
// configuration, a case for each metric. WORSE is a failure. What is AMBIGUOUS or BETTER passes, and says so as its
// output.
std::string junit_xml(const explore::Check& check);

}  // namespace llmscape::report
