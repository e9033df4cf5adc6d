// SPDX-License-Identifier: MIT
// Each kind of rule that a profile can state, and what the plan makes of it: made-up sites, one rule each.
#include <cstdlib>
#include <filesystem>
#include <functional>

#include "core/config/site_store.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "generate/render/render_script.hpp"
#include "plan_helper.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

/// A site of two kinds of GPU node and a CPU node, with further members of a profile.
model::Site site_with(const std::string& members, const std::string& gpu_partition = "",
                      const std::string& gpu_node = "") {
  const std::string text = R"({"id": "site", "sources": {"doc": {"url": "u", "checked": "2026-01-01"}},
    "node_types": [
      {"id": "h100", "source": "doc", "cpu_arch": "x86_64", "cpu": {"sockets": 2, "cores": 64},
       "gpu": {"per_node": 4, "vendor": "nvidia", "slurm_type": "h100", "aliases": ["h100_80gb"],
               "mig": [{"name": "h100_1g.10gb", "aliases": ["h100_10gb"], "cpus": 2, "memory": "15G"}]},
       "memory": "480G", "cpus_per_gpu": 16, "mem_per_gpu": "120G")" +
                           gpu_node + R"(},
      {"id": "v100", "cpu": {"sockets": 2, "cores": 40}, "gpu": {"per_node": 2, "vendor": "nvidia", "slurm_type": "v100"}, "memory": "180G"},
      {"id": "cpu", "cpu": {"sockets": 2, "cores": 64}}],
    "partitions": [
      {"name": "gpu", "node_types": ["h100"], "default": true, "max_time": "24:00:00", "max_nodes": 16, "source": "doc")" +
                           gpu_partition + R"(},
      {"name": "old", "node_types": ["v100"], "max_time": "24:00:00"},
      {"name": "cpu", "node_types": ["cpu"], "cpu_only": true}])" +
                           (members.empty() ? "" : ", " + members) + "}";
  const TempDirectory directory;
  const auto file = (directory / "site.json").string();
  REQUIRE(util::write_file(file, text));
  auto load = config::load_site_file(file, {});
  for (const auto& finding : load.diagnostics) FAIL_CHECK(diag::render_text(finding, load.source, false));
  REQUIRE(load.site);
  return std::move(*load.site);
}

plan::PlanResult result_of(const model::Site& site, const std::function<void(model::JobSpec&)>& change = {}) {
  model::JobSpec job = job_of({"train_ddp"});
  if (change) change(job);
  return plan::make_plan(job, site);
}

model::Plan plan_of(const model::Site& site, const std::function<void(model::JobSpec&)>& change = {}) {
  auto result = result_of(site, change);
  for (const auto& finding : result.diagnostics) UNSCOPED_INFO(diag::render_text(finding, "", false));
  REQUIRE(result.plan);
  return std::move(*result.plan);
}

/// "code: message" of every finding of the severity.
std::string found(const model::Site& site, const std::function<void(model::JobSpec&)>& change,
                  diag::Severity severity = diag::Severity::error) {
  const auto result = result_of(site, change);
  std::string text;
  for (const auto& finding : result.diagnostics)
    if (finding.severity == severity)
      text += finding.code + ": " + finding.message + " (" + finding.hint + ")\n";
  return text;
}

std::string refused(const model::Site& site, const std::function<void(model::JobSpec&)>& change) {
  return found(site, change);
}
std::string warned(const model::Site& site, const std::function<void(model::JobSpec&)>& change) {
  return found(site, change, diag::Severity::warning);
}

bool gives(const model::Plan& plan, const std::string& arg) {
  const auto& args = plan.launcher.step_args;
  return std::find(args.begin(), args.end(), arg) != args.end();
}

std::string script_of(model::Plan plan) {
  plan.hpcml_path.value = "/opt/hpcml";
  return render::render_script(plan);
}

using Catch::Contains;

} // namespace

TEST_CASE("where the site chooses the partition, the QoS that the job names says which") {
  auto site = site_with(
      R"("qos": [{"name": "usual", "default": true, "partitions": ["gpu"]}, {"name": "long", "partitions": ["old"]}])");
  const auto ask = [](const std::string& qos) {
    return [qos](model::JobSpec& job) {
      if (!qos.empty()) job.qos = text(qos);
    };
  };
  CHECK(found(site, ask("long")).find("QoS long is for old, not for partition gpu") != std::string::npos);
  for (auto& partition : site.partitions) partition.nameable = false;
  CHECK(plan_of(site, ask("long")).partition == "old");
  CHECK(plan_of(site, ask("long")).node_type == "v100");
  CHECK(plan_of(site, ask("")).partition == "gpu");
  CHECK(plan_of(site, ask("")).qos == "usual");
}

TEST_CASE("a limit of a QoS comes with the QoS that take the job") {
  const auto site = site_with(
      R"("qos": [{"name": "short", "default": true, "max_time": "00:30:00", "max_gpus": 2}, {"name": "long", "max_time": "10:00:00"},
    {"name": "asked", "max_time": "20:00:00", "access": "request"}, {"name": "elsewhere", "partitions": ["old"], "max_time": "20:00:00"}])");
  CHECK_THAT(refused(site,
                     [](model::JobSpec& job) {
                       job.time = flag(time_of("1:00:00"));
                       job.gpus_per_node = flag(1U);
                     }),
             Contains("(use a shorter time or --qos long (10:00:00))"));
  CHECK_THAT(refused(site,
                     [](model::JobSpec& job) {
                       job.time = flag(time_of("10"));
                       job.gpus_per_node = flag(4U);
                     }),
             Contains("4 GPUs in total exceed the maximum of QoS short (2)") &&
                 Contains("use a QoS whose known limits allow this: --qos long"));
  CHECK_THAT(refused(site,
                     [](model::JobSpec& job) {
                       job.time = flag(time_of("11:00:00"));
                       job.qos = text("long");
                     }),
             Contains("use a shorter time"));
}

TEST_CASE("a site's usual number of hardware threads is counted where the request says none") {
  const auto site = site_with(
      R"("flags": {"threads-per-core": {"default": "2", "when": {"qos": ["shared"]}}}, "qos": [{"name": "shared"}])",
      "", R"(, "share_policy": "max")");
  const auto plan = plan_of(site, [](model::JobSpec& job) {
    job.qos = text("shared");
    job.gpus_per_node = flag(1U);
  });
  CHECK(directive(plan, "--cpus-per-task") == "32");
  CHECK(directive(plan, "--threads-per-core") == "2");
  CHECK(plan.layout.cpus_per_rank == 16);
  CHECK(directive(plan_of(site, [](model::JobSpec& job) { job.gpus_per_node = flag(1U); }),
                  "--cpus-per-task") == "16");
}

TEST_CASE("all GPUs of a node come with their shares of memory where the node's is not known") {
  auto site = site_with(R"("flags": {"mem": {"policy": "required"}})");
  CHECK(directive(plan_of(site), "--mem") == "480G");
  site.node_types[0].memory.reset();
  CHECK(directive(plan_of(site), "--mem") == "480G");
  CHECK(directive(plan_of(site, [](auto& job) { job.gpus_per_node = flag(2U); }), "--mem") == "240G");
  site.node_types[0].mem_per_gpu.reset();
  CHECK_THAT(refused(site, {}), Contains("--mem"));
}

TEST_CASE("the first rule for an option that holds counts") {
  const auto site = site_with(R"("flags": {"account": [
    {"policy": "required", "suffix": "@h100", "pattern": "^[a-z]+@h100$", "when": {"node_types": ["h100"]}},
    {"policy": "forbidden", "when": {"partitions": ["cpu"]}},
    {"policy": "required", "pattern": "^[a-z]+$"}]})");
  CHECK(directive(plan_of(site, [](auto& job) { job.account = text("abc"); }), "--account") == "abc@h100");
  CHECK(directive(plan_of(site, [](auto& job) { job.account = text("abc@h100"); }), "--account") ==
        "abc@h100");
  const auto old = [](auto& job) {
    job.partition = text("old");
    job.account = text("abc");
  };
  CHECK(directive(plan_of(site, old), "--account") == "abc");
  CHECK_THAT(refused(site, [](auto& job) { job.account = text("ABC"); }),
             Contains("--account=ABC@h100 does not have the form"));
  CHECK_THAT(refused(site, {}), Contains("requires --account"));
  const auto cpu = [](auto& job) {
    job.partition = text("cpu");
    job.gpus_per_node = flag(0U);
    job.account = text("abc");
  };
  CHECK_THAT(refused(site, cpu), Contains("request/account"));
}

TEST_CASE("a partition that the site asks not to name is written where the user names it, with a warning") {
  const auto site =
      site_with(R"("flags": {"partition": {"policy": "discouraged", "why": "the scheduler chooses"}})",
                R"(, "nameable": false)");
  CHECK_FALSE(directive(plan_of(site), "--partition"));
  const auto named = [](auto& job) { job.partition = text("gpubase_b1"); };
  const auto plan = plan_of(site, named);
  CHECK(directive(plan, "--partition") == "gpubase_b1");
  CHECK(plan.node_type == "h100");
  CHECK_THAT(warned(site, named),
             Contains("advises against naming a partition") && Contains("the scheduler chooses"));
  CHECK_THAT(refused(site, [](auto& job) { job.partition = text("gpu"); }), Contains("must not be named"));
}

TEST_CASE("an option that only srun takes moves to the step") {
  const auto site = site_with(
      R"("flags": {"ntasks-per-node": {"policy": "srun-only"}, "cpus-per-task": {"policy": "srun-only"}, "environment": {"policy": "srun-only"}})");
  const auto plan = plan_of(site, [](auto& job) {
    job.nodes = flag(2U);
    job.sbatch = {text("--environment=torch")};
  });
  for (const auto* name : {"--ntasks-per-node", "--cpus-per-task", "--environment"})
    CHECK_FALSE(directive(plan, name));
  const auto script = script_of(plan);
  const auto step = script.find("\nsrun ");
  REQUIRE(step != std::string::npos);
  for (const std::string arg :
       {"--ntasks-per-node=4", "--ntasks=8", "--cpus-per-task=16", "--environment=torch"}) {
    CHECK(gives(plan, arg));
    CHECK_THAT(script.substr(step), Contains(" " + arg + " "));
    CHECK_THAT(script.substr(0, step), !Contains("#SBATCH " + arg.substr(0, arg.find('='))));
  }
  CHECK(script.find("--cpus-per-task=16", script.find("--cpus-per-task=16") + 1) == std::string::npos);
}

TEST_CASE("options of every job stand in the header or on srun, where their condition holds") {
  const auto site = site_with(
      R"("common_options": ["--hint=nomultithread", {"option": "--network=x", "on": "srun", "when": {"min_nodes": 2}}, {"option": "--switches={nodes}", "when": {"min_gpus": 8}}])");
  const auto plan_of_site = plan_of(site);
  CHECK(directive(plan_of_site, "--hint") == "nomultithread");
  CHECK_FALSE(gives(plan_of_site, "--network=x"));
  CHECK_FALSE(directive(plan_of_site, "--switches"));
  const auto two = plan_of(site, [](auto& job) { job.nodes = flag(2U); });
  CHECK(gives(two, "--network=x"));
  CHECK(directive(two, "--switches") == "2");
}

TEST_CASE("GPUs are asked for in the style that holds for the job") {
  const auto site = site_with(R"("gpu_request": [
    {"style": "gpus", "type": "required", "when": {"max_nodes": 1, "node_types": ["h100"]}},
    {"style": "gres", "type": "forbidden", "when": {"partitions": ["old"]}},
    {"style": "gpus-per-node", "type": "required"}])");
  CHECK(directive(plan_of(site), "--gpus") == "h100:4");
  CHECK(directive(plan_of(site, [](auto& job) { job.nodes = flag(2U); }), "--gpus-per-node") == "h100:4");
  CHECK(directive(plan_of(site, [](auto& job) { job.partition = text("old"); }), "--gres") == "gpu:2");
}

TEST_CASE("numbers of GPUs that the site does not take are refused") {
  const auto site = site_with(
      R"("gpu_request": {"allowed_counts": [1, 4], "multiple_of": 4, "whole_nodes_if_several": true, "must_request": true})");
  const auto gpus = [](unsigned nodes, unsigned count) {
    return [=](model::JobSpec& job) {
      job.nodes = flag(nodes);
      job.gpus_per_node = flag(count);
    };
  };
  CHECK(refused(site, gpus(1, 1)) == "");
  CHECK(refused(site, gpus(1, 4)) == "");
  CHECK(refused(site, gpus(3, 4)) == "");
  CHECK_THAT(refused(site, gpus(1, 2)), Contains("(only 1 or 4)"));
  CHECK_THAT(refused(site, gpus(2, 1)), Contains("must use all 4 GPUs of each"));
  CHECK_THAT(refused(site, gpus(1, 0)), Contains("rejects jobs without GPUs"));
  const auto cpu = [](auto& job) {
    job.gpus_per_node = flag(0U);
    job.partition = text("cpu");
  };
  CHECK(refused(site, cpu) == "");
}

TEST_CASE("other names of a GPU and parts of it are known") {
  const auto site = site_with(R"("gpu_request": {"type": "required"})");
  CHECK(directive(plan_of(site, [](auto& job) { job.gpu_type = text("h100_80gb"); }), "--gpus-per-node") ==
        "h100_80gb:4");
  const auto slice = plan_of(site, [](auto& job) { job.gpu_type = text("h100_10gb"); });
  CHECK(directive(slice, "--gpus-per-node") == "h100_10gb:1");
  CHECK(directive(slice, "--cpus-per-task") == "2");
  CHECK(directive(slice, "--mem") == "15G");
  CHECK_THAT(refused(site, [](auto& job) { job.gpu_type = text("h100_1g.10g"); }),
             Contains("use 'h100_1g.10gb'"));
  const auto two = [](auto& job) {
    job.gpu_type = text("h100_10gb");
    job.gpus_per_node = flag(2U);
  };
  CHECK_THAT(warned(site, two), Contains("NCCL cannot communicate between MIG instances"));
}

TEST_CASE("the features of a kind of node are asked for, and added to the request's") {
  const auto site = site_with(R"("constraints": {"values": ["gpu", "hbm80g", "nvme", "ib"]})", "",
                              R"(, "constraint": "gpu&hbm80g")");
  CHECK(directive(plan_of(site), "--constraint") == "gpu&hbm80g");
  CHECK(directive(plan_of(site, [](auto& job) { job.sbatch = {text("--constraint=nvme")}; }),
                  "--constraint") == "gpu&hbm80g&nvme");
  for (const char* repeated : {"gpu&hbm80g&nvme", "hbm80g&nvme&gpu", "nvme&gpu"}) {
    const auto features = directive(
        plan_of(site, [&](auto& job) { job.sbatch = {text(std::string("--constraint=") + repeated)}; }),
        "--constraint");
    REQUIRE(features);
    auto each = util::split(*features, '&');
    std::sort(each.begin(), each.end());
    CHECK(each == std::vector<std::string>{"gpu", "hbm80g", "nvme"});
  }
  CHECK(directive(plan_of(site, [](auto& job) { job.sbatch = {text("--constraint=nvme|ib")}; }),
                  "--constraint") == "gpu&hbm80g&(nvme|ib)");
  CHECK_THAT(warned(site, [](auto& job) { job.sbatch = {text("--constraint=nvne")}; }),
             Contains("has no feature 'nvne'") && Contains("use 'nvme'"));
  CHECK_FALSE(directive(plan_of(site, [](auto& job) { job.partition = text("old"); }), "--constraint"));
}

TEST_CASE("shares of a node: recommended, at most, exactly, or by Slurm itself") {
  const auto request_memory = [](const char* mem) {
    return [=](model::JobSpec& job) {
      job.gpus_per_node = flag(2U);
      job.mem = flag(mem_of(mem));
    };
  };
  const auto most = site_with("", "", R"(, "share_policy": "max")");
  CHECK(refused(most, request_memory("240G")) == "");
  CHECK_THAT(refused(most, request_memory("241G")), Contains("120G per GPU") && Contains("use --mem 240G"));
  const auto fixed = site_with("", "", R"(, "share_policy": "fixed")");
  CHECK_THAT(refused(fixed, request_memory("100G")), Contains("request/mem"));
  CHECK(refused(site_with("", "", R"(, "share_policy": "recommended")"), request_memory("300G")) == "");
  const auto by_slurm = plan_of(site_with("", "", R"(, "share_policy": "auto")"));
  CHECK_FALSE(directive(by_slurm, "--mem"));
  CHECK_FALSE(directive(by_slurm, "--cpus-per-task"));
  CHECK(has_note(by_slurm, "memory comes with the GPUs"));
}

TEST_CASE("where the number of cores is not known, a GPU's share of them still may be") {
  auto site = site_with("");
  site.node_types.at(0).cpu = {};
  CHECK(directive(plan_of(site), "--cpus-per-task") == "16");
  site.node_types.at(0).cpus_per_gpu.reset();
  const auto plan = plan_of(site);
  CHECK_FALSE(directive(plan, "--cpus-per-task"));
  CHECK(variable(plan, "OMP_NUM_THREADS") == nullptr);
  CHECK(directive(plan, "--gpus-per-node") == "4");
  CHECK(directive(plan_of(site, [](auto& job) { job.cpus_per_task = flag(9U); }), "--cpus-per-task") == "9");
}

TEST_CASE("GPUs that take one process each are not shared") {
  const auto ranks = [](auto& job) { job.tasks_per_node = flag(8U); };
  auto site = site_with("");
  CHECK(refused(site, ranks) == "");
  site.node_types.at(0).gpu->compute_mode = model::ComputeMode::exclusive_process;
  CHECK_THAT(refused(site, ranks),
             Contains("8 ranks share 4 GPUs on each node, but each GPU of site accepts only one process"));
}

TEST_CASE("limits of a partition by nodes, GPUs, node minutes and time are kept") {
  const auto site = site_with(
      "",
      R"(, "min_nodes": 2, "min_gpus": 8, "max_gpus": 32, "max_node_minutes": 90, "min_time": "00:05:00")");
  const auto job = [](unsigned nodes, const char* time) {
    return [=](model::JobSpec& wanted) {
      wanted.nodes = flag(nodes);
      wanted.time = flag(time_of(time));
    };
  };
  CHECK(refused(site, job(2, "45")) == "");
  CHECK_THAT(
      refused(site, job(2, "46")),
      Contains(
          "request/time: 2 nodes for 46 minutes exceed the maximum of partition gpu (90 node minutes)") &&
          Contains("at most --time 45"));
  CHECK_THAT(refused(site, job(1, "10")),
             Contains("1 node is below the minimum of partition gpu (2)") &&
                 Contains("4 GPUs in total are below the minimum of partition gpu (8)"));
  CHECK_THAT(refused(site, job(9, "10")),
             Contains("36 GPUs in total exceed the maximum of partition gpu (32)"));
  CHECK_THAT(refused(site, job(2, "4")), Contains("is below the minimum of partition gpu (00:05:00)"));
  CHECK_THAT(refused(site, job(17, "1")), Contains("17 nodes exceed the maximum of partition gpu (16)"));
}

TEST_CASE("a job that names no number of GPUs gets as many as it may have") {
  const auto site = site_with("", R"(, "max_gpus": 2)");
  CHECK(directive(plan_of(site), "--gpus-per-node") == "2");
  CHECK_THAT(refused(site, [](auto& job) { job.gpus_per_node = flag(3U); }),
             Contains("3 GPUs in total exceed the maximum of partition gpu (2)"));
}

TEST_CASE("where a partition's nodes are not known, the number of GPUs must be said") {
  auto site = site_with("");
  site.partitions.at(0).node_types.clear();
  CHECK_THAT(refused(site, {}), Contains("usage/gpus-per-node: the profile of site does not state how many "
                                         "GPUs a node of partition gpu has"));
  CHECK(directive(plan_of(site, [](auto& job) { job.gpus_per_node = flag(4U); }), "--gpus-per-node") == "4");
}

TEST_CASE("a partition cannot give more nodes than it has") {
  const auto site = site_with(R"("policies": {"max_nodes_per_user": 6})");
  const auto nodes = [](const char* partition, unsigned count) {
    return [=](model::JobSpec& job) {
      job.partition = text(partition);
      job.nodes = flag(count);
    };
  };
  CHECK(refused(site, nodes("old", 6)) == "");
  CHECK_THAT(refused(site, nodes("old", 7)), Contains("the maximum of one user on site (6)"));
  CHECK_THAT(refused(site_with("", "", R"(, "multi_node": false)"), nodes("gpu", 2)),
             Contains("no network for jobs on several"));
}

TEST_CASE("time limits depend on the number of nodes or GPUs") {
  const auto site = site_with(
      "",
      R"(, "max_time_by_gpus": [{"min_gpus": 1, "max_gpus": 1, "time": "02:00:00"}, {"min_gpus": 2, "max_gpus": 8, "time": "00:30:00"}])");
  const auto job = [](unsigned gpus, const char* time) {
    return [=](model::JobSpec& wanted) {
      wanted.gpus_per_node = flag(gpus);
      wanted.time = flag(time_of(time));
    };
  };
  CHECK(refused(site, job(1, "2h")) == "");
  CHECK_THAT(refused(site, job(4, "31")), Contains("exceeds the maximum of partition gpu (00:30:00)"));
  CHECK(refused(site, job(4, "30")) == "");
}

TEST_CASE("the limits of a QoS hold instead of the partition's, and it brings its options") {
  const auto site = site_with(R"("flags": {"qos": {"policy": "required"}}, "qos": [
    {"name": "normal", "default": true},
    {"name": "long", "partitions": ["gpu"], "max_time": "7-00:00:00", "max_nodes": 2, "needs": ["--exclusive"]},
    {"name": "big", "max_nodes": 64}])");
  CHECK(directive(plan_of(site), "--qos") == "normal");
  const auto job = [](const char* qos, unsigned nodes, const char* time) {
    return [=](model::JobSpec& wanted) {
      wanted.qos = text(qos);
      wanted.nodes = flag(nodes);
      wanted.time = flag(time_of(time));
    };
  };
  CHECK(refused(site, job("long", 2, "5d")) == "");
  CHECK(directive(plan_of(site, job("long", 2, "5d")), "--exclusive") == "");
  CHECK_THAT(refused(site, job("long", 3, "5d")), Contains("3 nodes exceed the maximum of QoS long (2)"));
  CHECK_THAT(refused(site, job("long", 2, "8d")), Contains("exceeds the maximum of QoS long (7-00:00:00)"));
  CHECK_THAT(refused(site, job("normal", 2, "5d")),
             Contains("exceeds the maximum of partition gpu (1-00:00:00)"));
  CHECK(refused(site, job("big", 17, "5h")) == "");
  CHECK_THAT(refused(site, job("big", 65, "5h")), Contains("the maximum of QoS big (64)"));
  CHECK_THAT(warned(site, job("lang", 1, "5h")), Contains("no QoS 'lang'") && Contains("use 'long'"));
  const auto elsewhere = [](auto& wanted) {
    wanted.qos = text("long");
    wanted.partition = text("old");
  };
  CHECK_THAT(refused(site, elsewhere), Contains("QoS long is for gpu, not for partition old"));
}

TEST_CASE("a launcher gets the job's numbers, and others where it starts one agent per node") {
  const auto site = site_with(
      R"("launchers": [{"name": "mpirun", "default": true, "args": ["-np", "{tasks}", "--map-by", "ppr:{tasks_per_node}:node"],
    "per_node_args": ["-np", "{nodes}", "--map-by", "ppr:1:node"], "rank_variable": "OMPI_COMM_WORLD_RANK", "local_rank_variable": "OMPI_COMM_WORLD_LOCAL_RANK"}])");
  const auto with = [](const char* launcher) {
    return [=](model::JobSpec& job) {
      job.nodes = flag(2U);
      if (launcher) job.launcher = test::launcher(launcher);
    };
  };
  CHECK_THAT(script_of(plan_of(site, with(nullptr))), Contains("mpirun -np 8 --map-by ppr:4:node"));
  CHECK_THAT(script_of(plan_of(site, with("torchrun"))), Contains("mpirun -np 2 --map-by ppr:1:node"));
  const auto plain = script_of(plan_of(site, with("mpirun")));
  CHECK_THAT(plain, Contains("mpirun -np 8") && Contains("RANK=${OMPI_COMM_WORLD_RANK:?} ") &&
                        !Contains("hpcml launch"));
  CHECK_THAT(refused(site, with("srun")), Contains("--launcher srun cannot be used"));
  const auto two = site_with(
      R"("launchers": [{"name": "ibrun", "default": true, "when": {"partitions": ["old"]}}, {"name": "srun"}])");
  CHECK(plan_of(two).launcher.step == "srun");
  CHECK(plan_of(two, [](auto& job) { job.partition = text("old"); }).launcher.step == "ibrun");
}

TEST_CASE("images run by options of Slurm where the engine works so") {
  const auto with_binds = [](bool binds) {
    return [=](model::JobSpec& job) {
      job.container = text("torch:2");
      if (binds) job.binds = {text("/scratch:/data"), text("/project")};
    };
  };
  const auto pyxis = site_with(
      R"("containers": [{"engine": "pyxis", "on": "srun", "options": ["--container-image={image}"], "bind_option": "--container-mounts={binds}"}])");
  const auto plan = plan_of(pyxis, with_binds(true));
  CHECK(plan.container->step_options ==
        std::vector<std::string>{"--container-image=torch:2",
                                 "--container-mounts=/scratch:/data,/project:/project"});
  CHECK_THAT(
      script_of(plan),
      Contains("--container-image=torch:2 \\\n  --container-mounts=/scratch:/data,/project:/project \\\n"));
  CHECK_THAT(script_of(plan), !Contains("exec torch") && !Contains("pyxis"));
  const auto shifter = site_with(
      R"("containers": [{"engine": "shifter", "on": "sbatch", "options": ["--image={image}", "--module=gpu,nccl-plugin"], "prefix": "shifter"}])");
  const auto wrapped = plan_of(shifter, with_binds(false));
  CHECK(directive(wrapped, "--image") == "torch:2");
  CHECK(directive(wrapped, "--module") == "gpu,nccl-plugin");
  CHECK_THAT(script_of(wrapped), Contains("\n  shifter train_ddp"));
  CHECK_THAT(refused(shifter, with_binds(true)), Contains("has no option for binds of shifter"));
  const auto by_partition = site_with(
      R"("containers": [{"engine": "edf", "on": "srun", "options": ["--environment={image}"], "when": {"partitions": ["old"]}}, {"engine": "apptainer", "gpu_flag": "--nv"}])");
  CHECK_THAT(script_of(plan_of(by_partition, with_binds(false))), Contains("apptainer exec --nv"));
}

TEST_CASE("modules of the site come first, and what was loaded before goes") {
  const auto site = site_with(
      R"("modules_reset": "purge", "modules": [{"load": ["arch/h100"], "when": {"node_types": ["h100"]}}, {"load": ["base"]}])");
  const auto script = script_of(plan_of(site, [](auto& job) { job.modules = {text("gcc")}; }));
  CHECK_THAT(script, Contains("module purge\nmodule load arch/h100 base gcc\n"));
  CHECK_THAT(script_of(plan_of(site, [](auto& job) { job.partition = text("old"); })),
             !Contains("arch/h100"));
}

TEST_CASE("the first way to make an environment that holds for the job is taken") {
  const auto site = site_with(
      R"("python": [{"kind": "module", "modules": ["pytorch-arm"], "when": {"node_types": ["v100"]}}, {"kind": "module", "modules": ["pytorch"]}])");
  const auto with_python = [](const char* partition) {
    return [=](model::JobSpec& job) {
      job.command = {"python", "train.py"};
      job.partition = text(partition);
    };
  };
  CHECK_THAT(script_of(plan_of(site, with_python("old"))), Contains("module load pytorch-arm\n"));
  CHECK_THAT(script_of(plan_of(site, with_python("gpu"))), Contains("module load pytorch\n"));
}

TEST_CASE("the ranks meet where the site says") {
  const auto script = [](const std::string& master, const char* launcher) {
    return script_of(plan_of(site_with(R"("network": {"master": )" + master + "}"),
                             [&](auto& job) { job.launcher = test::launcher(launcher); }));
  };
  CHECK_THAT(script(R"({"from_env": "SITE_HEAD", "port_from_env": "SITE_PORT"})", "srun"),
             Contains("MASTER_ADDR=\"${SITE_HEAD:?}\"") && Contains("MASTER_PORT=\"${SITE_PORT:?}\"") &&
                 !Contains("scontrol"));
  CHECK_THAT(script(R"({"suffix": "i", "ipv4": true, "port": 7010})", "torchrun"),
             Contains("getent ahostsv4 \"$SLURMD_NODENAME\"i |") && Contains("MASTER_PORT=7010"));
  CHECK_THAT(script(R"({"suffix": "i", "ipv4": true})", "hpcml"),
             Contains(" --host \"${SLURMD_NODENAME}i\" --ipv4 "));
  CHECK_THAT(script(R"({"from_env": "SITE_HEAD"})", "hpcml"), Contains(" --host \"$SITE_HEAD\" "));
}

TEST_CASE("variables follow the job, a proxy is set, and settings that do not go together are named") {
  const auto site = site_with(R"("network": {"proxy": {"http_proxy": "http://p:3128"}},
    "env": [{"name": "NCCL_NET", "value": "Socket", "when": {"max_nodes": 1}}, {"name": "NCCL_NET", "value": "AWS Libfabric", "when": {"min_nodes": 2}},
            {"name": "WHOLE", "value": "1", "when": {"whole_nodes": true}}, {"name": "BIG", "value": "1", "when": {"min_gpus": 8, "gpu_types": ["h100"]}}],
    "conflicts": [{"settings": ["NCCL_NET=AWS Libfabric", "NCCL_NET_PLUGIN"], "why": "the plugin is found twice"}])");
  const auto plan_of_site = plan_of(site, [](auto& job) { job.gpus_per_node = flag(2U); });
  CHECK(variable(plan_of_site, "NCCL_NET")->value == "Socket");
  CHECK(variable(plan_of_site, "http_proxy")->scope == model::ValueScope::batch);
  CHECK(variable(plan_of_site, "WHOLE") == nullptr);
  CHECK(variable(plan_of_site, "BIG") == nullptr);
  const auto two = [](auto& job) {
    job.nodes = flag(2U);
    job.env = {{"NCCL_NET_PLUGIN", text("x.so")}};
  };
  CHECK(variable(plan_of(site, two), "NCCL_NET")->value == "AWS Libfabric");
  CHECK(variable(plan_of(site, two), "WHOLE")->value == "1");
  CHECK(variable(plan_of(site, two), "BIG")->value == "1");
  CHECK_THAT(warned(site, two), Contains("must not be combined on site: the plugin is found twice"));
}

TEST_CASE("what the author should know is noted") {
  const auto site = site_with(
      R"("login_arch": "aarch64", "state": {"is": "production", "until": "2031-01-01", "successor": "next"},
    "submit": {"hosts": [{"host": "login-gpu"}], "commands": [{"command": "ghbatch", "when": {"partitions": ["gpu"]}}], "require_directories": ["$SCRATCH"], "forbid_directories": ["$HOME"]},
    "network": {"internet_on_compute": false, "proxy_module": "httpproxy"}, "storage": {"scratch": "$SCRATCH", "scratch_days": 30, "read_only_on_compute": ["$HOME"], "tmp_is_memory": true},
    "policies": {"idle_gpu_minutes": 60, "min_time_recommended": "01:00:00"})",
      R"(, "access": "request", "preemptible": true)");
  const auto plan = plan_of(site);
  for (const auto* part : {"must be submitted from login-gpu", "must be submitted with ghbatch",
                           "must be submitted from a directory below $SCRATCH",
                           "must not be submitted from a directory below $HOME", "compute nodes are x86_64",
                           "--module httpproxy", "30 days", "cannot write below $HOME", "/tmp is memory",
                           "idle for 60 minutes", "available only on request", "use --requeue"}) {
    INFO(part);
    CHECK(has_note(plan, part));
  }
  CHECK(plan.submit_command.value == "ghbatch");
  CHECK(plan_of(site, [](auto& job) { job.partition = text("old"); }).submit_command.value == "sbatch");
  CHECK_THAT(warned(site, {}),
             Contains("site shuts down on 2031-01-01") && Contains("that site recommends (01:00:00)"));
}

TEST_CASE("node-local storage is asked for where the job uses it") {
  const std::string wheels = R"("python": [{"kind": "wheelhouse", "where": "/local/env"}])";
  const auto with_env = [](auto& job) { job.wheelhouse = text("torch"); };
  CHECK(directive(plan_of(site_with(wheels, "",
                                    R"(, "local_disk": "/local", "local_disk_option": "--constraint=nvme")"),
                          with_env),
                  "--constraint") == "nvme");
  const auto sized =
      site_with(wheels, "", R"(, "local_disk": "/local", "local_disk_option": "--tmp={gib}G")");
  CHECK_FALSE(directive(plan_of(sized, with_env), "--tmp"));
  CHECK(has_note(plan_of(sized, with_env), "--sbatch=--tmp={gib}G"));
  CHECK_FALSE(has_note(plan_of(sized), "--sbatch=--tmp"));
}

TEST_CASE("a signal to the batch shell, which has no trap, becomes one to the ranks, but not in a script "
          "that is ported") {
  const auto site = site_with("");
  const auto signal = [&](const char* value, bool ported = false) {
    return directive(plan_of(site,
                             [&](auto& job) {
                               job.signal = text(value);
                               if (ported) job.body.emplace();
                             }),
                     "--signal");
  };
  CHECK(signal("USR1@60") == "USR1@60");
  CHECK(signal("B:USR1@60") == "USR1@60");
  CHECK(signal("RB:USR1@60") == "R:USR1@60");
  CHECK(signal("R:USR1") == "R:USR1");
  CHECK(signal("B:USR1@60", true) == "B:USR1@60");
  CHECK(has_note(plan_of(site, [](auto& job) { job.signal = text("B:USR1@60"); }),
                 "it would kill the batch shell"));
}

TEST_CASE(
    "what a profile knows of preemption, reserved cores, counts of jobs and kinds of memory is said once") {
  const auto site = site_with(
      R"("signal_for_preemption": "SIGTERM", "gpu_visibility": {"mode": "own", "why": "its programs take device 0"}, "policies": {"max_jobs": 7},
      "constraints": {"operators": ["&"]}, "qos": [{"name": "night", "max_jobs": 3, "max_submitted": 9}])",
      R"(, "preemptible": true, "note": "for tests")",
      R"(, "local_disk": "/local", "local_disk_gib": 900, "memory_kind": "sum")");
  const auto plain = plan_of(site);
  for (const auto* note : {"partition gpu: for tests", "SIGTERM is sent before a preemption",
                           "7 jobs of one user", "a rank sees only its own GPUs: its programs take device 0",
                           "480G, is HBM and the processors' memory together"}) {
    CAPTURE(note);
    CHECK(has_note(plain, note));
  }
  CHECK_FALSE(has_note(plain, "900 GiB"));
  const auto night = plan_of(site, [](auto& job) {
    job.qos = text("night");
    job.signal = text("USR1@60");
    job.gpu_visibility = flag(model::GpuVisibilityMode::all);
  });
  for (const auto* note : {"QoS night allows 3 jobs of one user running",
                           "QoS night allows 9 jobs of one user queued and running"})
    CHECK(has_note(night, note));
  for (const auto* note : {"SIGTERM", "7 jobs of one user", "a rank sees"})
    CHECK_FALSE(has_note(night, note));
  const auto wheels =
      site_with(R"("python": [{"kind": "wheelhouse", "where": "/local/x", "packages": ["torch"]}])", "",
                R"(, "local_disk": "/local", "local_disk_gib": 900)");
  CHECK(has_note(plan_of(wheels, [](auto& job) { job.command = {"train.py"}; }),
                 "/local, can use at most 900 GiB"));
  CHECK_THAT(warned(site, [](auto& job) { job.sbatch = {text("--constraint=a|b")}; }),
             Contains("combines features only with '&'"));
  CHECK(warned(site, [](auto& job) { job.sbatch = {text("--constraint=a&b")}; }).empty());
}
