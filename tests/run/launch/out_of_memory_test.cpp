// SPDX-License-Identifier: MIT
// Whether the kernel killed for want of memory is read from what it counts, in both of its trees of groups.
#include "run/launch/out_of_memory.hpp"

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/cgroup_path.hpp"
#include "core/util/file.hpp"
#include "holds.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

namespace fs = std::filesystem;
using namespace hpcml;
using namespace hpcml::launch;

namespace {

constexpr const char* k_v1_cgroup = "12:cpuset:/slurm/uid_1/job_7/step_0\n9:cpu,cpuacct:/\n"
                                    "4:memory:/slurm/uid_1/job_7/step_0\n0::/system.slice/slurmd.service\n";
constexpr const char* k_v1_mounts =
    "30 24 0:26 / /sys/fs/cgroup/unified rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
    "33 24 0:29 / /sys/fs/cgroup/memory rw,nosuid shared:15 - cgroup cgroup rw,memory\n";
constexpr const char* k_v2_cgroup = "0::/system.slice/slurmstepd.scope/job_7/step_0/user/task_0\n";
constexpr const char* k_v2_mounts = "26 23 0:22 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n";

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

bool write(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

/// More than the group may have.
[[noreturn]] void take_memory() {
  constexpr std::size_t k_much = 256U << 20U;
  auto* memory = static_cast<volatile char*>(
      ::mmap(nullptr, k_much, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  for (std::size_t at = 0; at < k_much; at += 4096) memory[at] = 1;
  ::_exit(0);
}

/// What a process in the group says of its child, which takes too much; empty where it cannot be in it.
std::string run_out_of_memory(const fs::path& group) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t agent = ::fork();
  if (agent == 0) {
    if (!write(group / "cgroup.procs", std::to_string(::getpid()))) ::_exit(2);
    const auto before = read_memory_levels();
    const pid_t rank = ::fork();
    if (rank == 0) take_memory();
    int status = 0;
    ::waitpid(rank, &status, 0);
    const auto text = find_out_of_memory(before, read_memory_levels()).value_or("nothing");
    const auto output = (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL ? "killed, " : "lived, ") + text;
    ::_exit(::write(ends[1], output.data(), output.size()) == static_cast<ssize_t>(output.size()) ? 0 : 3);
  }
  ::close(ends[1]);
  std::string output;
  char buffer[4096];
  for (ssize_t count; (count = ::read(ends[0], buffer, sizeof buffer)) > 0;)
    output.append(buffer, static_cast<std::size_t>(count));
  ::close(ends[0]);
  ::waitpid(agent, nullptr, 0);
  return output;
}

} // namespace

TEST_CASE("the own group of memory is found in both trees, and in containers that show a part of one") {
  const auto v1 = util::parse_memory_place(k_v1_cgroup, k_v1_mounts);
  REQUIRE(v1);
  CHECK_FALSE(v1->unified);
  CHECK(v1->top == "/sys/fs/cgroup/memory");
  CHECK(v1->path == "/slurm/uid_1/job_7/step_0");
  const auto v2 = util::parse_memory_place(k_v2_cgroup, k_v2_mounts);
  REQUIRE(v2);
  CHECK(v2->unified);
  CHECK(v2->path == "/system.slice/slurmstepd.scope/job_7/step_0/user/task_0");
  const auto part = util::parse_memory_place(
      k_v1_cgroup, "33 24 0:29 /slurm/uid_1/job_7 /a\\040b rw - cgroup cgroup rw,memory\n");
  REQUIRE(part);
  CHECK(part->top == "/a b");
  CHECK(part->path == "/step_0");
  CHECK(util::parse_memory_place(k_v2_cgroup, "1 1 0:1 /other /c rw - cgroup2 c rw\n")->path == "/");
  CHECK_FALSE(util::parse_memory_place("", k_v1_mounts));
  CHECK_FALSE(util::parse_memory_place(k_v1_cgroup, ""));
  CHECK_FALSE(util::parse_memory_place("nonsense\n1:\n::", "a - b\n- - -\n"));
}

TEST_CASE("the files of a group are read as the kernel writes them") {
  const auto v1 = parse_memory_v1("/a", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", "17179869184\n",
                                  "12\n", "17179869184\n");
  CHECK(v1.kills == 3);
  CHECK(v1.hits == 12);
  CHECK(v1.has_been_full);
  CHECK(v1.limit == 17179869184ULL);
  CHECK_FALSE(parse_memory_v1("/a", "", "17179869184\n", "", "16179869184\n").has_been_full);
  CHECK_FALSE(parse_memory_v1("/a", "", "9223372036854771712\n", "", "7\n").limit);
  const auto v2 =
      parse_memory_v2("/a", "low 0\nhigh 0\nmax 5\noom 4\noom_kill 2\noom_group_kill 9\n", "max\n");
  CHECK(v2.kills == 2);
  CHECK(v2.hits == 4);
  CHECK_FALSE(v2.limit);
  CHECK(parse_memory_v2("/a", "", "1048576").limit == 1048576ULL);
  CHECK(parse_memory_v2("/a", "oom_kill -1\noom x\n", "1.5").kills == 0);
}

TEST_CASE("a kill names the limit that was reached") {
  const std::vector<MemoryCgroup> before = {
      {"/job_7/step_0", {}, 1, 0}, {"/job_7", 17179869184, 0, 5}, {"/", {}, 0, 0}};
  auto after = before;
  CHECK_FALSE(find_out_of_memory(before, after));
  after[1].hits = 6;
  CHECK_FALSE(find_out_of_memory(before, after)); // the kernel found memory after all
  after[0].kills = 2;
  CHECK(find_out_of_memory(before, after) ==
        "out of memory: the kernel killed 1 process: the job's limit of 16 GiB was reached (/job_7)");
  after[0].kills = 4;
  after[1].hits = 5;
  CHECK(find_out_of_memory(before, after) == "out of memory: the kernel killed 3 processes: the node or an "
                                             "enclosing cgroup had none left");
  CHECK(find_out_of_memory({{"", {}, 3, 0}}, {{"", {}, 4, 0}}) ==
        "out of memory: the kernel killed 1 process of this node");
  CHECK_FALSE(find_out_of_memory({}, after)); // nothing to compare with
  after[1].has_been_full = true;
  CHECK(test::holds(*find_out_of_memory(before, after), "the job's limit of 16 GiB was reached"));
  CHECK(find_out_of_memory({{"/x", 1610612736, 0, 0}}, {{"/x", 1610612736, 1, 1}}) ==
        "out of memory: the kernel killed 1 process: the limit of 1.5 GiB was reached (/x)");
  CHECK(test::holds(*find_out_of_memory({{"/job_7/step_0/user", 1610612736, 0, 0}},
                                        {{"/job_7/step_0/user", 1610612736, 1, 1}}),
                    "the step's limit of 1.5 GiB was reached (/job_7/step_0/user)"));
}

TEST_CASE("all groups around a process are read below the root that is given") {
  const test::TempDirectory root;
  put(root / "proc/self/cgroup", k_v2_cgroup);
  put(root / "proc/self/mountinfo", k_v2_mounts);
  put(root / "proc/vmstat", "nr_free 1\noom_kill 9\n");
  const auto job = root / "sys/fs/cgroup/system.slice/slurmstepd.scope/job_7";
  put(job / "memory.max", "1073741824\n");
  put(job / "memory.events", "oom 1\noom_kill 1\n");
  put(job / "step_0/user/task_0/memory.events", "oom 1\noom_kill 1\n");
  const auto before = read_memory_levels(root.path().string());
  REQUIRE(before.size() == 7);
  CHECK(before.front().path.ends_with("/task_0"));
  CHECK(before.back().path == "/");
  put(job / "memory.events", "oom 2\noom_kill 2\n");
  put(job / "step_0/user/task_0/memory.events", "oom 1\noom_kill 2\n");
  const auto text = find_out_of_memory(before, read_memory_levels(root.path().string()));
  REQUIRE(text);
  CHECK(*text == "out of memory: the kernel killed 1 process: the job's limit of 1 GiB was reached "
                 "(/system.slice/slurmstepd.scope/job_7)");
}

TEST_CASE("where no group counts, the machine's own counter is read") {
  const test::TempDirectory root;
  put(root / "proc/vmstat", "oom_kill 9\n");
  const auto levels = read_memory_levels(root.path().string());
  REQUIRE(levels.size() == 1);
  CHECK(levels[0].path.empty());
  CHECK(levels[0].kills == 9);
  CHECK_FALSE(read_memory_levels().empty()); // this machine, whatever it has
}

TEST_CASE("a process that the kernel kills for want of memory is found out of memory") {
  // Needs to be root, with a tree that can be written to.
  const bool unified = fs::exists("/sys/fs/cgroup/cgroup.controllers");
  const fs::path tree = unified ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory";
  const auto group = tree / ("hpcml-test-" + std::to_string(::getpid()));
  const bool with_swap = GENERATE(false, true);
  std::error_code error;
  if (!fs::create_directory(group, error) ||
      !fs::exists(group / (unified ? "memory.max" : "memory.oom_control"))) {
    test::skip("this machine allows no control groups for memory");
    fs::remove(group, error);
    return;
  }
  const bool ready = write(group / (unified ? "memory.max" : "memory.limit_in_bytes"), "67108864");
  if (unified) {
    if (with_swap) write(group / "memory.swap.max", "0");
  } else {
    write(group / "memory.swappiness", "0");
    if (with_swap) write(group / "memory.memsw.limit_in_bytes", "67108864");
  }
  const auto output = ready ? run_out_of_memory(group) : "";
  for (int i = 0; i < 1000 && !fs::remove(group, error); ++i) ::usleep(10000); // once its processes are gone
  if (output.empty()) return test::skip("this machine allows no control groups for memory");
  INFO(output);
  CHECK(output.starts_with(
      "killed, out of memory: the kernel killed 1 process: the limit of 64 MiB was reached"));
  CHECK(test::holds(output, group.filename().string()));
}
