// SPDX-License-Identifier: MIT
// Data and environments on the nodes' own disks: `hpcml internal stage` in a script that internal batch runs.
#include <catch2/catch.hpp>

#include <csignal>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "holds.hpp"
#include "run/batch/batch_helper.hpp"
#include "run/batch/node_files.hpp"

using namespace hpcml;
using namespace hpcml::batch;
using hpcml::testing::BatchRun;
using test::holds;
namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

const std::string k_stage = HPCML_BINARY " internal stage ";

/// A job whose nodes have their disk in the directory "disk".
void give_disk(BatchRun& job) {
  fs::create_directory(job.path("disk"));
  job.set_command("sbcast", "cp -- \"${@: -2}\"");
}

Words stage_options(const BatchRun& job) { return {"--stage", job.path("disk").string()}; }

/// The directory of the job's first start.
fs::path stage_of(const BatchRun& job, const std::string& restarts = "0") {
  return job.path("disk") / ("hpcml-" + std::to_string(::getuid()) + "-70-" + restarts + "-stage");
}

std::string text_of(const fs::path& path) { return util::read_file(path).value_or(""); }

} // namespace

TEST_CASE("on_each_node starts one task on each node of the program") {
  util::EnvSnapshot env;
  CHECK(on_each_node({}, {"rm", "x"}, env) ==
        Words{"srun", "--ntasks=1", "--ntasks-per-node=1", "--overlap", "rm", "x"});
  env.set("SLURM_JOB_NUM_NODES", "4");
  CHECK(on_each_node({}, {"x"}, env) == Words{"srun", "--ntasks=4", "--ntasks-per-node=1", "--overlap", "x"});
  env.set("HPCML_RUN_NODES", "n[1,3]");
  CHECK(on_each_node({}, {"x"}, env) == Words{"srun", "--nodes=2", "--nodelist=n[1,3]", "--ntasks=2",
                                              "--ntasks-per-node=1", "--overlap", "x"});
  CHECK(on_each_node({.launcher = "mpiexec --ppn 1"}, {"x"}, env) == Words{"mpiexec", "--ppn", "1", "x"});
}

TEST_CASE("on_each_node requests no GPUs when SLURM_GPUS is set") {
  util::EnvSnapshot env;
  env.set("SLURM_JOB_NUM_NODES", "3");
  env.set("SLURM_GPUS", "24");
  CHECK(on_each_node({.nodes = {"n1", "n2"}, .is_independent = true}, {"x"}, env) ==
        Words{"srun", "--nodes=2", "--nodelist=n[1-2]", "--ntasks=2", "--ntasks-per-node=1", "--overlap",
              "--gpus=0", "--cpu-bind=none", "--no-kill", "--kill-on-bad-exit=0", "x"});
}

TEST_CASE("stage copies data for the script and batch removes it", "[program]") {
  BatchRun job;
  give_disk(job);
  fs::create_directory(job.path("data"));
  REQUIRE(util::write_file(job.path("data/file"), "x"));
  REQUIRE(util::write_file(job.path("labels"), "y"));
  CHECK(job.run(stage_options(job), k_stage + job.path("data").string() + " " + job.path("labels").string() +
                                        "\nfind \"$HPCML_STAGE\" | sort > seen\nsrun exit 3") == 3);
  INFO(job.output());
  const auto stage = stage_of(job).string();
  CHECK(text_of(job.path("seen")) ==
        stage + "\n" + stage + "/data\n" + stage + "/data/file\n" + stage + "/labels\n");
  CHECK(holds(job.log(), "srun --ntasks=1 --ntasks-per-node=1 --overlap mkdir -m 700 " + stage +
                             "\nsbcast --preserve "));
  CHECK(holds(job.log(), " rm -rf -- " + stage + "\n"));
  CHECK(fs::is_empty(job.path("disk")));
}

TEST_CASE("stage fails if its directory exists", "[program]") {
  BatchRun job;
  give_disk(job);
  fs::create_directory(stage_of(job));
  CHECK(job.run(stage_options(job), "set -e\n" + k_stage + "/etc/hostname\nsrun exit 0") == 5);
  CHECK(holds(job.output(), "File exists"));
  CHECK(holds(job.output(), "error: cannot copy files to the disks of the nodes: 'srun --ntasks=1 "
                            "--ntasks-per-node=1 --overlap mkdir -m 700 "));
  CHECK_FALSE(holds(job.log(), "srun exit"));
}

TEST_CASE("stage unpacks an environment and corrects its paths", "[program]") {
  BatchRun job;
  give_disk(job);
  fs::create_directories(job.path("packed/bin"));
  REQUIRE(util::write_file(job.path("packed/bin/conda-unpack"), "#!/bin/bash\necho $VIRTUAL_ENV > unpacked\n",
                           0755));
  REQUIRE(util::run_process(
              {"tar", "-C", job.path("packed").string(), "-czf", job.path("env.tar.gz").string(), "."},
              util::EnvSnapshot::of_process())
              ->exit_code == 0);
  CHECK(job.run(stage_options(job), "cd " + job.path("").string() + "\n" + k_stage + "--unpack " +
                                        job.path("env.tar.gz").string() + "\nls \"$HPCML_STAGE\" > seen") ==
        0);
  INFO(job.output());
  CHECK(text_of(job.path("seen")) == "env\n");
  CHECK(text_of(job.path("unpacked")) == stage_of(job).string() + "/env\n");
}

TEST_CASE("stage builds an environment from the site's wheels", "[program]") {
  BatchRun job;
  give_disk(job);
  job.set_command("virtualenv", "mkdir -p \"${@: -1}/bin\"");
  job.set_command("pip", "");
  CHECK(job.run(stage_options(job), k_stage + "--wheel torch --wheel numpy --requirements r.txt") == 0);
  const auto log = job.log();
  INFO(log << job.output());
  CHECK(holds(log, "\nvirtualenv --no-download --quiet " + stage_of(job).string() + "/env\n"));
  CHECK(holds(log, "\npip install --no-index --quiet --upgrade pip\n"));
  CHECK(holds(log, "\npip install --no-index --quiet -r r.txt torch numpy\n"));
}

TEST_CASE("batch removes a stage before it requeues the job", "[program]") {
  BatchRun job;
  give_disk(job);
  auto options = stage_options(job);
  options.insert(options.end(), {"--save-before", "10m", "--max-requeues", "1"});
  job.start(options, k_stage + "/etc/hostname\nsrun save 0");
  job.wait_for("srun save 0");
  job.signal(SIGUSR1);
  CHECK(job.wait() == 0);
  const auto log = job.log();
  INFO(log << job.output());
  CHECK(log.find(" rm -rf -- ") < log.find("scontrol requeue 70"));
  CHECK(fs::is_empty(job.path("disk")));
}

TEST_CASE("stage needs the directory of internal batch", "[program]") {
  BatchRun job;
  CHECK(job.run({}, k_stage + "/etc/hostname") == 5);
  CHECK(holds(job.output(),
              "error: HPCML_STAGE is not set, so no directory for staged files exists\n  hint: use this "
              "command only in a script of 'hpcml gen --stage', which sets the variable\n"));
}
