// SPDX-License-Identifier: Apache-2.0
// The corpora, replayed, and each input damaged some times: the same damage in every run. LLMSCAPE_FUZZ_ROUNDS=N asks
// for N times, LLMSCAPE_FUZZ_TARGET=NAME for one kind of input.
#include <doctest/doctest.h>
#include <stdlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "base/process_pool.hpp"
#include "base/random.hpp"
#include "tests/fuzz/targets.hpp"

namespace llmscape::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int kRounds = 12;

std::string bytes_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Changes a text at a few places: letters that mean something, figures at the ends of what numbers hold, parts that go,
// stand twice or come from elsewhere.
class Damage {
 public:
  explicit Damage(const std::string& seed) : random_(RandomStreams(1).stream(seed)) {}

  std::string done_to(std::string text) {
    static const std::string kLetters("\t\n\r :-?,[]{}#&*!|>'\"%@`\\ax0~<.=\x80\xC3\x04\0", 36);
    static const std::vector<std::string> kFigures = {"0",
                                                      "-1",
                                                      "1e309",
                                                      "5e-324",
                                                      "18446744073709551616",
                                                      "-9223372036854775808",
                                                      "2147483648",
                                                      "0.1",
                                                      "1e400",
                                                      "null",
                                                      "true",
                                                      "nan",
                                                      "\"\"",
                                                      "[]",
                                                      "{}",
                                                      "1 /s"};
    for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
      const std::size_t at = below(text.size() + 1);
      switch (below(6)) {
        case 0: text.insert(at, 1, kLetters[below(kLetters.size())]); break;
        case 1: text.erase(at, 1 + below(8)); break;
        case 2: {
          const std::size_t digit = std::min(text.find_first_of("0123456789", at), text.size());
          const std::size_t end = std::min(text.find_first_not_of("0123456789.eE+-", digit), text.size());
          text.replace(digit, end - digit, kFigures[below(kFigures.size())]);
          break;
        }
        case 3: text.insert(at, text.substr(below(text.size() + 1), below(64))); break;
        case 4: {
          const std::size_t line = text.rfind('\n', at) == std::string::npos ? 0 : text.rfind('\n', at) + 1;
          const std::size_t end = std::min(text.find('\n', at), text.size());
          if (end >= line && below(2) == 0) text.erase(line, end - line);
          else text.insert(line, text.substr(line, end - line) + '\n');
          break;
        }
        default:
          if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
      }
    }
    return text;
  }

 private:
  std::size_t below(std::size_t bound) {
    return std::min(bound - 1, static_cast<std::size_t>(random_.uniform() * static_cast<double>(bound)));
  }
  RandomStream random_;
};

class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "llmscape-fuzz-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path = name;
  }
  ~Folder() { fs::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path path;
};

struct Task {
  const Target* target;
  fs::path input;
};

int rounds() {
  const char* asked = std::getenv("LLMSCAPE_FUZZ_ROUNDS");
  return asked ? std::max(0, std::atoi(asked)) : kRounds;
}

}  // namespace

TEST_CASE("whatever comes from outside is read or refused: no crash, no exception, no library's words") {
  const char* only = std::getenv("LLMSCAPE_FUZZ_TARGET");
  std::vector<Task> tasks;
  for (const Target& target : targets()) {
    const auto inputs = inputs_of(target);
    CHECK_MESSAGE(!inputs.empty(), target.name, " has no input");
    if (!only || target.name == only)
      for (const fs::path& input : inputs) tasks.push_back({&target, input});
  }
  const Folder folder;
  const int wanted = rounds();
  const auto place_of = [&](const Task& task) {
    return folder.path / (std::string(task.target->name) + "-" + task.input.filename().string());
  };
  // Each in a process of its own; what kills it lies in the folder that it read from.
  ProcessPool<std::size_t, bool> pool(
      [&](std::size_t number) {
        const Task& task = tasks[number];
        fs::create_directories(place_of(task));
        const std::string whole = bytes_of(task.input);
        feed(*task.target, whole, place_of(task));
        Damage damage(task.input.generic_string());
        for (int round = 0; round < wanted; ++round) feed(*task.target, damage.done_to(whole), place_of(task));
        return true;
      },
      {default_jobs(), Seconds(20 + wanted), std::nullopt});
  std::vector<std::size_t> numbers(tasks.size());
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  std::size_t answered = 0;
  pool.run(numbers, [&](std::size_t number, const TaskOutcome<bool>& outcome) {
    const Task& task = tasks[number];
    answered += outcome.answer.value_or(false);
    CHECK_MESSAGE(outcome.answer, task.target->name, " on ", task.input.string(), ": ", outcome.error, "\nThe input:\n",
                  bytes_of(place_of(task) / task.target->file_name).substr(0, 4000));
    return true;
  });
  CHECK(answered == tasks.size());
}

TEST_CASE("the same damage is done in every run") {
  CHECK(Damage("a").done_to("some text, 12 of it") == Damage("a").done_to("some text, 12 of it"));
  CHECK(Damage("a").done_to("some text, 12 of it") != Damage("b").done_to("some text, 12 of it"));
}

}  // namespace llmscape::fuzz
