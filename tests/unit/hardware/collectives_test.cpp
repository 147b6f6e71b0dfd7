// SPDX-License-Identifier: Apache-2.0
#include "hardware/collectives.hpp"
#include "hardware_fixtures.hpp"

#include <cmath>

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
  const Links nccl = only(catalog_gpu("h100-sxm").links, "NCCL");
  CHECK(micros(nccl, Kind::all_reduce, 65536, 8) == doctest::Approx(18.04).epsilon(3e-4));
  CHECK(micros(nccl, Kind::all_reduce, 1 << 20, 8) == doctest::Approx(29.01).epsilon(3e-4));
  CHECK(micros(nccl, Kind::all_reduce, 64 << 20, 8) == doctest::Approx(331.3).epsilon(3e-4));
  CHECK(micros(nccl, Kind::all_reduce, 0, 8) == doctest::Approx(15.3));
}

TEST_CASE("the engine's own all-reduce is taken where it is faster") {
  const Links links = catalog_gpu("h100-sxm").links;
  const Links nccl = only(links, "NCCL"), custom = only(links, "custom");
  CHECK(micros(custom, Kind::all_reduce, 1 << 20, 8) == doctest::Approx(15.08).epsilon(3e-4));  // measured: 15.0
  CHECK(micros(links, Kind::all_reduce, 1 << 20, 8) == micros(custom, Kind::all_reduce, 1 << 20, 8));
  CHECK(micros(links, Kind::all_reduce, 256 << 20, 2) == micros(nccl, Kind::all_reduce, 256 << 20, 2));
}

TEST_CASE("one rank communicates nothing") {
  const Links links = catalog_gpu("h100-sxm").links;
  CHECK(micros(links, Kind::all_reduce, 1e9, 1) == 0);
  CHECK(moved({Kind::all_reduce, 1e9, 1}).si() == 0);
}

TEST_CASE("a ring moves 2 (n-1)/n of the tensor for an all-reduce and half of that for its parts") {
  CHECK(moved({Kind::all_reduce, 800, 8}).si() == doctest::Approx(1400));
  CHECK(moved({Kind::reduce_scatter, 800, 8}).si() == doctest::Approx(700));
  CHECK(moved({Kind::send, 800, 2}).si() == doctest::Approx(800));
}

TEST_CASE("what was not measured falls back: to more ranks, to the all-reduce, to an assumed ring") {
  const Links links = catalog_gpu("h100-sxm").links;
  CHECK(collective_time(links, {Kind::all_reduce, 0, 3}) == collective_time(links, {Kind::all_reduce, 0, 4}));
  CHECK(measured(links, {Kind::all_gather, 1, 2}));
  CHECK(micros(links, Kind::all_gather, 0, 2) == doctest::Approx(4.16));
  CHECK_FALSE(measured(links, {Kind::all_reduce, 1, 16}));
  // 30 hops of 2.5 us, then 1.875 x 1 GB at 450 GB/s
  CHECK(micros(links, Kind::all_reduce, 1e9, 16) == doctest::Approx(30 * 2.5 + 1.875e9 / 450e9 * 1e6));
}

}  // namespace
}  // namespace llmscape::hardware
