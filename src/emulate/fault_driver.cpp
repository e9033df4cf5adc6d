// SPDX-License-Identifier: MIT
#include "emulate/fault_driver.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "core/util/process.hpp"
#include "emulate/child_process.hpp"
#include "emulate/job_groups.hpp"
#include "emulate/link_speed.hpp"
#include "emulate/memory_shortage.hpp"
#include "emulate/node_processes.hpp"
#include "emulate/preemption.hpp"

namespace hpcml::emulate {

namespace {

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

bool is_there(const std::string& file) { return ::access(file.c_str(), F_OK) == 0; }

/// Ends slurmctld as its administrator does.
util::Status stop_controller(pid_t pid) {
  ::kill(pid, SIGTERM);
  const auto end = steady_clock::now() + seconds(60);
  // One of this process's own is reaped here; another's stays a zombie, which has no mark either.
  while (!read_node_mark(pid).empty()) {
    ::waitpid(pid, nullptr, WNOHANG);
    if (steady_clock::now() > end) return util::Error{"slurmctld does not end", {}};
    std::this_thread::sleep_for(k_look);
  }
  return util::Done{};
}

/// What makes the faults happen, in the process beside the command.
class FaultInjector {
public:
  FaultInjector(Sandbox& sandbox, const ClusterRun& run, const SlurmDaemons& daemons)
      : x_sandbox(sandbox), x_run(run), x_daemons(daemons) {}

  /// Does the step; what is so then, as a sentence's beginning.
  util::Result<std::string> take(const ClusterFault& fault, bool begins) {
    switch (fault.kind) {
    case FaultKind::node_down:
      TRY_DONE(x_sandbox.end_node(daemon_of(fault)));
      return name_of(fault) + " is down";
    case FaultKind::link_cut:
      TRY_DONE(x_sandbox.switch_links(daemon_of(fault), !begins));
      return name_of(fault) + (begins ? "'s links are cut" : "'s links are whole again");
    case FaultKind::slow_link:
      TRY_DONE(x_sandbox.slow_links(daemon_of(fault), begins ? fault.factor : 1));
      return name_of(fault) + (begins ? "'s links carry " + describe_link_speed(fault.factor) + " each way"
                                      : std::string("'s links are as fast as before"));
    case FaultKind::controller_restart: return restart(fault, begins);
    case FaultKind::preempt: return preempt(fault, begins);
    case FaultKind::out_of_memory: return take_memory(fault);
    }
    return util::Error{"there is no such fault", {}};
  }

private:
  pid_t daemon_of(const ClusterFault& fault) const { return x_daemons.nodes.at(fault.node - 1); }
  const std::string& name_of(const ClusterFault& fault) const {
    return x_run.layout.nodes.at(fault.node - 1).name;
  }

  util::Result<std::string> take_memory(const ClusterFault& fault) {
    TRY(const auto victim, run_out_of_memory(node_group(x_sandbox.job_groups().memory, name_of(fault))));
    return name_of(fault) + " has no memory left for job " + victim.job + ": the kernel has killed its " +
           victim.name;
  }

  util::Result<std::string> restart(const ClusterFault& fault, bool begins) {
    if (begins) TRY_DONE(stop_controller(x_daemons.controller));
    if (begins && fault.until) return std::string("slurmctld is gone");
    TRY(x_daemons.controller, start_controller(x_sandbox, x_run, false));
    return std::string(fault.until ? "slurmctld is back" : "slurmctld has been restarted");
  }

  /// Takes all nodes by a job of the partition that goes before all others, and gives them back.
  util::Result<std::string> preempt(const ClusterFault& fault, bool begins) {
    if (begins) {
      TRY(x_preempting, submit_preempting_job(x_sandbox, x_run));
      return describe_preemption(*x_run.site, fault);
    }
    if (x_preempting.empty()) return util::Error{"there is no job that could end", {}};
    TRY_DONE(end_preempting_job(x_run, x_sandbox, std::exchange(x_preempting, {})));
    return std::string("the job that took all nodes has ended");
  }

  Sandbox& x_sandbox;
  const ClusterRun& x_run;
  SlurmDaemons x_daemons;
  std::string x_preempting; ///< the job's number
};

} // namespace

util::Status check_faults(const Sandbox& sandbox, const ClusterRun& run) {
  for (const auto& fault : run.faults) {
    if (needs_links(fault.kind) && !sandbox.has_networks())
      return util::Error{"--fault " + fault.text + ": this machine gives the nodes no network of their own",
                         {}};
    if (fault.kind == FaultKind::slow_link)
      if (const auto step = try_link_speed(); !step)
        return util::with_context(step.error(), "--fault " + fault.text);
  }
  return util::Done{};
}

/// What the process beside the command has done so far.
struct FaultDriver::Shared {
  std::atomic<bool> began{false};
  steady_clock::time_point first_job{};
  std::atomic<std::size_t> taken{0}; ///< of the steps, in their order
};

FaultDriver::FaultDriver(Sandbox& sandbox, const ClusterRun& run, const SlurmDaemons& daemons) : x_run(run) {
  if (run.faults.empty()) return;
  void* const memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  const auto cannot = [&] {
    run.narrator.failure(
        {std::string("cannot start the process that makes faults happen: ") + std::strerror(errno), {}});
  };
  if (memory == MAP_FAILED) {
    cannot();
    return;
  }
  x_shared = new (memory) Shared;
  const pid_t parent = ::getpid();
  x_pid = ::fork();
  if (x_pid < 0) cannot();
  if (x_pid != 0) return;
  ::setsid(); // Ctrl-C is for the command
  reset_signals();
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_NAME, "hpcml-faults");
  if (!util::end_with(parent)) ::_exit(0);
  while (!is_there(job_mark(sandbox.state_dir()))) std::this_thread::sleep_for(k_look);
  x_shared->first_job = steady_clock::now();
  x_shared->began = true;
  FaultInjector hand(sandbox, run, daemons);
  for (const auto& step : order_steps(run.faults)) {
    const auto& fault = run.faults[step.fault];
    std::this_thread::sleep_until(x_shared->first_job + step.at);
    ++x_shared->taken;
    const auto done = hand.take(fault, step.begins);
    if (!done) {
      run.narrator.failure(util::with_context(done.error(), "--fault " + fault.text));
      continue;
    }
    const auto passed = std::chrono::duration_cast<seconds>(steady_clock::now() - x_shared->first_job);
    run.narrator.event("fault: " + *done + ", " + describe_seconds(passed) + " after the first job began");
  }
  ::_exit(0);
}

void FaultDriver::stop() {
  if (x_pid <= 0) return;
  ::kill(x_pid, SIGKILL);
  while (::waitpid(x_pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  x_pid = -1;
}

FaultDriver::~FaultDriver() {
  stop();
  if (x_shared != nullptr) ::munmap(x_shared, sizeof(Shared));
}

std::vector<std::string> FaultDriver::finish() {
  stop();
  const bool began = x_shared != nullptr && x_shared->began;
  std::string why = "no job began";
  if (began)
    why = "the command ended " +
          describe_seconds(std::chrono::duration_cast<seconds>(steady_clock::now() - x_shared->first_job)) +
          " after the first job began";
  std::vector<std::string> sentences;
  const auto steps = order_steps(x_run.faults);
  for (auto i = began ? x_shared->taken.load() : std::size_t{0}; i < steps.size(); ++i)
    if (steps[i].begins)
      sentences.push_back("fault: " + x_run.faults[steps[i].fault].text + " never happened: " + why);
  return sentences;
}

} // namespace hpcml::emulate
