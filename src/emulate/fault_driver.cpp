// SPDX-License-Identifier: MIT
#include "emulate/fault_driver.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <new>
#include <optional>
#include <string>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <utility>

#include "core/util/child.hpp"
#include "core/util/file.hpp"
#include "core/util/kernel_file.hpp"
#include "core/util/process.hpp"
#include "core/util/result.hpp"
#include "core/util/text.hpp"
#include "emulate/child_process.hpp"
#include "emulate/job_cgroups.hpp"
#include "emulate/link_speed.hpp"
#include "emulate/node_processes.hpp"
#include "emulate/preemption.hpp"
#include "emulate/unified_groups.hpp"

namespace hpcml::emulate {

namespace {

// Lets a job of an emulated node run out of memory, so that the kernel kills a process of it.

/// What the kernel has killed.
struct MemoryVictim {
  std::string name; ///< "python3"
  std::string job;  ///< its number
};

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

/// What the kernel has killed in the directory and those in it; nothing where it does not count that.
std::optional<unsigned long long> count_kills(const fs::path& directory) {
  std::optional<unsigned long long> kills;
  // cgroup v2 counts in each group what happened in those in it as well.
  for (const auto& each :
       is_unified_group(directory) ? std::vector{directory} : directories_of_group(directory))
    for (const auto& line : util::split(read_value(each / files_of(directory).kills), '\n'))
      if (line.starts_with("oom_kill "))
        kills = kills.value_or(0) + util::parse_unsigned(line.substr(9)).value_or(0);
  return kills;
}

/// The process as one to be killed; nothing for what starts ranks, and what has ended.
std::optional<MemoryUser> read_memory_user(pid_t pid) {
  const fs::path directory = "/proc/" + std::to_string(pid);
  std::error_code lost;
  MemoryUser user;
  user.pid = pid;
  user.name = fs::read_symlink(directory / "exe", lost).filename().string();
  if (lost || user.name.starts_with("slurmstepd") || user.name == util::own_executable().filename())
    return std::nullopt;
  user.name = util::trim(read_value(directory / "comm"));
  const auto words = util::split(read_value(directory / "statm"), ' ');
  user.pages = words.size() < 2 ? 0 : util::parse_unsigned(words[1]).value_or(0);
  return user.pages == 0 ? std::nullopt : std::optional(user);
}

/// The biggest process of the node's steps. Next to steps of srun's the batch script's waits for them.
std::optional<MemoryUser> find_biggest(const fs::path& node_group) {
  std::optional<MemoryUser> biggest;
  for (const auto& directory : directories_of_group(node_group)) {
    fs::path step;
    std::string job;
    for (auto at = directory; at != node_group; at = at.parent_path()) {
      const auto name = at.filename().string();
      if (name.starts_with("step_")) step = at;
      if (name.starts_with("job_")) job = name.substr(4);
    }
    if (step.empty()) continue;
    for (const auto& line : util::split(read_value(directory / "cgroup.procs"), '\n')) {
      const auto pid = util::parse_unsigned(line);
      auto user = pid && *pid > 1 ? read_memory_user(static_cast<pid_t>(*pid)) : std::nullopt;
      if (!user) continue;
      user->step = is_unified_group(step) ? step / "user" : step; // next to it is slurmstepd, without a limit
      user->group = is_unified_group(step) ? directory : step;
      user->job = job;
      user->of_srun = util::parse_unsigned(step.filename().string().substr(5)).has_value();
      if (!biggest || std::tie(user->of_srun, user->pages) > std::tie(biggest->of_srun, biggest->pages))
        biggest = user;
    }
  }
  return biggest;
}

/// Allocates memory in the step until the kernel has killed a process for it, which is never this one.
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
    return util::Error{
        "this kernel does not count the processes that it kills when memory runs out, as --fault oom needs",
        "use Linux 4.13 or later, or remove --fault oom"};
  const auto file = step / files.limit;
  const auto limit = read_value(file);
  if (!lower_limit(file, step / files.usage))
    return util::Error{fmt::format("cannot lower the memory limit of the job for --fault oom in {}: {}",
                                   file.string(), std::strerror(errno)),
                       "use a time of --fault oom at which the job's memory does not grow"};
  auto eater = util::ChildProcess::fork({}, [&]() -> int { take_memory(user, *before); });
  const auto end = steady_clock::now() + k_longest_try;
  const auto has_killed = [&] { return count_kills(step).value_or(0) > *before; };
  while (eater && eater->is_running() && !has_killed() && steady_clock::now() < end) {
    std::this_thread::sleep_for(k_glance);
    eater->wait_for(std::chrono::milliseconds(0));
  }
  // At once: what the rest of the step takes now must not be its end as well.
  [[maybe_unused]] const auto raised = util::write_kernel_file(file, limit);
  const bool killed = has_killed();
  if (!eater) return util::with_context(eater.error(), "cannot start the process that uses up the memory");
  eater->kill();
  if (killed) return util::Success{};
  return util::Error{
      fmt::format(
          "the job's memory was used up for --fault oom, but the kernel killed no process within {} s",
          k_longest_try.count()),
      "check dmesg for the out-of-memory killer, and swapon --show for swap that is in use"};
}

/// Allocates the memory that the largest step in the node's control group (node_group) has left, below a
/// limit that is lowered for the moment, until the kernel has killed the step's largest process. Processes of
/// hpcml, which start ranks, are not killed. If there is no step yet, waits some seconds for one.
util::Result<MemoryVictim> run_out_of_memory(const std::string& node_group, const std::string& node) {
  constexpr auto k_timeout = std::chrono::seconds(10);
  const auto end = steady_clock::now() + k_timeout;
  auto user = find_biggest(node_group);
  while (!user && steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    user = find_biggest(node_group);
  }
  if (!user)
    return util::Error{
        fmt::format("no job had a process on node {} within {} s after the time of --fault oom", node,
                    k_timeout.count()),
        fmt::format("use a time at which a job runs on {}", node)};
  // Else the kernel might take a launcher, or what takes the memory: in small examples these are the biggest.
  [[maybe_unused]] const auto ignored =
      util::write_kernel_file("/proc/" + std::to_string(user->pid) + "/oom_score_adj", "1000");
  TRY_DONE(strike(*user));
  return MemoryVictim{user->name, user->job};
}

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr auto k_look = std::chrono::milliseconds(20);

/// A fault's beginning, or its end.
struct FaultStep {
  seconds at{0};
  std::size_t fault = 0;
  bool begins = true;
};

std::vector<FaultStep> order_steps(const std::vector<ClusterFault>& faults) {
  std::vector<FaultStep> steps;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    steps.push_back({faults[i].from, i, true});
    if (faults[i].until) steps.push_back({*faults[i].until, i, false});
  }
  std::stable_sort(steps.begin(), steps.end(), [](const auto& a, const auto& b) { return a.at < b.at; });
  return steps;
}

bool exists(const std::string& file) { return ::access(file.c_str(), F_OK) == 0; }

/// Ends slurmctld as its administrator does.
util::Status stop_controller(pid_t pid) {
  ::kill(pid, SIGTERM);
  const auto end = steady_clock::now() + seconds(60);
  // One of this process's own is reaped here; another's stays a zombie, which has no mark either.
  while (!read_node_mark(pid).empty()) {
    ::waitpid(pid, nullptr, WNOHANG);
    if (steady_clock::now() > end)
      return util::Error{
          "slurmctld did not stop within 60 s after SIGTERM, as --fault slurmctld-restart needs",
          "use --keep-logs DIR and read slurmctld.log for the cause"};
    std::this_thread::sleep_for(k_look);
  }
  return util::Success{};
}

/// What makes the faults happen, in the process next to the command.
class FaultInjector {
public:
  FaultInjector(Sandbox& sandbox, const ClusterRunOptions& run, const SlurmDaemons& daemons)
      : x_sandbox(sandbox), x_run(run), x_daemons(daemons) {}

  /// Does the step; what is so then, as a sentence's beginning.
  util::Result<std::string> take(const ClusterFault& fault, bool begins) {
    switch (fault.kind) {
    case FaultKind::node_down:
      TRY_DONE(x_sandbox.end_node(daemon_of(fault)));
      return fmt::format("{} is down", name_of(fault));
    case FaultKind::link_cut:
      TRY_DONE(x_sandbox.switch_links(daemon_of(fault), !begins));
      return name_of(fault) + (begins ? ": links cut" : ": links restored");
    case FaultKind::slow_link:
      TRY_DONE(x_sandbox.slow_links(daemon_of(fault), begins ? fault.factor : 1));
      return name_of(fault) +
             (begins ? fmt::format(": links limited to {} each way", describe_link_speed(fault.factor))
                     : std::string(": links at full speed again"));
    case FaultKind::controller_restart: return restart(fault, begins);
    case FaultKind::preempt: return preempt(fault, begins);
    case FaultKind::out_of_memory: return take_memory(fault);
    }
    return util::Error{"unknown fault", {}};
  }

private:
  pid_t daemon_of(const ClusterFault& fault) const { return x_daemons.nodes.at(fault.node - 1); }
  const std::string& name_of(const ClusterFault& fault) const {
    return x_run.layout.nodes.at(fault.node - 1).name;
  }

  util::Result<std::string> take_memory(const ClusterFault& fault) {
    TRY(const auto victim,
        run_out_of_memory(node_group(x_sandbox.job_groups().memory, name_of(fault)), name_of(fault)));
    return fmt::format("{} has no memory left for job {}: the kernel killed its {}", name_of(fault),
                       victim.job, victim.name);
  }

  util::Result<std::string> restart(const ClusterFault& fault, bool begins) {
    if (begins) TRY_DONE(stop_controller(x_daemons.controller));
    if (begins && fault.until) return std::string("slurmctld stopped");
    TRY(x_daemons.controller, start_controller(x_sandbox, x_run, false));
    return std::string(fault.until ? "slurmctld started again" : "slurmctld restarted");
  }

  /// Takes all nodes by a job of the partition that goes before all others, and gives them back.
  util::Result<std::string> preempt(const ClusterFault& fault, bool begins) {
    if (begins) {
      TRY(x_preempting, submit_preempting_job(x_sandbox, x_run));
      return describe_preemption(*x_run.site, fault);
    }
    if (x_preempting.empty())
      return util::Error{"the job of --fault preempt cannot end, because its submission failed before",
                         "check the earlier error of this --fault"};
    TRY_DONE(end_preempting_job(x_run, x_sandbox, std::exchange(x_preempting, {})));
    return std::string("the preempting job has ended");
  }

  Sandbox& x_sandbox;
  const ClusterRunOptions& x_run;
  SlurmDaemons x_daemons;
  std::string x_preempting; ///< the job's number
};

} // namespace

util::Status check_faults(const Sandbox& sandbox, const ClusterRunOptions& run) {
  for (const auto& fault : run.faults) {
    if (needs_links(fault.kind) && !sandbox.has_networks())
      return util::Error{
          fmt::format("--fault {} needs network namespaces, which this machine does not allow", fault.text),
          "use a machine that allows network namespaces with bridges and veth pairs, or remove this fault"};
    if (fault.kind == FaultKind::slow_link)
      if (const auto step = try_link_speed(); !step)
        return util::with_context(step.error(), fmt::format("--fault {}", fault.text));
  }
  return util::Success{};
}

/// What the process next to the command has done so far.
struct FaultDriver::Shared {
  std::atomic<bool> began{false};
  steady_clock::time_point first_job{};
  std::atomic<std::size_t> taken{0}; ///< of the steps, in their order
};

FaultDriver::FaultDriver(Sandbox& sandbox, const ClusterRunOptions& run, const SlurmDaemons& daemons)
    : x_run(run) {
  if (run.faults.empty()) return;
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const auto cannot = [&] {
    run.narrator.failure(
        {fmt::format("cannot start the process that injects the faults of --fault, so none happens: {}",
                     std::strerror(errno)),
         "check `ulimit -u` and the free memory of this machine (free -h)"});
  };
  if (memory == MAP_FAILED) {
    cannot();
    return;
  }
  x_shared = new (memory) Shared;
  util::ChildOptions options;
  options.group = util::ChildOptions::Group::session; // Ctrl-C is for the command
  options.death_signal = SIGKILL;
  auto child = util::ChildProcess::fork(options, [&] {
    inject_faults(sandbox, daemons);
    return 0;
  });
  if (child)
    x_child = *std::move(child);
  else
    cannot();
}

/// In the process next to the command.
void FaultDriver::inject_faults(Sandbox& sandbox, const SlurmDaemons& daemons) {
  reset_signals();
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_NAME, "hpcml-faults");
  while (!exists(job_mark(sandbox.state_dir()))) std::this_thread::sleep_for(k_look);
  x_shared->first_job = steady_clock::now();
  x_shared->began = true;
  FaultInjector hand(sandbox, x_run, daemons);
  for (const auto& step : order_steps(x_run.faults)) {
    const auto& fault = x_run.faults[step.fault];
    std::this_thread::sleep_until(x_shared->first_job + step.at);
    ++x_shared->taken;
    const auto done = hand.take(fault, step.begins);
    if (!done) {
      x_run.narrator.failure(util::with_context(done.error(), fmt::format("--fault {}", fault.text)));
      continue;
    }
    const auto passed = std::chrono::duration_cast<seconds>(steady_clock::now() - x_shared->first_job);
    x_run.narrator.event(fmt::format("fault: {} (requested by --fault {}, {} after the first job started)",
                                     *done, fault.text, describe_seconds(passed)));
  }
}

void FaultDriver::stop() { x_child.kill(); }

FaultDriver::~FaultDriver() {
  stop();
  if (x_shared != nullptr) ::munmap(x_shared, sizeof(Shared));
}

std::vector<std::string> FaultDriver::finish() {
  stop();
  const bool began = x_shared != nullptr && x_shared->began;
  std::string why = "no job started";
  if (began)
    why = fmt::format(
        "the command ended {} after the first job started",
        describe_seconds(std::chrono::duration_cast<seconds>(steady_clock::now() - x_shared->first_job)));
  std::vector<std::string> sentences;
  const auto steps = order_steps(x_run.faults);
  for (auto i = began ? x_shared->taken.load() : std::size_t{0}; i < steps.size(); ++i)
    if (steps[i].begins)
      sentences.push_back(
          fmt::format("fault: --fault {} was not injected: {}", x_run.faults[steps[i].fault].text, why));
  return sentences;
}

} // namespace hpcml::emulate
