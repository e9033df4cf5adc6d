// SPDX-License-Identifier: MIT
#include "core/config/job_keys.hpp"

#include "core/config/job_key_kinds.hpp"
#include "core/model/launcher_rows.hpp"

namespace hpcml::config {

namespace {

using model::JobSpec;

constexpr std::string_view k_resources = "What to ask for";
constexpr std::string_view k_run = "How to run";
constexpr std::string_view k_software = "Software";

// The closed sets come from their tables.
constexpr std::string_view k_engine_list = model::Listed<model::k_engine_names>::text;
constexpr std::string_view k_where_several = ", where the site has several; by the image's form otherwise";

std::string size_text(const model::MemSize& size) { return size.to_slurm(); }
std::string time_text(const model::Walltime& time) { return time.to_slurm(); }
std::string lead_text(const model::LeadTime& time) { return time.to_slurm(); }
std::string classes_text(const model::RetryClasses& classes) { return classes.text(); }
std::string signal_text(const model::SaveSignal& signal) { return signal.text(); }
std::string order_text(const model::GpuOrder& order) { return order.text(); }

JobKey launcher_key() {
  auto key = parsed_key<model::Launcher>(
      "launcher", {k_run, "KIND", model::Listed<model::k_launcher_names>::text}, &JobSpec::launcher,
      [](const model::Launcher& launcher) { return std::string(launcher.name()); });
  key.words = [] {
    return std::vector<std::string>(model::k_launcher_names.begin(), model::k_launcher_names.end());
  };
  return key;
}

std::vector<JobKey> resource_keys() {
  const auto help = [](std::string_view type, std::string_view text) {
    return KeyHelp{k_resources, type, text};
  };
  return {
      text_key("account", help("NAME", "account to charge"), &JobSpec::account),
      text_key("partition", help("NAME", "partition; the site's default otherwise"), &JobSpec::partition),
      text_key("qos", help("NAME", "quality of service"), &JobSpec::qos),
      number_key("nodes", help("N", "number of nodes"), &JobSpec::nodes, 1),
      number_key("gpus-per-node", help("N", "GPUs on each node; 0 for a CPU-only job"),
                 &JobSpec::gpus_per_node, 0),
      text_key("gpu-type", help("TYPE", "kind of GPU, where a site has several"), &JobSpec::gpu_type),
      number_key("gpus-per-task", help("N", "GPUs per rank, for model parallelism; 1 otherwise"),
                 &JobSpec::gpus_per_task, 1),
      number_key("tasks-per-node", help("N", "ranks on each node; one per GPU otherwise"),
                 &JobSpec::tasks_per_node, 1),
      number_key("cpus-per-task", help("N", "physical cores per rank"), &JobSpec::cpus_per_task, 1),
      number_key("threads-per-core", help("N", "hardware threads of each of these cores; 1 otherwise"),
                 &JobSpec::threads_per_core, 1),
      parsed_key("mem", help("SIZE", "memory per node: 480G"), &JobSpec::mem, size_text),
      parsed_key("time", help("TIME", "time limit: 10 (minutes), 30m, 2h, 1-12:00:00"), &JobSpec::time,
                 time_text),
  };
}

std::vector<JobKey> run_keys() {
  const auto help = [](std::string_view type, std::string_view text) { return KeyHelp{k_run, type, text}; };
  return {
      text_key("job-name", help("NAME", "name of the job; the program's otherwise"), &JobSpec::job_name),
      text_key("output", help("FILE", "log file; %j is the job's number"), &JobSpec::output),
      launcher_key(),
      choice_key("backend", help("NAME", "nccl or gloo; by what the node has otherwise"), &JobSpec::backend),
      choice_key("gpu-visibility", help("WHAT", "what a rank sees: all GPUs of the node or its own"),
                 &JobSpec::gpu_visibility),
      parsed_key(
          "rank-order",
          help("ORDER", "ranks take the GPUs by gpu (number), cpu, ring (links), or as listed: 0,1,3,2"),
          &JobSpec::rank_order, order_text),
      choice_key("idle-cores",
                 help("WHERE", "cores of NUMA nodes without GPUs: none, or to ranks of the same package"),
                 &JobSpec::idle_cores),
      text_key("signal", help("SPEC", "signal to the ranks before the time limit: USR1@60"),
               &JobSpec::signal),
      parsed_key(
          "save-before",
          help("TIME", "so long before the time limit the ranks are asked to save and to end: 5m, 90s"),
          &JobSpec::save_before, lead_text),
      parsed_key("save-signal",
                 help("SIGNAL",
                      "by which signal: USR1, USR2, TERM, HUP; one that their GPUs' libraries leave "
                      "alone otherwise"),
                 &JobSpec::save_signal, signal_text),
      text_key("array", help("SPEC", "job array: 0-9%2"), &JobSpec::array),
      text_key("dependency", help("SPEC", "start after other jobs: afterok:123"), &JobSpec::dependency),
      text_key("hpcml-path", help("PATH", "hpcml as the compute nodes see it; this program otherwise"),
               &JobSpec::hpcml_path),
      list_key("sbatch",
               help("OPTION", "an #SBATCH option as it is: --sbatch=--reservation=x; may be repeated"),
               &JobSpec::sbatch),
      list_key("srun", help("OPTION", "an srun option as it is: --srun=--label; may be repeated"),
               &JobSpec::srun),
      bool_key(
          "requeue",
          {k_run, {}, "let Slurm start the job again after a failure of a node", "never start the job again"},
          &JobSpec::requeue),
      number_key("spare-nodes",
                 help("N", "so many nodes more than the program needs; it runs on healthy ones"),
                 &JobSpec::spare_nodes, 0),
      number_key("max-requeues",
                 help("N", "so often the script requeues its own job, saved before its limit; 3 otherwise"),
                 &JobSpec::max_requeues, 0),
      parsed_key("requeue-on",
                 help("WHY",
                      "requeue after these ends, too: node,preempted,launcher,time-limit; never after the "
                      "program's own failure"),
                 &JobSpec::requeue_on, classes_text),
      text_key("checkpoint-dir",
               help("FOLDER", "where programs save: each job has a folder of its own in it, whose path they "
                              "find in HPCML_CHECKPOINT_DIR"),
               &JobSpec::checkpoint_dir),
      switch_key("nccl-debug", help({}, "let NCCL or RCCL say what it does"), &JobSpec::nccl_debug),
  };
}

std::vector<JobKey> software_keys() {
  const auto help = [](std::string_view type, std::string_view text) {
    return KeyHelp{k_software, type, text};
  };
  return {
      text_key("venv",
               help("PATH", "virtual environment to activate; a packed one (.tar.gz) is unpacked on each "
                            "node, one in a .sqsh file is mounted with the image"),
               &JobSpec::venv),
      text_key("conda",
               help("NAME", "conda environment to activate; a packed one (.tar.gz) is unpacked on each node"),
               &JobSpec::conda),
      text_key("wheelhouse",
               help("PACKAGES", "build a virtualenv from the site's wheels on each node: \"torch numpy\" or "
                                "a requirements file"),
               &JobSpec::wheelhouse),
      text_key("container", help("IMAGE", "run the program in this image"), &JobSpec::container),
      choice_key("container-engine", help("NAME", model::Concat<k_engine_list, k_where_several>::text),
                 &JobSpec::container_engine),
      list_key("module", help("NAME", "module to load; may be repeated"), &JobSpec::modules),
      env_key("env", help("NAME=VALUE", "variable for the program; may be repeated")),
      list_key("stage",
               help("PATH", "file or folder to copy to each node's own disk, where it is $HPCML_STAGE/NAME; "
                            "may be repeated"),
               &JobSpec::stage),
      list_key("bind", help("SRC[:DST]", "folder to show in the container; may be repeated"),
               &JobSpec::binds),
      bool_key("container-enter",
               {k_software, {}, {}, "do not activate the site's environment inside the image"},
               &JobSpec::container_enter),
  };
}

std::vector<JobKey> every_key() {
  auto keys = resource_keys();
  for (auto& key : keys) key.per_component = true;
  for (auto& key : run_keys()) {
    for (const char* name : {"gpu-visibility", "rank-order", "idle-cores", "sbatch", "srun"})
      key.per_component = key.per_component || key.name == name;
    keys.push_back(std::move(key));
  }
  for (const auto& flag : model::k_rank_flags) keys.push_back(rank_key(flag, k_run));
  for (auto& key : software_keys()) keys.push_back(std::move(key));
  for (auto& key : keys)
    for (const char* name : {"account", "partition", "qos", "gpu-type", "module", "sbatch"})
      key.names_site = key.names_site || key.name == name;
  return keys;
}

} // namespace

const std::vector<JobKey>& job_keys() {
  static const std::vector<JobKey> k_keys = every_key();
  return k_keys;
}

model::JobSpec read_job(ObjectReader& root) {
  model::JobSpec job;
  for (const auto& key : job_keys()) key.from_file(job, root);
  job.command = root.texts("command");
  return job;
}

} // namespace hpcml::config
