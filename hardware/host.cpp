// SPDX-License-Identifier: Apache-2.0
#include "hardware/host.hpp"

namespace llmscape::hardware {

const Fields<HostParameters>& host_fields() {
  static const Fields<HostParameters> fields = [] {
    using P = HostParameters;
    Fields<P> f("host", "the host's time of a step");
    f.add("per_step", &P::per_step, "scheduling and input preparation of a step").required().at_least(0);
    f.add("per_request", &P::per_request, "for each request in the step").required().at_least(0);
    f.add("graph_launch", &P::graph_launch, "launch of a captured graph: of a step, or of a piece of it")
        .required()
        .at_least(0);
    f.add("per_kernel", &P::per_kernel, "an operator that Python launches by itself, outside any graph")
        .required()
        .at_least(0);
    f.add("per_compiled_kernel", &P::per_compiled_kernel,
          "a kernel of compiled code that no graph holds (torch.compile, beyond the captured sizes)")
        .required()
        .at_least(0);
    f.add("per_prefill_step", &P::per_prefill_step,
          "for a step with prompt chunks, on top of the device's time even where scheduling overlaps it")
        .at_least(0);
    add_fit_fields(f);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::hardware
