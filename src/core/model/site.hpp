// SPDX-License-Identifier: MIT
// A cluster as data: everything hpcml knows about a site, each fact with its source.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/container_engine.hpp"
#include "core/model/mem_size.hpp"
#include "core/model/node_shape.hpp"
#include "core/model/origin.hpp"
#include "core/model/rule_facts.hpp"
#include "core/model/walltime.hpp"

namespace hpcml::model {

/// Whether a site takes jobs: `early` is not open to everybody yet, `retired` takes none.
enum class SiteState { production, early, retired };

template <>
inline constexpr std::array<NamedValue<SiteState>, 3> k_words<SiteState> = {
    {{"production", SiteState::production}, {"early", SiteState::early}, {"retired", SiteState::retired}}};

/// What takes jobs. `none`: one machine, where nothing can be submitted.
enum class Scheduler { slurm, none };

template <>
inline constexpr std::array<NamedValue<Scheduler>, 2> k_words<Scheduler> = {
    {{"slurm", Scheduler::slurm}, {"none", Scheduler::none}}};

/// Who binds the ranks of whole nodes. `masks`: srun may, by masks that the profile vouches for.
enum class WholeNodeBinder { masks, launch };

template <>
inline constexpr std::array<NamedValue<WholeNodeBinder>, 2> k_words<WholeNodeBinder> = {
    {{"masks", WholeNodeBinder::masks}, {"launch", WholeNodeBinder::launch}}};

/// The program that gives an interactive job.
struct InteractiveRule {
  std::string program =
      "salloc"; ///< salloc and srun take sbatch's options; a program of the site's own has `options`
  std::map<std::string, std::string> options = {}; ///< sbatch's name ("partition") -> the program's ("-p")
  std::vector<std::string> implied =
      {}; ///< sbatch's names of what comes with every job of the program: "exclusive"
};

/// Where a value exists. A per-task value must never be rendered at batch scope: it would be the same for
/// every rank.
enum class ValueScope { batch, task };

template <>
inline constexpr std::array<NamedValue<ValueScope>, 2> k_words<ValueScope> = {
    {{"batch", ValueScope::batch}, {"task", ValueScope::task}}};

/// An environment variable the site requires.
struct EnvRule {
  std::string name;
  std::string value; ///< a literal; with `expression` a shell text that is evaluated in the job
  bool expression = false;
  ValueScope scope = ValueScope::task;
  RuleCondition when;
  Origin origin;
};

/// A cache that must be on node-local storage, one directory per node and job, removed at the end.
struct CacheRule {
  std::string name;                             ///< "miopen"
  std::string base;                             ///< "/tmp"
  std::map<std::string, std::string> variables; ///< variable -> path below the directory ("" or "cache")
  RuleCondition when;
  Origin origin;
};

/// A directory or file of the host that an image sees.
struct ContainerBind {
  std::string source;
  std::string target; ///< empty: same as source
  bool optional = false;
  Origin origin;
  bool squashed = false; ///< the file holds the directory: it is mounted, not shown unchanged
  /// The path that it has inside the container.
  const std::string& inside() const { return target.empty() ? source : target; }
};

/// The option that gives an image the node's GPUs.
enum class ContainerGpuOption { none, nv, rocm };

template <>
inline constexpr std::array<NamedValue<ContainerGpuOption>, 3> k_words<ContainerGpuOption> = {
    {{"", ContainerGpuOption::none}, {"--nv", ContainerGpuOption::nv}, {"--rocm", ContainerGpuOption::rocm}}};

/// What becomes of the modules that a job begins with: `module purge`, `module reset`, or nothing.
enum class ModulesReset { none, purge, reset };

template <>
inline constexpr std::array<NamedValue<ModulesReset>, 3> k_words<ModulesReset> = {
    {{"purge", ModulesReset::purge}, {"reset", ModulesReset::reset}, {"none", ModulesReset::none}}};

/// How an environment in one squashfs file is made and mounted on the site.
struct SquashfsRule {
  bool known = false; ///< false: no source says that it can be done
  std::string at;     ///< where it is mounted: "/user-software"; empty: at its own path without the ending
  std::vector<std::string> options; ///< of mksquashfs: "-no-xattrs"
  Origin origin;
};

/// How jobs run in images on the site.
struct ContainerRule {
  ContainerEngine engine = ContainerEngine::singularity;
  std::string images;         ///< regular expression of the images that this rule is for; empty: all
  std::string image_variable; ///< where an image is named by its module: the variable in which that gives the
                              ///< path, "SIF"
  ContainerGpuOption gpu_flag = ContainerGpuOption::none;
  std::vector<std::string> options = {}; ///< of Slurm; {image} is the image: "--environment={image}"
  bool options_on_srun = false;          ///< given to srun, not to sbatch
  std::string bind_option;               ///< with {binds}: "--container-mounts={binds}"; empty: there is none
  std::string prefix;                    ///< program before the command: "shifter"; empty: none
  std::vector<ContainerBind> binds;
  std::vector<std::string> modules; ///< modules to load on the host, "use PATH" lines included as "use:PATH"
  std::map<std::string, std::string> env = {}; ///< variables of jobs in its images
  SquashfsRule squashfs = {};
  bool shows_scratch = false; ///< images see storage.scratch without a bind
  std::string enter; ///< text evaluated inside the image before the program: "$WITH_CONDA"; empty: none
  RuleCondition when = {};
  Origin origin;
  std::vector<SupersededValue>
      superseded; ///< next to those of the origin, which has e.g. the manual binds that a module replaced
};

/// How an image with a user's packages is built on the site.
struct ImageBuild {
  std::string
      tool; ///< "cotainr", or "easybuild" for an image that a module gives; empty: the profile knows none
  std::string base_image; ///< path of the image it starts from
  std::string rocm;       ///< ROCm inside the base image: "5.5.3", or empty
  std::string cuda;
};

/// A way to Python packages.
enum class PythonPackageSource { venv, conda, wheelhouse, uv, module, container };

template <>
inline constexpr std::array<NamedValue<PythonPackageSource>, 6> k_words<PythonPackageSource> = {
    {{"venv", PythonPackageSource::venv},
     {"conda", PythonPackageSource::conda},
     {"wheelhouse", PythonPackageSource::wheelhouse},
     {"uv", PythonPackageSource::uv},
     {"module", PythonPackageSource::module},
     {"container", PythonPackageSource::container}}};

/// A way to Python packages that the site recommends.
struct PythonPackageRule {
  PythonPackageSource kind = PythonPackageSource::venv;
  std::vector<std::string> modules;
  std::string conda_env;             ///< site-wide environment
  std::string where;                 ///< "$SLURM_TMPDIR", "$SCRATCH"
  std::vector<std::string> packages; ///< default packages for the wheelhouse
  std::string list_wheels; ///< program that lists the site's own wheels: "avail_wheels"; empty: none
  ImageBuild image;        ///< with kind "container": how an image with the packages is built
  RuleCondition when = {};
  Origin origin;
};

/// How the first rank's address is found.
struct MasterAddressRule {
  std::string interface;     ///< take the IPv4 address of this interface on rank 0's node; empty: host name
  std::string suffix;        ///< appended to the host name ("i" on JSC)
  bool ipv4 = false;         ///< the name is resolved to an IPv4 address
  std::string from_env;      ///< variable in which the site gives the first node; empty: none
  std::string port_from_env; ///< variable in which the site gives a free port
  std::optional<unsigned> port; ///< a port that the site prescribes
  Origin origin;
};

/// The network of the compute nodes: between them and to the outside.
struct NetworkRule {
  std::vector<std::string> interfaces; ///< what Gloo and NCCL may use, exact names
  std::optional<bool> internet_on_compute;
  std::map<std::string, std::string> proxy; ///< http_proxy and the like
  Origin proxy_origin = {};
  std::string proxy_module;               ///< module that sets them
  std::vector<std::string> allowed_hosts; ///< the only hosts that compute nodes reach; empty: no such list
  MasterAddressRule master;
  std::string fabric;
  Origin origin;
};

/// By what a machine of the site is recognised; any of them is enough.
struct DetectionRule {
  std::map<std::string, std::string> env; ///< variable -> regular expression
  std::vector<std::string> hostnames;     ///< regular expressions on the full host name
};

/// A text that holds for some jobs.
struct ConditionalText {
  std::string value;
  RuleCondition when;
  Origin origin;
};

/// How jobs are submitted.
struct SubmitRule {
  std::vector<ConditionalText> hosts;           ///< login nodes
  std::vector<ConditionalText> commands;        ///< where it is not sbatch: "ghbatch"
  std::vector<std::string> require_directories; ///< expressions; submit from below one of these
  std::vector<std::string> forbid_directories;
  Origin origin;
};

/// Modules of every job for which `when` holds.
struct ModuleRule {
  std::vector<std::string> load; ///< "use:PATH" for a module directory
  RuleCondition when;
  Origin origin;
};

/// Settings of variables ("NAME" or "NAME=VALUE") that fail together in jobs for which `when` holds.
struct ConflictRule {
  std::vector<std::string> settings;
  std::string why;
  RuleCondition when;
  Origin origin;
};

/// Where data is on the site, and what becomes of it.
struct StorageRule {
  std::string scratch;                  ///< expression, or empty
  std::optional<unsigned> scratch_days; ///< untouched files are removed after this many
  std::string project;
  std::vector<std::string> read_only_on_compute;
  bool tmp_is_memory = false;
  Origin origin;
};

/// What the site asks of jobs next to the limits of partitions.
struct SiteLimits {
  Known<Walltime> min_time_recommended;
  Known<unsigned> max_jobs;           ///< of one user
  Known<unsigned> max_nodes_per_user; ///< of all jobs of one user
  Known<unsigned> idle_gpu_minutes;   ///< jobs whose GPUs idle this long are stopped
};

/// A document that facts of the profile come from.
struct SourceDocument {
  std::string id;
  std::string url;     ///< or "github:owner/repo:path @commit"
  std::string checked; ///< YYYY-MM-DD
};

/// A site. Made by spec::load_site only; immutable afterwards.
struct Site {
  std::string id;
  std::string name;
  std::string file; ///< where it was read from, or "built in"
  std::string hash; ///< 16 hex digits over the merged profile
  SiteState state = SiteState::production;
  std::string retired_on; ///< YYYY-MM-DD
  std::string until;      ///< last announced day, YYYY-MM-DD
  std::string successor;
  Origin state_origin;
  DetectionRule detect;
  CpuArch login_arch = CpuArch::unknown;
  SubmitRule submit;
  Scheduler scheduler = Scheduler::slurm;
  Known<std::string> slurm_version;
  std::map<std::string, SbatchOptionRule>
      flags; ///< "partition", "account", "time", "mem", "nodes", "ntasks-per-node", "gres", "gpus-per-task",
             ///< "export", "exclusive", …
  std::vector<SiteAddedJobOption> common_options; ///< options of every job: "--exclusive"
  std::string shebang = "#!/bin/bash";
  GpuRequestRule gpu_request;
  GpuVisibilityRule gpu_visibility;
  std::vector<NodeType> node_types;
  std::vector<Partition> partitions;
  std::vector<Qos> qos;
  std::vector<std::string> other_partitions; ///< that exist next to those above; no more is known of them
  std::vector<std::string> other_qos;
  std::vector<std::string> constraints; ///< features that may be asked for; empty: unknown
  std::vector<std::string> constraint_operators;
  std::vector<LauncherRule> launchers;
  std::vector<EnvRule> env;
  std::vector<ConflictRule> conflicts;
  std::vector<CacheRule> caches;
  Sourced<ModulesReset> modules_reset{ModulesReset::none, {}};
  std::vector<ModuleRule> modules;
  std::vector<ContainerRule> containers;
  std::vector<PythonPackageRule> python;
  std::vector<std::string> libtorch_modules;
  std::vector<std::string> libtorch_link_directories; ///< expressions that the linker needs besides torch's
                                                      ///< own: "$EBROOTCUDA/extras/CUPTI/lib64"
  NetworkRule network;
  std::map<std::string, std::string> openmp; ///< OMP_PLACES and the like, set with OMP_NUM_THREADS
  Origin openmp_origin;
  Sourced<WholeNodeBinder> binding{WholeNodeBinder::launch, {}};
  InteractiveRule interactive;
  std::string signal_for_preemption;
  StorageRule storage;
  SiteLimits policies;
  std::vector<SourceDocument> sources;
  std::vector<std::string> unknown; ///< facts that no source gives

  /// The rule for an option of sbatch ("mem"), whatever job it is for; one that allows everything where there
  /// is none.
  const SbatchOptionRule& flag(const std::string& flag_name) const;
  const Partition* find_partition(const std::string& partition) const;
  /// The partition of jobs that name none: among those that suit the one that the profile calls default, else
  /// the first.
  const Partition* default_partition(const std::function<bool(const Partition&)>& suits) const;
  const NodeType* find_node_type(const std::string& node_type) const;
  const Qos* find_qos(const std::string& name) const;
  /// The name without what is in parentheses after it: "LUMI-G" of "LUMI-G (CSC / EuroHPC, Kajaani)".
  std::string short_name() const;
  /// The vendor of the site's GPUs: the first that a node type names.
  GpuVendor gpu_vendor() const;
};

} // namespace hpcml::model
