// SPDX-License-Identifier: MIT
// A cluster as data: everything hpcml knows about a site, each fact with its source.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "model/mem_size.hpp"
#include "model/node_shape.hpp"
#include "model/origin.hpp"
#include "model/walltime.hpp"

namespace hpcml::model {

enum class SiteState { production, early, retired };

/// What a site does with a request option.
enum class Policy { optional, required, forbidden, ignored };

/// When a rule of the profile applies. Unset members do not matter.
struct When {
  std::optional<unsigned> min_nodes;
  std::optional<unsigned> max_nodes;
  std::optional<bool> gpus;           ///< the job has GPUs
  std::vector<std::string> partitions;
  std::vector<std::string> launchers;
  std::optional<bool> container;
};

/// A flag rule of the site: how it treats one of sbatch's options.
struct FlagRule {
  Policy policy = Policy::optional;
  std::string pattern;      ///< regular expression (ECMAScript) the value must match, or empty
  std::string pattern_hint; ///< "project_<number>"
  std::string default_value;
  std::string why;
  When when;                 ///< where the policy holds; elsewhere the option is optional. `default_value` holds there too
  Origin origin;
};

/// A time limit that depends on the number of nodes.
struct TimeByNodes {
  unsigned min_nodes = 1;
  unsigned max_nodes = 0; ///< 0: no upper end
  Walltime time = Walltime::of(std::chrono::seconds(0));
};

struct Partition {
  std::string name;
  std::vector<std::string> node_types; ///< NodeType ids
  bool is_default = false;             ///< gen takes it when --partition is not given
  bool nameable = true;                ///< false: the site forbids naming it; no --partition line
  bool exclusive = false;              ///< whole nodes only
  std::optional<bool> slurm_exclusive; ///< what Slurm itself enforces; unset: as `exclusive`
  Known<Walltime> max_time;
  Known<Walltime> min_time;
  Known<Walltime> default_time;
  Known<unsigned> max_nodes;
  std::vector<TimeByNodes> max_time_by_nodes;
  bool cpu_only = false;
  std::string note;
  Origin origin;
};

/// An environment variable the site wants.
struct EnvRule {
  std::string name;
  std::string value;        ///< a literal; with `expression` a shell text that is evaluated in the job
  bool expression = false;
  std::string scope = "task"; ///< "batch" or "task"
  When when;
  Origin origin;
};

/// A cache that must lie on node-local storage, one directory per node and job, removed at the end.
struct CacheRule {
  std::string name;                   ///< "miopen"
  std::string base;                   ///< "/tmp"
  std::map<std::string, std::string> variables; ///< variable -> path below the directory ("" or "cache")
  When when;
  Origin origin;
};

/// How a program is started on the site's nodes.
struct LauncherRule {
  std::string name;                 ///< "srun", "ibrun", "mpirun"
  bool is_default = false;
  std::vector<std::string> args;    ///< always given to it
  std::string rank_variable;        ///< variables it sets per task, where they are not Slurm's: "PMI_RANK"
  std::string local_rank_variable;
  std::string world_size_variable;
  Origin origin;
};

/// How GPUs are asked for.
struct GpuRequest {
  std::string style = "gpus-per-node"; ///< "gpus-per-node", "gpus", "gres", "gpus-per-task", "none"
  Policy type = Policy::optional;      ///< whether the type is named
  std::vector<unsigned> allowed_counts; ///< per node; empty: 1..per_node
  Origin origin;
};

/// What a rank sees of the node's GPUs: all of them, or only its own.
struct GpuVisibility {
  std::string mode = "all"; ///< "all" or "own"
  std::string why;
  Origin origin;
};

struct ContainerBind {
  std::string source;
  std::string target; ///< empty: same as source
  bool optional = false;
  Origin origin;
};

struct ContainerRule {
  std::string engine;        ///< "singularity", "apptainer"
  std::string gpu_flag;      ///< "--nv", "--rocm" or empty
  std::vector<ContainerBind> binds;
  std::vector<std::string> modules;   ///< modules to load on the host, "use PATH" lines included as "use:PATH"
  std::string enter;         ///< text evaluated inside the image before the program: "$WITH_CONDA"; empty: none
  Origin origin;
  std::vector<Superseded> superseded; ///< beside those of the origin, which has e.g. the manual binds that a module replaced
};

struct PythonRule {
  std::string kind;          ///< "venv", "conda", "wheelhouse", "module", "container"
  std::vector<std::string> modules;
  std::string conda_env;     ///< site-wide environment
  std::string where;         ///< "$SLURM_TMPDIR", "$SCRATCH"
  std::vector<std::string> packages; ///< default packages for the wheelhouse
  Origin origin;
};

/// How the first rank's address is found.
struct MasterRule {
  std::string interface; ///< take the IPv4 address of this interface on rank 0's node; empty: host name
  std::string suffix;    ///< appended to the host name ("i" on JSC)
  Origin origin;
};

struct NetworkRule {
  std::vector<std::string> interfaces;  ///< what Gloo and NCCL may use, exact names
  std::optional<bool> internet_on_compute;
  MasterRule master;
  std::string fabric;
  Origin origin;
};

struct Detect {
  std::map<std::string, std::string> env;   ///< variable -> regular expression
  std::vector<std::string> hostnames;       ///< regular expressions on the full host name
};

struct Source {
  std::string id;
  std::string url;     ///< or "github:owner/repo:path @commit"
  std::string checked; ///< YYYY-MM-DD
};

/// A site. Made by spec::load_site only; immutable afterwards.
struct Site {
  std::string id;
  std::string name;
  std::string file;          ///< where it was read from, or "built in"
  std::string hash;          ///< 16 hex digits over the merged profile
  SiteState state = SiteState::production;
  std::string retired_on;    ///< YYYY-MM-DD
  std::string successor;
  Origin state_origin;
  Detect detect;
  Known<std::string> slurm_version;
  std::map<std::string, FlagRule> flags;    ///< "partition", "account", "time", "mem", "nodes", "ntasks-per-node", "gres", "gpus-per-task", "export", "exclusive", …
  std::vector<Sourced<std::string>> always; ///< directives of every job: "--exclusive"
  std::string shebang = "#!/bin/bash";
  GpuRequest gpu_request;
  GpuVisibility gpu_visibility;
  std::vector<NodeType> node_types;
  std::vector<Partition> partitions;
  std::vector<LauncherRule> launchers;
  std::vector<EnvRule> env;
  std::vector<CacheRule> caches;
  std::vector<ContainerRule> containers;
  std::vector<PythonRule> python;
  std::vector<std::string> libtorch_modules;
  NetworkRule network;
  std::map<std::string, std::string> openmp; ///< OMP_PLACES and the like, set with OMP_NUM_THREADS
  Origin openmp_origin;
  /// Whole-node binding: masks for srun are valid (the step owns its nodes). "masks" or "launch".
  Sourced<std::string> binding{"launch", {}};
  std::string interactive = "salloc";       ///< "salloc", "srun", "idev"
  std::string signal_for_preemption;
  std::vector<Source> sources;
  std::vector<std::string> unknown;         ///< facts that no source gives

  const Partition* find_partition(const std::string& partition) const;
  const NodeType* find_node_type(const std::string& node_type) const;
};

} // namespace hpcml::model
