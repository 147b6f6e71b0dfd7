// SPDX-License-Identifier: Apache-2.0
#include "base/byte_source.hpp"

#include "base/opened_files.hpp"
#include "base/temporary_file.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace llmscape {
namespace {

constexpr std::size_t kBufferBytes = 1 << 18;

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

// What came through a pipe, by its name: it comes once, and a file is opened twice by who looks first what it is.
using Piped = std::map<std::filesystem::path, TemporaryFile>;

TemporaryFile& read_pipe(std::FILE* pipe, const std::filesystem::path& path, Piped& piped) {
  TemporaryFile& content = piped[path];
  try {
    std::vector<char> buffer(kBufferBytes);
    while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe))
      content.append({buffer.data(), size});
    content.read(0, buffer.data(), 0);  // all is written, before a child could
    if (std::ferror(pipe)) throw std::runtime_error(std::generic_category().message(errno));
    return content;
  } catch (const std::runtime_error&) {
    piped.erase(path);
    throw;
  }
}

class PlainBytes : public ByteSource {
 public:
  explicit PlainBytes(const std::filesystem::path& path) {
    static Piped piped;
    note_opened(path);
    std::error_code ignored;
    const auto type = std::filesystem::status(path, ignored).type();
    if (type == std::filesystem::file_type::directory) {
      error_ = "cannot open: Is a directory";
    } else if (const auto known = piped.find(path); known != piped.end()) {
      piped_ = &known->second;
    } else if (file_.reset(std::fopen(path.c_str(), "rb")); !file_) {
      error_ = "cannot open: " + std::generic_category().message(errno);
    } else if (type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::socket) {
      try {
        piped_ = &read_pipe(file_.get(), path, piped);
      } catch (const std::runtime_error& failure) {
        error_ = std::string("cannot read: ") + failure.what();
      }
      file_.reset();
    }
  }

  std::string_view next() override {
    if (peeked_ > 0) return {buffer_.get(), std::exchange(peeked_, 0)};
    if (piped_) {
      const std::size_t size = std::min<std::size_t>(kBufferBytes, piped_->size() - at_);
      piped_->read(at_, buffer_.get(), size);
      at_ += size;
      return {buffer_.get(), size};
    }
    if (!file_) return {};
    const std::size_t size = std::fread(buffer_.get(), 1, kBufferBytes, file_.get());
    if (std::ferror(file_.get())) error_ = "cannot read: " + std::generic_category().message(errno);
    return {buffer_.get(), size};
  }

  // What next() will return.
  std::string_view peek() {
    const std::string_view bytes = next();
    peeked_ = bytes.size();
    return bytes;
  }

 private:
  File file_;
  TemporaryFile* piped_ = nullptr;  // in place of it
  std::size_t at_ = 0;              // of what was piped
  // Not filled with zeros: most files are short, and a sweep reads them by the hundred.
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(kBufferBytes);
  std::size_t peeked_ = 0;
};

// Several members one after the other are one stream, as for gzip itself.
class GzipBytes : public ByteSource {
 public:
  explicit GzipBytes(std::unique_ptr<PlainBytes> file) : file_(std::move(file)), buffer_(kBufferBytes) {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    if (inflateInit2(&stream_, kGzipOnly) != Z_OK) throw std::bad_alloc();
  }
  ~GzipBytes() override { inflateEnd(&stream_); }
  GzipBytes(const GzipBytes&) = delete;
  GzipBytes& operator=(const GzipBytes&) = delete;

  std::string_view next() override {
    while (error_.empty()) {
      if (stream_.avail_in == 0 && !refill()) break;
      if (between_members_) inflateReset(&stream_);
      stream_.next_out = reinterpret_cast<Bytef*>(buffer_.data());
      stream_.avail_out = static_cast<uInt>(buffer_.size());
      const int result = inflate(&stream_, Z_NO_FLUSH);
      between_members_ = result == Z_STREAM_END;
      if (result != Z_OK && result != Z_STREAM_END) error_ = "corrupt gzip stream";
      if (const std::size_t size = buffer_.size() - stream_.avail_out) return {buffer_.data(), size};
    }
    return {};
  }

 private:
  bool refill() {
    const std::string_view bytes = file_->next();
    error_ = file_->error();
    if (bytes.empty() && error_.empty() && !between_members_) end_early("truncated gzip stream");
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    return !bytes.empty();
  }

  std::unique_ptr<PlainBytes> file_;
  std::vector<char> buffer_;
  z_stream stream_{};
  bool between_members_ = false;
};

class ZstdBytes : public ByteSource {
 public:
  explicit ZstdBytes(std::unique_ptr<PlainBytes> file)
      : file_(std::move(file)), buffer_(ZSTD_DStreamOutSize()), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
  }

  std::string_view next() override {
    while (error_.empty()) {
      if (input_.pos == input_.size && !flushing_ && !refill()) break;
      ZSTD_outBuffer output{buffer_.data(), buffer_.size(), 0};
      const std::size_t due = ZSTD_decompressStream(stream_.get(), &output, &input_);
      if (ZSTD_isError(due)) error_ = "corrupt zstd stream";
      between_frames_ = due == 0;
      flushing_ = output.pos == output.size && !between_frames_;
      if (output.pos > 0 && error_.empty()) return {buffer_.data(), output.pos};
    }
    return {};
  }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };

  bool refill() {
    const std::string_view bytes = file_->next();
    error_ = file_->error();
    if (bytes.empty() && error_.empty() && !between_frames_) end_early("truncated zstd stream");
    input_ = {bytes.data(), bytes.size(), 0};
    return !bytes.empty();
  }

  std::unique_ptr<PlainBytes> file_;
  std::vector<char> buffer_;
  std::unique_ptr<ZSTD_DStream, Free> stream_;
  ZSTD_inBuffer input_{nullptr, 0, 0};
  bool between_frames_ = false;
  bool flushing_ = false;  // decompressed bytes wait for room
};

}  // namespace

std::unique_ptr<ByteSource> open_bytes(const std::filesystem::path& path) {
  auto file = std::make_unique<PlainBytes>(path);
  const std::string_view start = file->peek();
  if (start.starts_with("\x1f\x8b")) return std::make_unique<GzipBytes>(std::move(file));
  if (start.starts_with("\x28\xb5\x2f\xfd")) return std::make_unique<ZstdBytes>(std::move(file));
  return file;
}

}  // namespace llmscape
