// SPDX-License-Identifier: Apache-2.0
#include "base/files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <system_error>
#include <utility>
#include <vector>

#include "base/temporary_file.hpp"

namespace llmscape {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  // as Linux follows

// Where bytes go to.
struct Place {
  fs::path path;            // behind all symbolic links
  std::optional<int> open;  // a descriptor of this process that the path names: /dev/stdout, /dev/fd/3
};

constexpr std::string_view kStdout = "-";

[[noreturn]] void fail(const fs::path& path, int error) {
  throw std::runtime_error(fmt::format("cannot write {}: {}", path == kStdout ? "to stdout" : path.string(),
                                       std::generic_category().message(error)));
}

// The number that /proc/self/fd/N has, however it is written.
std::optional<int> descriptor_of(const fs::path& path) {
  std::error_code none;
  const fs::path folder = fs::canonical("." / path.parent_path(), none);
  if (none || folder != fs::canonical("/proc/self/fd", none) || none) return std::nullopt;
  const std::string name = path.filename().string();
  int number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? std::optional(number) : std::nullopt;
}

Place place_of(const fs::path& named) {
  if (named == kStdout) return {named, STDOUT_FILENO};
  Place place{named, descriptor_of(named)};
  for (int links = 0; !place.open; ++links) {
    std::error_code none;
    if (fs::symlink_status(place.path, none).type() != fs::file_type::symlink) break;
    if (links == kMostLinks) fail(named, ELOOP);
    const fs::path target = fs::read_symlink(place.path, none);
    if (none) fail(named, none.value());
    place.path = place.path.parent_path() / target;
    place.open = descriptor_of(place.path);
  }
  return place;
}

void write_all(int file, std::string_view content, const fs::path& named) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail(named, errno);
    content.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

struct AtomicFile::Target {
  explicit Target(fs::path path) : named(std::move(path)) {}
  virtual ~Target() = default;
  Target(const Target&) = delete;
  Target& operator=(const Target&) = delete;
  virtual void append(std::string_view content) = 0;
  virtual void commit() = 0;
  virtual bool commit_new() = 0;

  fs::path named;  // as the user says it, for messages
};

struct AtomicFile::Replacement final : Target {
  Replacement(fs::path path, fs::path target) : Target(std::move(path)), final_path(std::move(target)) {
    std::error_code failure;
    if (final_path.has_parent_path()) fs::create_directories(final_path.parent_path(), failure);
    if (failure) fail(named, failure.value());
    struct stat old{};
    const bool replaces = ::stat(final_path.c_str(), &old) == 0;
    // Exclusively: machines that share the folder may have processes of the same number.
    for (int attempt = 0; file < 0; ++attempt) {
      temporary = final_path.parent_path() / fmt::format(".{}.{}.tmp", ::getpid(), attempt);
      file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
      if (file < 0 && errno != EEXIST && errno != EINTR) fail(named, errno);
    }
    if (replaces) static_cast<void>(::fchmod(file, old.st_mode & 07777));  // or the new one has those of a new file
  }
  ~Replacement() override {
    if (file < 0) return;
    ::close(file);
    ::unlink(temporary.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  void append(std::string_view content) override {
    unwritten += content;
    if (unwritten.size() >= kPiece) flush();
  }
  void commit() override {
    sync();
    if (::rename(temporary.c_str(), final_path.c_str()) != 0) fail(named, errno);
    ::close(std::exchange(file, -1));
  }
  bool commit_new() override {
    sync();
    if (::link(temporary.c_str(), final_path.c_str()) == 0) return true;  // the destructor removes the other name
    if (errno == EEXIST) return false;
    // Some file systems have no links, but this.
    if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, final_path.c_str(), RENAME_NOREPLACE) != 0) {
      if (errno == EEXIST) return false;
      fail(named, errno);
    }
    ::close(std::exchange(file, -1));
    return true;
  }
  void sync() {
    flush();
    // Some file systems cannot sync, and say so; what they hold is as safe as they make it.
    if (::fsync(file) != 0 && errno != EINVAL && errno != ENOTSUP) fail(named, errno);
  }
  void flush() {
    write_all(file, unwritten, named);
    unwritten.clear();
  }

  static constexpr std::size_t kPiece = 1 << 16;
  fs::path final_path, temporary;
  int file = -1;
  std::string unwritten;
};

struct AtomicFile::InPlace final : Target {
  InPlace(fs::path path, const Place& place) : Target(std::move(path)), file(opened(place)) {
    if (file < 0) fail(named, errno);
  }
  ~InPlace() override { ::close(file); }
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;

  static int opened(const Place& place) {
    if (place.open) return ::fcntl(*place.open, F_DUPFD_CLOEXEC, 0);
    return ::open(place.path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  }
  void append(std::string_view content) override { held.append(content); }
  void commit() override {
    std::fflush(nullptr);  // what was printed before stands before
    std::vector<char> piece(1 << 18);
    for (std::uint64_t at = 0; at < held.size(); at += piece.size()) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(piece.size(), held.size() - at));
      held.read(at, piece.data(), size);
      write_all(file, {piece.data(), size}, named);
    }
  }

  bool commit_new() override { return false; }

  int file;
  TemporaryFile held;
};

AtomicFile::AtomicFile(const fs::path& path) {
  const Place place = place_of(path);
  std::error_code none;
  const fs::file_status status = fs::status(place.path, none);
  if (fs::is_directory(status)) fail(path, EISDIR);
  const bool replaced = !place.open && (!fs::exists(status) || fs::is_regular_file(status));
  if (replaced) target_ = std::make_unique<Replacement>(path, place.path);
  else target_ = std::make_unique<InPlace>(path, place);
}
AtomicFile::~AtomicFile() = default;

bool is_stdout(const fs::path& path) { return place_of(path).open == STDOUT_FILENO; }

void AtomicFile::append(std::string_view content) { target_->append(content); }

void AtomicFile::commit() { target_->commit(); }

bool AtomicFile::commit_new() { return target_->commit_new(); }

void write_file_atomically(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.append(content);
  file.commit();
}

bool write_new_file_atomically(const fs::path& path, std::string_view content) {
  AtomicFile file(path);
  file.append(content);
  return file.commit_new();
}

}  // namespace llmscape
