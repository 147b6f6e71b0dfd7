// SPDX-License-Identifier: Apache-2.0
#include "sim/observe/observed.hpp"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

namespace llmscape::observe {

TEST_CASE("a course of any length keeps its mean in bounded memory") {
  Course course;
  constexpr int kSamples = 1'000'000;
  for (int i = 0; i < kSamples; ++i) course.add(i, i % 10);
  CHECK(course.samples().size() < Course::kMost);
  CHECK(course.samples().size() > Course::kMost / 4);
  double sum = 0, weight = 0;
  for (const auto& s : course.samples()) {
    sum += s.value * s.weight;
    weight += s.weight;
  }
  CHECK(sum / weight == doctest::Approx(4.5).epsilon(0.001));
  CHECK(weight > 0.99 * kSamples);
}

TEST_CASE("figures by hand: three requests and two devices") {
  Observed observed;
  observed.requests = {{10, 100, 11, 0.5, 1.5}, {12, 100, 1, 0.25, 0.25}, {11, 100, 21, 1.0, 3.0}};
  for (const double at : {0.0, 1.0, 2.0, 90.0}) {
    observed.courses[quantity::kPower]["0"].add(at, at < 50 ? 300 : 10);
    observed.courses[quantity::kPower]["1"].add(at, 100);
  }
  align(observed);
  CHECK(observed.requests[2].arrival == 2);
  const auto all = figures(observed);
  CHECK(all.at("ttft_s.mean") == doctest::Approx(1.75 / 3));
  CHECK(all.at("ttft_s.p50") == 0.5);
  CHECK(all.at("tpot_s.mean") == doctest::Approx(0.1));
  CHECK(all.at("output_tokens_per_s") == doctest::Approx(33 / 4.0));  // until the last token, 4 s after the first call
  CHECK(all.at("mean_w") == doctest::Approx(400));                    // while requests were served
  const auto json = nlohmann::json::parse(to_json(observed));
  CHECK(json["schema"] == "observed/1");
  CHECK(json["requests"] == 3);
  CHECK(json["courses"]["power_w"][0][1] == 400);
  CHECK(trace_text(observed).find("{\"arrival_s\": 1, \"prompt_tokens\": 100, \"output_tokens\": 21}") !=
        std::string::npos);
}

}  // namespace llmscape::observe
