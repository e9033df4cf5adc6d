// SPDX-License-Identifier: MIT
// Limits on the memory of jobs, and jobs that run out of it, by the kernel's own control groups.
#include <catch2/catch.hpp>
#include <filesystem>

#include "core/util/file.hpp"
#include "emulate/cluster_helper.hpp"
#include "emulate/job_cgroups.hpp"
#include "emulate/unified_groups.hpp"
#include "holds.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

namespace fs = std::filesystem;
using namespace hpcml;
using Catch::Contains;
using test::Cluster;

namespace {

/// Whether this machine can limit memory; why not is said.
bool can_limit() {
  const auto groups = emulate::make_job_groups({true, false});
  if (groups)
    emulate::remove_job_groups(*groups);
  else
    test::skip(groups.error().what);
  return groups.ok();
}

/// The fault "oom" of the node at a time; where programs take long to start, at another one.
std::string out_of_memory(unsigned node, const std::string& at) {
  const char* const later = ::getenv("HPCML_TEST_OOM_AT");
  return "oom:" + std::to_string(node) + "@" + (later != nullptr ? later : at);
}

constexpr const char* k_program =
    "import time\nx = bytearray(50_000_000)\nprint('up', flush=True)\ntime.sleep(600)\n";
constexpr const char* k_state =
    "for i in {1..300}; do scontrol show job 1 | grep -q JobState=COMPLETING || break; sleep 0.1; "
    "done; scontrol show job 1 | grep -o 'JobState=[A-Z_]*'";

} // namespace

TEST_CASE("a node's Slurm sees the sandbox's group as the top of the machine's, and in it its own",
          "[memory]") {
  const test::TempDirectory directory;
  const auto group = directory.path() / "group";
  const auto state = directory.path().string(), view = state + "/nodes/n1/cgroup";
  REQUIRE(fs::create_directory(group));
  REQUIRE(util::write_file(group / "memory.limit_in_bytes", "7"));
  REQUIRE(emulate::make_group_view({group}, "n1", state));
  CHECK(util::read_file(view + "/memory/memory.limit_in_bytes").value_or("") == "7");
  CHECK(fs::exists(view + "/memory/release_agent")); // by which Slurm knows it
  const auto own = emulate::node_group(group, "n1");
  CHECK(fs::is_directory(own));
  CHECK(fs::canonical(view + "/memory/slurm_n1") == fs::canonical(own));
  CHECK(fs::canonical(view + "/memory/slurm") == fs::canonical(own));
  const auto conf = emulate::make_cgroup_conf({group}, "/m", {});
  CHECK_THAT(conf, Contains("CgroupMountpoint=/m/cgroup\n") && Contains("ConstrainRAMSpace=yes\n") &&
                       !Contains("Swap") && !Contains("Devices"));
  REQUIRE(util::write_file(group / "memory.memsw.limit_in_bytes", "7"));
  CHECK_THAT(emulate::make_cgroup_conf({group}, "/m", {}), Contains("AllowedSwapSpace=0\n"));
  CHECK_THAT(emulate::make_cgroup_conf({{}, group}, "/m", {}),
             Contains("ConstrainDevices=yes\n") && !Contains("RAM"));
}

TEST_CASE("a node's Slurm sees the node's group of cgroup v2 as the whole tree", "[memory]") {
  const test::TempDirectory directory;
  const auto group = directory.path() / "group";
  const auto state = directory.path().string();
  REQUIRE(fs::create_directory(group));
  REQUIRE(util::write_file(group / "cgroup.controllers", "memory pids\n")); // by which we know it
  REQUIRE(emulate::make_group_view({group}, "n1", state));
  CHECK(fs::is_directory(group / "slurm_n1/system.slice"));
  emulate::SandboxNode node;
  node.name = "n1";
  emulate::show_group_view(node, {group}, state);
  CHECK(node.unified_group == group / "slurm_n1");
  REQUIRE(node.mounts.size() == 1);
  CHECK(node.mounts[0].target == "/proc/1/cgroup");
  CHECK(util::read_file(node.mounts[0].source).value_or("") == "0::/\n");
  CHECK(emulate::make_cgroup_conf({group}, state, {}) ==
        "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\nConstrainRAMSpace=yes\n");
  CHECK(emulate::make_cgroup_conf({{}, group}, state, {}) ==
        "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\nConstrainDevices=yes\n");
}

TEST_CASE("where cgroup v2 has no place for a group the reason and a way out are said", "[memory]") {
  const test::TempDirectory directory;
  const auto top = directory.path().string();
  REQUIRE(fs::create_directories(directory.path() / "a.slice/b.scope"));
  const auto put = [&](const std::string& path, const std::string& controllers) {
    REQUIRE(util::write_file(directory.path() / path / "cgroup.subtree_control", controllers));
  };
  put("", "memory\n");
  put("a.slice", "cpu memory\n");
  put("a.slice/b.scope", "");
  const util::CgroupPath place{true, top, "/a.slice/b.scope"};
  const auto none = emulate::make_unified_group(place, "0::/a.slice/b.scope\n");
  REQUIRE(!none);
  CHECK_THAT(none.error().what, Contains("memory and pids") && Contains(top + "/a.slice/b.scope"));
  CHECK_THAT(none.error().hint, Contains("--cgroupns=host") && Contains("echo +memory +pids > " + top));
  const auto both = emulate::make_unified_group(place, "1:cpuset:/\n0::/a.slice/b.scope\n");
  REQUIRE(!both);
  CHECK_THAT(both.error().what, Contains("also has groups of v1"));
}

TEST_CASE("a job whose memory ends on a node is out of memory by Slurm's word and by ours",
          "[slurm][memory][alone]") {
  if (!can_limit()) return;
  const Cluster cluster({"--site", "generic", "--nodes", "2", "--quiet", "--fault", out_of_memory(2, "2s")});
  cluster.write("rank.py", k_program);
  const auto result =
      cluster.run("srun -t 5 -N2 --ntasks-per-node=1 --mem=1G hpcml launch --nproc-per-node 1 "
                  "--log-dir logs -- python3 rank.py > out; " +
                  std::string(k_state));
  INFO(result.err << result.out);
  CHECK(result.out == "JobState=OUT_OF_MEMORY\n");
  CHECK_THAT(result.err, Contains("fault: node002 has no memory left for job 1: the kernel killed its ") &&
                             Contains("oom-kill event") && Contains("node002: task 1: Out Of Memory"));
  CHECK_THAT(result.err, Contains("rank 1/2 (node002, local 0") &&
                             Contains("out of memory: the kernel killed 1 process") &&
                             Contains("hpcml: the run exited with code 137: out-of-memory\n"));
  const auto record = cluster.read("logs/1.0/record-0.jsonl");
  INFO(record);
  CHECK_THAT(record, Contains("\"code\":137") && Contains("\"class\":\"out-of-memory\""));
}

TEST_CASE("a job that runs out of memory is told so by submit --watch and by why, with and without an agent",
          "[.faults]") {
  if (!can_limit()) return;
  const bool agent = GENERATE(false, true);
  const Cluster cluster({"--site", "generic", "--nodes", "2", "--gpus-per-node", "0", "--cpus-per-node", "4",
                         "--mem-per-node", "8G", "--quiet", "--fault", out_of_memory(2, "4s")});
  cluster.write("rank.py", k_program);
  const auto result =
      cluster.run("hpcml submit --watch --site generic --nodes 2 --tasks-per-node 1 --gpus-per-node 0 --time "
                  "5 --mem 1G " +
                  std::string(agent ? "--agent " : "") +
                  "--output job.out -- python3 rank.py > /dev/null; echo code $?; hpcml why job.out");
  INFO(result.err << result.out << cluster.read("job.out"));
  CHECK_THAT(result.out, Contains("code 137\n"));
  CHECK_THAT(result.err, Contains("task 1 on node002 was killed: Out Of Memory") &&
                             Contains("job 1 ended with exit code 137: out-of-memory\n"));
  CHECK_THAT(result.out, Contains("a process exceeded the memory of the job"));
  CHECK(test::holds(cluster.read("job.out"), "hpcml: the run exited with code 137: out-of-memory") == agent);
}

TEST_CASE("launch on one node tells a rank that the kernel has killed for want of memory", "[.faults]") {
  if (!can_limit()) return;
  const Cluster cluster({"--site", "generic", "--quiet", "--fault", out_of_memory(1, "3s")});
  cluster.write("rank.py", k_program);
  const auto result = cluster.run("sbatch -W -t 5 --mem=1G -o job.out --wrap 'hpcml launch --nproc-per-node "
                                  "2 -- python3 rank.py' > /dev/null; " +
                                  std::string(k_state));
  const auto log = cluster.read("job.out");
  INFO(result.err << log);
  CHECK(result.out == "JobState=OUT_OF_MEMORY\n");
  CHECK_THAT(log,
             Contains("was killed by SIGKILL after ") &&
                 Contains(" s: out of memory: the kernel killed 1 process: the ") &&
                 Contains("; the others were stopped\nhpcml: the run exited with code 137: out-of-memory\n"));
}

TEST_CASE("a job gets no more memory than it asked for, where that is wanted", "[.faults][memory]") {
  if (!can_limit()) return;
  const std::string take =
      "srun -t 5 --mem=64M python3 -c 'x = bytearray(300_000_000); print(\"had it\")' 2> err; "
      "grep -c 'Out Of Memory' err";
  const auto limited = Cluster({"--site", "generic", "--quiet", "--limit-memory"}).run(take);
  INFO(limited.err);
  CHECK(limited.out == "1\n");
  const auto unlimited = Cluster({"--site", "generic", "--quiet"}).run(take);
  INFO(unlimited.err);
  CHECK(unlimited.out == "had it\n0\n");
}

TEST_CASE("no control group is left, also where emulate is killed", "[.faults][memory]") {
  if (!can_limit()) return;
  const test::TempDirectory directory;
  const auto task = directory.path() / "task.sh";
  REQUIRE(util::write_file(task, "touch began; until [ -e go ]; do sleep 0.1; done\n"));
  REQUIRE(util::write_file(
      directory.path() / "run.sh",
      "rm -f began go\n"
      "hpcml emulate --quiet --site generic --cpus-per-node 2 --gpus-per-node 0 --limit-memory -- "
      "srun -t 5 bash \"$PWD/task.sh\" & pid=$!\n"
      "until [ -e began ]; do kill -0 $pid || exit; sleep 0.1; done\n"
      "groups=$(cat /proc/\"$(pgrep -f \"^[^ ]*bash $PWD/task.sh\")\"/cgroup) # the machine's view, not the "
      "task's\n"
      "path=$(grep :memory: <<< \"$groups\") && path=/memory${path##*:} || path=${groups##*:}\n"
      "top=/sys/fs/cgroup${path%/slurm_*}\n"
      "case $top in */hpcml-?????\?) ;; *) echo \"no group: $top\" ;; esac\n"
      "[ -d \"$top\" ] || echo \"$top is not there\"\n"
      "if [ \"$1\" = kill ]; then kill -9 $pid; else touch go; wait $pid; fi\n"
      "for i in {1..300}; do [ -e \"$top\" ] || exit 0; sleep 0.1; done\n"
      "echo left; exit 1\n"));
  for (const std::string end : {"wait", "kill"}) {
    const auto ran = util::run_process({"env", "-C", directory.path().string(),
                                        std::string("PATH=" HPCML_BINARY_DIR "/bin:") + ::getenv("PATH"),
                                        "bash", "run.sh", end},
                                       util::EnvSnapshot::of_process(), std::chrono::seconds(300));
    REQUIRE(ran);
    INFO(end << ran->out << ran->err);
    CHECK(ran->exit_code == 0);
    CHECK(ran->out.empty());
  }
}
