// SPDX-License-Identifier: Apache-2.0
#include "sim/metrics/window.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace llmscape::metrics {
namespace {

using serving::kNever;
using Edge = WindowTracker::Edge;

struct Heard {
  std::vector<std::pair<Edge, double>> edges;
  WindowTracker::OnEdge listener() {
    return [this](Edge edge, Seconds at) { edges.emplace_back(edge, at.si()); };
  }
};

}  // namespace

TEST_CASE("which share of a request lies inside a window? That of its decoding; of one token all or nothing") {
  const Span span{Seconds(10), Seconds(20)};
  CHECK(span.share(Seconds(11), Seconds(19)) == 1);
  CHECK(span.share(Seconds(8), Seconds(12)) == 0.5);
  CHECK(span.share(Seconds(18), Seconds(28)) == 0.2);
  CHECK(span.share(Seconds(0), Seconds(40)) == 0.25);
  CHECK(span.share(Seconds(1), Seconds(9)) == 0);
  CHECK(span.share(Seconds(21), Seconds(22)) == 0);
  CHECK(span.share(Seconds(20), Seconds(20)) == 1);
  CHECK(span.share(Seconds(10), Seconds(10)) == 0);
  const Span open{kNever, kNever};  // its beginning has not come
  CHECK(open.share(Seconds(1), Seconds(2)) == 0);
}

TEST_CASE("a window opens when twice as many tasks have ended as are open, and closes with the last start") {
  Heard heard;
  WindowTracker tracker({}, Seconds(), 60, heard.listener());
  // A task starts each second and takes 2.5 s: between an end and the next start 2 are open, so that the 4th end,
  // at 5.5 s, opens it.
  for (int i = 0; i < 60; ++i) {
    if (i >= 3) tracker.on_task_end(Seconds(i - 3 + 2.5), false);
    tracker.on_task_start(Seconds(i), i == 59);
  }
  REQUIRE(heard.edges.size() == 2);
  CHECK(heard.edges[0] == std::pair{Edge::from, 5.5});
  CHECK(heard.edges[1] == std::pair{Edge::to, 59.0});
  CHECK(tracker.found(Seconds(62)));
}

TEST_CASE("a run that ends before it has filled has no window, and neither has a burst") {
  Heard heard;
  WindowTracker burst({}, Seconds(), 100, heard.listener());
  for (int i = 0; i < 100; ++i) burst.on_task_start(Seconds(), i == 99);
  for (int i = 0; i < 100; ++i) burst.on_task_end(Seconds(i + 1), true);
  CHECK_FALSE(burst.found(Seconds(101)));
  CHECK(burst.rest().from == Seconds());
}

TEST_CASE("a stated warm-up is where the window begins, whatever has ended by then") {
  Heard heard;
  WindowTracker tracker({}, Seconds(7), 100, heard.listener());
  CHECK(tracker.next_edge() == Seconds(7));
  for (int i = 0; i < 100; ++i) {
    if (i == 7) tracker.pass(Seconds(7));
    if (i > 0) tracker.on_task_end(Seconds(i - 0.5), false);
    tracker.on_task_start(Seconds(i), i == 99);
  }
  CHECK(heard.edges == std::vector{std::pair{Edge::from, 7.0}, std::pair{Edge::to, 99.0}});
  CHECK(tracker.found(Seconds(100)));
}

TEST_CASE(
    "ML.ENERGY's window: from the n-th first token, in whatever order they are heard of, to the end of all but n") {
  Heard heard;
  WindowConfig config;
  config.rule = WindowRule::full_batch;
  config.sequences = 3;
  WindowTracker tracker(config, Seconds(), 8, heard.listener());
  for (int i = 0; i < 8; ++i) tracker.on_task_start(Seconds(), i == 7);
  tracker.on_first_token(Seconds(4));
  tracker.on_first_token(Seconds(1));
  CHECK(tracker.next_edge() == kNever);
  tracker.on_first_token(Seconds(5));
  CHECK(tracker.next_edge() == Seconds(5));
  tracker.on_first_token(Seconds(3));  // of another replica
  CHECK(tracker.next_edge() == Seconds(4));
  tracker.pass(Seconds(4));
  for (int i = 0; i < 8; ++i) tracker.on_task_end(Seconds(10 + i), true);
  CHECK(heard.edges == std::vector{std::pair{Edge::from, 4.0}, std::pair{Edge::to, 14.0}});
  CHECK(tracker.found(Seconds(17)));
}

}  // namespace llmscape::metrics
