// SPDX-License-Identifier: MIT
// launch inside steps of a real Slurm, on the emulated nodes of a site.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/process_helper.hpp"

using namespace hpcml;
using namespace hpcml::testing;

namespace {

/// Runs a job on two emulated LUMI nodes and returns what it wrote, as sorted lines per section ("== name").
std::map<std::string, std::vector<std::string>> run_job(const std::string& body) {
  const std::string directory = make_directory();
  const std::string head =
      "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=8 --gpus-per-node=8 --account=project_1 --time=5\n"
      "#SBATCH --partition=standard-g --output=" +
      directory +
      "/log\n# Who serves the store is no matter here.\nexport HPCML_STORE=env\nH=" HPCML_BINARY "\n";
  std::map<std::string, std::vector<std::string>> sections;
  if (!util::write_file(directory + "/job.sh", head + body)) return sections;
  auto env = util::EnvSnapshot::of_process();
  env.set("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
  const auto output = run_hpcml(
      {"emulate", "--site", "lumi", "--nodes", "2", "--", "sbatch", "-W", directory + "/job.sh"}, env);
  const auto log = util::read_file(directory + "/log");
  INFO(output.out << output.err << (log ? *log : log.error().what));
  CHECK(output.exit_code == 0);
  std::string name;
  for (const auto& line : util::split(log ? *log : "", '\n')) {
    // srun's own words where a step must wait for the one before it to be cleaned up; not a word of launch
    if (line.starts_with("srun: Job ") || line.starts_with("srun: Step created")) continue;
    if (line.starts_with("== "))
      name = line.substr(3);
    else if (!line.empty())
      sections[name].push_back(line);
  }
  for (auto& [ignored, lines] : sections) std::sort(lines.begin(), lines.end());
  std::filesystem::remove_all(directory);
  return sections;
}

// The order of LUMI's documentation: local rank -> the seven cores beside its GPU.
const char* const k_cores[] = {"49-55", "57-63", "17-23", "25-31", "1-7", "9-15", "33-39", "41-47"};

} // namespace

TEST_CASE("ranks on emulated LUMI nodes have the documented cores and GPUs, whoever binds", "[slurm]") {
  const std::string show =
      "-- sh -c 'echo $(printf %02d $RANK) $SLURMD_NODENAME $(grep Cpus_allowed_list /proc/self/status) "
      "$ROCR_VISIBLE_DEVICES $MASTER_ADDR'\n";
  const std::string flags = "--site lumi --partition standard-g --cpus-per-task 7 --gpus-per-task 1 ";
  const std::string masks = "mask_cpu:0xfe000000000000,0xfe00000000000000,0xfe0000,0xfe000000,0xfe,0xfe00,"
                            "0xfe00000000,0xfe0000000000";
  const auto sections =
      run_job("echo '== srun'; srun --cpu-bind=" + masks + " $H launch --bind verify " + flags + show +
              "echo '== launch'; srun --cpu-bind=none $H launch --bind apply " + flags + show +
              "echo '== auto'; srun --cpu-bind=none $H launch " + flags + show);
  for (const auto* section : {"srun", "launch", "auto"}) {
    CAPTURE(section);
    REQUIRE(sections.count(section) == 1);
    const auto& lines = sections.at(section);
    REQUIRE(lines.size() == 16); // and so no warning of verify
    for (unsigned rank = 0; rank < 16; ++rank) {
      const unsigned local = rank % 8;
      CHECK(lines[rank] == std::string(rank < 10 ? "0" : "") + std::to_string(rank) +
                               (rank < 8 ? " nid000001" : " nid000002") + " Cpus_allowed_list: " +
                               k_cores[local] + " " + std::to_string(local) + " nid000001");
    }
  }
}

TEST_CASE("1 to 8 ranks of 1 to 7 cores each have the cores beside their GPUs on an emulated LUMI node",
          "[slurm]") {
  // One step for each pair; the tasks say what their own /proc has.
  const auto sections = run_job(
      "for n in 1 2 3 4 5 6 7 8; do for c in 1 2 3 4 5 6 7; do echo \"== $n $c\"\n"
      "srun -N1 -w nid000001 -n$n --cpu-bind=none $H launch --site lumi --partition standard-g --bind apply "
      "--bind-check fail --cpus-per-task $c "
      "--gpus-per-task 1 -- sh -c 'echo $LOCAL_RANK $(sed -n s/Cpus_allowed_list://p /proc/self/status) "
      "$ROCR_VISIBLE_DEVICES $GLOO_SOCKET_IFNAME' 2>&1 | "
      "grep -v ' of 8 GPUs have no rank; '\n" // true of all but eight ranks
      "done; done\n"
      // What the kernel is asked for, seen from outside: memory of the NUMA node of each GPU.
      "echo '== memory'; srun -N1 -w nid000001 -n8 --cpu-bind=none sh -c 't=$(mktemp); strace -e "
      "trace=set_mempolicy -o $t '$H' launch --site lumi "
      "--partition standard-g --cpus-per-task 7 --gpus-per-task 1 -- true; "
      "echo $SLURM_LOCALID $(sed -n \"s/.*MPOL_PREFERRED_MANY, .\\(0x[0-9a-f]*\\).*/\\1/p\" $t); rm $t'\n"
      // Both tasks have the first one's mask: the second is not started, and so the first need not be.
      "echo '== wrong'; srun -N1 -w nid000001 -n2 --cpu-bind=mask_cpu:0xfe000000000000,0xfe000000000000 $H "
      "launch --site lumi --partition standard-g "
      "--bind verify --bind-check fail --cpus-per-task 7 --gpus-per-task 1 -- printenv LOCAL_RANK "
      "2>/dev/null; echo code $?\n");
  for (unsigned ranks = 1; ranks <= 8; ++ranks)
    for (unsigned cores = 1; cores <= 7; ++cores) {
      CAPTURE(ranks, cores);
      const auto section = sections.find(std::to_string(ranks) + " " + std::to_string(cores));
      REQUIRE(section != sections.end());
      REQUIRE(section->second.size() == ranks); // and so no warning
      for (unsigned rank = 0; rank < ranks; ++rank) {
        // The first cores of the documented seven.
        const unsigned first = static_cast<unsigned>(std::stoul(k_cores[rank]));
        const auto list = std::to_string(first) + (cores > 1 ? "-" + std::to_string(first + cores - 1) : "");
        const auto id = std::to_string(rank);
        CHECK(section->second[rank] == id + " " + list + " " + id + " hsn0,hsn1,hsn2,hsn3");
      }
    }
  std::vector<std::string> memory;
  for (const unsigned rank : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U}) {
    const unsigned numa[] = {3, 3, 1, 1, 0, 0, 2, 2}; // of GPU 0, 1, … in the documents
    memory.push_back(std::to_string(rank) + " 0x0000000000000" + std::to_string(1U << numa[rank]));
  }
  CHECK(sections.at("memory") == memory);
  CHECK(sections.at("wrong") == std::vector<std::string>{"code 125"});
}

TEST_CASE("beside a running job affinity --verify sees what each rank of its node has, and no process that "
          "is no rank",
          "[slurm]") {
  const std::string flags = " --site lumi --partition standard-g --cpus-per-task 7 --gpus-per-task 1 -- ";
  // MPOL_BIND by the raw call, then the program.
  const std::string bind_to_numa_0 =
      "import ctypes, os, sys; ctypes.CDLL(None).syscall(238 if os.uname().machine == \\\"x86_64\\\" else "
      "237, 2, "
      "ctypes.byref(ctypes.c_ulong(1)), 65); os.execvp(sys.argv[1], sys.argv[1:])";
  // The ranks say that they run and wait for a file, so that the verdict is about all of them.
  const auto sections = run_job(
      "wait=$(mktemp -u -p $PWD)\nhold() { srun \"$@\" sh -c ': > '$wait'.$SLURM_PROCID; until test -e "
      "'$wait'; do "
      "sleep 0.1; done' & }\n"
      "look() { until [ $(ls $wait.* 2>/dev/null | wc -l) = ${2:-16} ]; do sleep 0.1; done; echo \"== $1\"; "
      "srun --overlap -N1 -n1 -w nid000002 $H affinity --site lumi --verify 2>/dev/null; echo code $?; touch "
      "$wait; wait; rm $wait $wait.*; }\n"
      "hold --cpu-bind=none $H launch --bind apply --bind-check fail" +
      flags +
      "\nlook launch\n"
      // Nobody binds: all ranks on all cores.
      "hold --cpu-bind=none\nlook plain\n"
      // Rank 0 of this node wants the memory of another NUMA node than its CPUs'.
      "hold --cpu-bind=none $H launch --bind apply" +
      flags + "sh -c 'test $LOCAL_RANK = 0 && exec python3 -c \"" + bind_to_numa_0 +
      "\" \"$@\"; exec \"$@\"' -\nlook memory\n"
      // Ranks with a list of two GPUs each; and one of them that goes, no rank any more when it says so.
      "hold --ntasks-per-node=4 -n8 --cpu-bind=none $H launch --bind apply --site lumi --partition "
      "standard-g --cpus-per-task 14 --gpus-per-task 2 --\n"
      "look pairs 8\n"
      "hold --cpu-bind=none $H launch --bind apply" +
      flags +
      "sh -c 'test $LOCAL_RANK = 1 || exec \"$@\"; "
      "exec env -i PATH=$PATH sh -c \": > '$wait'.$SLURM_PROCID\"' -\nlook gone\n"
      // Both hardware threads, and the GPUs in another order: right without a word on the command line.
      "hold --cpu-bind=none --hint=multithread $H launch --bind apply --threads-per-core 2 --rank-order cpu" +
      flags + "\nlook threads\n");
  const auto& launched = sections.at("launch");
  const char* const numa[] = {"3", "3", "1", "1", "0", "0", "2", "2"};
  for (unsigned rank = 0; rank < 8; ++rank) {
    const auto id = std::to_string(rank);
    const auto line = "rank " + id + ": CPUs " + k_cores[rank] + ", GPU " + id +
                      ", memory preferred from NUMA " + numa[rank] + ": ok";
    CAPTURE(line);
    CHECK(std::count(launched.begin(), launched.end(), line) == 1);
  }
  const auto has = [&](const char* section, const std::string& part) {
    const auto& lines = sections.at(section);
    return std::any_of(lines.begin(), lines.end(),
                       [&](const auto& line) { return line.find(part) != std::string::npos; });
  };
  CHECK(has("launch", "score 100 of 100"));
  CHECK(has("launch", "code 0"));
  CHECK(has("plain", "are not in L3 6 of its GPU"));
  CHECK(has("plain", "fix: start the ranks with hpcml launch --bind apply, or if the step has the node to "
                     "itself with srun --cpu-bind=mask_cpu:0xfe000000000000,"));
  CHECK(has("plain", "code 1"));
  CHECK(has("memory", "  wrong: its memory bound to NUMA 0, its CPUs are in NUMA 3"));
  CHECK(has("memory", "code 1"));
  CHECK(has("pairs", "rank 0: CPUs 49-55,57-63, GPU 0,1, memory preferred from NUMA 3: ok"));
  CHECK(has("pairs", "rank 2: CPUs 1-7,9-15, GPU 4,5, memory preferred from NUMA 0: ok"));
  CHECK(has("gone", "rank 1 is not running"));
  CHECK(has("gone", "rank 2: CPUs 17-23, GPU 2, memory preferred from NUMA 1: ok"));
  CHECK(has("gone", "code 1"));
  CHECK(has("threads", "rank 0: CPUs 1-7,65-71, GPU 4, memory preferred from NUMA 0: ok"));
  for (const char* section : {"pairs", "gone", "threads"}) {
    CAPTURE(section);
    CHECK(has(section, "score 100 of 100"));
    CHECK(has(section, "code 0") == (section != std::string("gone")));
    CHECK_FALSE(has(section, "would give"));
    CHECK_FALSE(has(section, "fix: "));
  }
}

TEST_CASE("uneven steps, steps beside each other and started ranks are right under real Slurm", "[slurm]") {
  const auto sections = run_job(
      "echo '== uneven'; srun -N2 -n3 --cpu-bind=none $H launch -- sh -c 'echo $RANK/$WORLD_SIZE "
      "$LOCAL_RANK/$LOCAL_WORLD_SIZE $NODE_RANK $MASTER_ADDR'\n"
      "echo '== two'\n"
      "srun -N1 -n1 --exact --mem=1G -w nid000001 $H launch -- sh -c 'echo $MASTER_ADDR $MASTER_PORT' "
      "2>/dev/null &\n"
      "srun -N1 -n1 --exact --mem=1G -w nid000002 $H launch -- sh -c 'echo $MASTER_ADDR $MASTER_PORT' "
      "2>/dev/null &\n"
      "wait\n"
      "echo '== spawn'; srun -N2 -n2 --ntasks-per-node=1 --cpu-bind=none $H launch --site lumi --bind apply "
      "--nproc-per-node 8 --cpus-per-task 7 -- "
      "sh -c 'echo $RANK/$WORLD_SIZE $LOCAL_RANK $MASTER_ADDR $(grep Cpus_allowed_list /proc/self/status)'\n"
      "echo '== failure'; srun -N1 -n1 $H launch -- /nowhere 2>/dev/null; echo code $?\n");
  CHECK(sections.at("uneven") ==
        std::vector<std::string>{"0/3 0/2 0 nid000001", "1/3 1/2 0 nid000001", "2/3 0/1 1 nid000001"});
  const auto& two = sections.at("two");
  REQUIRE(two.size() == 2);
  CHECK(two[0].starts_with("nid000001 "));
  CHECK(two[1].starts_with("nid000002 "));
  CHECK(util::split(two[0], ' ').back() != util::split(two[1], ' ').back());
  const auto& spawn = sections.at("spawn");
  REQUIRE(spawn.size() == 16);
  for (unsigned rank = 0; rank < 16; ++rank) {
    const std::string line = "[" + std::to_string(rank) + "] " + std::to_string(rank) + "/16 " +
                             std::to_string(rank % 8) + " nid000001 Cpus_allowed_list: " + k_cores[rank % 8];
    CAPTURE(line);
    CHECK(std::count(spawn.begin(), spawn.end(), line) == 1);
  }
  CHECK(sections.at("failure") == std::vector<std::string>{"code 127"});
}

TEST_CASE("components of a heterogeneous job share the key", "[slurm]") {
  const bool has_key = GENERATE(true, false);
  const auto page =
      util::read_file(std::string(HPCML_SOURCE_DIR) + "/docs/guides/heterogeneous-jobs.md").value_or("");
  const std::string mark = "```bash\n#!/bin/bash\n";
  const auto start = page.find(mark);
  REQUIRE(start != std::string::npos);
  auto script = page.substr(start + 8, page.find("```", start + 8) - start - 8);
  REQUIRE(script.find("#SBATCH hetjob") != std::string::npos);
  script = util::replace_all(script, "hpcml launch", HPCML_BINARY " launch --report");
  script =
      util::replace_all(script, "python train.py",
                        "sh -c 'echo $(hostname) $RANK $WORLD_SIZE $LOCAL_RANK $NODE_RANK $MASTER_ADDR'");
  const std::string directory = make_directory();
  REQUIRE(util::write_file(directory + "/job.sh", script));
  auto env = util::EnvSnapshot::of_process();
  env.set("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
  if (!has_key) env.set("HPCML_KEY_FILE", "/nowhere/key");
  CHECK(run_hpcml({"check", "--site", "lumi", directory + "/job.sh"}, env).exit_code == 0);
  const auto output = run_hpcml({"emulate", "--site", "lumi", "--nodes", "3", "--", "sbatch", "-W", "-o",
                                 directory + "/log", directory + "/job.sh"},
                                env);
  const auto log = util::read_file(directory + "/log").value_or("");
  INFO(output.out << output.err << log);
  CHECK(output.exit_code == 0);
  for (unsigned rank = 0; rank < 18; ++rank) {
    const unsigned node = rank < 2 ? 0 : 1 + (rank - 2) / 8, local = rank < 2 ? rank : (rank - 2) % 8;
    const std::string line = "nid00000" + std::to_string(node + 1) + " " + std::to_string(rank) + " 18 " +
                             std::to_string(local) + " " + std::to_string(node) + " nid000001\n";
    CAPTURE(line);
    CHECK(log.find(line) != std::string::npos);
  }
  const std::string report = has_key ? "key from key file" : "no key (cannot open key file";
  std::size_t reports = 0;
  for (auto at = log.find(report); at != std::string::npos; at = log.find(report, at + 1)) ++reports;
  CHECK(reports == 18);
  std::filesystem::remove_all(directory);
}

TEST_CASE("a generated job with both hardware threads of its cores and the GPUs in the order of the cores "
          "has them on an emulated LUMI node",
          "[slurm]") {
  const std::string directory = make_directory();
  auto env = util::EnvSnapshot::of_process();
  env.set("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
  const std::vector<std::string> request = {"--site",
                                            "lumi",
                                            "--nodes",
                                            "1",
                                            "--account",
                                            "project_1",
                                            "--time",
                                            "5",
                                            "--output",
                                            directory + "/log",
                                            "--threads-per-core",
                                            "2",
                                            "--rank-order",
                                            "cpu",
                                            "--bind-check",
                                            "fail",
                                            "--env",
                                            "HPCML_STORE=env", // who serves the store is no matter here
                                            "--hpcml-path",
                                            HPCML_BINARY};
  std::vector<std::string> gen = {"gen"};
  gen.insert(gen.end(), request.begin(), request.end());
  for (const char* word : {"--", "sh", "-c",
                           "echo $RANK $(sed -n s/Cpus_allowed_list://p /proc/self/status) "
                           "$ROCR_VISIBLE_DEVICES $OMP_NUM_THREADS"})
    gen.emplace_back(word);
  const auto script = run_hpcml(gen, env);
  REQUIRE(script.exit_code == 0);
  REQUIRE(util::write_file(directory + "/job.sh", script.out));
  const auto output = run_hpcml(
      {"emulate", "--site", "lumi", "--nodes", "1", "--", "sbatch", "-W", directory + "/job.sh"}, env);
  const auto log = util::read_file(directory + "/log");
  INFO(output.out << output.err << (log ? *log : log.error().what));
  CHECK(output.exit_code == 0);
  auto lines = util::split(log ? *log : "", '\n');
  lines.erase(std::remove(lines.begin(), lines.end(), ""), lines.end());
  std::sort(lines.begin(), lines.end());
  // LUMI's documents: GCD 4 beside cores 1-7, 5 beside 9-15, … ; hardware thread n + 64 is the other one of
  // core n.
  CHECK(lines == std::vector<std::string>{"0 1-7,65-71 4 7", "1 9-15,73-79 5 7", "2 17-23,81-87 2 7",
                                          "3 25-31,89-95 3 7", "4 33-39,97-103 6 7", "5 41-47,105-111 7 7",
                                          "6 49-55,113-119 0 7", "7 57-63,121-127 1 7"});
  std::filesystem::remove_all(directory);
}
