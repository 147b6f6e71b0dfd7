// SPDX-License-Identifier: Apache-2.0
#include "traces/compression.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace llmscape::traces {
namespace {

std::string gzip(std::string_view content) {
  constexpr int kGzipWindow = 15 + 16;  // largest window, gzip header; its time stamp stays 0
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("gzip compression failed");
  std::string out(deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  // zlib counts what is left in 32 bits: hand over at most so much at once.
  constexpr std::size_t kPiece = std::numeric_limits<uInt>::max();
  int result = Z_OK;
  while (result == Z_OK) {
    const std::size_t in_left = content.size() - stream.total_in, out_left = out.size() - stream.total_out;
    stream.avail_in = static_cast<uInt>(std::min(in_left, kPiece));
    stream.avail_out = static_cast<uInt>(std::min(out_left, kPiece));
    result = deflate(&stream, in_left <= kPiece ? Z_FINISH : Z_NO_FLUSH);
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

}  // namespace llmscape::traces
