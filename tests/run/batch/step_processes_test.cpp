// SPDX-License-Identifier: MIT
// Steps found in lists of processes, and whether Slurm tracks them by cgroups.
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

#include "run/batch/step_processes.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::batch;

namespace {

constexpr pid_t k_self = 100, k_script = 101;

using Pids = std::vector<pid_t>;

ProcessEntry running(pid_t pid, pid_t parent, const std::string& program) {
  return {pid, parent, 'S', 0, program};
}

ProcessEntry ended(pid_t pid, pid_t parent, const std::string& program, int status) {
  return {pid, parent, 'Z', status, program};
}

int code(int exit_code) { return exit_code << 8; }

StepProcesses find(std::vector<ProcessEntry> processes, pid_t script = k_script) {
  processes.insert(processes.begin(),
                   {running(1, 0, "systemd"), running(50, 1, "slurmstepd"), running(k_self, 50, "hpcml")});
  auto found = find_steps(processes, k_self, script);
  std::sort(found.steps.begin(), found.steps.end());
  std::reverse(processes.begin(), processes.end()); // /proc has no order
  auto again = find_steps(processes, k_self, script);
  std::sort(again.steps.begin(), again.steps.end());
  CHECK(again.steps == found.steps);
  CHECK(again.shells == found.shells);
  CHECK(again.exit_code == found.exit_code);
  return found;
}

const auto k_shell = running(k_script, k_self, "bash");

} // namespace

TEST_CASE("find_steps returns srun without the helper it forks") {
  const auto found = find({k_shell, running(102, k_script, "srun"), running(103, 102, "srun")});
  CHECK(found.steps == Pids{102});
  CHECK(found.shells == Pids{k_script});
  CHECK_FALSE(found.exit_code);
}

TEST_CASE("find_steps returns what waits for a step") {
  const auto pipeline = find({k_shell, running(102, k_script, "srun"), running(103, k_script, "tee")});
  CHECK(pipeline.steps == Pids{102});
  CHECK(pipeline.shells == Pids{k_script});
  const auto wrapped =
      find({k_shell, running(102, k_script, "bash"), running(103, 102, "timeout"), running(104, 103, "srun"),
            running(105, 104, "srun"), running(106, k_script, "sleep")});
  CHECK(wrapped.steps == Pids{104});
  CHECK(wrapped.shells == Pids{k_script, 102, 103});
  const auto several = find(
      {k_shell, running(102, k_script, "srun"), running(103, k_script, "bash"), running(104, 103, "srun")});
  CHECK(several.steps == Pids{102, 104});
  CHECK(several.shells == Pids{k_script, 103});
}

TEST_CASE("find_steps ignores processes of others") {
  const auto found = find({k_shell, running(60, 50, "srun"), running(61, 1, "bash"), running(62, 61, "srun"),
                           running(63, 999, "srun"), running(102, k_script, "srun-wrapper"),
                           running(103, k_script, "python3")});
  CHECK(found.steps.empty());
  CHECK(found.shells == Pids{k_script});
  CHECK(find({running(70, 71, "srun"), running(71, 70, "bash")})
            .steps.empty()); // read while numbers were used again
}

TEST_CASE("find_steps returns the worst code of ended steps") {
  const auto single = find({k_shell, ended(102, k_script, "srun", code(3))});
  CHECK(single.steps.empty());
  CHECK(single.exit_code == 3);
  CHECK(find({k_shell, ended(102, k_script, "srun", 0)}).exit_code == 0);
  CHECK(find({k_shell, ended(102, k_script, "srun", SIGKILL)}).exit_code == 137);
  const auto several = find({k_shell, ended(102, k_script, "srun", code(3)),
                             ended(103, k_script, "srun", code(9)), ended(104, k_script, "srun", 0),
                             ended(105, k_script, "tee", code(99)), running(106, k_script, "srun")});
  CHECK(several.exit_code == 9);
  CHECK(several.steps == Pids{106});
  CHECK_FALSE(find({k_shell, ended(102, k_script, "tee", code(3))}).exit_code);
}

TEST_CASE("find_steps returns the stopped shells of ended steps") {
  // A shell that was stopped while its step ran has yet to learn of its end, and must be resumed.
  const auto found = find({k_shell, {102, k_script, 'T', 0, "bash"}, ended(103, 102, "srun", code(5))});
  CHECK(found.steps.empty());
  CHECK(found.shells == Pids{k_script, 102});
  CHECK(found.exit_code == 5);
}

TEST_CASE("find_steps finds steps whose shell has ended") {
  const auto found =
      find({running(102, k_self, "srun"), running(103, 102, "srun"), ended(104, k_self, "srun", code(7))}, 0);
  CHECK(found.steps == Pids{102});
  CHECK(found.shells.empty());
  CHECK(found.exit_code == 7);
  // The main shell has ended and has not been waited for.
  const auto zombie = find({ended(k_script, k_self, "bash", SIGTERM), running(102, k_self, "srun")});
  CHECK(zombie.steps == Pids{102});
}

TEST_CASE("read_processes names programs by their executable") {
  const test::TempDirectory directory;
  const auto program = directory / "srun";
  std::filesystem::copy("/bin/sleep", program);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::execl(program.c_str(), "another name", "600", nullptr);
    ::_exit(127);
  }
  const auto entry_of = [&] {
    for (const auto& entry : read_processes())
      if (entry.pid == child) return entry;
    return ProcessEntry{};
  };
  for (int count = 0; count < 2000 && entry_of().program != "srun"; ++count) ::usleep(5000);
  CHECK(entry_of().program == "srun");
  CHECK(entry_of().parent == ::getpid());
  std::filesystem::remove(program); // as an update of Slurm does
  CHECK(entry_of().program == "srun");
  CHECK(find_steps(read_processes(), ::getpid(), 0).steps == Pids{child});
  ::kill(child, SIGTERM);
  siginfo_t info{};
  CHECK(::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT) == 0);
  CHECK(entry_of().state == 'Z');
  CHECK(entry_of().program == "srun");
  CHECK(find_steps(read_processes(), ::getpid(), 0).exit_code == 143);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("stop_processes returns when all have stopped") {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0)
    for (;;) ::pause();
  stop_processes({child, 999'999'999});
  const auto all = read_processes();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& entry) { return entry.pid == child; });
  REQUIRE(found != all.end());
  CHECK(found->state == 'T');
  ::kill(child, SIGKILL);
  CHECK(::waitpid(child, nullptr, 0) == child);
}

TEST_CASE("is_tracked_by_cgroup recognizes steps in cgroups") {
  const std::string v1 =
      "11:freezer:/slurm/uid_1000/job_4711/step_batch\n10:memory:/slurm/uid_1000/job_4711/step_batch/task_0\n"
      "9:cpuset:/slurm/uid_1000/job_4711/step_batch\n1:name=systemd:/system.slice/slurmd.service\n0::/\n";
  const std::string v1_of_node = "4:freezer:/slurm_node001/uid_1000/job_4711/step_batch\n";
  const std::string v2 = "0::/system.slice/slurmstepd.scope/job_4711/step_batch/user/task_0\n";
  const std::string v2_of_node = "0::/system.slice/node001_slurmstepd.scope/job_4711/step_0/user/task_0\n";
  for (const auto& text : {v1, v1_of_node, v2, v2_of_node}) {
    INFO(text);
    CHECK(is_tracked_by_cgroup(text));
  }
  for (const std::string text : {
           "",
           "0::/user.slice/user-1000.slice/session-3.scope\n",
           "11:freezer:/\n10:memory:/user.slice\n",
           // task/cgroup without proctrack/cgroup: memory and CPUs only
           "11:freezer:/\n10:memory:/slurm/uid_1000/job_4711/step_batch\n9:cpuset:/slurm/uid_1000/job_4711/"
           "step_batch\n0::/\n",
           "0::/system.slice/slurmd.service\n",
           "0::/docker/job_1\n",
       }) {
    INFO(text);
    CHECK_FALSE(is_tracked_by_cgroup(text));
  }
}
