// SPDX-License-Identifier: Apache-2.0
#include "traces/compression.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/files.hpp"

namespace llmscape::traces {
namespace {

constexpr int kGzipWindow = 15 + 16;  // largest window, gzip header; its time stamp stays 0
constexpr std::size_t kPiece = 1 << 18;

std::string gzip(std::string_view content) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("gzip compression failed");
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  // zlib counts what is left in 32 bits: hand over at most so much at once.
  constexpr std::size_t kMost = std::numeric_limits<uInt>::max();
  int result = Z_OK;
  while (result == Z_OK) {
    const std::size_t in_left = content.size() - stream.total_in, out_left = out.size() - stream.total_out;
    stream.avail_in = static_cast<uInt>(std::min(in_left, kMost));
    stream.avail_out = static_cast<uInt>(std::min(out_left, kMost));
    result = deflate(&stream, in_left <= kMost ? Z_FINISH : Z_NO_FLUSH);
  }
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END) throw std::runtime_error("gzip compression failed");
  return out;
}

std::string zstd(std::string_view content) {
  std::string out(ZSTD_compressBound(content.size()), '\0');
  const std::size_t size = ZSTD_compress(out.data(), out.size(), content.data(), content.size(), ZSTD_CLEVEL_DEFAULT);
  if (ZSTD_isError(size)) throw std::runtime_error("zstd compression failed");
  out.resize(size);
  return out;
}

}  // namespace

std::string compressed_for(const std::filesystem::path& path, std::string_view content) {
  if (path.extension() == ".gz") return gzip(content);
  if (path.extension() == ".zst") return zstd(content);
  return std::string(content);
}

struct CompressedFile::Compressor {
  explicit Compressor(const std::filesystem::path& path) : file(path) {}
  virtual ~Compressor() = default;
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  virtual void append(std::string_view content) = 0;
  virtual void finish() = 0;

  AtomicFile file;
};

struct CompressedFile::Plain final : Compressor {
  using Compressor::Compressor;
  void append(std::string_view content) override { file.append(content); }
  void finish() override {}
};

struct CompressedFile::Gzip final : Compressor {
  explicit Gzip(const std::filesystem::path& path) : Compressor(path), out(kPiece) {
    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::runtime_error("gzip compression failed");
  }
  ~Gzip() override { deflateEnd(&stream); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  void append(std::string_view content) override {
    for (; !content.empty(); content.remove_prefix(std::min(kPiece, content.size())))
      hand_over(content.substr(0, kPiece), Z_NO_FLUSH);
  }
  void finish() override { hand_over({}, Z_FINISH); }

  void hand_over(std::string_view piece, int flush) {
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(piece.data()));
    stream.avail_in = static_cast<uInt>(piece.size());
    do {
      stream.next_out = reinterpret_cast<Bytef*>(out.data());
      stream.avail_out = static_cast<uInt>(out.size());
      if (deflate(&stream, flush) == Z_STREAM_ERROR) throw std::runtime_error("gzip compression failed");
      file.append({out.data(), out.size() - stream.avail_out});
    } while (stream.avail_out == 0);
  }

  z_stream stream{};
  std::vector<char> out;
};

// Content up to kAtOnce is compressed in one call, which states its size and makes the bytes of compressed_for.
struct CompressedFile::Zstd final : Compressor {
  static constexpr std::size_t kAtOnce = std::size_t{16} << 20;
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };

  using Compressor::Compressor;
  void append(std::string_view content) override {
    if (!context) {
      held += content;
      if (held.size() <= kAtOnce) return;
      context.reset(ZSTD_createCCtx());
      if (!context) throw std::bad_alloc();
      out.resize(ZSTD_CStreamOutSize());
      hand_over(std::exchange(held, {}), ZSTD_e_continue);
    } else {
      hand_over(content, ZSTD_e_continue);
    }
  }
  void finish() override {
    if (context) return hand_over({}, ZSTD_e_end);
    file.append(zstd(held));
  }

  void hand_over(std::string_view piece, ZSTD_EndDirective directive) {
    ZSTD_inBuffer input{piece.data(), piece.size(), 0};
    std::size_t left = 0;
    do {
      ZSTD_outBuffer output{out.data(), out.size(), 0};
      left = ZSTD_compressStream2(context.get(), &output, &input, directive);
      if (ZSTD_isError(left)) throw std::runtime_error("zstd compression failed");
      file.append({out.data(), output.pos});
    } while (directive == ZSTD_e_end ? left > 0 : input.pos < input.size);
  }

  std::string held;  // until it is more than kAtOnce
  std::unique_ptr<ZSTD_CCtx, Free> context;
  std::vector<char> out;
};

CompressedFile::CompressedFile(const std::filesystem::path& path) {
  if (path.extension() == ".gz") {
    compressor_ = std::make_unique<Gzip>(path);
  } else if (path.extension() == ".zst") {
    compressor_ = std::make_unique<Zstd>(path);
  } else {
    compressor_ = std::make_unique<Plain>(path);
  }
}
CompressedFile::~CompressedFile() = default;

void CompressedFile::append(std::string_view content) { compressor_->append(content); }

void CompressedFile::commit() {
  compressor_->finish();
  compressor_->file.commit();
}

}  // namespace llmscape::traces
