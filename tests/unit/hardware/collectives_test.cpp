// SPDX-License-Identifier: Apache-2.0
#include "hardware/collectives.hpp"
#include "hardware_fixtures.hpp"
#include "tests/support/approx.hpp"

#include <cmath>

using llmscape::testing::approx;

namespace llmscape::hardware {
namespace {

using Kind = models::Collective::Kind;

double micros(const Links& links, Kind kind, double bytes, int ranks) {
  return collective_time(links, {kind, bytes, ranks}).si() * 1e6;
}

// The rows of one software alone.
Links only(Links links, const std::string& software) {
  std::erase_if(links.collectives,
                [&](const CollectiveFit& fit) { return fit.source.find(software) == std::string::npos; });
  return links;
}

TEST_CASE("an NCCL all-reduce over eight H100 costs what was fitted") {
  const Links nccl = only(worked_gpu("h100-sxm").links, "NCCL");
  CHECK(micros(nccl, Kind::all_reduce, 65536, 8) == approx(18.04).epsilon(3e-4));
  CHECK(micros(nccl, Kind::all_reduce, 1 << 20, 8) == approx(29.01).epsilon(3e-4));
  CHECK(micros(nccl, Kind::all_reduce, 64 << 20, 8) == approx(331.3).epsilon(3e-4));
  CHECK(micros(nccl, Kind::all_reduce, 0, 8) == approx(15.3));
}

TEST_CASE("the engine's own all-reduce is taken where it is faster") {
  const Links links = catalog_gpu("h100-sxm").links;
  const Links nccl = only(links, "NCCL"), custom = only(links, "vllm_graph");
  // (4.455 + 1,835,008 B / 737.4 GB/s + 6.035 ns sqrt(1,835,008)) us, less 1 % of its logarithm; measured: 15.0
  CHECK(micros(custom, Kind::all_reduce, 1 << 20, 8) == approx(14.97).epsilon(3e-4));
  CHECK(micros(links, Kind::all_reduce, 1 << 20, 8) == micros(custom, Kind::all_reduce, 1 << 20, 8));
  CHECK(micros(links, Kind::all_reduce, 256 << 20, 2) == micros(nccl, Kind::all_reduce, 256 << 20, 2));
}

TEST_CASE("one rank communicates nothing") {
  const Links links = catalog_gpu("h100-sxm").links;
  CHECK(micros(links, Kind::all_reduce, 1e9, 1) == 0);
  CHECK(moved({Kind::all_reduce, 1e9, 1}).si() == 0);
}

TEST_CASE("a ring moves 2 (n-1)/n of the tensor for an all-reduce and half of that for its parts") {
  CHECK(moved({Kind::all_reduce, 800, 8}).si() == approx(1400));
  CHECK(moved({Kind::reduce_scatter, 800, 8}).si() == approx(700));
  CHECK(moved({Kind::send, 800, 2}).si() == approx(800));
}

TEST_CASE("ranks that differ wait for the fullest and move what they have on average") {
  Links links = worked_gpu("h100-sxm").links;
  models::Collective exchange{Kind::all_to_all, 800, 8};
  const Seconds time = collective_time(links, exchange);
  CHECK(average_moved(exchange) == moved(exchange));
  exchange.average = 160;
  CHECK(collective_time(links, exchange) == time);
  CHECK(moved(exchange).si() == approx(700));
  CHECK(average_moved(exchange).si() == approx(140));
  Links plain;
  plain.bandwidth.value = BytesPerSecond(100);
  plain.latency.value = Seconds(1);
  CHECK(collective_time(plain, exchange).si() == approx(1 + 7));  // all messages at once
  CHECK(average_wait(plain, exchange).si() == approx(7 - 1.4));
  CHECK(average_wait(plain, {Kind::all_to_all, 800, 8}).si() == 0);
  // Between two domains of four: all of it, of which half stays.
  links.domain = Domain{4, {BytesPerSecond(50e9)}, {Seconds(1e-6)}};
  exchange.stride = 2;  // two of them in a domain
  const auto between = between_domains(links, exchange);
  REQUIRE(between);
  CHECK(between->ranks == 4);
  CHECK(average_moved(*between).si() == approx(120));
  CHECK(moved(*between).si() == approx(600));
}

TEST_CASE("what was not measured falls back: to more ranks, to the all-reduce, to an assumed ring") {
  Links links = worked_gpu("h100-sxm").links;
  CHECK(collective_time(links, {Kind::all_reduce, 0, 3}) == collective_time(links, {Kind::all_reduce, 0, 4}));
  CHECK(measured(links, {Kind::all_gather, 1, 2}));
  CHECK(micros(links, Kind::all_gather, 0, 2) == approx(4.2));
  links.domain.reset();
  CHECK_FALSE(measured(links, {Kind::all_reduce, 1, 16}));
  // 30 hops of 2.5 us, then 1.875 x 1 GB at 450 GB/s
  CHECK(micros(links, Kind::all_reduce, 1e9, 16) == approx(30 * 2.5 + 1.875e9 / 450e9 * 1e6));
}

// Two cards on PCIe that were measured at 16 GB/s, links of 40 GB/s and 3 us a hop: four are no faster than two.
TEST_CASE("a ring of more ranks than were measured has no more bandwidth than the widest that was") {
  const Links links = catalog_gpu("rtx-pro-6000").links;
  const double bytes = 8.192e6;
  CHECK(micros(links, Kind::all_reduce, bytes, 2) == approx(20 + bytes / 16e9 * 1e6));
  CHECK(micros(links, Kind::all_reduce, bytes, 4) == approx(6 * 3 + 1.5 * bytes / 16e9 * 1e6));
  CHECK(micros(links, Kind::all_reduce, bytes, 4) > micros(links, Kind::all_reduce, bytes, 2));
  // All-reduces stand for the kinds that nobody measured there, beyond their ranks too.
  CHECK(micros(links, Kind::all_gather, bytes, 4) == approx(3 * 3 + 0.75 * bytes / 16e9 * 1e6));
}

// Eight devices at 400 GB/s and 2 us a hop, 50 GB/s and 10 us from one such group to the next.
Links domains_of_eight() {
  Links links;
  links.bandwidth.value = BytesPerSecond(400e9);
  links.latency.value = Seconds(2e-6);
  links.domain.emplace();
  links.domain->devices = 8;
  links.domain->outer_bandwidth.value = BytesPerSecond(50e9);
  links.domain->outer_latency.value = Seconds(10e-6);
  return links;
}

TEST_CASE("between domains an all-reduce is reduce-scatter inside, all-reduce of a share between, all-gather inside") {
  const Links links = domains_of_eight();
  const double inside = 7 * 2 + 7.0 / 8 * 1e9 / 400e9 * 1e6;
  const double two = 2 * 10 + 2.0 / 2 * 1e9 / 8 / 50e9 * 1e6, four = 6 * 10 + 2 * 3.0 / 4 * 1e9 / 8 / 50e9 * 1e6;
  CHECK(micros(links, Kind::all_reduce, 1e9, 16) == approx(2 * inside + two));
  CHECK(micros(links, Kind::all_reduce, 1e9, 32) == approx(2 * inside + four));
  CHECK(micros(links, Kind::all_reduce, 1e9, 8) == approx(2 * inside));
  // Twelve ranks lie as six and six.
  CHECK(micros(links, Kind::all_reduce, 0, 12) == approx(2 * 5 * 2 + 2 * 10));
}

TEST_CASE("the other collectives cross domains once, with a device's share or all that it sends") {
  const Links links = domains_of_eight();
  const double inside = 7 * 2 + 7.0 / 8 * 1e9 / 400e9 * 1e6;
  const double share = 10 + 1.0 / 2 * 1e9 / 8 / 50e9 * 1e6, all = 10 + 1.0 / 2 * 1e9 / 50e9 * 1e6;
  CHECK(micros(links, Kind::all_gather, 1e9, 16) == approx(inside + share));
  CHECK(micros(links, Kind::reduce_scatter, 1e9, 16) == approx(inside + share));
  CHECK(micros(links, Kind::all_to_all, 1e9, 16) == approx(inside - 6 * 2 + all));
  // Its messages go out at once: small ones take as long over eight domains as over two, where a ring has seven hops.
  CHECK(micros(links, Kind::all_to_all, 0, 64) == approx(2 + 10));
  CHECK(micros(links, Kind::all_gather, 0, 64) == approx(7 * 2 + 7 * 10));
}

// DeepSeek-V3's tokens of a prompt over 32 ranks in four domains: a domain is reached by 1 - 15 / 70 of them, of which
// a quarter are there already.
TEST_CASE("tokens that go once to each rank of their experts go once to each domain of them") {
  const Links links = domains_of_eight();
  const models::Routing routing{256, 8, 8, 4};
  const double tokens = 1e9;  // bytes of a rank's
  models::Collective sent{Kind::all_to_all, tokens * distinct_ranks(routing, 32), 32};
  sent.routing = routing;
  CHECK(moved(*between_domains(links, sent)).si() == approx(tokens * 3 * (1 - 15.0 / 70)));
  sent.routing.reset();  // once for each of them
  CHECK(moved(*between_domains(links, sent)).si() == approx(sent.bytes * 3 / 4));
  // Inside a domain, nothing else: as without.
  sent = {Kind::all_to_all, tokens * distinct_ranks(routing, 8), 8};
  const Seconds before = collective_time(links, sent);
  sent.routing = routing;
  CHECK(collective_time(links, sent) == before);
}

TEST_CASE("ranks that lie a domain apart meet between the domains only") {
  const Links links = domains_of_eight();
  CHECK(collective_time(links, {Kind::send, 1e9, 2, 4}).si() == approx(2e-6 + 1e9 / 400e9));
  CHECK(collective_time(links, {Kind::send, 1e9, 2, 8}).si() == approx(10e-6 + 1e9 / 50e9));
  CHECK(collective_time(links, {Kind::all_gather, 1e9, 4, 8}).si() == approx(3 * 10e-6 + 0.75 * 1e9 / 50e9));
}

// Of 16 devices in two domains. Four stages of four: 1 GB leaves the domain once of three times, 10 us + 20 ms, and
// stays inside twice, 2 us + 2.5 ms. Sixteen of one leave it once of 15 times.
TEST_CASE("of the sends of a pipeline those between stages of two domains leave them") {
  const Links links = domains_of_eight();
  const double outside = 10e-6 + 1e9 / 50e9, inside = 2e-6 + 1e9 / 400e9;
  const auto sends = [&](int devices, int stages) {
    models::Collective send{Kind::send, 1e9, 2, devices};
    send.stages = stages;
    return (stages - 1) * collective_time(links, send).si();
  };
  CHECK(sends(4, 4) == approx(outside + 2 * inside));
  CHECK(sends(1, 16) == approx(outside + 14 * inside));
  CHECK(sends(4, 2) == approx(inside));
  CHECK(sends(8, 4) == approx(3 * outside));
  // Of stages of three the third lies in both domains: the sends to it and from it leave one.
  CHECK(sends(3, 4) == approx(2 * outside + inside));
}

TEST_CASE("inside a domain the measured rows count, and nothing is left to warn of") {
  const Links links = catalog_gpu("h100-sxm").links;
  REQUIRE(links.domain);
  CHECK(measured(links, {Kind::all_reduce, 1, 16}));
  const double between = 2 * 19 + 1e9 / 8 / 36e9 * 1e6;  // of two domains
  CHECK(micros(links, Kind::all_reduce, 1e9, 16) ==
        approx(micros(links, Kind::reduce_scatter, 1e9, 8) + micros(links, Kind::all_gather, 1e9, 8) + between));
  // GB200's domain is the rack: 16 of its devices pay no outer link.
  Links rack = domains_of_eight();
  rack.domain->devices = 72;
  CHECK(micros(rack, Kind::all_reduce, 1e9, 16) < micros(domains_of_eight(), Kind::all_reduce, 1e9, 16));
}

}  // namespace
}  // namespace llmscape::hardware
