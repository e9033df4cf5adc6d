// SPDX-License-Identifier: MIT
#include "ddp/nccl_group.hpp"

#ifdef USE_C10D_NCCL
#include <cstdlib>
#include <optional>
#include <string>

#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

namespace hpcml::ddp {

namespace {

/// c10d's own end of an operation that takes too long would come as a std::terminate() in one of its threads.
constexpr std::chrono::milliseconds k_after_ours{60000};

/// What c10d does about errors: renamed in 2.2, with a warning about the older name.
constexpr const char* k_error_handling =
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 2)
    "TORCH_NCCL_ASYNC_ERROR_HANDLING";
#else
    "NCCL_ASYNC_ERROR_HANDLING";
#endif

/// A variable of the environment has this value while it lives.
class Setting {
public:
  Setting(const char* name, const char* value) : x_name(name) {
    if (const char* now = std::getenv(name)) x_before = now;
    ::setenv(name, value, 1);
  }
  ~Setting() {
    if (x_before)
      ::setenv(x_name, x_before->c_str(), 1);
    else
      ::unsetenv(x_name);
  }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

private:
  const char* x_name;
  std::optional<std::string> x_before;
};

} // namespace

c10::intrusive_ptr<Group> make_nccl(const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options,
                                    const Subgroup& members, NcclWaitMode wait) {
  auto settings = c10d::ProcessGroupNCCL::Options::create();
  settings->timeout = options.timeout;
  if (wait == NcclWaitMode::process) {
    // Without blocking wait, a watchdog thread aborts the process if a peer is missing, and names no
    // rank. The variable was renamed in 2.2.
    ::setenv("NCCL_BLOCKING_WAIT", "1", 0);
    ::setenv("TORCH_NCCL_BLOCKING_WAIT", "1", 0);
    return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, members.rank, members.size, settings);
  }
  // StreamWatch observes the group that is created now with these variables, and names the cause. c10d's
  // watchdog would end the process before, or delay all operations for a minute so that others may dump
  // their records; and its end would wait eight minutes for the writer.
  const Setting no_end(k_error_handling, "0"), no_monitor("TORCH_NCCL_ENABLE_MONITORING", "0"),
      no_dump("TORCH_NCCL_DUMP_ON_TIMEOUT", "0"), short_wait("TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "100");
  settings->timeout += k_after_ours;
  return c10::make_intrusive<c10d::ProcessGroupNCCL>(store, members.rank, members.size, settings);
}

void abort_nccl([[maybe_unused]] Group& group) noexcept {
#if TORCH_VERSION_MAJOR >= 2
  try {
    static_cast<c10d::ProcessGroupNCCL&>(group).abort();
  } catch (const std::exception&) {
    // It took too long for c10d.
  }
#endif
}

void end_nccl([[maybe_unused]] Group& group) noexcept {
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 1)
  try {
    static_cast<c10d::ProcessGroupNCCL&>(group).shutdown();
  } catch (const std::exception&) {
    // It ends with the process, then.
  }
#endif
}

} // namespace hpcml::ddp
#endif
