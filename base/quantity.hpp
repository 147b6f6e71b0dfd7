// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <compare>
#include <string>
#include <string_view>
#include <variant>

namespace llmscape {

// A number with its dimension in the type. The four base dimensions are time (s), data (B), work (FLOP) and energy (J);
// multiplication and division combine them, and a quantity without dimension is a plain double.
template <int Time, int Data, int Work, int Energy>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double si) : si_(si) {}
  // The value in SI units: s, B, FLOP, J and their products.
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
template <int T, int D, int W, int E>
constexpr auto make_quantity(double si) {
  if constexpr (T == 0 && D == 0 && W == 0 && E == 0) {
    return si;
  } else {
    return Quantity<T, D, W, E>(si);
  }
}
}  // namespace detail

template <int T1, int D1, int W1, int E1, int T2, int D2, int W2, int E2>
constexpr auto operator*(Quantity<T1, D1, W1, E1> a, Quantity<T2, D2, W2, E2> b) {
  return detail::make_quantity<T1 + T2, D1 + D2, W1 + W2, E1 + E2>(a.si() * b.si());
}
template <int T1, int D1, int W1, int E1, int T2, int D2, int W2, int E2>
constexpr auto operator/(Quantity<T1, D1, W1, E1> a, Quantity<T2, D2, W2, E2> b) {
  return detail::make_quantity<T1 - T2, D1 - D2, W1 - W2, E1 - E2>(a.si() / b.si());
}
template <int T, int D, int W, int E>
constexpr auto operator/(double a, Quantity<T, D, W, E> b) {
  return detail::make_quantity<-T, -D, -W, -E>(a / b.si());
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
  area
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

// What went wrong with a text that should be a quantity, in words that end a sentence, and the spelling to use instead.
struct QuantityError {
  std::string message;
  std::string suggestion;  // empty if there is none
};

// Parses "3.35 TB/s", "80 GiB", "200 ms", "12/s", "3.9 pJ/bit", "989.5 Tflop/s", "1_000" (a number). Returns the value
// in SI units (an area in m2). A unit is required for every dimension but `number`, behind a 0 too; NaN, infinity,
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
