// SPDX-License-Identifier: MIT
// What a user asks for, before any site has been consulted.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/container_engine.hpp"
#include "core/model/gpu_order.hpp"
#include "core/model/imported_body.hpp"
#include "core/model/launcher.hpp"
#include "core/model/mem_size.hpp"
#include "core/model/origin.hpp"
#include "core/model/rank_choices.hpp"
#include "core/model/rank_settings.hpp"
#include "core/model/retry_classes.hpp"
#include "core/model/save_signal.hpp"
#include "core/model/walltime.hpp"

namespace hpcml::model {

/// One program of a job that runs several, one after another.
struct JobStep {
  std::vector<std::string> command;
  bool once = false; ///< one process on the first node instead of one per rank
};

/// A request: flags, variables and job file merged, each value with its origin. Unset = the site decides.
struct JobSpec : RankSettings {
  std::vector<std::string> command; ///< argv of the program; never goes through a shell
  std::string command_script; ///< the text of the shell script that the command runs, where it could be read
  std::string program_text;   ///< the text of the Python program that the command runs, likewise
  std::vector<JobStep> steps; ///< where there are several programs: all of them, `command` being the main one
  Known<std::string> partition;
  Known<unsigned> nodes;
  Known<unsigned> gpus_per_node; ///< 0: CPU-only
  Known<unsigned> tasks_per_node;
  Known<unsigned> gpus_per_task;    ///< model parallel: several GPUs per rank
  Known<unsigned> cpus_per_task;    ///< physical cores
  Known<unsigned> threads_per_core; ///< hardware threads of each core; 1 if none is given
  Known<IdleCorePolicy> idle_cores;
  Known<GpuOrder> rank_order;
  Known<MemSize> mem; ///< per node
  Known<Walltime> time;
  Known<std::string> account;
  Known<std::string> qos;
  Known<std::string> job_name;
  Known<std::string> output;
  Known<Launcher> launcher;
  Known<Backend> backend;
  Known<GpuVisibilityMode> gpu_visibility;
  Known<std::string> gpu_type;
  Known<std::string> venv;       ///< path of a virtual environment to activate
  Known<std::string> conda;      ///< name or prefix of a conda environment
  Known<std::string> wheelhouse; ///< build a virtualenv per node in node-local storage: requirement words
                                 ///< ("torch numpy") or a requirements file
  Known<std::string> container;  ///< image
  Known<ContainerEngine> container_engine; ///< where the site has several
  std::vector<Sourced<std::string>>
      stage; ///< files and directories to copy to each node's own disk, absolute
  std::vector<Sourced<std::string>> binds; ///< "SRC:DST" or "SRC"
  Known<bool> container_enter; ///< false: do not evaluate the site's `enter` text inside the image
  std::vector<Sourced<std::string>> modules;
  std::vector<std::pair<std::string, Sourced<std::string>>> env; ///< NAME, VALUE
  std::vector<Sourced<std::string>> sbatch; ///< raw pass-through to the header: "--reservation=x"
  std::vector<Sourced<std::string>> srun;   ///< raw pass-through to srun
  Known<std::string> signal;
  Known<LeadTime> save_before;   ///< this long before the time limit the ranks are asked to save and to end
  Known<SaveSignal> save_signal; ///< by which; unset: one that no other process takes
  Known<bool> requeue;
  Known<unsigned> spare_nodes;       ///< this many more than the program needs
  Known<unsigned> max_requeues;      ///< this often the script puts its job back into the queue itself
  Known<RetryClasses> requeue_on;    ///< and after these failures as well
  Known<std::string> checkpoint_dir; ///< where programs save, absolute; each job has its own directory in it
  Known<std::string> array;
  Known<std::string> dependency;
  bool nccl_debug = false;
  std::vector<JobSpec> components;  ///< of a heterogeneous job, each with what it says itself; else none
  Known<std::string> hpcml_path;    ///< hpcml on the compute node; unset: the running binary's path
  std::optional<ImportedBody> body; ///< of a script that is ported; `command` is its main program then
};

} // namespace hpcml::model
