// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <compare>
#include <string>
#include <string_view>
#include <variant>

namespace llmscape {

// A number with its dimension in the type. The base dimensions are time (s), data (B), work (FLOP), energy (J), area
// (m2) and mass (g); multiplication and division combine them, and a quantity without dimension is a plain double.
template <int Time, int Data, int Work, int Energy, int Area = 0, int Mass = 0>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double si) : si_(si) {}
  // The value in base units: s, B, FLOP, J, m2, g and their products.
  [[nodiscard]] constexpr double si() const { return si_; }

  constexpr auto operator<=>(const Quantity&) const = default;
  constexpr Quantity operator-() const { return Quantity(-si_); }
  constexpr Quantity& operator+=(Quantity o) {
    si_ += o.si_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity o) {
    si_ -= o.si_;
    return *this;
  }
  constexpr Quantity& operator*=(double f) {
    si_ *= f;
    return *this;
  }
  constexpr Quantity& operator/=(double f) {
    si_ /= f;
    return *this;
  }
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.si_ + b.si_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.si_ - b.si_); }
  friend constexpr Quantity operator*(Quantity a, double f) { return Quantity(a.si_ * f); }
  friend constexpr Quantity operator*(double f, Quantity a) { return Quantity(f * a.si_); }
  friend constexpr Quantity operator/(Quantity a, double f) { return Quantity(a.si_ / f); }

 private:
  double si_ = 0;
};

namespace detail {
template <int... Exponents>
constexpr auto make_quantity(double si) {
  if constexpr (((Exponents == 0) && ...)) {
    return si;
  } else {
    return Quantity<Exponents...>(si);
  }
}
}  // namespace detail

template <int... A, int... B>
constexpr auto operator*(Quantity<A...> a, Quantity<B...> b) {
  return detail::make_quantity<(A + B)...>(a.si() * b.si());
}
template <int... A, int... B>
constexpr auto operator/(Quantity<A...> a, Quantity<B...> b) {
  return detail::make_quantity<(A - B)...>(a.si() / b.si());
}
template <int... A>
constexpr auto operator/(double a, Quantity<A...> b) {
  return detail::make_quantity<-A...>(a / b.si());
}

using Seconds = Quantity<1, 0, 0, 0>;
using PerSecond = Quantity<-1, 0, 0, 0>;  // rates of events and clock frequencies
using Bytes = Quantity<0, 1, 0, 0>;
using BytesPerSecond = Quantity<-1, 1, 0, 0>;
using Flops = Quantity<0, 0, 1, 0>;  // a multiply-add counts 2; integer operations count the same
using FlopsPerSecond = Quantity<-1, 0, 1, 0>;
using Joules = Quantity<0, 0, 0, 1>;
using Watts = Quantity<-1, 0, 0, 1>;
using JoulesPerByte = Quantity<0, -1, 0, 1>;
using JoulesPerFlop = Quantity<0, 0, -1, 1>;
using PerJoule = Quantity<0, 0, 0, -1>;  // what a unit of energy costs; an amount of money is a plain number
using SquareMetres = Quantity<0, 0, 0, 0, 1, 0>;
using GramsPerJoule = Quantity<0, 0, 0, -1, 0, 1>;

namespace literals {
constexpr Seconds operator""_s(long double v) { return Seconds(static_cast<double>(v)); }
constexpr Seconds operator""_s(unsigned long long v) { return Seconds(static_cast<double>(v)); }
constexpr Seconds operator""_ms(long double v) { return Seconds(static_cast<double>(v / 1e3L)); }
constexpr Seconds operator""_ms(unsigned long long v) { return Seconds(static_cast<double>(v) / 1e3); }
constexpr Seconds operator""_us(long double v) { return Seconds(static_cast<double>(v / 1e6L)); }
constexpr Seconds operator""_us(unsigned long long v) { return Seconds(static_cast<double>(v) / 1e6); }
constexpr Bytes operator""_B(unsigned long long v) { return Bytes(static_cast<double>(v)); }
constexpr Bytes operator""_GB(long double v) { return Bytes(static_cast<double>(v * 1e9L)); }
constexpr Bytes operator""_GB(unsigned long long v) { return Bytes(static_cast<double>(v) * 1e9); }
constexpr Bytes operator""_MiB(unsigned long long v) { return Bytes(static_cast<double>(v) * 1048576.0); }
constexpr Bytes operator""_GiB(unsigned long long v) { return Bytes(static_cast<double>(v) * 1073741824.0); }
constexpr BytesPerSecond operator""_GBps(long double v) { return BytesPerSecond(static_cast<double>(v * 1e9L)); }
constexpr BytesPerSecond operator""_GBps(unsigned long long v) { return BytesPerSecond(static_cast<double>(v) * 1e9); }
constexpr BytesPerSecond operator""_TBps(long double v) { return BytesPerSecond(static_cast<double>(v * 1e12L)); }
constexpr FlopsPerSecond operator""_Tflops(long double v) { return FlopsPerSecond(static_cast<double>(v * 1e12L)); }
constexpr FlopsPerSecond operator""_Tflops(unsigned long long v) {
  return FlopsPerSecond(static_cast<double>(v) * 1e12);
}
constexpr Watts operator""_W(unsigned long long v) { return Watts(static_cast<double>(v)); }
}  // namespace literals

// The kinds of quantity a text can name. `number` is a plain number without a unit.
enum class Dimension {
  number,
  time,
  rate,
  data,
  bandwidth,
  work,
  throughput,
  energy,
  power,
  energy_per_byte,
  energy_per_flop,
  area,
  per_energy,
  mass_per_energy
};
inline constexpr std::array kDimensions = {
    Dimension::number,
    Dimension::time,
    Dimension::rate,
    Dimension::data,
    Dimension::bandwidth,
    Dimension::work,
    Dimension::throughput,
    Dimension::energy,
    Dimension::power,
    Dimension::energy_per_byte,
    Dimension::energy_per_flop,
    Dimension::area,
    Dimension::per_energy,
    Dimension::mass_per_energy,
};

template <class Q>
struct DimensionOf;
template <>
struct DimensionOf<double> {
  static constexpr Dimension value = Dimension::number;
};
template <>
struct DimensionOf<Seconds> {
  static constexpr Dimension value = Dimension::time;
};
template <>
struct DimensionOf<PerSecond> {
  static constexpr Dimension value = Dimension::rate;
};
template <>
struct DimensionOf<Bytes> {
  static constexpr Dimension value = Dimension::data;
};
template <>
struct DimensionOf<BytesPerSecond> {
  static constexpr Dimension value = Dimension::bandwidth;
};
template <>
struct DimensionOf<Flops> {
  static constexpr Dimension value = Dimension::work;
};
template <>
struct DimensionOf<FlopsPerSecond> {
  static constexpr Dimension value = Dimension::throughput;
};
template <>
struct DimensionOf<Joules> {
  static constexpr Dimension value = Dimension::energy;
};
template <>
struct DimensionOf<Watts> {
  static constexpr Dimension value = Dimension::power;
};
template <>
struct DimensionOf<JoulesPerByte> {
  static constexpr Dimension value = Dimension::energy_per_byte;
};
template <>
struct DimensionOf<JoulesPerFlop> {
  static constexpr Dimension value = Dimension::energy_per_flop;
};
template <>
struct DimensionOf<SquareMetres> {
  static constexpr Dimension value = Dimension::area;
};
template <>
struct DimensionOf<PerJoule> {
  static constexpr Dimension value = Dimension::per_energy;
};
template <>
struct DimensionOf<GramsPerJoule> {
  static constexpr Dimension value = Dimension::mass_per_energy;
};

// What went wrong with a text that should be a quantity, in words that end a sentence, and the spelling to use instead.
struct QuantityError {
  std::string message;
  std::string suggestion;  // empty if there is none
};

// Parses "3.35 TB/s", "80 GiB", "200 ms", "12/s", "3.9 pJ/bit", "989.5 Tflop/s", "1_000" (a number). Returns the value
// in base units. A unit is required for every dimension but `number`, behind a 0 too; NaN, infinity,
// leading zeros and hexadecimal are refused.
std::variant<double, QuantityError> parse_quantity(std::string_view text, Dimension dimension);

// The shortest text that parse_quantity reads back to exactly `si`, in the units of base/units.cpp that are printed:
// binary prefixes where that is shorter ("80 GiB"), else decimal ones ("3.35 TB/s"), an exponent where no prefix
// reaches.
std::string format_quantity(double si, Dimension dimension);

template <class Q>
std::string format(Q q) {
  return format_quantity(q.si(), DimensionOf<Q>::value);
}

// An example of how the dimension is spelled, for error messages and schemas: "3.35 TB/s".
std::string_view example_of(Dimension dimension);
// A regular expression (ECMA-262) that accepts the texts of the dimension; empty for `number`.
std::string pattern_of(Dimension dimension);
// The word for messages and docs: "bandwidth", "time", ...
std::string_view name_of(Dimension dimension);

}  // namespace llmscape
