// SPDX-License-Identifier: Apache-2.0
// Formats of keys and values, against bytes worked out by hand.
#include "models/kv_format.hpp"
#include "models/format.hpp"
#include "models/step_work.hpp"

#include "model_fixtures.hpp"

namespace llmscape::models::kv_format_test {

KvFormatConfig config_of(const std::string& text) {
  KvFormatConfig config;
  Diagnostics diagnostics;
  REQUIRE_MESSAGE(kv_format_fields().read(config, parsed(text), diagnostics), diagnostics.text(false));
  return config;
}

std::string mistakes_of(const std::string& text) {
  KvFormatConfig config;
  Diagnostics diagnostics;
  CHECK_FALSE(kv_format_fields().read(config, parsed(text), diagnostics));
  return diagnostics.text(false);
}

double bytes_per_token(const std::string& name, const std::string& kv) {
  ModelSpec model = catalogued(name);
  model.precision.kv = kv_format_of(config_of(kv));
  double all = 0;
  for (const LayerGroup& group : model.groups) all += group.count * group.state(model.precision).bytes_per_token;
  return all;
}

TEST_CASE("a token's keys and values in their own formats, scales and zero points counted") {
  // Llama-3.1-8B: 32 layers, 8 KV heads of 128: 32,768 elements of keys, as many of values.
  CHECK(bytes_per_token("llama-3.1-8b", "{keys: bf16}") == 131'072);
  CHECK(bytes_per_token("llama-3.1-8b", "{keys: int8}") == 65'536);
  // Two values a byte less where values alone are narrower: int8 and int4 with its 16-bit scale per 128.
  CHECK(bytes_per_token("llama-3.1-8b", "{keys: int8, values: int4}") == 32'768 * (1 + 0.5 + 2.0 / 128));
  // K8V2 as KIVI stores it, a scale and a zero point of 16 bits per 64: 1 + 4/64 and 0.25 + 4/64 bytes.
  const double k8v2 = bytes_per_token("llama-3.1-8b", "{keys: int8, values: int2, group: 64, zero_point: true}");
  CHECK(k8v2 == 45'056);
  // Two bits in place of eight: 1.75 times smaller at most without scales, 1.55 with them, and not 4 times.
  CHECK(bytes_per_token("llama-3.1-8b", "{keys: int8, group: 64, zero_point: true}") / k8v2 == 2.125 / 1.375);
  CHECK(bytes_per_token("llama-3.1-8b", "{keys: int3, group: 32}") == 65'536 * (0.375 + 2.0 / 32));
  // Formats with scales of their own keep them.
  CHECK(bytes_per_token("llama-3.1-8b", "{keys: fp8, values: int4, group: 64}") == 32'768 * (1 + 0.5 + 2.0 / 64));
}

TEST_CASE("attention reads keys and values as they are stored") {
  ModelSpec model = catalogued("llama-3.1-8b");
  model.precision.kv = kv_format_of(config_of("{keys: int8, values: int2, group: 64, zero_point: true}"));
  const std::vector<Attended> attended = {{1000, 1000}};
  for (const Operator& op : attention_work(model, {}, {{}, 1, 1, attended})) {
    const auto& decode = std::get<DecodeAttention>(op.what);
    CHECK(decode.stored_bytes() == 128 * 1.375);
  }
  CHECK(model.precision.kv.name() == "int8 keys and int2 values");
  CHECK(model.precision.kv.bytes() == 0.625);
}

TEST_CASE("latent attention has one entry for both: its format is that of the keys, and no other is taken") {
  CHECK(bytes_per_token("deepseek-v3", "{keys: fp8}") == 61 * 576);
  const ModelSpec model = catalogued("deepseek-v3");
  CHECK(kv_format_problems(kv_format_of(config_of("{keys: fp8}")), model).empty());
  CHECK(kv_format_problems(kv_format_of(config_of("{keys: int8, values: int4}")), model).size() == 1);
}

TEST_CASE("groups and zero points that nothing has are mistakes") {
  CHECK(mistakes_of("{keys: fp8, group: 64}").find("are of integer formats") != std::string::npos);
  CHECK(mistakes_of("{keys: int8, zero_point: true}").find("'zero_point' needs 'group'") != std::string::npos);
  CHECK(mistakes_of("{values: int8}").find("'keys' is required") != std::string::npos);
}

}  // namespace llmscape::models::kv_format_test
