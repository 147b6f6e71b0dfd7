// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace llmscape;

namespace {

// A folder of its own, gone at the end.
class Folder {
 public:
  Folder() : path_(std::filesystem::temp_directory_path() / ("llmscape-files-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(path_);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::filesystem::path file(const std::string& name, std::string_view content) const {
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }
  [[nodiscard]] auto entries() const {
    using Iterator = std::filesystem::directory_iterator;
    return std::distance(Iterator(path_), Iterator());
  }

 private:
  std::filesystem::path path_;
};

std::string gzip(std::string_view text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zstd(std::string_view text) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);  // as the zstd program does
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

struct Read {
  std::vector<std::string> lines;
  std::string error;
};

Read read_lines(const std::filesystem::path& path) {
  LineReader reader(path);
  Read read;
  while (const auto line = reader.next()) {
    read.lines.emplace_back(*line);
    CHECK(reader.line() == static_cast<int>(read.lines.size()));
  }
  read.error = reader.error();
  return read;
}

// More than the buffers hold, and hard to compress.
std::string long_text() {
  std::string text;
  for (std::uint64_t i = 0; i < 60'000; ++i) text += std::to_string(hash64(std::to_string(i))) + "\n";
  return text;
}

}  // namespace

TEST_CASE("lines end at LF; CR, byte-order mark and a missing last LF do not matter") {
  const Folder folder;
  CHECK(read_lines(folder.file("a", "one\r\n\ntwo\rtwo\nthree")).lines ==
        std::vector<std::string>{"one", "", "two\rtwo", "three"});
  CHECK(read_lines(folder.file("b", "\xef\xbb\xbf{}\n")).lines == std::vector<std::string>{"{}"});
  CHECK(read_lines(folder.file("c", "")).lines.empty());
  CHECK(read_lines(folder.file("d", "\n")).lines == std::vector<std::string>{""});
  CHECK(read_lines(folder.file("e", std::string_view("a\0b\n", 4))).lines.front().size() == 3);
}

// 60,000 lines do not fit a pipe: its writer waits for the first reader. The second would wait for ever.
TEST_CASE("what comes through a pipe is read again under its name, compressed or not") {
  const Folder folder;
  const std::string text = long_text();
  const std::vector<std::string> lines = read_lines(folder.file("plain", text)).lines;
  REQUIRE(lines.size() == 60'000);
  for (const std::string& content : {text, gzip(text)}) {
    const std::filesystem::path pipe = folder / ("pipe-" + std::to_string(content.size()));
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << content; });
    {
      LineReader looks(pipe);
      CHECK(looks.next() == lines.front());
    }
    writer.join();
    for (int time = 0; time < 2; ++time) {
      const Read read = read_lines(pipe);
      CHECK(read.error.empty());
      CHECK(read.lines == lines);
    }
  }
}

TEST_CASE("gzip and zstd files read as the plain file does, whatever their names") {
  const Folder folder;
  const std::string text = long_text();
  const Read plain = read_lines(folder.file("plain", text));
  CHECK(plain.lines.size() == 60'000);
  for (const std::string& packed : {gzip(text), zstd(text), gzip(text.substr(0, 100'001)) + gzip(text.substr(100'001)),
                                    zstd(text.substr(0, 100'001)) + zstd(text.substr(100'001))}) {
    const auto path = folder.file("packed", packed);
    const Read read = read_lines(path);
    CHECK(read.error == "");
    CHECK(read.lines == plain.lines);
    std::string error;
    CHECK(read_file(path, error) == text);
  }
}

TEST_CASE("a stream cut anywhere gives whole lines and then says that it is truncated") {
  const Folder folder;
  const std::string text = long_text();
  const Read plain = read_lines(folder.file("plain", text));
  for (const auto& [packed, error] :
       {std::pair(gzip(text), "truncated gzip stream"), std::pair(zstd(text), "truncated zstd stream")}) {
    for (const std::size_t kept : {std::size_t{5}, std::size_t{20}, packed.size() / 2, packed.size() - 1}) {
      CAPTURE(kept);
      const Read read = read_lines(folder.file("cut", packed.substr(0, kept)));
      CHECK(read.error == error);
      REQUIRE(read.lines.size() <= plain.lines.size());
      CHECK(std::equal(read.lines.begin(), read.lines.end(), plain.lines.begin()));
      if (kept > packed.size() / 3) CHECK(read.lines.size() > 10'000);
    }
  }
}

TEST_CASE("a damaged stream is said to be corrupt") {
  const Folder folder;
  std::string packed = gzip(long_text());
  packed[packed.size() - 6] ^= 1;  // in the checksum
  CHECK(read_lines(folder.file("a", packed)).error == "corrupt gzip stream");
  CHECK(read_lines(folder.file("b", gzip("x\n") + "garbage")).error == "corrupt gzip stream");
  packed = zstd(long_text());
  packed[packed.size() / 2] ^= 1;
  packed[packed.size() / 2 + 1] ^= 1;
  CHECK(read_lines(folder.file("c", packed)).error == "corrupt zstd stream");
  CHECK(read_lines(folder.file("d", zstd("x\n") + "garbage")).error == "corrupt zstd stream");
}

TEST_CASE("what cannot be opened says why") {
  const Folder folder;
  CHECK(read_lines(folder / "missing").error == "cannot open: No such file or directory");
  CHECK(read_lines(folder / "").error == "cannot open: Is a directory");
  std::string error;
  CHECK_FALSE(read_file(folder / "missing", error));
  CHECK(error == "cannot open: No such file or directory");
}

TEST_CASE("a line without end is refused") {
  const Folder folder;
  const std::string limit(std::size_t{64} << 20, 'x');
  CHECK(read_lines(folder.file("limit", limit + "\n")).lines.size() == 1);
  const Read read = read_lines(folder.file("beyond", limit + "x\n"));
  CHECK(read.lines.empty());
  CHECK(read.error == "line longer than 64 MiB");
}

TEST_CASE("writing makes the folder, replaces the file and leaves nothing else") {
  const Folder folder;
  std::string error;
  write_file_atomically(folder / "runs/1/result.json", "{}");
  CHECK(read_file(folder / "runs/1/result.json", error) == "{}");
  write_file_atomically(folder / "file", "old, and longer");
  write_file_atomically(folder / "file", "new");
  CHECK(read_file(folder / "file", error) == "new");
  CHECK(folder.entries() == 2);
  write_file_atomically(folder / "empty", "");
  CHECK(read_file(folder / "empty", error) == "");
}

TEST_CASE("a failed write says why and leaves nothing behind") {
  const Folder folder;
  folder.file("file", "kept");
  CHECK_THROWS_WITH_AS(write_file_atomically(folder / "file/below", "x"),
                       doctest::Contains("file/below: Not a directory"), std::runtime_error);
  std::filesystem::create_directories(folder / "folder/full");
  CHECK_THROWS_WITH_AS(write_file_atomically(folder / "folder", "x"), doctest::Contains("folder: Is a directory"),
                       std::runtime_error);
  CHECK(folder.entries() == 2);
}
