// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/gateway_fields.hpp"

namespace llmscape::scenario {

const Fields<AdmissionConfig>& admission_fields() {
  static const Fields<AdmissionConfig> fields = [] {
    Fields<AdmissionConfig> f("admission", "how many calls are let in");
    f.add("max_outstanding", &AdmissionConfig::max_outstanding,
          "most calls sent to replicas and not answered; others wait in the gateway, by priority")
        .at_least(1);
    f.add("max_waiting", &AdmissionConfig::max_waiting, "most calls that wait in the gateway; more are dropped")
        .at_least(0);
    return f;
  }();
  return fields;
}

const Fields<FrontEndConfig>& front_end_fields() {
  static const Fields<FrontEndConfig> fields = [] {
    Fields<FrontEndConfig> f("front_end", "the process in front of the engines, which takes one call after the other");
    f.add("per_call", &FrontEndConfig::per_call, "time of a call: HTTP, validation, dispatch").at_least(0);
    f.add("per_token", &FrontEndConfig::per_token, "time of each prompt token: tokenisation").at_least(0);
    return f;
  }();
  return fields;
}

}  // namespace llmscape::scenario
