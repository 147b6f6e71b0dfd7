// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/guard.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <system_error>

#include "base/standard_streams.hpp"
#include "sim/cli/interrupt.hpp"
#include "sim/cli/verbs.hpp"
#include "sim/explore/store.hpp"
#include "sim/kernel/kernel.hpp"

namespace llmscape::cli {
namespace {

int broken(const char* what) {
  write_to_stderr(
      fmt::format("llmscape: internal error: {}\nThis is a defect of llmscape, not of your input.\n", what));
  return kBroken;
}

}  // namespace

int guarded(const std::function<int()>& verb) {
  try {
    const int code = verb();
    if (std::fflush(stdout) == 0 && !std::ferror(stdout)) return code;
    if (errno == EPIPE) end_without_reader();
    write_to_stderr(fmt::format("llmscape: cannot write to stdout: {}\n", std::generic_category().message(errno)));
  } catch (const explore::FolderGone& gone) {
    write_to_stderr(fmt::format("llmscape: {}\n", gone.what()));
    return kPartly;
  } catch (const Interrupted&) {
    write_to_stderr("llmscape: interrupted; nothing was written\n");
    return kInterrupted;
  } catch (const std::logic_error& error) {
    return broken(error.what());
  } catch (const kernel::Deadlock& error) {
    return broken(error.what());
  } catch (const std::exception& error) {
    if (std::ferror(stdout) && errno == EPIPE) end_without_reader();
    write_to_stderr(fmt::format("llmscape: {}\n", error.what()));
  }
  return kBroken;
}

}  // namespace llmscape::cli
