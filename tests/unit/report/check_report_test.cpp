// SPDX-License-Identifier: Apache-2.0
#include "sim/report/check_report.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

#include "sim/report/junit.hpp"

using namespace llmscape;
using namespace llmscape::report;
using explore::Check;
using explore::MetricStanding;

namespace {

explore::MetricCheck metric(const char* name, MetricStanding standing, double before, double now) {
  return {metrics::find_column(name),       standing,           explore::Estimate{before, before, before},
          explore::Estimate{now, now, now}, {0.01, true, "1%"}, ""};
}

Check some_check() {
  Check check;
  check.configurations = {
      {"rate=8 /s",
       "",
       {metric("ttft.p99", MetricStanding::worse, 0.1, 0.15), metric("itl.p99", MetricStanding::same, 1, 1)}},
      {"a|b <&> \"c\"",
       "",
       {metric("goodput_rps", MetricStanding::worse, 8, 2), metric("e2e.p50", MetricStanding::better, 4, 3)}},
      {"rate=9 /s", "the results lack it", {}},
  };
  return check;
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the first sentence is the answer") {
  CHECK(check_headline(some_check()) ==
        "2 of 4 metrics are WORSE, most of all goodput_rps of a|b <&> \"c\" (-75 %); 1 of 3 configurations fails");
  Check good;
  good.configurations = {{"", "", {metric("ttft.p99", MetricStanding::same, 1, 1)}}};
  CHECK(check_headline(good) == "0 of 1 metrics are WORSE");
}

TEST_CASE("the terminal has failing configurations, then what moved, the worst first, in 100 columns") {
  Check check = some_check();
  check.configurations[0].label = std::string(150, 'x');
  const std::string text = check_text(check);
  CHECK(holds(text, "WORSE rate=9 /s: the results lack it\n"));
  CHECK(text.find("goodput_rps  a|b") < text.find("ttft.p99"));
  CHECK(holds(text, "+50 %"));
  CHECK_FALSE(holds(text, "itl.p99"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    CHECK(std::ranges::count_if(line, [](char c) { return (c & 0xC0) != 0x80; }) <= 100);
}

TEST_CASE("Markdown escapes what would end a cell") {
  const std::string text = check_markdown(some_check());
  CHECK(text.starts_with("### Failed: 2 of 4 metrics are WORSE"));
  CHECK(holds(text, "| WORSE | goodput_rps | a\\|b <&> \"c\" | 8.00 1/s | 2.00 1/s | -75 % | 1% |\n"));
}

TEST_CASE("JUnit has a suite for each configuration and a case for each metric") {
  Check check = some_check();
  check.configurations[1].metrics[1].standing = MetricStanding::ambiguous;
  CHECK(junit_xml(check) == R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="llmscape check" tests="5" failures="3" errors="0" time="0">
  <testsuite name="rate=8 /s" tests="2" failures="1" errors="0" skipped="0" time="0">
    <testcase classname="rate=8 /s" name="ttft_s.p99" time="0">
      <failure message="100 ms -&gt; 150 ms, +50 %, beyond 1%" type="WORSE"/>
    </testcase>
    <testcase classname="rate=8 /s" name="itl_s.p99" time="0"/>
  </testsuite>
  <testsuite name="a|b &lt;&amp;&gt; &quot;c&quot;" tests="2" failures="1" errors="0" skipped="0" time="0">
    <testcase classname="a|b &lt;&amp;&gt; &quot;c&quot;" name="goodput_rps" time="0">
      <failure message="8.00 1/s -&gt; 2.00 1/s, -75 %, beyond 1%" type="WORSE"/>
    </testcase>
    <testcase classname="a|b &lt;&amp;&gt; &quot;c&quot;" name="e2e_s.p50" time="0">
      <system-out>AMBIGUOUS: 4.00 s -&gt; 3.00 s, -25 %, beyond 1%, but the intervals overlap</system-out>
    </testcase>
  </testsuite>
  <testsuite name="rate=9 /s" tests="1" failures="1" errors="0" skipped="0" time="0">
    <testcase classname="rate=9 /s" name="comparable" time="0">
      <failure message="the results lack it" type="WORSE"/>
    </testcase>
  </testsuite>
</testsuites>
)");
}
