// SPDX-License-Identifier: Apache-2.0
// Values that cross a pipe come out as they went in, bit for bit, and bytes that are no such value are refused.
#include "base/message.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace llmscape;

namespace {

enum class Colour : std::uint8_t { red, green };

struct Inner {
  double value = 0;
  std::optional<std::string> note;
  template <class Message>
  void cross(Message& m) {
    m(value, note);
  }
  bool operator==(const Inner&) const = default;
};

struct Outer {
  std::int64_t count = 0;
  bool ok = false;
  Colour colour = Colour::red;
  std::vector<Inner> inner;
  std::vector<std::pair<std::string, double>> named;
  std::optional<std::optional<std::string>> twice;
  template <class Message>
  void cross(Message& m) {
    m(count, ok, colour, inner, named, twice);
  }
  bool operator==(const Outer&) const = default;
};

}  // namespace

TEST_CASE("a struct comes out as it went in: each member, nothing and nothing twice apart") {
  const std::string zeros("a\0b", 3);
  const Outer empty;
  const Outer full{-7,
                   true,
                   Colour::green,
                   {{0.1, "x"}, {-1e300, std::nullopt}},
                   {{zeros, 1e-310}, {"", 2}},
                   std::optional<std::string>()};
  CHECK(decode<Outer>(encode(empty)) == empty);
  CHECK(decode<Outer>(encode(full)) == full);
  Outer other = full;
  other.twice = std::nullopt;
  CHECK_FALSE(decode<Outer>(encode(other)) == full);
}

TEST_CASE("numbers keep their bits") {
  for (const double value : {0.1 + 0.2, -0.0, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::denorm_min()})
    CHECK(std::bit_cast<std::uint64_t>(decode<double>(encode(value))) == std::bit_cast<std::uint64_t>(value));
}

TEST_CASE("sizes: 8 bytes before a text and its own, 8 for a number") {
  CHECK(encode(std::string("four")).size() == 8 + 4);
  CHECK(encode(std::vector<double>{1, 2, 3}).size() == 8 + 3 * 8);
}

TEST_CASE("bytes that end too early, or go on, are refused") {
  const std::string bytes = encode(std::vector<std::string>{"one", "two"});
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    CAPTURE(size);
    CHECK_THROWS_AS(decode<std::vector<std::string>>(bytes.substr(0, size)), std::runtime_error);
  }
  CHECK_THROWS_AS(decode<std::vector<std::string>>(bytes + "x"), std::runtime_error);
}
