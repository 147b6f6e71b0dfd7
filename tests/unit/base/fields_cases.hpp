// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "base/fields.hpp"
#include "tests/unit/base/reading.hpp"

// Structs with fields of every kind, and how tests read and write them.
namespace llmscape::fields_cases {

using namespace llmscape::literals;
using test::messages, test::read, test::tree;

enum class Law { related, uniform };

struct Part {
  std::string name = "part";
  bool on = true;
  int count = 1;
  std::int64_t seed = 0;
  unsigned ways = 4;
  double share = 0.5;
  Bytes capacity = 1_GiB;
  Seconds latency = 2_ms;
  std::optional<Seconds> timeout;
  std::vector<int> sizes = {1, 2};
  Sourced<Watts> idle{70_W, Tag::measured, "nvidia-smi, 10 min: idle"};
  Law law = Law::uniform;
  std::string level = "low";
};

inline const Fields<Part>& part_fields() {
  static const Fields<Part> fields = [] {
    Fields<Part> f("part", "a part");
    f.add("name", &Part::name, "its name");
    f.add("on", &Part::on, "whether it runs");
    f.add("count", &Part::count, "how many").at_least(1);
    f.add("seed", &Part::seed, "random seed");
    f.add("ways", &Part::ways, "associativity").power_of_two().at_least(2);
    f.add("share", &Part::share, "share of the whole").between(0, 1);
    f.add("capacity", &Part::capacity, "bytes it holds").above(0).at_most(1e12);
    f.add("latency", &Part::latency, "time of an access").at_least(1e-6);
    f.add("timeout", &Part::timeout, "when it gives up");
    f.add("sizes", &Part::sizes, "sizes in use").at_least(1);
    f.add("idle", &Part::idle, "power when idle").at_least(0);
    f.add_enum("law", &Part::law, {{"related", Law::related}, {"uniform", Law::uniform}}, "how it draws");
    f.add("level", &Part::level, "how loud").one_of({"low", "high"});
    return f;
  }();
  return fields;
}

struct Arrivals {
  virtual ~Arrivals() = default;
};
struct Poisson : Arrivals {
  PerSecond rate;
};
struct Gamma : Poisson {
  double cv = 1;
};
struct Once : Arrivals {};

inline const Family<Arrivals>& arrivals() {
  static const Fields<Poisson> poisson = [] {
    Fields<Poisson> f("poisson", "independent arrivals");
    f.add("rate", &Poisson::rate, "arrivals per second").above(0).required();
    return f;
  }();
  static const Fields<Gamma> gamma = [] {
    Fields<Gamma> f("gamma", "burstier arrivals");
    f.add("rate", &Gamma::rate, "arrivals per second").above(0).required();
    f.add("cv", &Gamma::cv, "coefficient of variation").above(0);
    return f;
  }();
  static const Fields<Once> once("once", "all at the start");
  static const Family<Arrivals> family(
      "arrivals", "kind",
      {member<Poisson, Arrivals>("poisson", "independent", poisson), member<Gamma, Arrivals>("gamma", "bursty", gamma),
       member<Once, Arrivals>("once", "all at once", once)});
  return family;
}

struct Whole {
  Part main;
  std::optional<Part> spare;
  std::vector<Part> parts;
  std::map<std::string, Part> named;
  std::shared_ptr<const Arrivals> arrivals;
  std::vector<std::shared_ptr<const Arrivals>> more;
};

inline const Fields<Whole>& whole_fields() {
  static const Fields<Whole> fields = [] {
    Fields<Whole> f("whole", "everything");
    f.add_group("main", &Whole::main, part_fields(), "the main part");
    f.add_group("spare", &Whole::spare, part_fields(), "a spare part");
    f.add_group("parts", &Whole::parts, part_fields(), "other parts");
    f.add_group("named", &Whole::named, part_fields(), "parts by name");
    f.add_family("arrivals", &Whole::arrivals, arrivals(), "when work comes").otherwise("{kind: poisson, rate: 3 /s}");
    f.add_family("more", &Whole::more, arrivals(), "more work");
    return f;
  }();
  return fields;
}

template <class T>
T good(const Fields<T>& fields, const std::string& text) {
  Diagnostics diagnostics;
  T out;
  CHECK(fields.read(out, read(text, diagnostics), diagnostics));
  CHECK(messages(diagnostics) == "");
  return out;
}

template <class T>
std::string refused(const Fields<T>& fields, const std::string& text) {
  CAPTURE(text);
  Diagnostics diagnostics;
  T out;
  CHECK(!fields.read(out, read(text, diagnostics), diagnostics));
  return messages(diagnostics);
}

inline std::string part(const std::string& text) { return refused(part_fields(), text); }
inline std::string whole(const std::string& text) { return refused(whole_fields(), text); }

}  // namespace llmscape::fields_cases
