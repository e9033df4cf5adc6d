// SPDX-License-Identifier: MIT
#include "core/config/job_keys.hpp"

#include "core/config/job_key_kinds.hpp"
#include "core/model/launcher_rows.hpp"

namespace hpcml::config {

namespace {

using model::JobSpec;

constexpr std::string_view k_resources = "Resources";
constexpr std::string_view k_job = "Job";
constexpr std::string_view k_ranks = model::k_rank_group;
constexpr std::string_view k_recovery = model::k_recovery_group;
constexpr std::string_view k_software = "Software";

constexpr std::string_view k_usual_requeues = model::DecimalText<model::k_default_max_requeues>::text;

std::string size_text(const model::MemSize& size) { return size.to_slurm(); }
std::string time_text(const model::Walltime& time) { return time.to_slurm(); }
std::string lead_text(const model::LeadTime& time) { return time.to_slurm(); }
std::string classes_text(const model::RetryClasses& classes) { return classes.text(); }
std::string signal_text(const model::SaveSignal& signal) { return signal.text(); }
std::string order_text(const model::GpuOrder& order) { return order.text(); }

JobKey launcher_key() {
  auto key = parsed_key<model::Launcher>(
      "launcher", {k_ranks, "NAME", "Program that starts the ranks", "the site's"}, &JobSpec::launcher,
      [](const model::Launcher& launcher) { return std::string(launcher.name()); });
  key.words = [] {
    return std::vector<std::string>(model::k_launcher_names.begin(), model::k_launcher_names.end());
  };
  return key;
}

std::vector<JobKey> resource_keys() {
  const auto help = [](std::string_view type, std::string_view text, std::string_view fallback = {}) {
    return KeyHelp{k_resources, type, text, fallback};
  };
  return {
      text_key("account", help("NAME", "Account to charge"), &JobSpec::account),
      text_key("partition", help("NAME", "Partition", "the site's"), &JobSpec::partition),
      text_key("qos", help("NAME", "Quality of service (QoS)"), &JobSpec::qos),
      number_key("nodes", help("N", "Number of nodes", "1"), &JobSpec::nodes, 1),
      number_key("gpus-per-node", help("N", "GPUs on each node; 0 for a CPU-only job", "all"),
                 &JobSpec::gpus_per_node, 0),
      text_key("gpu-type", help("TYPE", "GPU type or MIG instance, if the site has several"),
               &JobSpec::gpu_type),
      number_key("gpus-per-task", help("N", "GPUs per rank, for model parallelism", "1"),
                 &JobSpec::gpus_per_task, 1),
      number_key("tasks-per-node", help("N", "Ranks on each node", "one per GPU"), &JobSpec::tasks_per_node,
                 1),
      number_key("cpus-per-task", help("N", "Physical cores per rank", "the rank's share of the node"),
                 &JobSpec::cpus_per_task, 1),
      number_key("threads-per-core", help("N", "Hardware threads to use of each core", "1"),
                 &JobSpec::threads_per_core, 1),
      parsed_key("mem", help("SIZE", "Memory per node, such as 480G"), &JobSpec::mem, size_text),
      parsed_key("time", help("TIME", "Time limit, such as 30 (minutes), 2h or 1-12:00:00"), &JobSpec::time,
                 time_text),
  };
}

std::vector<JobKey> job_options() {
  const auto help = [](std::string_view type, std::string_view text, std::string_view fallback = {}) {
    return KeyHelp{k_job, type, text, fallback};
  };
  return {
      text_key("job-name", help("NAME", "Name of the job", "the program's"), &JobSpec::job_name),
      text_key("output", help("FILE", "Log file; %j is the job number", "JOB_NAME-%j.out"), &JobSpec::output),
      text_key("array", help("SPEC", "Job array, such as 0-9%2"), &JobSpec::array),
      text_key("dependency", help("SPEC", "Start after other jobs, such as afterok:4711"),
               &JobSpec::dependency),
      list_key("sbatch", help("OPTION", "Other #SBATCH option: --sbatch=--reservation=x (repeatable)"),
               &JobSpec::sbatch),
      list_key("srun", help("OPTION", "Other srun option: --srun=--label (repeatable)"), &JobSpec::srun),
      text_key("hpcml-path", help("PATH", "Path of hpcml on the compute nodes", "this program"),
               &JobSpec::hpcml_path),
  };
}

std::vector<JobKey> rank_options() {
  const auto help = [](std::string_view type, std::string_view text, std::string_view fallback = {}) {
    return KeyHelp{k_ranks, type, text, fallback};
  };
  return {
      launcher_key(),
      choice_key("backend", help("NAME", "Backend of the process group", "auto"), &JobSpec::backend),
      choice_key("gpu-visibility",
                 help("GPUS", "GPUs that a rank sees: all of its node, or only its own", "the site's"),
                 &JobSpec::gpu_visibility),
      parsed_key(
          "rank-order",
          help("ORDER", "Assign GPUs to ranks by gpu, cpu or ring (links), or in a list: 0,1,3,2", "gpu"),
          &JobSpec::rank_order, order_text),
      choice_key(
          "idle-cores",
          help("USE", "Use of cores in NUMA nodes without GPUs: none, or ranks of the package", "none"),
          &JobSpec::idle_cores),
      switch_key("nccl-debug", help({}, "Enable NCCL/RCCL debug logging"), &JobSpec::nccl_debug),
  };
}

std::vector<JobKey> recovery_options() {
  const auto help = [](std::string_view type, std::string_view text, std::string_view fallback = {}) {
    return KeyHelp{k_recovery, type, text, fallback};
  };
  return {
      parsed_key("save-before",
                 help("TIME", "Signal the ranks to save and exit this long before the time limit: 5m, 90s"),
                 &JobSpec::save_before, lead_text),
      parsed_key("save-signal",
                 help("SIGNAL", "Signal for --save-before: USR1, USR2, TERM or HUP", "by GPU vendor"),
                 &JobSpec::save_signal, signal_text),
      text_key("signal", help("SPEC", "Signal for the ranks before the time limit, such as USR1@60"),
               &JobSpec::signal),
      text_key("checkpoint-dir",
               help("DIR", "Parent of each job's checkpoint directory ($HPCML_CHECKPOINT_DIR)"),
               &JobSpec::checkpoint_dir),
      bool_key("requeue",
               {k_recovery, {}, "Requeue the job after a node failure", {}, "Do not requeue the job"},
               &JobSpec::requeue),
      number_key("max-requeues",
                 help("N", "Requeue a job that saved before its time limit up to N times", k_usual_requeues),
                 &JobSpec::max_requeues, 0),
      parsed_key("requeue-on", help("CAUSES", "Also requeue after these: node,preempted,launcher,time-limit"),
                 &JobSpec::requeue_on, classes_text),
      number_key("spare-nodes", help("N", "Extra nodes, which replace nodes found faulty at the start", "0"),
                 &JobSpec::spare_nodes, 0),
  };
}

std::vector<JobKey> software_keys() {
  const auto help = [](std::string_view type, std::string_view text, std::string_view fallback = {}) {
    return KeyHelp{k_software, type, text, fallback};
  };
  return {
      text_key("venv", help("PATH", "Virtual environment to activate: a directory, .tar.gz or .sqsh file"),
               &JobSpec::venv),
      text_key("conda", help("NAME", "Conda environment to activate: a name, directory or .tar.gz file"),
               &JobSpec::conda),
      text_key(
          "wheelhouse",
          help("PACKAGES", "Packages (or requirements file) to install from the site's wheels on each node"),
          &JobSpec::wheelhouse),
      text_key("container", help("IMAGE", "Container image to run the program in"), &JobSpec::container),
      choice_key("container-engine", help("NAME", "Container engine", "by the image's format"),
                 &JobSpec::container_engine),
      list_key("bind", help("SRC[:DST]", "Directory to mount in the container (repeatable)"),
               &JobSpec::binds),
      bool_key("container-enter",
               {k_software, {}, {}, {}, "Do not activate the site's environment in the image"},
               &JobSpec::container_enter),
      list_key("module", help("NAME", "Module to load (repeatable)"), &JobSpec::modules),
      env_key("env", help("NAME=VALUE", "Environment variable for the program (repeatable)")),
      list_key("stage", help("PATH", "File or directory to copy to $HPCML_STAGE on each node (repeatable)"),
               &JobSpec::stage),
  };
}

std::vector<JobKey> every_key() {
  auto keys = resource_keys();
  for (auto& key : keys) key.per_component = true;
  for (auto part : {&job_options, &rank_options, &recovery_options})
    for (auto& key : part()) {
      for (const char* name : {"gpu-visibility", "rank-order", "idle-cores", "sbatch", "srun"})
        key.per_component = key.per_component || key.name == name;
      keys.push_back(std::move(key));
    }
  for (const auto& flag : model::k_rank_flags) keys.push_back(rank_key(flag));
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
