// SPDX-License-Identifier: MIT
// Requests that cannot be met: each says what, where from and what to do; all at once.
#include "holds.hpp"
#include "plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

TEST_CASE("Nine GPUs per LUMI node are refused with the number that is there and a way out") {
  auto job = lumi_job();
  job.nodes.reset();
  job.gpus_per_node = flag(9u);
  const auto error = error_of(job, "lumi", "request/gpus-per-node");
  CHECK(holds(error.message, "9 GPUs per node exceed those of node type lumi-g (8)"));
  CHECK(error.hint == "request more nodes: --nodes 2 --gpus-per-node 8");
}

TEST_CASE("GPUs on nodes that have none are refused, whatever else is worked out from them") {
  for (const auto& [site_id, partition] : {std::pair("zurada", "cpudev"), std::pair("dardel", "shared"),
                                           std::pair("snellius", "rome"), std::pair("snellius", "genoa")}) {
    auto job = job_of({"python", "train.py"});
    job.account = text("project_1");
    job.partition = text(partition);
    job.gpus_per_node = flag(1u);
    CHECK(holds(error_of(job, site_id, "request/gpus-per-node").message, "has no GPUs"));
    job.nodes = flag(2u);
    job.launcher = launcher("srun");
    CHECK(holds(error_of(job, site_id, "request/gpus-per-node").message, "has no GPUs"));
  }
}

TEST_CASE(
    "Fifty hours on standard-g are refused with the limit, its source and the partition that allows them") {
  auto job = lumi_job();
  job.time = flag(time_of("50h"));
  const auto error = error_of(job, "lumi", "request/time");
  CHECK(
      holds(error.message, "time limit 2-02:00:00 exceeds the maximum of partition standard-g (2-00:00:00)"));
  CHECK(holds(error.source, "partitions.md"));
  CHECK(error.hint == "use a shorter time or a partition that allows it: small-g (3-00:00:00)");
  // small-g has too few nodes for this one.
  job.nodes = flag(8u);
  CHECK(error_of(job, "lumi", "request/time").hint == "use a shorter time and save checkpoints");
}

TEST_CASE("More nodes than a partition has name the partitions that have them") {
  auto job = lumi_job();
  job.partition = text("small-g");
  job.nodes = flag(5u);
  const auto error = error_of(job, "lumi", "request/nodes");
  CHECK(holds(error.message, "5 nodes exceed the maximum of partition small-g (4)"));
  CHECK(error.hint == "use a partition that allows this: standard-g, dev-g, bench");
}

TEST_CASE("A missing or malformed account shows the form that the site wants") {
  auto job = lumi_job();
  job.account.reset();
  CHECK(error_of(job, "lumi", "usage/account").hint == "add --account=project_<number>");
  job.account = text("proj_1");
  CHECK(error_of(job, "lumi", "usage/account").hint == "use --account=project_<number>");
}

TEST_CASE("A partition that is not there brings the nearest name") {
  auto job = lumi_job();
  job.partition = text("standart-g");
  CHECK(holds(error_of(job, "lumi", "request/partition").hint, "use 'standard-g' or another of"));
}

TEST_CASE("All that is wrong is said at once") {
  model::JobSpec job;
  job.partition = text("nope");
  job.gpus_per_node = flag(9u);
  job.nodes = flag(0u);
  job.env = {{"1X", text("a")}, {"RANK", text("3")}};
  job.binds = {text("a:b")};
  job.modules = {text("-x")};
  job.srun = {text("label")};
  job.sbatch = {text("reservation=x"), text("--comment=a\nb"), text("--ntasks=4"), text("--nodes=two")};
  std::vector<std::string> codes;
  for (const auto& error : errors_of(job, "lumi")) codes.push_back(error.code);
  const std::vector<std::string> expected = {
      "usage/command", "usage/sbatch",      "usage/sbatch", "usage/sbatch",          "usage/sbatch",
      "usage/srun",    "request/partition", "usage/nodes",  "request/gpus-per-node", "usage/module",
      "usage/bind",    "usage/env",         "usage/env",    "usage/account",         "usage/time"};
  CHECK(codes == expected);
}

TEST_CASE("A missing time is said where the site requires one") {
  auto job = lumi_job();
  job.time.reset();
  CHECK(holds(error_of(job, "lumi", "usage/time").message, "requires --time"));
}

TEST_CASE("Texts for the header must fit on one line") {
  auto job = lumi_job();
  job.job_name = text("a\n#SBATCH --nodes=99");
  error_of(job, "lumi", "usage/job-name");
  job.job_name = text("it's $(reboot) \"x\"");
  CHECK(directive(planned(job, "lumi"), "--job-name") == "it's $(reboot) \"x\""); // quoting is the renderer's
  job.output = text("");
  error_of(job, "lumi", "usage/output");
}

TEST_CASE("Binds must be absolute paths that the engine's option can carry") {
  auto job = lumi_job();
  job.container = text("image.sif");
  for (const char* bind : {"relative:/x", "/x:relative", "/a,b:/c", "/a:/b:ro", "", ":/x", "/x:"}) {
    INFO(bind);
    job.binds = {text(bind)};
    error_of(job, "lumi", "usage/bind");
  }
  job.binds.clear();
  job.container = text("-B/etc");
  error_of(job, "lumi", "usage/container");
  job.container = text("image.sif");
  CHECK(holds(error_of(job_of({"x"}), "generic", "usage/gpus-per-node").hint, "--gpus-per-node"));
}

TEST_CASE("NCCL without GPUs, and several Python environments at once, are refused") {
  auto job = lumi_job();
  job.gpus_per_node = flag(0u);
  job.backend = flag(model::Backend::nccl);
  CHECK(error_of(job, "lumi", "request/backend").hint == "use --backend gloo, or set --gpus-per-node N");
  job = lumi_job();
  job.venv = text("/v");
  job.conda = text("c");
  const auto error = error_of(job, "lumi", "usage/python");
  CHECK(holds(error.message + error.hint, "--venv"));
  CHECK(holds(error.message + error.hint, "--conda"));
}
