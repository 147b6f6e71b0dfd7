// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "hardware/retrieval/retrieval.hpp"
#include "sim/result/result.hpp"
#include "sim/serving/gateway/program_runner.hpp"

namespace llmscape::result {

// What the searches of a run took until `end`. `retrieval`: the hosts, if there are any.
std::vector<RetrievalResult> retrieval_results(const std::optional<hardware::Retrieval>& retrieval,
                                               const serving::ProgramRunner& programs, Seconds end);

// "4 x xeon-8480-2s"
std::string name_of_hosts(const hardware::Retrieval& retrieval);

// What the hosts draw whether they search or not.
Watts idle_power(const hardware::Retrieval& retrieval);
// All that they spend over a `length` of time in which their cores were taken for `searching`, summed.
Joules retrieval_joules(const hardware::Retrieval& retrieval, Seconds searching, Seconds length);
// Of it, what they spend beyond their idle power on cores that were taken.
Joules joules_of_searching(const hardware::Retrieval& retrieval, Seconds searching);

}  // namespace llmscape::result
