// SPDX-License-Identifier: Apache-2.0
#include "hardware/harness/cpu/machine.hpp"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string_view>

namespace llmscape::hardware::harness {
namespace {

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// The value of the first line "key : value" of /proc/cpuinfo; empty if there is none.
std::string cpu_fact(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(':');
    if (line.starts_with(key) && colon != line.npos && colon + 2 < line.size()) return line.substr(colon + 2);
  }
  return {};
}

// Kernels of x86 name the processor; those of arm64 tell numbers of the maker and the part.
void name_processor(std::map<std::string, std::string>& facts) {
  facts["device"] = cpu_fact("model name");
  facts["cpu_family_model"] = cpu_fact("cpu family") + "/" + cpu_fact("model\t");
  if (const std::string part = cpu_fact("CPU part"); facts["device"].empty() && !part.empty()) {
    facts["cpu_family_model"] = cpu_fact("CPU implementer") + "/" + part;
    facts["device"] = "arm64 CPU " + facts["cpu_family_model"];
  }
}

// "32768K"; empty where Linux does not tell.
std::string cache_size(int level) {
  return first_line(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", level).c_str());
}

}  // namespace

std::map<std::string, std::string> machine_facts() {
  std::map<std::string, std::string> facts;
  name_processor(facts);
  facts["cores"] = std::to_string(sysconf(_SC_NPROCESSORS_ONLN));
  for (const int level : {2, 3}) {
    const std::string size = cache_size(level);
    if (!size.empty()) facts[fmt::format("l{}", level)] = size;
  }
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  facts["governor"] = governor.empty() ? "not told" : governor;
  utsname name{};
  if (uname(&name) == 0) facts["kernel"] = fmt::format("{} {}", name.sysname, name.release);
  return facts;
}

Bytes last_cache() {
  constexpr double kKiB = 1024, kUsual = 32768;
  std::istringstream text(cache_size(3));
  double kib = 0;
  return Bytes(kKiB * (text >> kib && kib > 0 ? kib : kUsual));
}

std::optional<double> clock_mhz() {
  std::istringstream text(cpu_fact("cpu MHz"));
  double mhz = 0;
  return text >> mhz ? std::optional(mhz) : std::nullopt;
}

StealMeter::StealMeter() : start_(read()) {}

std::optional<double> StealMeter::share_since() const {
  const auto now = read();
  if (!start_ || !now || now->all <= start_->all) return std::nullopt;
  return (now->stolen - start_->stolen) / (now->all - start_->all);
}

std::optional<StealMeter::Ticks> StealMeter::read() {
  constexpr int kStolen = 7;  // user, nice, system, idle, iowait, irq, softirq, steal
  std::istringstream line(first_line("/proc/stat"));
  std::string cpu;
  line >> cpu;
  Ticks ticks;
  double value = 0;
  for (int column = 0; column <= kStolen; ++column) {
    if (!(line >> value)) return std::nullopt;
    ticks.all += value;
    if (column == kStolen) ticks.stolen = value;
  }
  return ticks;
}

}  // namespace llmscape::hardware::harness
