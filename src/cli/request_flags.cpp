// SPDX-License-Identifier: MIT
// Registration of the request flags.
#include "cli/request_flags.hpp"

#include <CLI/CLI.hpp>

namespace hpcml::cli {

namespace {

struct ValueFlag {
  const char* name;
  const char* type;
  const char* help;
  const char* group;
};

constexpr const char* k_resources = "What to ask for";
constexpr const char* k_run = "How to run";
constexpr const char* k_software = "Software";

constexpr ValueFlag k_values[] = {
    {"--account", "NAME", "account to charge", k_resources},
    {"--partition", "NAME", "partition; the site's default otherwise", k_resources},
    {"--qos", "NAME", "quality of service", k_resources},
    {"--nodes", "N", "number of nodes", k_resources},
    {"--gpus-per-node", "N", "GPUs on each node; 0 for a CPU-only job", k_resources},
    {"--gpu-type", "TYPE", "kind of GPU, where a site has several", k_resources},
    {"--gpus-per-task", "N", "GPUs per rank, for model parallelism; 1 otherwise", k_resources},
    {"--tasks-per-node", "N", "ranks on each node; one per GPU otherwise", k_resources},
    {"--cpus-per-task", "N", "physical cores per rank", k_resources},
    {"--threads-per-core", "N", "hardware threads of each of these cores; 1 otherwise", k_resources},
    {"--mem", "SIZE", "memory per node: 480G", k_resources},
    {"--time", "TIME", "time limit: 10 (minutes), 30m, 2h, 1-12:00:00", k_resources},
    {"--job-name", "NAME", "name of the job; the program's otherwise", k_run},
    {"--output", "FILE", "log file; %j is the job's number", k_run},
    {"--launcher", "KIND", "hpcml, torchrun, srun, ibrun, mpirun, accelerate or deepspeed", k_run},
    {"--backend", "NAME", "nccl or gloo; by what the node has otherwise", k_run},
    {"--gpu-visibility", "WHAT", "what a rank sees: all GPUs of the node or its own", k_run},
    {"--rank-order", "ORDER", "ranks take the GPUs by gpu (number), cpu, ring (links), or as listed: 0,1,3,2",
     k_run},
    {"--spill", "WHERE", "cores of NUMA nodes without GPUs: none, or to ranks of the same package", k_run},
    {"--bind-check", "HOW", "judge each rank's CPUs and memory before its program starts: warn, or fail",
     k_run},
    {"--signal", "SPEC", "signal to the ranks before the time limit: USR1@60", k_run},
    {"--array", "SPEC", "job array: 0-9%2", k_run},
    {"--dependency", "SPEC", "start after other jobs: afterok:123", k_run},
    {"--hpcml-path", "PATH", "hpcml as the compute nodes see it; this program otherwise", k_run},
    {"--venv", "PATH",
     "virtual environment to activate; a packed one (.tar.gz) is unpacked on each node, one in a .sqsh file "
     "is mounted with the image",
     k_software},
    {"--conda", "NAME", "conda environment to activate; a packed one (.tar.gz) is unpacked on each node",
     k_software},
    {"--wheelhouse", "PACKAGES",
     "build a virtualenv from the site's wheels on each node: \"torch numpy\" or a requirements file",
     k_software},
    {"--container", "IMAGE", "run the program in this image", k_software},
    {"--container-engine", "NAME",
     "singularity, apptainer, shifter, pyxis, edf or uenv, where the site has several; by the image's form "
     "otherwise",
     k_software},
};

struct ListFlag {
  const char* name;
  const char* type;
  const char* help;
  const char* group;
};

constexpr ListFlag k_lists[] = {
    {"--module", "NAME", "module to load; may be repeated", k_software},
    {"--env", "NAME=VALUE", "variable for the program; may be repeated", k_software},
    {"--stage", "PATH",
     "file or folder to copy to each node's own disk, where it is $HPCML_STAGE/NAME; may be repeated",
     k_software},
    {"--bind", "SRC[:DST]", "folder to show in the container; may be repeated", k_software},
    {"--sbatch", "OPTION", "an #SBATCH option as it is: --sbatch=--reservation=x; may be repeated", k_run},
    {"--srun", "OPTION", "an srun option as it is: --srun=--label; may be repeated", k_run},
};

} // namespace

void add_request_flags(CLI::App& app, RequestFlags& flags, const Context& context) {
  app.add_option("--site", flags.site, "the cluster; see `hpcml sites list`")->type_name("SITE");
  app.add_option("--job", flags.job_file,
                 "read the same keys from a job file; ./hpcml.json is read when it is there")
      ->type_name("FILE");
  app.add_option("--only", flags.only, "of a job file with several jobs, this one")->type_name("NAME");
  for (const auto& flag : k_values) {
    if (!context.wants(flag.name)) continue;
    app.add_option_function<std::string>(
           flag.name, [&flags, name = flag.name](const std::string& text) { flags.values[name] = text; },
           flag.help)
        ->type_name(flag.type)
        ->take_last() // as sbatch has it
        ->group(flag.group);
  }
  for (const auto& flag : k_lists) {
    if (!context.wants(flag.name)) continue;
    app.add_option_function<std::vector<std::string>>(
           flag.name,
           [&flags, name = flag.name](const std::vector<std::string>& texts) { flags.lists[name] = texts; },
           flag.help)
        ->type_name(flag.type)
        ->expected(1)
        ->allow_extra_args(false)
        ->take_all()
        ->group(flag.group);
  }
  auto* requeue =
      app.add_flag("--requeue", flags.requeue, "let Slurm start the job again after a failure of a node")
          ->group(k_run);
  app.add_flag("--no-requeue", flags.no_requeue, "never start the job again")
      ->group(k_run)
      ->excludes(requeue);
  app.add_flag("--no-container-enter", flags.no_container_enter,
               "do not activate the site's environment inside the image")
      ->group(k_software);
  app.add_flag("--nccl-debug", flags.nccl_debug, "let NCCL or RCCL say what it does")->group(k_run);
  app.add_flag("--report", flags.report, "print one line per rank: host, GPU, cores")->group(k_run);
  app.add_flag("--preflight", flags.preflight, "test the process group before the program starts")
      ->group(k_run);
}

} // namespace hpcml::cli
