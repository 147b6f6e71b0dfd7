// SPDX-License-Identifier: Apache-2.0
#include "hardware/gpu/state_kernels.hpp"

#include "hardware/state_work.hpp"
#include "hardware_fixtures.hpp"
#include "tests/support/approx.hpp"

namespace llmscape::hardware::state_kernels_test {
namespace {

using llmscape::testing::approx;

models::StateUpdate update_of(std::int64_t sequences, std::int64_t tokens, int key_heads, int heads, bool scan) {
  models::StateUpdate u;
  u.form = models::StateForm::gated_delta;
  u.scan = scan;
  u.sequences = sequences;
  u.tokens = tokens;
  u.heads = heads;
  u.key_heads = key_heads;
  u.key_dim = u.value_dim = 128;
  u.convolution = 4;
  return u;
}

double microseconds(const Gpu& gpu, const models::StateUpdate& u) {
  return 1e6 * state_cost(gpu, gpu.state_of(u.form), u).time.si();
}

// Rows of gdn.csv of an H100 (ai-dynamo/aiconfigurator @ 095f58a): the kernel and its convolution together.
TEST_CASE("an H100's gated delta rule is near its measured rows") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  // 1,024 decodes, 16 heads, 4,096 channels: 722.8 us, and their convolution at most what it streams.
  CHECK(microseconds(gpu, update_of(1024, 1024, 8, 16, false)) == approx(722.8 + 30).epsilon(0.03));
  // 4 prompts of 1,024 tokens, 4 heads: 58.7 us; 16 of them, 64 heads: 460.2 us, in 8 waves.
  CHECK(microseconds(gpu, update_of(4, 4096, 4, 4, true)) == approx(58.7 + 12).epsilon(0.1));
  CHECK(microseconds(gpu, update_of(16, 16384, 16, 64, true)) > 460);
}

TEST_CASE("decodes stream their states; a lone prompt takes as long with one head as with as many as there are SMs") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  // By hand: 64 sequences x 32 heads x 128 x 128 x 4 bytes, read and written, at 88.74 % of 3.35 TB/s: 90.3 us.
  const double streamed = 2.0 * 64 * 32 * 128 * 128 * 4 / (0.8874 * 3.35e12) * 1e6;
  const double cost = microseconds(gpu, update_of(64, 64, 16, 32, false));
  CHECK(cost > streamed);
  CHECK(cost < 1.15 * streamed);
  const double one = microseconds(gpu, update_of(1, 8192, 1, 1, true)),
               many = microseconds(gpu, update_of(1, 8192, 32, 32, true));
  CHECK(one / 8192 == approx(0.0446).epsilon(0.1));  // 2.835 us for 64 tokens
  CHECK(many < 2 * one);                             // of 32 times the work; the convolution before it streams
  CHECK(microseconds(gpu, update_of(2, 2 * 8192, 1, 1, true)) < 1.05 * one);
}

// 32 heads of 128 x 128 at 4 bytes: S = 2 MiB of states; 8,192 channels at 2 bytes, of which the convolution keeps 3.
TEST_CASE("states of decodes are read once and written after each token, in bytes as in time") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  const double state = 32.0 * 128 * 128 * 4, channels = 8192 * 2, values = 32 * 128 * 2;
  const auto bytes = [&](std::int64_t tokens) { return load_of(update_of(64, 64 * tokens, 16, 32, false)).bytes; };
  CHECK(bytes(1) == 64 * (2 * state + 6 * channels + channels + values));
  CHECK(bytes(5) == 64 * (6 * state + 10 * channels + 5 * (channels + values)));
  CHECK(state_cost(gpu, gpu.state_of(models::StateForm::gated_delta), update_of(64, 320, 16, 32, false)).bytes.si() ==
        bytes(5));
  // Some of them late: one token each.
  CHECK(load_of(update_of(64, 64 + 4 * 10, 16, 32, false)).bytes == approx((54 * bytes(1) + 10 * bytes(5)) / 64));
  // A prompt's states are read and written once.
  CHECK(load_of(update_of(1, 320, 16, 32, true)).bytes - load_of(update_of(1, 64, 16, 32, true)).bytes ==
        256 * (3 * channels + values));
}

TEST_CASE("where the chunks of a prompt are scanned at once, each one's states pass memory three times") {
  const Gpu gpu = catalog_gpu("h100-sxm");
  models::StateUpdate u = update_of(2, 2 * 1024, 16, 32, true);
  u.form = models::StateForm::mamba2;
  // 8 chunks of 128 tokens: 24 states of each prompt, where one chunk after another would move two.
  const double states = 2 * 32.0 * 128 * 128 * 4;
  CHECK(state_cost(gpu, gpu.state_of(u.form), u).bytes.si() == approx(load_of(u).bytes + 22 * states));
  u.form = models::StateForm::gated_delta;
  CHECK(state_cost(gpu, gpu.state_of(u.form), u).bytes.si() == load_of(u).bytes);
}

TEST_CASE("forms that were not timed on a GPU are priced as on an H100, and said to be") {
  const Gpu gpu = catalog_gpu("l4");
  CHECK(gpu.state_kernels.empty());
  CHECK(microseconds(gpu, update_of(64, 64, 16, 32, false)) >
        5 * microseconds(catalog_gpu("h100-sxm"), update_of(64, 64, 16, 32, false)));
}

}  // namespace
}  // namespace llmscape::hardware::state_kernels_test
