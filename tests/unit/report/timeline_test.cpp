// SPDX-License-Identifier: Apache-2.0
#include "sim/report/timeline.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace llmscape::report {
namespace {

namespace fs = std::filesystem;

fs::path temporary(const std::string& name) {
  return fs::temp_directory_path() / (std::to_string(getpid()) + "-" + name);
}

std::string take(const fs::path& path) {
  std::string text(std::istreambuf_iterator<char>(std::ifstream(path, std::ios::binary).rdbuf()), {});
  fs::remove(path);
  return text;
}

std::int64_t count(const std::string& text, const std::string& part) {
  std::int64_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("a long run keeps its first steps and requests, then every hundredth") {
  const fs::path path = temporary("timeline.json");
  AtomicFile file(path);
  Timeline timeline(file);
  for (int i = 0; i < Timeline::kWholeSteps + 1000; ++i) timeline.on_step(0, Seconds(i), Seconds(i + 0.5), 1, 0, 0, 1);
  serving::Request request;
  request.schedule = request.first_token = Seconds(1);
  for (request.id = 0; request.id < Timeline::kWholeRequests + 1000; ++request.id)
    timeline.on_request(request, serving::Outcome::completed, Seconds(1));
  timeline.finish();
  file.commit();
  const std::string text = take(path);
  CHECK(count(text, R"("ph":"X")") == Timeline::kWholeSteps + 10);
  CHECK(count(text, R"("name":"request )") == 2 * (Timeline::kWholeRequests + 10));  // begin and end
}

TEST_CASE("steps that touch do not overlap, whatever their times round to") {
  const fs::path path = temporary("touching.json");
  AtomicFile file(path);
  Timeline timeline(file);
  // In whole nanoseconds: 0 to 2 (1.6), then 2 to 3 (3.2). Lengths rounded by themselves would be 2 and 2.
  timeline.on_step(0, Seconds(0), Seconds(1.6e-9), 1, 0, 0, 1);
  timeline.on_step(0, Seconds(1.6e-9), Seconds(3.2e-9), 1, 0, 0, 1);
  timeline.finish();
  file.commit();
  const std::string text = take(path);
  CHECK(count(text, R"("ts":0.000,"dur":0.002)") == 1);
  CHECK(count(text, R"("ts":0.002,"dur":0.001)") == 1);
}

TEST_CASE("the power of each group of devices is a counter of its own, behind the replicas") {
  const fs::path path = temporary("power.json");
  AtomicFile file(path);
  Timeline timeline(file);
  timeline.on_step(0, Seconds(0), Seconds(1), 1, 0, 0, 1);
  metrics::PowerSeries power;
  power.add(Seconds(0), metrics::PowerSeries::kNarrowest * 2, Joules(0.5));
  timeline.on_power("a \"b\"", power);
  timeline.on_power("c", power);
  timeline.finish();
  file.commit();
  const std::string text = take(path);
  CHECK(count(text, R"("pid":2,"args":{"name":"power"})") == 1);
  CHECK(count(text, R"({"ph":"C","name":"a \"b\"","pid":2,"ts":0.000,"args":{"W":256}})") == 1);
  CHECK(count(text, R"({"ph":"C","name":"c","pid":2,"ts":976.563,"args":{"W":256}})") == 1);
}

TEST_CASE("a file that is not kept is gone, and an old one of its name stays") {
  const fs::path path = temporary("old.txt");
  std::ofstream(path) << "old";
  {
    AtomicFile file(path);
    file.append("new");
  }
  CHECK(take(path) == "old");
}

}  // namespace llmscape::report
