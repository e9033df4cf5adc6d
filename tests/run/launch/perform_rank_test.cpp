// SPDX-License-Identifier: MIT
// What a rank's process does before it executes its program, in memory: environment, binding, checks, errors.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cerrno>
#include <map>

#include "run/launch/launch_play.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// A task of a step that becomes rank `rank` of `ranks`.
struct TaskPlay : LaunchPlay {
  TaskPlay(unsigned rank, unsigned ranks) : LaunchPlay({"exit 0"}) { become_task(rank, ranks); }
  /// Returns a variable of the program; "-" if it is not set, "none" without a program.
  std::string variable(const std::string& name) {
    if (system.executed().empty()) run();
    return system.executed().empty() ? "none" : system.executed()[0].env.get(name).value_or("-");
  }
};

/// A task that srun has given only the first CPU, though its mask is the second.
struct MisboundPlay : TaskPlay {
  MisboundPlay() : TaskPlay(1, 2) {
    node.mask = system.self().cpus = model::IdSet::of({0});
    node.cpus.core_threads = {model::IdSet::of({0}), model::IdSet::of({1})};
    node.cpus.cores = 2;
    request.bind = launch::BindMode::verify;
    context.env.set("SLURM_CPU_BIND_LIST", "0x1,0x2");
  }
};

model::Sourced<model::BindCheckAction> check(model::BindCheckAction action) { return {action, {}}; }

} // namespace

TEST_CASE("program replaces launch and knows its place") {
  TaskPlay play(1, 3);
  play.context.env.set("SLURM_STEP_NODELIST", "nid[001-002]");
  play.context.env.set("SLURM_STEP_TASKS_PER_NODE", "2,1");
  CHECK(play.run() == -1);
  REQUIRE(play.system.executed().size() == 1);
  const auto& program = play.system.executed()[0];
  CHECK(program.pid == play.system.self().pid);
  CHECK(program.path == "/bin/rank");
  const std::map<std::string, std::string> expected = {{"RANK", "1"},       {"LOCAL_RANK", "1"},
                                                       {"WORLD_SIZE", "3"}, {"LOCAL_WORLD_SIZE", "2"},
                                                       {"NODE_RANK", "0"},  {"MASTER_ADDR", "nid001"}};
  for (const auto& [name, value] : expected) CHECK(program.env.get_or(name, "") == value);
  const auto port = std::stoul(program.env.get_or("MASTER_PORT", "0"));
  CHECK((port >= 15000 && port <= 31999));
}

TEST_CASE("variables that are set already must agree") {
  struct Row {
    const char* name;
    const char* value;
    bool agrees;
  };
  const auto row = GENERATE(values<Row>({{"RANK", "1", true},
                                         {"RANK", "0", false},
                                         {"WORLD_SIZE", "3", false},
                                         {"LOCAL_RANK", "1", true},
                                         {"NODE_RANK", "1", false},
                                         {"MASTER_ADDR", "nid001", true},
                                         {"MASTER_ADDR", "nid001.site.edu", true},
                                         {"MASTER_ADDR", "nid002", false},
                                         {"MASTER_PORT", "29500", true},
                                         {"MASTER_PORT", "x", false}}));
  CAPTURE(row.name, row.value);
  TaskPlay play(1, 2);
  play.context.env.set(row.name, row.value);
  play.queries.aliases = {"nid001.site.edu"};
  if (row.agrees) {
    CHECK(play.variable(row.name) == row.value);
  } else {
    CHECK(play.run() == k_cannot_set_up);
    CHECK_THAT(play.error.what, Contains(row.name));
  }
}

TEST_CASE("port that differs from MASTER_PORT is rejected") {
  TaskPlay play(0, 1);
  play.context.env.set("MASTER_PORT", "29500");
  play.request.master_port = 29501;
  CHECK(play.run() == k_cannot_set_up);
}

TEST_CASE("ranks of an arbitrary distribution find rank 0's node") {
  // As Slurm 22.05 gives it for a list of nid002, nid001, nid002.
  const auto play_of = [](unsigned rank, const std::string& hosts) {
    auto play = std::make_unique<TaskPlay>(rank, 3);
    auto& env = play->context.env;
    const bool second = rank != 1;
    env.set("SLURM_DISTRIBUTION", "arbitrary");
    env.set("SLURM_STEP_NODELIST", "nid[001-002]");
    env.set("SLURM_STEP_TASKS_PER_NODE", "1,2");
    env.set("SLURM_NODEID", second ? "1" : "0");
    env.set("SLURM_LOCALID", rank == 2 ? "1" : "0");
    if (!hosts.empty()) env.set("SLURM_HOSTFILE", "/hosts");
    play->queries.host_file = hosts;
    return play;
  };
  for (unsigned rank = 0; rank < 3; ++rank)
    CHECK(play_of(rank, "nid002\nnid001\nnid002\n")->variable("MASTER_ADDR") == "nid002");
  // A file of another step's, or none: of two nodes the one that has not rank 0 knows the other.
  const std::string others = "nid001\nnid001\nnid002\n";
  for (const auto& hosts : {std::string(), others})
    for (unsigned rank = 0; rank < 2; ++rank)
      CHECK(play_of(rank, hosts)->variable("MASTER_ADDR") == "nid002");
  const auto lost = play_of(2, others);
  CHECK(lost->run() == k_cannot_set_up);
  CHECK_THAT(lost->error.what + lost->error.hint,
             Contains("the node of rank 0 is unknown") && Contains("SLURM_HOSTFILE=FILE"));
}

TEST_CASE("ranks are bound to separate parts of the node") {
  LaunchPlay play({"exit 0"});
  play.request.processes_per_node = 4;
  play.request.bind = launch::BindMode::apply;
  CHECK(play.run() == 0);
  model::IdSet all;
  for (const auto& rank : play.system.executed()) {
    CHECK(rank.cpus.size() == 8);
    CHECK_FALSE(rank.cpus.intersects(all));
    all = all | rank.cpus;
  }
  CHECK(play.system.self().cpus == model::IdSet::range(0, 31)); // not launch itself
}

TEST_CASE("ranks prefer memory of their cores' NUMA node") {
  LaunchPlay play({"exit 0"});
  play.request.processes_per_node = 2;
  play.request.bind = launch::BindMode::apply;
  play.node.cpus.numa = {{0, model::IdSet::range(0, 15)}, {1, model::IdSet::range(16, 31)}};
  const bool is_old_kernel = GENERATE(false, true); // without MPOL_PREFERRED_MANY
  if (is_old_kernel)
    for (const int number : {1, 3}) play.system.failures[{"set_mempolicy", number}] = EINVAL;
  CHECK(play.run() == 0);
  REQUIRE(play.system.executed().size() == 2);
  CHECK(play.system.executed()[0].memory == model::IdSet::of({0}));
  CHECK(play.system.executed()[1].memory == model::IdSet::of({1}));
}

TEST_CASE("rank is never bound wider than before") {
  TaskPlay play(1, 2);
  play.request.bind = launch::BindMode::apply;
  play.node.mask = play.system.self().cpus = play.system.cgroup_cpus = model::IdSet::of({3});
  CHECK(play.run() == -1);
  CHECK(play.system.executed()[0].cpus == model::IdSet::of({3}));
}

TEST_CASE("rank that cannot be bound is reported") {
  LaunchPlay play({"exit 0"});
  play.request.processes_per_node = 2;
  play.request.bind = launch::BindMode::apply;
  SECTION("the kernel rejects the CPUs") {
    play.system.failures[{"set_affinity", 2}] = EINVAL;
    CHECK(play.run() == k_cannot_set_up);
    CHECK_THAT(play.err(),
               Contains("rank 1/2 (here, local 1): cannot bind the rank to CPUs 16-31: Invalid") &&
                   Contains("the kernel allows 0-31"));
  }
  SECTION("the cgroup of the step has lost some") {
    play.system.cgroup_cpus = model::IdSet::range(0, 20);
    CHECK(play.run() == k_cannot_set_up);
    CHECK_THAT(play.err(),
               Contains("the kernel granted only CPUs 16-20, because the step's cgroup allows no"));
  }
}

TEST_CASE("mask of srun that differs from the plan is reported and kept") {
  MisboundPlay play;
  CHECK(play.run() == -1);
  CHECK(play.system.executed()[0].cpus == model::IdSet::of({0}));
  CHECK_THAT(play.err(), Contains("rank 1/2 (here, local 1)") && Contains("but hpcml planned"));
}

TEST_CASE("binding check warns or prevents the start") {
  const auto action = GENERATE(model::BindCheckAction::warn, model::BindCheckAction::fail);
  MisboundPlay play;
  play.request.rank_settings.bind_check = check(action);
  const bool starts = action == model::BindCheckAction::warn;
  CHECK(play.run() == (starts ? -1 : k_cannot_set_up));
  CHECK(play.system.executed().size() == (starts ? 1 : 0));
  CHECK_THAT(play.err(), Contains("it shares CPU 0 with rank 0"));
  if (starts)
    CHECK(std::count(play.err().begin(), play.err().end(), '\n') == 2); // each fault once
  else
    CHECK_THAT(play.err(), Contains("the binding check (--bind-check) failed, so that the program does not"));
}

TEST_CASE("binding check accepts ranks that launch binds") {
  for (const unsigned cores : {0U, 1U}) {
    LaunchPlay play({"exit 0"});
    play.request.processes_per_node = 2;
    play.request.cpus_per_task = cores;
    play.request.bind = launch::BindMode::apply;
    play.request.rank_settings.bind_check = check(model::BindCheckAction::fail);
    CHECK(play.run() == 0);
    CHECK(play.err().empty());
  }
}

TEST_CASE("binding check rejects ranks that share all CPUs") {
  LaunchPlay play({"exit 0"});
  play.request.processes_per_node = 2;
  play.request.rank_settings.bind_check = check(model::BindCheckAction::fail);
  CHECK(play.run() == k_cannot_set_up);
  CHECK_THAT(play.err(), Contains("shares CPUs 0-31 with rank ") && Contains("--bind apply"));
}

TEST_CASE("binding check counts the requested cores") {
  LaunchPlay play({"exit 0"});
  play.request.bind = launch::BindMode::apply;
  play.request.cpus_per_task = 60000;
  play.request.rank_settings.bind_check = check(model::BindCheckAction::fail);
  CHECK(play.run() == k_cannot_set_up);
  CHECK_THAT(play.err(), Contains("of 60000 requested cores"));
}

TEST_CASE("requested thread settings of a site can be overridden") {
  TaskPlay play(0, 1);
  play.request.site = test::shipped_site("zurada");
  play.request.partition = "gpu2h100";
  const auto planned = play.dry_run();
  CHECK_THAT(planned, !Contains("OMP_PROC_BIND") && !Contains("OMP_PLACES") &&
                          Contains("\nOMP_STACKSIZE=512m\n") && Contains("\nHPCML_DATALOADER_WORKERS=") &&
                          Contains("\nHPCML_DATALOADER_WORKERS because: ") &&
                          Contains("\nHPCML_INTEROP_THREADS="));
  for (const auto* name : {"OMP_STACKSIZE", "HPCML_DATALOADER_WORKERS", "HPCML_INTEROP_THREADS"})
    play.context.env.set(name, "3");
  for (const auto* name : {"OMP_STACKSIZE", "HPCML_DATALOADER_WORKERS", "HPCML_INTEROP_THREADS"})
    CHECK(play.variable(name) == "3");
}

TEST_CASE("agents of a command set their own threads") {
  TaskPlay play(0, 1);
  play.request.site = test::shipped_site("zurada");
  play.request.command = {"torchrun", "t.py"};
  for (const auto* name : {"OMP_NUM_THREADS", "HPCML_INTEROP_THREADS", "HPCML_DATALOADER_WORKERS"})
    CHECK_THAT(play.dry_run(), !Contains(std::string(name) + "="));
}

TEST_CASE("missing GPUs stop the rank") {
  TaskPlay play(0, 2);
  play.context.env.set("ROCR_VISIBLE_DEVICES", "0");
  play.context.env.set("SLURM_GPUS_ON_NODE", "1");
  play.request.gpus_per_task = 1;
  CHECK(play.run() == k_cannot_set_up);
  CHECK_THAT(play.error.what, Contains("require 2 GPUs, but 1 are visible"));
}

TEST_CASE("rank sees its own GPU or all of them") {
  const auto seen = [](model::GpuVisibilityMode mode) {
    TaskPlay play(2, 4);
    play.context.env.set("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b,GPU-c,GPU-d");
    play.request.gpu_visibility = mode;
    return play.variable("CUDA_VISIBLE_DEVICES");
  };
  CHECK(seen(model::GpuVisibilityMode::own) == "GPU-c");
  CHECK(seen(model::GpuVisibilityMode::all) == "GPU-a,GPU-b,GPU-c,GPU-d");
}

TEST_CASE("rank without GPUs hides those of the node") {
  TaskPlay play(0, 1); // as in a job that owns a whole node
  play.request.site = test::shipped_site("lumi");
  play.request.gpus_per_task = 0;
  play.request.gpu_visibility = model::GpuVisibilityMode::own;
  play.context.env.set("SLURM_JOB_GPUS", "0,1");
  CHECK(play.variable("ROCR_VISIBLE_DEVICES") == "-1"); // hidden, or torch would count them and take NCCL
  CHECK(play.variable("NCCL_NET_GDR_LEVEL") == "-");
}

TEST_CASE("rank without GPUs sees none of the job's") {
  struct Row {
    std::map<std::string, std::string> settings;
    const char* seen; ///< ROCR, HIP, CUDA, GPU_DEVICE_ORDINAL, HPCML_BACKEND
  };
  const Row rows[] = {
      {{{"CUDA_VISIBLE_DEVICES", "0,1"}}, "- - -1 - gloo"},
      {{{"ROCR_VISIBLE_DEVICES", "0,1"}, {"HIP_VISIBLE_DEVICES", "0,1"}, {"GPU_DEVICE_ORDINAL", "0,1"}},
       "-1 - - - gloo"},
      {{{"CUDA_VISIBLE_DEVICES", "NoDevFiles"}}, "- - NoDevFiles - gloo"}, // Slurm has hidden them already
      {{}, "- - - - gloo"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.seen);
    TaskPlay play(0, 2);
    for (const auto& [name, value] : row.settings) play.context.env.set(name, value);
    play.request.gpus_per_task = 0;
    play.request.gpu_visibility = model::GpuVisibilityMode::own;
    std::string seen = play.variable("ROCR_VISIBLE_DEVICES");
    for (const auto* name :
         {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "HPCML_BACKEND"})
      seen += " " + play.variable(name);
    CHECK(seen == row.seen);
  }
}

TEST_CASE("NCCL without GPUs is rejected") {
  TaskPlay play(0, 1);
  play.request.gpus_per_task = 0;
  play.request.backend = model::Backend::nccl;
  CHECK(play.run() == k_cannot_set_up);
  CHECK_THAT(play.error.what, Contains("NCCL requires GPUs"));
}

TEST_CASE("network variables depend on the image of the command") {
  const auto seen = [](const std::string& image) {
    TaskPlay play(0, 1);
    play.context.env.set("SLURM_JOB_GPUS", "0,1");
    play.request.site = test::shipped_site("lumi");
    play.request.gpus_per_task = 1;
    play.request.container = true;
    play.request.command = {"/bin/apptainer", "exec", image, "python", "train.py"};
    play.system.executables.insert("/bin/apptainer");
    return play.variable("NCCL_NET_GDR_LEVEL") + " " + play.variable("FI_MR_CACHE_MONITOR");
  };
  CHECK(seen("lumi-multitorch-full-u24r70f21m50t210-20260415_130625.sif") == "- userfaultfd");
  CHECK(seen("lumi-pytorch-rocm-6.2.4.sif") == "PHB userfaultfd");
}

TEST_CASE("interfaces that a node lacks are reported once") {
  LaunchPlay play({"exit 0"});
  play.request.processes_per_node = 3;
  play.request.site = test::shipped_site("lumi");
  play.node.interfaces = {"lo", "eth0"};
  CHECK(play.run() == 0);
  for (const auto& rank : play.system.executed()) {
    CHECK_FALSE(rank.env.get("GLOO_SOCKET_IFNAME"));
    CHECK_FALSE(rank.env.get("NCCL_SOCKET_IFNAME"));
  }
  CHECK_THAT(play.err(), Contains("GLOO_SOCKET_IFNAME is not set") && Contains("lo"));
  const std::string missing = "this node lacks network interfaces of the profile of lumi";
  const auto reported = play.err().find(missing);
  REQUIRE(reported != std::string::npos);
  CHECK(play.err().find(missing, reported + 1) == std::string::npos);
}

TEST_CASE("several tasks of a node cannot each start its ranks") {
  TaskPlay play(0, 2);
  play.request.processes_per_node = 2;
  CHECK(play.run() == k_cannot_set_up);
  CHECK_THAT(play.error.what, Contains("has 2 tasks on this node"));
}

TEST_CASE("one task per node starts its part of the world") {
  TaskPlay play(1, 2);
  play.request.processes_per_node = 2;
  play.context.env.set("SLURM_LOCALID", "0");
  play.context.env.set("SLURM_NODEID", "1");
  play.context.env.set("SLURM_STEP_NODELIST", "nid[001-002]");
  play.context.env.set("SLURM_STEP_TASKS_PER_NODE", "1(x2)");
  play.system.programs = {"out $RANK $LOCAL_RANK $WORLD_SIZE $NODE_RANK $MASTER_ADDR; exit 0"};
  CHECK(play.run() == 0);
  CHECK(play.out() == "[2] 2 0 4 1 nid001\n[3] 3 1 4 1 nid001\n");
}

TEST_CASE("program that cannot be executed is reported with a hint") {
  struct Row {
    const char* name;
    int code;
    const char* message;
  };
  const auto row = GENERATE(
      values<Row>({{"train.py", 127, "hint: use python train.py"},
                   {"./train.py", 126, "use python ./train.py"},
                   {"run", 127, "use ./run: run is in the working directory, which is not in PATH"},
                   {"data", 127, "use its path, or load the module that provides it"},
                   {"./data", 126, "chmod +x ./data if it is a program"},
                   {"none.py", 127, "use python none.py"},
                   {"/opt/none", 127, "cannot find '/opt/none'"},
                   {"/bin/lost", 127, "its interpreter does not exist"},
                   {"/bin/text", 126, "it is neither a program for this machine nor a script with a #! line"},
                   {"/bin/busy", 126, "cannot execute '/bin/busy': Text file busy"},
                   {"no\033[31mprogram\xe2\x80\xae", 127, "no\\x1b[31mprogram\\u202e"}}));
  CAPTURE(row.name);
  TaskPlay play(0, 1);
  play.request.command = {row.name};
  play.system.executables = {"run", "./run", "/bin/lost", "/bin/text", "/bin/busy"};
  play.system.files = {{"train.py", ""}, {"./train.py", ""}, {"data", ""},
                       {"./data", ""},   {"/bin/lost", ""},  {"/bin/text", ""}};
  play.system.exec_errors = {{"/bin/lost", ENOENT}, {"/bin/text", ENOEXEC}, {"/bin/busy", ETXTBSY}};
  CHECK(play.run() == row.code);
  CHECK_THAT(play.err(), Contains(row.message));
  CHECK(play.err().find('\033') == std::string::npos); // it cannot command the terminal
}

TEST_CASE("programs find SLURM_CPUS_PER_TASK of a script's step") {
  const auto seen = [](const std::map<std::string, std::string>& variables, unsigned cores,
                       bool in_step = true) {
    TaskPlay play(0, 1);
    const auto step = step_environment(0, 1);
    if (!in_step)
      for (const auto& [name, value] : step.variables()) play.context.env.unset(name);
    play.context.env.set("PATH", "/bin");
    for (const auto& [name, value] : variables) play.context.env.set(name, value);
    play.request.bind = launch::BindMode::automatic;
    play.request.cpus_per_task = cores;
    return play.variable("SLURM_CPUS_PER_TASK");
  };
  CHECK(seen({}, 1) == "1");
  CHECK(seen({{"SLURM_CPUS_PER_TASK", "9"}}, 1) == "9");
  CHECK(seen({{"SLURM_TRES_PER_TASK", "gres/gpu=1,cpu=7"}}, 1) == "7"); // from 23.11 srun rejects any other
  CHECK(seen({}, 0) == "-");                                            // an srun in it would ask for them
  CHECK(seen({}, 0, false) == "-");
}

TEST_CASE("variable that binds the program to one core is reported") {
  const auto* value = GENERATE("close", "false");
  TaskPlay play(0, 1);
  play.context.env.set("OMP_PROC_BIND", value);
  const auto warns = Contains("warning: with OMP_PROC_BIND=close, `import torch` binds");
  if (std::string(value) == "close")
    CHECK_THAT(play.dry_run(), warns);
  else
    CHECK_THAT(play.dry_run(), !Contains("OMP_PROC_BIND"));
}
