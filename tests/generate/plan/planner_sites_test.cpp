// SPDX-License-Identifier: MIT
// Plans for the other sites: what each wants and refuses.
#include "plan_helper.hpp"

#include <array>

using namespace hpcml;
using namespace hpcml::test;
using Lines = std::vector<std::string>;

TEST_CASE("Zurada with torchrun starts one agent per node, not the documented two") {
  auto job = job_of({"python", "train.py"});
  job.nodes = flag(2u);
  job.launcher = launcher("torchrun");
  const auto plan = planned(job, "zurada");
  CHECK(plan.layout.tasks_per_node == 1);
  CHECK(plan.layout.ranks_per_node == 2);
  CHECK(directive(plan, "--ntasks-per-node") == "1");
  CHECK(directive(plan, "--gpus-per-node") == "2");
  CHECK(directive(plan, "--cpus-per-task") == "32");
  CHECK(plan.binding.binder == model::Binder::agent);
  REQUIRE(variable(plan, "OMP_NUM_THREADS"));
  CHECK(variable(plan, "OMP_NUM_THREADS")->value == "16");
  CHECK(variable(plan, "OMP_NUM_THREADS")->scope == model::ValueScope::batch);
}

TEST_CASE("Zurada with hpcml starts one rank per GPU with half of the node's cores each") {
  auto job = job_of({"python", "train.py"});
  job.nodes = flag(2u);
  const auto plan = planned(job, "zurada");
  CHECK(directive(plan, "--ntasks-per-node") == "2");
  CHECK(directive(plan, "--cpus-per-task") == "16");
  CHECK(directive(plan, "--partition") == "gpu2h100");
  CHECK(directive(plan, "--mem").has_value());
  CHECK(plan.binding.binder == model::Binder::launch);
  CHECK(plan.gpu_visibility.value == model::GpuVisibilityMode::all);
  CHECK(plan.rendezvous.interface == "bond0");
  CHECK(plan.python.kind == model::PythonEnvironmentKind::conda);
  CHECK(plan.python.where == "pytorch");
  REQUIRE(plan.modules.size() == 1);
  CHECK(plan.modules[0].name == "miniforge3/25.3.1-gcc-11.4.1");
  REQUIRE(variable(plan, "CUDA_DEVICE_ORDER"));
  CHECK(variable(plan, "CUDA_DEVICE_ORDER")->value == "PCI_BUS_ID");
  REQUIRE(variable(plan, "OMP_STACKSIZE"));
  // With these of the same page torch binds the program, and its data loaders, to one core.
  CHECK_FALSE(variable(plan, "OMP_PLACES"));
  CHECK_FALSE(variable(plan, "OMP_PROC_BIND"));
  CHECK(has_note(plan, "`import torch` binds the program and its data loaders to one core"));
  // Nothing of Python for a native program.
  CHECK(planned(job_of({"./train"}), "zurada").python.kind == model::PythonEnvironmentKind::none);
}

TEST_CASE("Zurada's CPU partitions get --exclusive, its GPU partitions do not") {
  auto job = job_of({"./train"});
  job.gpus_per_node = flag(0u);
  CHECK(error_of(job, "zurada", "usage/partition").hint ==
        "use --partition with one of cpu384g, cpu1500g, cpu6000g, cpudev");
  job.partition = text("cpu384g");
  const auto plan = planned(job, "zurada");
  CHECK(directive(plan, "--exclusive") == "");
  CHECK_FALSE(directive(plan, "--gpus-per-node"));
  CHECK(plan.layout.cpus_per_rank == 32);
  CHECK_FALSE(directive(planned(job_of({"./train"}), "zurada"), "--exclusive"));
  // The CPU partition decides, also when no number of GPUs is given.
  job.gpus_per_node.reset();
  CHECK(planned(job, "zurada").layout.gpus_per_node == 0);
  job.gpus_per_node = flag(2u);
  CHECK(error_of(job, "zurada", "request/gpus-per-node").hint ==
        "use a partition with enough GPUs per node: gpu2h100, hgxh200");
}

TEST_CASE("Narval names the GPU type and no partition, and builds the environment per node") {
  auto job = job_of({"python", "train.py"});
  job.nodes = flag(2u);
  job.account = text("def-someone");
  auto plan = planned(job, "narval");
  CHECK(directive_lines(plan) == Lines{"--job-name=train", "--account=def-someone", "--nodes=2",
                                       "--ntasks-per-node=4", "--gpus-per-node=a100:4", "--cpus-per-task=12",
                                       "--mem=510000M", "--time=00:10:00", "--output=%x-%j.out"});
  CHECK(plan.python.kind == model::PythonEnvironmentKind::wheelhouse);
  CHECK(plan.python.where == "$SLURM_TMPDIR/env");
  CHECK(plan.python.packages == Lines{"torch"});
  job.wheelhouse = text("torch numpy>=1.26");
  CHECK(planned(job, "narval").python.packages == Lines{"torch", "numpy>=1.26"});
  job.wheelhouse = text("requirements.txt");
  CHECK(planned(job, "narval").python.packages == Lines{"-r", "requirements.txt"});
  job.wheelhouse = text("torch --index-url=x");
  error_of(job, "narval", "usage/wheelhouse");
  job.wheelhouse.reset();
  job.gpus_per_node = flag(1u);
  plan = planned(job, "narval");
  CHECK(directive(plan, "--gpus-per-node") == "a100:1");
  CHECK(directive(plan, "--mem") == "124G");
  job.partition = text("gpu");
  CHECK(error_of(job, "narval", "request/partition").hint.starts_with("remove --partition"));
}

TEST_CASE("Narval gives a C++ program the modules that LibTorch needs") {
  auto job = job_of({"./train_ddp"});
  const auto plan = planned(job, "narval");
  REQUIRE(plan.modules.size() >= 3);
  CHECK(plan.modules[0].name == "StdEnv/2023");
  CHECK(plan.python.kind == model::PythonEnvironmentKind::none);
}

TEST_CASE("Vista asks for nodes and tasks, never for GPUs or memory, and starts with ibrun") {
  auto job = job_of({"python", "train.py"});
  job.nodes = flag(4u);
  const auto plan = planned(job, "vista");
  CHECK(directive_lines(plan) == Lines{"--job-name=train", "--partition=gh", "--nodes=4",
                                       "--ntasks-per-node=1", "--cpus-per-task=72", "--time=00:10:00",
                                       "--output=%x-%j.out"});
  CHECK(plan.launcher.step == "ibrun");
  CHECK(plan.launcher.rank_variable == "OMPI_COMM_WORLD_RANK");
  CHECK(plan.binding.binder == model::Binder::launch);
  CHECK(plan.layout.gpus_per_node == 1);
  CHECK(plan.interactive.program == "idev");
}

TEST_CASE("What Vista refuses is refused in every form") {
  auto job = job_of({"./train"});
  job.mem = flag(mem_of("10G"));
  job.sbatch = {text("--gres=gpu:1"), text("--export=ALL"), text("-wc123-001")};
  error_of(job, "vista", "request/mem");
  CHECK(error_of(job, "vista", "request/gres").hint == "remove --sbatch=--gres=gpu:1");
  error_of(job, "vista", "request/export");
  error_of(job, "vista", "request/nodelist");
  job = job_of({"./train"});
  job.launcher = launcher("srun");
  CHECK(error_of(job, "vista", "request/launcher").hint ==
        "remove --launcher: jobs on Vista (TACC) start programs with ibrun");
}

TEST_CASE("Retired clusters are refused with their date and successor, and with nothing else") {
  const std::vector<std::array<std::string, 3>> rows = {{"cedar", "2025-09-12", "fir"},
                                                        {"graham", "2025-09-01", "nibi"}};
  for (const auto& [id, date, successor] : rows) {
    const auto errors = errors_of(model::JobSpec{}, id);
    REQUIRE(errors.size() == 1);
    CHECK(errors[0].code == "site/retired");
    CHECK(errors[0].message.find(date) != std::string::npos);
    CHECK(errors[0].hint.find("use its successor " + successor) != std::string::npos);
  }
}

TEST_CASE("A cluster that nobody described takes what the flags say and asks for what is missing") {
  auto job = job_of({"./train"});
  CHECK(error_of(job, "generic", "usage/gpus-per-node").hint == "set --gpus-per-node N (0 for a CPU job)");
  job.gpus_per_node = flag(4u);
  job.cpus_per_task = flag(8u);
  job.partition = text("whatever");
  job.account = text("me");
  const auto plan = planned(job, "generic");
  CHECK(directive_lines(plan) == Lines{"--job-name=train", "--account=me", "--partition=whatever",
                                       "--nodes=1", "--ntasks-per-node=4", "--gpus-per-node=4",
                                       "--cpus-per-task=8", "--time=00:10:00", "--output=%x-%j.out"});
  CHECK(plan.binding.binder == model::Binder::launch);
}

TEST_CASE("Where nobody says how many cores a rank has, nothing is made up") {
  auto job = job_of({"./train"});
  job.gpus_per_node = flag(2u);
  for (const auto* launcher : {"hpcml", "srun"}) {
    job.launcher = test::launcher(launcher);
    const auto plan = planned(job, "generic");
    CHECK(plan.layout.cpus_per_rank == 0);
    CHECK_FALSE(directive(plan, "--cpus-per-task"));
    CHECK_FALSE(variable(plan, "OMP_NUM_THREADS"));
  }
  job.cpus_per_task = flag(0u);
  error_of(job, "generic", "usage/cpus-per-task");
}

TEST_CASE("Where there is no Slurm the line that starts the program here is said instead of a script") {
  auto job = job_of({"python", "train.py", "a b"});
  job.gpus_per_node = flag(4u);
  job.gpus_per_task = flag(2u);
  job.env = {{"A", text("it's")}};
  job.backend = flag(model::Backend::gloo);
  const auto error = error_of(job, "local", "request/scheduler");
  CHECK(error.hint == "run the program here: env 'A=it'\\''s' hpcml launch --nproc-per-node 2 "
                      "--gpus-per-task 2 --backend gloo -- "
                      "python train.py 'a b'");
  job.nodes = flag(2u);
  CHECK(error_of(job, "local", "request/scheduler")
            .message.find("a job with 2 nodes cannot run on one machine") != std::string::npos);
  CHECK(error_of(job_of({"./x"}), "local", "request/scheduler").hint ==
        "run the program here: hpcml launch -- ./x");
}

TEST_CASE("A job with a share of a node's GPUs asks for that share of its memory") {
  auto job = job_of({"./train"});
  job.gpus_per_node = flag(1u);
  const auto half = directive(planned(job, "zurada"), "--mem");
  job.gpus_per_node = flag(2u);
  const auto all = directive(planned(job, "zurada"), "--mem");
  REQUIRE((half && all));
  CHECK(mem_of(*half).mib() * 2 == mem_of(*all).mib());
}

namespace {

model::JobSpec gpu_job(unsigned gpus, const std::string& type) {
  auto job = job_of({"./train"});
  job.gpus_per_node = flag(gpus);
  if (!type.empty()) job.gpu_type = text(type);
  return job;
}

} // namespace

TEST_CASE("Of several kinds of node with one GPU type the job gets one that has enough of them") {
  struct Row {
    const char* site;
    const char* type;
    unsigned gpus;
    const char* mem;
    const char* node_type;
  };
  for (const Row row : {Row{"mila", "a100", 4, "", "a100"},
                        {"mila", "a100", 8, "", "dgx-a100"},
                        {"mila", "a100l", 8, "", "dgx-a100l"},
                        {"mila", "a100", 4, "900G", "dgx-a100"},
                        {"kebnekaise", "l40s", 2, "", "l40s"},
                        {"kebnekaise", "l40s", 6, "", "l40s-6"},
                        {"alvis", "T4", 8, "", "T4"}}) {
    CAPTURE(row.site, row.type, row.gpus, row.mem);
    auto job = gpu_job(row.gpus, row.type);
    job.account = text("me");
    if (*row.mem) job.mem = flag(mem_of(row.mem), "--mem");
    CHECK(planned(job, row.site).node_type == row.node_type);
  }
  const auto dgx = planned(gpu_job(8, "a100"), "mila");
  CHECK(directive(dgx, "--gres") == "gpu:a100:8");
  CHECK(directive(dgx, "--constraint") == "dgx&ampere");
}

TEST_CASE("More GPUs of a type than any node has are refused with the most that there are") {
  auto job = gpu_job(9, "a100");
  CHECK(error_of(job, "mila", "request/gpus-per-node").message.find("those of node type dgx-a100 (8)") !=
        std::string::npos);
}

TEST_CASE("A GPU type that the site requires and nobody named is said") {
  auto job = gpu_job(1, "");
  job.account = text("me");
  const auto result = plan::make_plan(job, site_named("kebnekaise"));
  REQUIRE(result.plan);
  CHECK(directive(*result.plan, "--gpus") == "v100:1");
  REQUIRE(result.diagnostics.size() == 1);
  CHECK(result.diagnostics[0].severity == diag::Severity::warning);
  CHECK(result.diagnostics[0].message.find("v100") != std::string::npos);
  CHECK(result.diagnostics[0].hint.find("a100, mi100, a6000, l40s, h100, a40") != std::string::npos);
  job.gpu_type = text("a40");
  CHECK(plan::make_plan(job, site_named("kebnekaise")).diagnostics.empty());
  CHECK(has_note(planned(gpu_job(1, ""), "raven"), "hpcml requests a100, the only one"));
}

TEST_CASE("A GPU type is taken where the profile does not know Slurm's name for the GPUs") {
  auto job = gpu_job(2, "h100");
  job.partition = text("gpu-h100-80g");
  const auto result = plan::make_plan(job, site_named("triton_aalto"));
  REQUIRE(result.plan);
  CHECK(directive(*result.plan, "--gpus") == "h100:2");
  REQUIRE_FALSE(result.diagnostics.empty());
  CHECK(result.diagnostics[0].message.find("has no Slurm name for the GPUs") != std::string::npos);
  auto refused = lumi_job();
  refused.gpu_type = text("mi250"); // which check lets pass, too: the script does without
  CHECK(directive(planned(refused, "lumi"), "--gpus-per-node") == "8");
  CHECK(has_note(planned(refused, "lumi"), "--gpu-type mi250 is not written into the script"));
  refused.gpu_type = text("a100");
  CHECK(error_of(refused, "lumi", "request/gpu-type").hint.find("remove --gpu-type") != std::string::npos);
}

TEST_CASE("A partition whose nodes the profile does not know wants the number of GPUs") {
  auto job = job_of({"./train"});
  job.partition = text("hopper");
  CHECK(error_of(job, "ulhpc_iris", "usage/gpus-per-node").message.find("partition hopper") !=
        std::string::npos);
  job.gpus_per_node = flag(2U);
  CHECK(directive(planned(job, "ulhpc_iris"), "--gpus") == "2");
}

TEST_CASE("Where GPUs are asked for by the task, each rank sees its own") {
  auto job = gpu_job(8, "");
  job.account = text("naiss");
  const auto plan = planned(job, "dardel");
  CHECK(directive(plan, "--gpus-per-task") == "1");
  CHECK(plan.gpu_visibility.value == model::GpuVisibilityMode::own);
  job.launcher = launcher("torchrun"); // its one task has them all
  CHECK(planned(job, "dardel").gpu_visibility.value == model::GpuVisibilityMode::all);
  job.launcher.reset();
  job.gpu_visibility = flag(model::GpuVisibilityMode::all);
  CHECK(error_of(job, "dardel", "request/gpu-visibility").hint.find("remove --gpu-visibility") !=
        std::string::npos);
}

TEST_CASE("A job of several programs is planned once, and each program's mistakes are said once") {
  auto job = lumi_job();
  job.container = text("/images/a.sif");
  job.binds = {text("/project/me:/workdir")};
  job.command = {"/project/me/train"};
  job.steps = {{{"/project/me/stage"}, true}, {{"/project/me/train"}, false}};
  const auto plan = planned(job, "lumi");
  REQUIRE(plan.steps.size() == 2);
  CHECK(plan.steps[0].command == std::vector<std::string>{"/workdir/stage"});
  CHECK(plan.steps[0].once);
  CHECK(plan.steps[1].command == plan.command);
  CHECK(has_note(plan, "'/workdir/stage' instead of '/project/me/stage'"));
  job.steps[0].command.clear();
  CHECK(error_of(job, "lumi", "usage/command").message == "the job has no command to run");
  auto tacc = job_of({"./train"});
  tacc.account = text("me");
  tacc.steps = {{{"./stage"}, true}, {{"./train"}, false}};
  CHECK(error_of(tacc, "vista", "request/steps").message.find("ibrun") != std::string::npos);
}

TEST_CASE("Cores that a site keeps for the system are named with the option that gives them to the job") {
  auto job = gpu_job(8, "");
  job.account = text("me");
  CHECK(has_note(planned(job, "frontier"), "--sbatch=--core-spec=0 requests them"));
  job.sbatch = {text("--core-spec=0")};
  CHECK_FALSE(has_note(planned(job, "frontier"), "requests them"));
}

TEST_CASE("a plain script tells the program as many threads and data loaders as launch would") {
  auto job = job_of({"python", "train.py"});
  job.account = text("me");
  job.mem = flag(mem_of("16G"), "--mem");
  job.launcher = launcher("torchrun");
  const auto plan = planned(job, "zurada");
  CHECK(variable(plan, "OMP_NUM_THREADS")->value == "16"); // the page's own: 32 cores, 2 GPUs
  CHECK(variable(plan, "HPCML_DATALOADER_WORKERS")->value == "15");
  CHECK(variable(plan, "HPCML_DATALOADER_WORKERS")->scope == model::ValueScope::batch);
  job.env.emplace_back("HPCML_DATALOADER_WORKERS", text("4"));
  CHECK(variable(planned(job, "zurada"), "OMP_NUM_THREADS")->value == "12");
}
