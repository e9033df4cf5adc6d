// SPDX-License-Identifier: MIT
// The plan: every decision about a job, each with its origin and its scope. Script and launch both follow it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/id_set.hpp"
#include "core/model/job_spec.hpp"
#include "core/model/site.hpp"

namespace hpcml::model {

/// One `#SBATCH` option, without quoting. `value` unset: a flag without argument.
struct PlannedDirective {
  std::string name; ///< "--nodes"
  std::optional<std::string> value;
  Origin origin;
  /// "--nodes=2", "--exclusive".
  std::string word() const { return value ? name + "=" + *value : name; }
};

/// A variable. `expression`: shell text from a profile (never from a user), evaluated where it is rendered.
struct PlannedEnv {
  std::string name;
  std::string value;
  bool expression = false;
  ValueScope scope = ValueScope::task;
  Origin origin;
};

/// A module to load, or a directory of modules to use.
struct PlannedModule {
  std::string name;     ///< "StdEnv/2023"
  bool is_path = false; ///< module use NAME
  Origin origin;
};

/// The layout of the ranks; the same on each node.
struct PlannedLayout {
  unsigned nodes = 1;
  unsigned ranks_per_node = 1; ///< processes that train
  unsigned tasks_per_node = 1; ///< Slurm tasks: 1 where an agent (torchrun, hpcml) starts the ranks
  unsigned gpus_per_node = 0;
  unsigned gpus_per_rank = 0;
  unsigned cpus_per_rank = 1;    ///< physical cores; 0: neither the request nor the site says
  unsigned threads_per_core = 1; ///< hardware threads of each of these cores
  unsigned gpus_held =
      0; ///< GPUs of each node that no other process gets meanwhile: all, where jobs have whole nodes
  unsigned spare_nodes = 0; ///< that the job has next to these
  unsigned world_size() const { return nodes * ranks_per_node; }
  unsigned nodes_requested() const { return nodes + spare_nodes; }
};

/// Who binds the ranks to CPUs; never two.
enum class Binder {
  srun_masks, ///< srun binds with the masks below; launch verifies
  launch,     ///< hpcml launch binds, each rank or those that it starts; srun gets --cpu-bind=none
  srun_cores, ///< plain script without hpcml: srun --cpus-per-task, Slurm chooses
  agent,      ///< one agent per node gets the whole node
};

template <>
inline constexpr std::array<NamedValue<Binder>, 4> k_words<Binder> = {{{"srun_masks", Binder::srun_masks},
                                                                       {"launch", Binder::launch},
                                                                       {"srun_cores", Binder::srun_cores},
                                                                       {"agent", Binder::agent}}};

/// What one rank of a node gets.
struct PlannedRankBinding {
  unsigned local_rank = 0;
  std::vector<unsigned> gpus;
  IdSet cpus;
  std::string nic;
  std::string why;    ///< "GPU 0 is under L3 6 of NUMA 3; cores 49-55, core 48 is reserved"
  unsigned cores = 0; ///< physical cores in `cpus`: the natural OMP_NUM_THREADS
  IdSet numa;         ///< NUMA nodes that `cpus` are in
  IdSet memory; ///< NUMA nodes to prefer for memory; never memory of GPUs. Empty: leave it to the kernel
};

/// The binding of all ranks of a node; each node has the same.
struct PlannedBinding {
  Binder binder = Binder::launch;
  std::vector<PlannedRankBinding> ranks; ///< one per local rank; empty when unknown before the job runs
  std::string why;
  Origin origin;
  Sourced<IdleCorePolicy> idle_cores{IdleCorePolicy::none, {}};
  Sourced<GpuOrder> order{{},
                          {}}; ///< where masks are planned already a list, so that every node does the same
};

/// `packed`: an archive that is unpacked on each node.
enum class PythonEnvironmentKind { none, venv, conda, wheelhouse, packed };

template <>
inline constexpr std::array<NamedValue<PythonEnvironmentKind>, 5> k_words<PythonEnvironmentKind> = {
    {{"none", PythonEnvironmentKind::none},
     {"venv", PythonEnvironmentKind::venv},
     {"conda", PythonEnvironmentKind::conda},
     {"wheelhouse", PythonEnvironmentKind::wheelhouse},
     {"packed", PythonEnvironmentKind::packed}}};

/// The Python environment that is activated before the program.
struct PlannedPython {
  PythonEnvironmentKind kind = PythonEnvironmentKind::none;
  std::string where; ///< path or name, the container's where there is one; on the node's disk an expression
                     ///< ("$SLURM_TMPDIR/env")
  std::vector<std::string>
      packages; ///< for wheelhouse; one entry "-r FILE" form is {"-r","FILE"}; for packed the archive
  Origin origin;
  bool remove = false;   ///< for wheelhouse: the script has to remove it at the end
  std::string disk = {}; ///< for wheelhouse: place on the node's disk, an expression
  /// Whether each node has it on its own disk.
  bool on_each_node() const {
    return kind == PythonEnvironmentKind::wheelhouse || kind == PythonEnvironmentKind::packed;
  }
};

/// What is copied to each node's own disk before the ranks start.
struct PlannedStage {
  std::string directory;                     ///< expression: "$SLURM_TMPDIR/stage"; $HPCML_STAGE in scripts
  bool remove = false;                       ///< the script has to remove it at the end
  std::vector<Sourced<std::string>> sources; ///< absolute paths of files and directories
  Origin origin;
  std::string disk = {}; ///< where the directory is created, an expression: "/tmp"
};

/// The image that the program runs in.
struct PlannedContainer {
  ContainerEngine engine = ContainerEngine::singularity;
  std::string image;
  ContainerGpuOption gpu_flag = ContainerGpuOption::none;
  std::vector<ContainerBind> binds; ///< in order; the last for a target wins
  std::string enter;                ///< evaluated inside before the program; empty: none
  Origin origin;
  bool by_slurm = false;   ///< Slurm starts the image: nothing or `prefix` is before the command
  std::string prefix = {}; ///< "shifter", or empty
  std::vector<std::string> step_options = {}; ///< of the site's srun, in every step that runs in the image
  std::string image_variable = {};            ///< where a module gives the image: the variable with its path
  bool own_edf = false; ///< the job writes an EDF that adds hpcml and binds to the one that `image` names
};

/// A cache on the node's own disk: the profile's CacheRule where it applies.
struct PlannedCache {
  std::string name;
  std::string base;
  std::map<std::string, std::string> variables;
  Origin origin;
};

/// How the ranks find each other.
struct PlannedRendezvous {
  std::string interface; ///< IPv4 of this interface on the first node; empty: its host name
  std::string suffix;
  std::vector<std::string> interfaces; ///< for NCCL_SOCKET_IFNAME / GLOO_SOCKET_IFNAME
  Origin origin;
  bool ipv4 = false;              ///< the name is resolved to an IPv4 address
  std::string from_env = {};      ///< variable of the site with the first node; empty: none
  std::string port_from_env = {}; ///< variable of the site with a free port; empty: none
  unsigned port = 0;              ///< prescribed by the site; 0: one that depends on the job
};

/// The launcher of the step.
struct PlannedLauncher {
  Launcher choice;
  bool spawns = false;       ///< one task of each node starts its ranks: another's agent, or hpcml's own
  std::string step = "srun"; ///< what starts the tasks: "srun", "ibrun"
  std::vector<std::string> step_args;          ///< raw pass-through and site args, in order
  std::vector<std::string> per_node_args = {}; ///< what `step` gets where it starts one program per node
  std::vector<std::string> agent_options = {}; ///< further options of the agent, as shell text
  unsigned least_nodes = 0;       ///< an elastic agent continues with this many nodes; 0: with all only
  std::string rank_variable = {}; ///< where `step` does not set Slurm's variables: the site's LauncherRule
  std::string local_rank_variable = {};
  std::string world_size_variable = {};
  Origin origin;
  /// True where Slurm's own program starts the tasks, and its options and variables exist.
  bool by_srun() const { return step == "srun"; }
  /// True where hpcml stays on each node with the ranks that it starts.
  bool has_own_agent() const { return spawns && choice.is_hpcml(); }
};

/// How the ranks are asked to save before the job ends.
struct PlannedSaving {
  unsigned seconds = 0; ///< before the time limit
  SaveSignal signal;    ///< that the programs get
  std::string word;     ///< the signal that the script sends the step: the same, or hpcml launch's own word
  Origin requested_by;  ///< who requires it
  Origin chosen;        ///< why this signal
  /// Whether hpcml launch hands the signal on, once to each process of a rank.
  bool by_launch() const { return word != signal.text(); }
};

/// A job that continues from those before it in a chain.
struct JobChainPosition {
  std::string first;   ///< the number of the chain's first job
  unsigned number = 0; ///< jobs before this one
};

/// How a job continues after its end.
struct PlannedRequeue {
  bool requeues = false;                      ///< its script puts it back into the queue
  unsigned most = 3;                          ///< this often
  RetryClasses requeue_on;                    ///< after which failures as well
  std::string checkpoint_dir;                 ///< of all jobs; empty: the programs' own affair
  Origin origin;                              ///< who requires it
  Origin bound;                               ///< who states how often
  std::optional<JobChainPosition> chain = {}; ///< unset for the first of one
  Known<std::string> slurm = {};              ///< what --requeue says to Slurm: "expedite"
};

/// The whole plan of one job.
struct Plan {
  std::string site_id;
  std::string site_hash;
  std::string shebang;
  std::string partition;
  std::string node_type;
  std::string qos;      ///< the one that the job is known to have, named or not; empty: unknown
  std::string gpu_type; ///< a MIG instance, or a type that the profile does not know; empty: the node type's
  std::vector<std::string> command;
  std::vector<JobStep> steps;       ///< empty: the command is the only one
  std::optional<ImportedBody> body; ///< of a script that is ported: its text around the programs
  std::string request_line;         ///< the gen command that made it, for the script's head
  std::vector<PlannedDirective> directives;
  PlannedLayout layout;
  PlannedLauncher launcher;
  PlannedBinding binding;
  Sourced<GpuVisibilityMode> gpu_visibility;
  GpuVendor gpu_vendor = GpuVendor::unknown;
  Sourced<ModulesReset> modules_reset{ModulesReset::none, {}}; ///< before the modules
  std::vector<PlannedModule> modules;
  std::vector<PlannedEnv> env;
  std::vector<PlannedCache> caches;
  PlannedPython python;
  std::optional<PlannedStage> stage;
  std::optional<PlannedContainer> container;
  std::optional<PlannedSaving> saving;   ///< none: the ranks are not asked to save
  std::optional<PlannedRequeue> requeue; ///< none: it does not
  PlannedRendezvous rendezvous;
  Sourced<Backend> backend;
  Sourced<std::string> hpcml_path;
  Sourced<std::string> submit_command{"sbatch", {}}; ///< what takes the script
  InteractiveRule interactive;                       ///< how to get an interactive job
  std::vector<std::string> sites_dirs; ///< where launch finds the profile when it is not built in, absolute
  RankSettings ranks;                  ///< what they receive as it was asked for
  std::vector<std::pair<std::string, Origin>> notes; ///< things worth saying in --explain that have no line
  /// Of a heterogeneous job the components after this one. Their directives are what sbatch does not hand on
  /// from the component before; script and set-up are this plan's.
  std::vector<Plan> components = {};
  unsigned tasks() const {
    unsigned all = layout.nodes * layout.tasks_per_node;
    for (const auto& component : components) all += component.tasks();
    return all;
  }
};

} // namespace hpcml::model
