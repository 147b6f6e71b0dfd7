// SPDX-License-Identifier: Apache-2.0
#include "models/format.hpp"

#include <doctest/doctest.h>

using namespace llmscape::models;

TEST_CASE("bytes of a weight with its share of the scales") {
  const auto bytes = [](std::string_view name) { return format_named(name).value().bytes_with_scales(); };
  CHECK(bytes("fp32") == 4);
  CHECK(bytes("bf16") == 2);
  CHECK(bytes("fp8") == 1);
  CHECK(bytes("int8") == 1);
  CHECK(bytes("int4") == 0.5 + 2.0 / 128);  // 4.125 bits
  CHECK(bytes("nvfp4") == 0.5 + 1.0 / 16);  // 4.5 bits
  CHECK(bytes("mxfp4") == 0.5 + 1.0 / 32);  // 4.25 bits
  CHECK(bytes("q4_0") == 0.5 + 2.0 / 32);   // 4.5 bits
  CHECK(bytes("fp8_block") == 1 + 4.0 / (128 * 128));
}

TEST_CASE("every name in the list is a format of that name, and no other is") {
  for (const std::string& name : format_names()) CHECK(format_named(name).value().name == name);
  CHECK_FALSE(format_named("int5").has_value());
  CHECK_FALSE(format_named("").has_value());
}

TEST_CASE("weights set by hand replace what the checkpoint does with attention, experts and embeddings") {
  ModelSpec model;
  Precision& precision = model.precision;
  precision.experts = format_named("mxfp4");
  precision.embeddings = format_named("fp16");
  precision.attention = format_named("bf16");
  precision.attention_output = format_named("nvfp4");
  model.groups.resize(1);
  model.groups[0].own_attention = model.groups[0].own_dense = format_named("fp8");
  set_weights(model, *format_named("int8"));
  CHECK(precision.weights.name == "int8");
  CHECK(precision.expert_weights().name == "int8");
  CHECK(precision.embedding_weights().name == "int8");
  CHECK(precision.attention_weights().name == "int8");
  CHECK(precision.output_weights().name == "int8");
  CHECK(model.groups[0].output_weights(precision).name == "int8");
  CHECK(model.groups[0].dense_weights(precision).name == "int8");
}
