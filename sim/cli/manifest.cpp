// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/manifest.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "base/files.hpp"
#include "sim/cli/version.hpp"
#include "sim/kernel/kernel.hpp"

namespace llmscape::cli {
namespace {

double wall_seconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// Of this process and of its children that have ended.
double cpu_seconds() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage use{};
    getrusage(who, &use);
    for (const timeval& time : {use.ru_utime, use.ru_stime})
      sum += static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  }
  return sum;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

}  // namespace

Manifest::Manifest() : started_(std::time(nullptr)), wall_(wall_seconds()), cpu_(cpu_seconds()) {}

void Manifest::write(const std::filesystem::path& folder, const std::vector<std::string>& arguments) const {
  const Version& v = version();
  const nlohmann::ordered_json json = {
      {"schema", "manifest/1"},
      {"tool",
       {{"version", v.number},
        {"revision", v.revision},
        {"dirty", v.dirty},
        {"compiler", v.compiler},
        {"build_type", v.build_type},
        {"simgrid", kernel::simgrid_version()}}},
      {"arguments", arguments},
      {"host", host_name()},
      {"started", fmt::format("{:%FT%TZ}", fmt::gmtime(started_))},
      {"wall_s", wall_seconds() - wall_},
      {"cpu_s", cpu_seconds() - cpu_},
  };
  write_file_atomically(folder / kFile.name,
                        json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
}

}  // namespace llmscape::cli
