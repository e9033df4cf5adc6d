// SPDX-License-Identifier: MIT
// A task of a step that becomes a rank: environment, binding, GPUs, caches, with real processes.
#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "core/topo/live_node.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/cache_dirs.hpp"
#include "run/launch/process_helper.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// A site whose only fact is a cache, in its own folder.
std::string site_with_cache(const std::string& directory) {
  const std::string text = R"({"schema": 1, "id": "cached", "name": "a site with a cache",
    "sources": {"here": {"url": "https://example.org", "checked": "2026-11-21"}},
    "state": {"is": "production", "source": "here"},
    "caches": [{"name": "kernels", "base": ")" +
                           directory +
                           R"(", "variables": {"KERNEL_CACHE": "a/b", "KERNEL_DB": ""}, "source": "here"}]})";
  const auto written = util::write_file(directory + "/cached.json", text);
  return written ? directory : "";
}

std::vector<std::string> words_with_site(const std::string& directory, const std::string& script) {
  return {"--sites-dir", directory, "launch", "--site", "cached", "--", "sh", "-c", script};
}

/// The CPUs of this process if they are two at least: binding shows only then.
std::optional<model::IdSet> several_cpus() {
  const auto mine = topo::read_allowed_cpus();
  REQUIRE(mine);
  if (mine->size() >= 2) return *mine;
  test::skip("the test needs two CPUs");
  return std::nullopt;
}

/// `hpcml launch WORDS` as rank 1 of 2, all of it on the first of the CPUs.
util::ProcessOutput launch_on_first(const model::IdSet& cpus, const std::vector<std::string>& words,
                                    util::EnvSnapshot env = step_environment(1, 2)) {
  std::vector<std::string> all = {"taskset", "-c", std::to_string(cpus.first()), HPCML_BINARY, "launch"};
  all.insert(all.end(), words.begin(), words.end());
  const auto output = util::run_process(all, env, std::chrono::seconds(300));
  REQUIRE(output);
  return *output;
}

/// What rank 1 has where srun gave it the second CPU's mask.
util::EnvSnapshot with_masks() {
  auto env = step_environment(1, 2);
  env.set("SLURM_CPU_BIND_LIST", "0x1,0x2");
  return env;
}

} // namespace

TEST_CASE("the program replaces launch and knows its place") {
  auto env = step_environment(1, 3);
  env.set("SLURM_STEP_NODELIST", "nid[001-002]");
  env.set("SLURM_STEP_TASKS_PER_NODE", "2,1");
  Running task(
      {"launch", "--", "sh", "-c",
       "echo $$ $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $NODE_RANK $MASTER_ADDR $MASTER_PORT"},
      env);
  const std::string line = task.read_line();
  CHECK_THAT(line, Contains(std::to_string(task.pid()) + " 1 1 3 2 0 nid001 "));
  const auto port = util::parse_unsigned(util::split(line, ' ').back());
  CHECK((port.value_or(0) >= 15000 && port.value_or(0) <= 31999));
  CHECK(task.wait() == 0);
}

TEST_CASE("the program's exit code and signal are the task's") {
  CHECK(run_hpcml({"launch", "--", "sh", "-c", "exit 42"}, step_environment(0, 1)).exit_code == 42);
  CHECK(run_hpcml({"launch", "--", "sh", "-c", "kill -KILL $$"}, step_environment(0, 1)).exit_code == 137);
}

TEST_CASE("variables that are set already may agree, and are refused by name where they don't") {
  struct Row {
    const char* name;
    const char* value;
    int exit_code;
  };
  const Row rows[] = {{"RANK", "1", 0},
                      {"RANK", "0", 125},
                      {"WORLD_SIZE", "3", 125},
                      {"LOCAL_RANK", "1", 0},
                      {"NODE_RANK", "1", 125},
                      {"MASTER_ADDR", "nid001", 0},
                      {"MASTER_ADDR", "nid001.site.edu", 0},
                      {"MASTER_ADDR", "nid002", 125},
                      {"MASTER_PORT", "29500", 0},
                      {"MASTER_PORT", "x", 125}};
  for (const auto& row : rows) {
    CAPTURE(row.name, row.value);
    auto env = step_environment(1, 2);
    env.set(row.name, row.value);
    const auto output = run_hpcml({"launch", "--", "sh", "-c", "echo $" + std::string(row.name)}, env);
    CHECK(output.exit_code == row.exit_code);
    if (row.exit_code == 0)
      CHECK(output.out == std::string(row.value) + "\n");
    else
      CHECK_THAT(output.err, Contains(row.name));
  }
  auto env = step_environment(0, 1);
  env.set("MASTER_PORT", "29500");
  CHECK(run_hpcml({"launch", "--master-port", "29501", "--", "true"}, env).exit_code == 125);
}

TEST_CASE("with an arbitrary distribution the ranks meet where rank 0 is, or are told that nobody knows") {
  // As Slurm 22.05 gives it for a list of nid002, nid001, nid002.
  const std::string directory = make_directory();
  REQUIRE(util::write_file(directory + "/hosts", "nid002\nnid001\nnid002\n"));
  const auto address_for = [&](unsigned rank, const std::string& hosts) {
    auto env = step_environment(rank, 3);
    const bool second = rank != 1;
    env.set("SLURM_DISTRIBUTION", "arbitrary");
    env.set("SLURM_STEP_NODELIST", "nid[001-002]");
    env.set("SLURM_STEP_TASKS_PER_NODE", "1,2");
    env.set("SLURM_NODEID", second ? "1" : "0");
    env.set("SLURM_LOCALID", rank == 2 ? "1" : "0");
    if (!hosts.empty()) env.set("SLURM_HOSTFILE", hosts);
    return run_hpcml({"launch", "--", "sh", "-c", "echo $MASTER_ADDR"}, env);
  };
  for (unsigned rank = 0; rank < 3; ++rank) CHECK(address_for(rank, directory + "/hosts").out == "nid002\n");
  // A file of another step's, or none: of two nodes the one that has not rank 0 knows the other.
  REQUIRE(util::write_file(directory + "/others", "nid001\nnid001\nnid002\n"));
  for (const auto& hosts : {std::string(), directory + "/others"})
    for (unsigned rank = 0; rank < 2; ++rank) CHECK(address_for(rank, hosts).out == "nid002\n");
  const auto lost = address_for(2, directory + "/others");
  CHECK(lost.exit_code == 125);
  CHECK_THAT(lost.err, Contains("the node of rank 0 is unknown") && Contains("SLURM_HOSTFILE=FILE"));
  std::filesystem::remove_all(directory);
}

TEST_CASE("binding is what the kernel shows afterwards, and never wider than before") {
  const auto mine = several_cpus();
  if (!mine) return;
  std::string seen;
  for (unsigned rank = 0; rank < 2; ++rank) {
    const auto output =
        run_hpcml({"launch", "--bind", "apply", "--", "grep", "Cpus_allowed_list", "/proc/self/status"},
                  step_environment(rank, 2));
    REQUIRE(output.exit_code == 0);
    const auto cpus = model::IdSet::parse_list(util::trim(util::split(output.out, ':').back()));
    REQUIRE(cpus);
    CHECK(cpus->is_subset_of(*mine));
    CHECK(cpus->size() < mine->size());
    CHECK(output.out != seen);
    seen = output.out;
  }
  CHECK(launch_on_first(*mine, {"--bind", "apply", "--", "nproc"}).out == "1\n");
}

TEST_CASE("a mask of srun that differs from the plan is reported and kept") {
  const auto mine = several_cpus();
  if (!mine) return;
  const auto output = launch_on_first(*mine, {"--bind", "verify", "--", "nproc"}, with_masks());
  CHECK(output.exit_code == 0);
  CHECK(output.out == "1\n");
  CHECK_THAT(output.err, Contains("rank 1") && Contains("but hpcml planned"));
}

TEST_CASE("a rank that has not what its plan says is told, or is not started") {
  const auto mine = several_cpus();
  if (!mine) return;
  const auto run = [&](const std::string& check) {
    return launch_on_first(*mine, {"--bind", "verify", "--bind-check", check, "--", "echo", "ran"},
                           with_masks());
  };
  const auto warned = run("warn"), refused = run("fail"); // on the other rank's CPU
  CHECK(util::split(warned.err, '\n').size() == 3);       // each fault once
  CHECK(warned.out == "ran\n");
  CHECK_THAT(warned.err, Contains(": it shares CPU " + std::to_string(mine->first()) + " with rank 0"));
  CHECK(refused.exit_code == 125);
  CHECK(refused.out.empty());
  CHECK_THAT(
      refused.err,
      Contains(
          ": the binding check (--bind-check) failed, so that the program does not start: it shares CPU") &&
          !Contains("{"));
  for (const auto& words : {std::vector<std::string>{"--nproc-per-node", "2"},
                            {"--nproc-per-node", "2", "--cpus-per-task", "1"}}) {
    std::vector<std::string> all = {"launch", "--bind", "apply", "--bind-check", "fail"};
    all.insert(all.end(), words.begin(), words.end());
    all.insert(all.end(), {"--", "true"});
    const auto good = run_hpcml(all, bare_environment());
    CHECK(good.exit_code == 0);
    CHECK(good.err.empty());
  }
  // Outside a job nobody binds: both ranks really have the same CPUs.
  const auto unbound = run_hpcml({"launch", "--nproc-per-node", "2", "--bind-check", "fail", "--", "true"},
                                 bare_environment());
  CHECK(unbound.exit_code == 125);
  CHECK_THAT(unbound.err,
             Contains("shares CPUs " + mine->to_list() + " with rank ") && Contains("--bind apply"));
  const auto too_many = run_hpcml({"launch", "--bind", "apply", "--bind-check", "fail", "--nproc-per-node",
                                   "1", "--cpus-per-task", "60000", "--", "true"},
                                  bare_environment());
  CHECK(too_many.exit_code == 125);
  CHECK_THAT(too_many.err, Contains("of 60000 requested cores"));
}

TEST_CASE("a rank's threads are set with a reason, unless somebody has set them") {
  auto env = step_environment(0, 1);
  const auto planned =
      run_hpcml({"launch", "--dry-run", "--site", "zurada", "--partition", "gpu2h100", "--", "true"}, env)
          .out;
  CHECK_THAT(planned, !Contains("OMP_PROC_BIND") && !Contains("OMP_PLACES") &&
                          Contains("\nOMP_STACKSIZE=512m\n") && Contains("\nHPCML_DATALOADER_WORKERS=0\n") &&
                          Contains("\nHPCML_DATALOADER_WORKERS because: ") &&
                          Contains("\nHPCML_INTEROP_THREADS="));
  for (const auto* name : {"OMP_STACKSIZE", "HPCML_DATALOADER_WORKERS", "HPCML_INTEROP_THREADS"}) {
    env.set(name, "3");
    CHECK(run_hpcml({"launch", "--site", "zurada", "--partition", "gpu2h100", "--", "printenv", name}, env)
              .out == "3\n");
  }
  const auto agent =
      run_hpcml({"launch", "--dry-run", "--site", "zurada", "--", "torchrun", "t.py"}, step_environment(0, 1))
          .out;
  for (const auto* name : {"OMP_NUM_THREADS", "HPCML_INTEROP_THREADS", "HPCML_DATALOADER_WORKERS"})
    CHECK_THAT(agent, !Contains(std::string(name) + "="));
}

TEST_CASE("missing GPUs stop the rank with a sentence") {
  auto env = step_environment(0, 2);
  env.set("ROCR_VISIBLE_DEVICES", "0");
  env.set("SLURM_GPUS_ON_NODE", "1");
  const auto output = run_hpcml({"launch", "--gpus-per-task", "1", "--", "true"}, env);
  CHECK(output.exit_code == 125);
  CHECK_THAT(output.err, Contains("require 2 GPUs, but 1 are visible"));
}

TEST_CASE("a rank that is to see its own GPU gets its entry of the list") {
  auto env = step_environment(2, 4);
  env.set("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b,GPU-c,GPU-d");
  CHECK(run_hpcml({"launch", "--gpu-visibility", "own", "--", "printenv", "CUDA_VISIBLE_DEVICES"}, env).out ==
        "GPU-c\n");
  CHECK(run_hpcml({"launch", "--gpu-visibility", "all", "--", "printenv", "CUDA_VISIBLE_DEVICES"}, env).out ==
        "GPU-a,GPU-b,GPU-c,GPU-d\n");
}

TEST_CASE("a rank that wants no GPU leaves those of the node alone") {
  auto env = step_environment(0, 1); // as in a job that owns a whole node
  env.set("SLURM_JOB_GPUS", "0,1");
  const auto output =
      run_hpcml({"launch", "--site", "lumi", "--gpus-per-task", "0", "--gpu-visibility", "own", "--bind",
                 "none", "--", "sh", "-c", "echo ${ROCR_VISIBLE_DEVICES-none} ${NCCL_NET_GDR_LEVEL-none}"},
                env);
  CHECK(output.out == "-1 none\n"); // hidden, or torch would count them and take NCCL
}

TEST_CASE("launch chooses network variables by the command's image") {
  auto env = step_environment(0, 1);
  env.set("SLURM_JOB_GPUS", "0,1");
  test::TempDirectory directory;
  const auto engine = (directory / "apptainer").string();
  REQUIRE(util::write_file(engine, "#!/bin/sh\necho ${NCCL_NET_GDR_LEVEL-none} ${FI_MR_CACHE_MONITOR-none}\n",
                           0755));
  const auto seen = [&](const std::string& image) {
    return run_hpcml({"launch", "--site", "lumi", "--gpus-per-task", "1", "--bind", "none", "--container",
                      "--", engine, "exec", image, "python", "train.py"},
                     env)
        .out;
  };
  CHECK(seen("lumi-multitorch-full-u24r70f21m50t210-20260415_130625.sif") == "none userfaultfd\n");
  CHECK(seen("lumi-pytorch-rocm-6.2.4.sif") == "PHB userfaultfd\n");
}

TEST_CASE("a rank that asks for no GPU sees none of the job's") {
  struct Row {
    std::map<std::string, std::string> settings;
    const char* seen; ///< ROCR, HIP, CUDA, GPU_DEVICE_ORDINAL, HPCML_BACKEND
  };
  const Row rows[] = {
      {{{"CUDA_VISIBLE_DEVICES", "0,1"}}, "- - -1 - gloo\n"},
      {{{"ROCR_VISIBLE_DEVICES", "0,1"}, {"HIP_VISIBLE_DEVICES", "0,1"}, {"GPU_DEVICE_ORDINAL", "0,1"}},
       "-1 - - - gloo\n"},
      {{{"CUDA_VISIBLE_DEVICES", "NoDevFiles"}}, "- - NoDevFiles - gloo\n"}, // Slurm has hidden them already
      {{}, "- - - - gloo\n"},
  };
  for (const auto& row : rows) {
    auto env = step_environment(0, 2);
    for (const auto& [name, value] : row.settings) env.set(name, value);
    CAPTURE(row.seen);
    const auto output =
        run_hpcml({"launch", "--gpus-per-task", "0", "--gpu-visibility", "own", "--", "sh", "-c",
                   "echo ${ROCR_VISIBLE_DEVICES--} ${HIP_VISIBLE_DEVICES--} ${CUDA_VISIBLE_DEVICES--} "
                   "${GPU_DEVICE_ORDINAL--} $HPCML_BACKEND"},
                  env);
    CHECK(output.out == row.seen);
  }
  const auto contradiction = run_hpcml({"launch", "--gpus-per-task", "0", "--backend", "nccl", "--", "true"},
                                       step_environment(0, 1));
  CHECK(contradiction.exit_code == 125);
  CHECK_THAT(contradiction.err, Contains("NCCL requires GPUs"));
}

TEST_CASE("interfaces that a node lacks are left out, and said once per node") {
  const auto output = run_hpcml({"launch", "--nproc-per-node", "3", "--site", "lumi", "--", "sh", "-c",
                                 "echo ${GLOO_SOCKET_IFNAME-none} ${NCCL_SOCKET_IFNAME-none}"},
                                bare_environment());
  CHECK_THAT(output.out, Contains("[0] none none\n") && Contains("[2] none none\n"));
  const auto first = output.err.find("hsn0");
  REQUIRE(first != std::string::npos);
  CHECK_THAT(output.err, Contains("GLOO_SOCKET_IFNAME is not set") && Contains("lo"));
  const std::string missing = "this node lacks network interfaces of the profile of lumi";
  const auto reported = output.err.find(missing);
  REQUIRE(reported != std::string::npos);
  CHECK(output.err.find(missing, reported + 1) == std::string::npos); // once for the node
}

TEST_CASE("dry run prints and does nothing") {
  const std::string directory = make_directory();
  auto words = words_with_site(site_with_cache(directory), "touch " + directory + "/ran");
  words.insert(words.begin() + 3, "--dry-run");
  const auto output = run_hpcml(words, step_environment(0, 1));
  CHECK(output.exit_code == 0);
  CHECK_THAT(output.out, Contains("RANK=0\n") && Contains("MASTER_ADDR=nid001\n") &&
                             Contains("exec: sh -c ") && Contains("KERNEL_CACHE="));
  CHECK_FALSE(std::filesystem::exists(directory + "/ran"));
  CHECK_FALSE(std::filesystem::exists(directory + "/kernels-job4242-step0-node0"));
  std::filesystem::remove_all(directory);
}

TEST_CASE("eight ranks share one private cache directory, which goes with the last of them") {
  const std::string directory = site_with_cache(make_directory());
  REQUIRE_FALSE(directory.empty());
  const std::string cache = directory + "/kernels-job4242-step0-node0";
  std::vector<std::unique_ptr<Running>> ranks;
  for (unsigned rank = 0; rank < 8; ++rank)
    ranks.push_back(std::make_unique<Running>(
        words_with_site(directory,
                        "touch $KERNEL_CACHE/$RANK && echo $KERNEL_CACHE $KERNEL_DB; exec sleep 60"),
        step_environment(rank, 8)));
  for (auto& rank : ranks) CHECK(rank->read_line() == cache + "/a/b " + cache);
  struct stat found {};
  REQUIRE(::stat(cache.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0700);
  for (std::size_t i = 0; i < 7; ++i) {
    ranks[i]->signal(i % 2 == 0 ? SIGKILL : SIGTERM);
    ranks[i]->wait();
  }
  CHECK(std::filesystem::exists(cache + "/a/b/7"));
  ranks[7]->signal(SIGKILL);
  ranks[7]->wait();
  CHECK(ranks[7]->read_line().empty()); // the end of the pipe: what removes the cache holds no output open
  CHECK(is_removed(cache));
  std::filesystem::remove_all(directory);
}

TEST_CASE("a cache directory in somebody else's hand is refused") {
  const std::string directory = site_with_cache(make_directory()),
                    cache = directory + "/kernels-job4242-step0-node0";
  std::filesystem::create_directory(directory + "/elsewhere");
  std::filesystem::create_symlink(directory + "/elsewhere", cache);
  const auto linked = run_hpcml(words_with_site(directory, "true"), step_environment(0, 1));
  CHECK(linked.exit_code == 125);
  CHECK_THAT(linked.err, Contains("it is a link or a file"));
  std::filesystem::remove(cache);
  if (::geteuid() == 0) {
    std::filesystem::create_directory(cache);
    REQUIRE(::chown(cache.c_str(), 12345, 12345) == 0);
    CHECK_THAT(run_hpcml(words_with_site(directory, "true"), step_environment(0, 1)).err,
               Contains("belongs to user 12345"));
  }
  std::filesystem::remove_all(directory);
}

TEST_CASE("caches that earlier steps left behind go with the next one") {
  const std::string directory = site_with_cache(make_directory()),
                    stale = directory + "/kernels-job17-step3-node0";
  std::filesystem::create_directories(stale + "/deep/er");
  std::filesystem::create_directory_symlink("/etc", stale + "/link");
  std::filesystem::create_directory(directory + "/kernels-mine");
  CHECK(run_hpcml(words_with_site(directory, "true"), step_environment(0, 1)).exit_code == 0);
  CHECK(is_removed(stale));
  CHECK(is_removed(directory + "/kernels-job4242-step0-node0"));
  CHECK(std::filesystem::exists("/etc/passwd"));
  CHECK(std::filesystem::exists(directory + "/kernels-mine"));
  std::filesystem::remove_all(directory);
}

TEST_CASE("ranks that launch started have no cache left when it ends") {
  const std::string directory = site_with_cache(make_directory());
  auto words = words_with_site(directory, "test -d $KERNEL_CACHE");
  words.insert(words.begin() + 3, {"--nproc-per-node", "2"});
  CHECK(run_hpcml(words, bare_environment()).exit_code == 0);
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    CHECK(entry.path().filename() == "cached.json");
  std::filesystem::remove_all(directory);
}

TEST_CASE("several tasks on a node can't each start the node's ranks") {
  const auto output = run_hpcml({"launch", "--nproc-per-node", "2", "--", "true"}, step_environment(0, 2));
  CHECK(output.exit_code == 125);
  CHECK_THAT(output.err, Contains("has 2 tasks on this node"));
}

TEST_CASE("one task per node starts its node's part of the world") {
  auto env = step_environment(1, 2);
  env.set("SLURM_LOCALID", "0");
  env.set("SLURM_NODEID", "1");
  env.set("SLURM_STEP_NODELIST", "nid[001-002]");
  env.set("SLURM_STEP_TASKS_PER_NODE", "1(x2)");
  const auto output = run_hpcml({"launch", "--nproc-per-node", "2", "--", "sh", "-c",
                                 "echo $RANK $LOCAL_RANK $WORLD_SIZE $NODE_RANK $MASTER_ADDR"},
                                env);
  CHECK_THAT(output.out, Contains("[2] 2 0 4 1 nid001\n") && Contains("[3] 3 1 4 1 nid001\n"));
}
