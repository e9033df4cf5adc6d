// SPDX-License-Identifier: MIT
#include "emulate/memory_shortage.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/kernel_file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "emulate/job_groups.hpp"
#include "emulate/unified_groups.hpp"

namespace hpcml::emulate {

namespace {

namespace fs = std::filesystem;
using std::chrono::steady_clock;

/// What the kernel calls a group's values.
struct GroupFiles {
  const char *limit, *usage, *kills;
};

GroupFiles files_of(const fs::path& group) {
  if (is_unified_group(group)) return {"memory.max", "memory.current", "memory.events"};
  return {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control"};
}

/// A process that the kernel may be led to kill.
struct MemoryUser {
  fs::path step;  ///< the group that has the step's limit
  fs::path group; ///< one in that which takes processes
  std::string job;
  pid_t pid = 0;
  std::string name;
  bool of_srun = false; ///< not the batch script's own
  unsigned long long pages = 0;
};

std::string read_value(const fs::path& path) { return util::read_file(path).value_or(""); }

std::optional<unsigned long long> read_number(const fs::path& path) {
  return util::parse_unsigned(util::trim(read_value(path)));
}

/// What the kernel has killed in the folder and those in it; nothing where it does not count that.
std::optional<unsigned long long> count_kills(const fs::path& folder) {
  std::optional<unsigned long long> kills;
  // cgroup v2 counts in each group what happened in those in it, too.
  for (const auto& each : is_unified_group(folder) ? std::vector{folder} : folders_of_group(folder))
    for (const auto& line : util::split(read_value(each / files_of(folder).kills), '\n'))
      if (line.starts_with("oom_kill "))
        kills = kills.value_or(0) + util::parse_unsigned(line.substr(9)).value_or(0);
  return kills;
}

/// The process as one to be killed; nothing for what starts ranks, and what has ended.
std::optional<MemoryUser> read_memory_user(pid_t pid) {
  const fs::path folder = "/proc/" + std::to_string(pid);
  std::error_code gone;
  MemoryUser user;
  user.pid = pid;
  user.name = fs::read_symlink(folder / "exe", gone).filename().string();
  if (gone || user.name.starts_with("slurmstepd") || user.name == util::own_executable().filename())
    return std::nullopt;
  user.name = util::trim(read_value(folder / "comm"));
  const auto words = util::split(read_value(folder / "statm"), ' ');
  user.pages = words.size() < 2 ? 0 : util::parse_unsigned(words[1]).value_or(0);
  return user.pages == 0 ? std::nullopt : std::optional(user);
}

/// The biggest process of the node's steps. Beside steps of srun's the batch script's waits for them.
std::optional<MemoryUser> find_biggest(const fs::path& node_group) {
  std::optional<MemoryUser> biggest;
  for (const auto& folder : folders_of_group(node_group)) {
    fs::path step;
    std::string job;
    for (auto at = folder; at != node_group; at = at.parent_path()) {
      const auto name = at.filename().string();
      if (name.starts_with("step_")) step = at;
      if (name.starts_with("job_")) job = name.substr(4);
    }
    if (step.empty()) continue;
    for (const auto& line : util::split(read_value(folder / "cgroup.procs"), '\n')) {
      const auto pid = util::parse_unsigned(line);
      auto user = pid && *pid > 1 ? read_memory_user(static_cast<pid_t>(*pid)) : std::nullopt;
      if (!user) continue;
      user->step = is_unified_group(step) ? step / "user" : step; // beside it is slurmstepd, without a limit
      user->group = is_unified_group(step) ? folder : step;
      user->job = job;
      user->of_srun = util::parse_unsigned(step.filename().string().substr(5)).has_value();
      if (!biggest || std::tie(user->of_srun, user->pages) > std::tie(biggest->of_srun, biggest->pages))
        biggest = user;
    }
  }
  return biggest;
}

/// In the step: takes memory until somebody has been killed for it. Never this process itself.
[[noreturn]] void take_memory(const MemoryUser& user, unsigned long long kills_before) {
  constexpr std::size_t k_piece = 256U << 10U, k_page = 4096;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, "hpcml-memory");
  // Not every root may; the victim's own mark is enough.
  [[maybe_unused]] const auto ignored = util::write_kernel_file("/proc/self/oom_score_adj", "-1000");
  if (!util::write_kernel_file(user.group / "cgroup.procs", "0")) ::_exit(1);
  while (count_kills(user.step).value_or(0) <= kills_before) {
    void* const piece = ::mmap(nullptr, k_piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (piece == MAP_FAILED) ::_exit(1);
    for (std::size_t at = 0; at < k_piece; at += k_page) static_cast<volatile char*>(piece)[at] = 1;
  }
  ::_exit(0);
}

/// Lowers the step's limit to what it has in use, and a little, so that this machine keeps its memory.
bool lower_limit(const fs::path& file, const fs::path& usage) {
  constexpr unsigned long long k_least = 512U << 10U, k_most = 64U << 20U;
  const auto before = read_number(file).value_or(ULLONG_MAX); // "max"
  for (auto room = k_least; room <= k_most; room *= 2)
    if (util::write_kernel_file(file,
                                std::to_string(std::min(before, read_number(usage).value_or(0) + room))))
      return true;
  return false;
}

util::Status strike(const MemoryUser& user) {
  constexpr auto k_longest_try = std::chrono::seconds(30);
  constexpr auto k_glance = std::chrono::microseconds(200);
  const auto& step = user.step;
  const auto files = files_of(step);
  const auto before = count_kills(step);
  if (!before)
    return util::Error{"this kernel does not count what it kills for want of memory; Linux 4.13 does", {}};
  const auto file = step / files.limit;
  const auto limit = read_value(file);
  const auto cannot = [&](const std::string& what) {
    return util::Error{what + ": " + std::strerror(errno), {}};
  };
  if (!lower_limit(file, step / files.usage)) return cannot("cannot lower " + file.string());
  const pid_t eater = ::fork();
  if (eater == 0) take_memory(user, *before);
  const auto end = steady_clock::now() + k_longest_try;
  const auto has_killed = [&] { return count_kills(step).value_or(0) > *before; };
  bool ended = eater < 0;
  while (!ended && !has_killed() && steady_clock::now() < end) {
    std::this_thread::sleep_for(k_glance);
    ended = ::waitpid(eater, nullptr, WNOHANG) == eater;
  }
  // At once: what the rest of the step takes now must not be its end, too.
  [[maybe_unused]] const auto raised = util::write_kernel_file(file, limit);
  const bool killed = has_killed();
  if (eater > 0 && !ended) {
    ::kill(eater, SIGKILL);
    while (::waitpid(eater, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  if (eater < 0) return cannot("cannot start the process that takes the memory");
  if (killed) return util::Done{};
  return util::Error{"the kernel killed nothing", {}};
}

} // namespace

util::Result<MemoryVictim> run_out_of_memory(const std::string& node_group) {
  constexpr auto k_patience = std::chrono::seconds(10);
  const auto end = steady_clock::now() + k_patience;
  auto user = find_biggest(node_group);
  while (!user && steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    user = find_biggest(node_group);
  }
  if (!user) return util::Error{"no job has a process there", "let it happen while a job runs on that node"};
  // Else the kernel might take a launcher, or what takes the memory: in small examples these are the biggest.
  [[maybe_unused]] const auto ignored =
      util::write_kernel_file("/proc/" + std::to_string(user->pid) + "/oom_score_adj", "1000");
  TRY_DONE(strike(*user));
  return MemoryVictim{user->name, user->job};
}

} // namespace hpcml::emulate
