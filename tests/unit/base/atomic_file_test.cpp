// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "base/process_pool.hpp"

namespace llmscape::atomic_file_test {
namespace {

namespace fs = std::filesystem;

// A folder of its own, gone at the end.
class Folder {
 public:
  Folder() {
    std::string name = (fs::temp_directory_path() / "llmscape-atomic-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()));
    path_ = name;
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }
  fs::path file(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }
  [[nodiscard]] auto entries() const { return std::distance(fs::directory_iterator(path_), fs::directory_iterator()); }

 private:
  fs::path path_;
};

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

TEST_CASE("a symbolic link stays, and what it leads to is replaced or made") {
  const Folder folder;
  folder.file("target", "old");
  fs::create_symlink("target", folder / "link");
  fs::create_symlink("link", folder / "link-to-link");
  write_file_atomically(folder / "link-to-link", "new");
  CHECK(fs::is_symlink(folder / "link-to-link"));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(content(folder / "target") == "new");
  fs::create_symlink("below/missing", folder / "dangling");
  write_file_atomically(folder / "dangling", "made");
  CHECK(content(folder / "below/missing") == "made");
  fs::create_symlink("round", folder / "round");
  CHECK_THROWS_WITH_AS(write_file_atomically(folder / "round", "x"), doctest::Contains("Too many levels"),
                       std::runtime_error);
}

TEST_CASE("a FIFO is written to where it stands") {
  const Folder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const int reader = open((folder / "pipe").c_str(), O_RDWR | O_NONBLOCK);
  write_file_atomically(folder / "pipe", "through");
  std::array<char, 16> got{};
  CHECK(read(reader, got.data(), got.size()) == 7);
  CHECK(std::string(got.data()) == "through");
  close(reader);
  CHECK(fs::is_fifo(folder / "pipe"));
  CHECK(folder.entries() == 1);
}

// With a node of its own: were this broken, it would break /dev/null.
TEST_CASE("a device is written to and never replaced, not even by root") {
  const Folder folder;
  if (mknod((folder / "null").c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0) {
    MESSAGE("skipped: only root makes devices");
    return;
  }
  std::ofstream usable(folder / "null");
  if (!usable) {
    MESSAGE("skipped: this file system has no devices");
    return;
  }
  write_file_atomically(folder / "null", "gone");
  CHECK(fs::is_character_file(folder / "null"));
  CHECK(folder.entries() == 1);
}

TEST_CASE("an open file that is named by its number is written on, not opened anew") {
  const Folder folder;
  const fs::path file = folder.file("log", "");
  const int open_file = open(file.c_str(), O_WRONLY);
  REQUIRE(write(open_file, "one, ", 5) == 5);
  for (const char* names : {"/dev/fd/", "/proc/self/fd/"})
    write_file_atomically(names + std::to_string(open_file), "two, ");
  REQUIRE(write(open_file, "three", 5) == 5);
  close(open_file);
  CHECK(content(file) == "one, two, two, three");
  CHECK_FALSE(is_stdout("/dev/fd/9"));
  CHECK(is_stdout("-"));
  CHECK(is_stdout("/dev/stdout"));
  CHECK_FALSE(is_stdout(""));
  CHECK_FALSE(is_stdout("./-"));
}

TEST_CASE("the temporary name fits wherever the name does") {
  const Folder folder;
  const std::string longest(255, 'n');
  write_file_atomically(folder / longest, "x");
  CHECK(content(folder / longest) == "x");
  CHECK(folder.entries() == 1);
}

TEST_CASE("the temporary file is made exclusively: what has its name already is neither followed nor touched") {
  const Folder folder;
  folder.file("victim", "kept");
  fs::create_symlink("victim", folder / ("." + std::to_string(getpid()) + ".0.tmp"));
  write_file_atomically(folder / "file", "x");
  CHECK(content(folder / "victim") == "kept");
  CHECK(content(folder / "file") == "x");
  CHECK(folder.entries() == 3);
}

TEST_CASE("a disk that is full leaves the old file, and nothing else") {
  const Folder folder;
  folder.file("file", "old");
  const auto outcome = in_child<std::string>([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit least{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &least);
    try {
      write_file_atomically(folder / "file", std::string(200'000, 'x'));
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  });
  CHECK(outcome.answer.value_or("") == "cannot write " + (folder / "file").string() + ": File too large");
  CHECK(content(folder / "file") == "old");
  CHECK(folder.entries() == 1);
}

TEST_CASE("what is not committed is not there, in place neither") {
  const Folder folder;
  const int open_file = open(folder.file("log", "").c_str(), O_WRONLY);
  {
    AtomicFile in_place("/dev/fd/" + std::to_string(open_file)), file(folder / "file");
    in_place.append("x");
    file.append("x");
  }
  close(open_file);
  CHECK(content(folder / "log").empty());
  CHECK(folder.entries() == 1);
}

TEST_CASE("a file that is replaced keeps its permissions") {
  const Folder folder;
  fs::permissions(folder.file("secret", "old"), fs::perms::owner_read | fs::perms::owner_write);
  write_file_atomically(folder / "secret", "new");
  CHECK(fs::status(folder / "secret").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
}

TEST_CASE("of all that make a new file at once one does, and it is whole") {
  const Folder folder;
  int made = 0;
  ProcessPool<int, bool> pool(
      [&](int number) { return write_new_file_atomically(folder / "file", std::string(100'000, 'a' + number)); },
      {8, std::nullopt, std::nullopt});
  pool.run({0, 1, 2, 3, 4, 5, 6, 7}, [&](int, const TaskOutcome<bool>& outcome) {
    made += outcome.answer.value_or(false);
    return true;
  });
  CHECK(made == 1);
  const std::string all = content(folder / "file");
  CHECK(all == std::string(100'000, all.front()));
  CHECK(folder.entries() == 1);
}

}  // namespace llmscape::atomic_file_test
