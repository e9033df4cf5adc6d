// SPDX-License-Identifier: MIT
// What a site does with requests: options, GPUs, limits, launchers, and when each rule holds.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/model/enum_names.hpp"
#include "core/model/mem_size.hpp"
#include "core/model/origin.hpp"
#include "core/model/rank_choices.hpp"
#include "core/model/walltime.hpp"

namespace hpcml::model {

/// What a site does with a request option. `discouraged`: it is taken, the site asks to omit it; `srun_only`:
/// sbatch refuses it, srun takes it.
enum class OptionPolicy { optional, required, discouraged, forbidden, ignored, srun_only };

template <>
inline constexpr std::array<NamedValue<OptionPolicy>, 6> k_words<OptionPolicy> = {
    {{"optional", OptionPolicy::optional},
     {"required", OptionPolicy::required},
     {"discouraged", OptionPolicy::discouraged},
     {"forbidden", OptionPolicy::forbidden},
     {"ignored", OptionPolicy::ignored},
     {"srun-only", OptionPolicy::srun_only}}};

/// When a rule of the profile applies. Unset members do not matter.
struct RuleCondition {
  std::optional<unsigned> min_nodes;
  std::optional<unsigned> max_nodes;
  std::optional<bool> gpus; ///< the job has GPUs
  std::vector<std::string> partitions;
  std::vector<std::string> launchers;
  std::optional<bool> container;
  std::optional<unsigned> min_gpus; ///< of the whole job
  std::optional<unsigned> max_gpus;
  std::optional<bool> whole_nodes;          ///< the job has all GPUs of its nodes, or the nodes to itself
  std::vector<std::string> node_types = {}; ///< NodeType ids
  std::vector<std::string> gpu_types = {};  ///< Slurm's names
  std::vector<std::string> qos = {};
  std::string image = {}; ///< regular expression that the container image's whole name must match
};

/// A flag rule of the site: how it treats one of sbatch's options.
struct SbatchOptionRule {
  OptionPolicy policy = OptionPolicy::optional;
  std::string pattern;      ///< regular expression (ECMAScript) the value must match, or empty
  std::string pattern_hint; ///< "project_<number>"
  std::string default_value;
  std::string suffix; ///< put after a value that does not end with it: "@h100"
  std::string why;
  RuleCondition
      when; ///< where the rule holds; elsewhere the next of `more` that does, else the option is optional
  Origin origin;
  std::vector<SbatchOptionRule> more = {}; ///< further rules for the same option; the first that holds counts
  /// True if a job may have the option and it does something.
  bool takes() const { return policy != OptionPolicy::forbidden && policy != OptionPolicy::ignored; }
};

/// An option that every job gets.
struct SiteAddedJobOption {
  std::string value; ///< "--network=disable_rdzv_get"
  Origin origin;
  bool on_srun = false; ///< given to srun, not to sbatch
  RuleCondition when = {};
};

/// The option by which GPUs are asked for; `none`: they come with the node.
enum class GpuOptionStyle { gpus_per_node, gpus, gres, gpus_per_task, none };

template <>
inline constexpr std::array<NamedValue<GpuOptionStyle>, 5> k_words<GpuOptionStyle> = {
    {{"gpus-per-node", GpuOptionStyle::gpus_per_node},
     {"gpus", GpuOptionStyle::gpus},
     {"gres", GpuOptionStyle::gres},
     {"gpus-per-task", GpuOptionStyle::gpus_per_task},
     {"none", GpuOptionStyle::none}}};

/// How GPUs are asked for.
struct GpuRequestRule {
  GpuOptionStyle style = GpuOptionStyle::gpus_per_node;
  OptionPolicy type = OptionPolicy::optional; ///< whether the type is named
  bool accepts_untyped = false;         ///< `required` is the site's advice: it accepts jobs without a type
  std::vector<unsigned> allowed_counts; ///< per node; empty: 1..per_node
  unsigned multiple_of =
      1; ///< the job's GPUs are a multiple of this, or a number of allowed_counts on one node
  bool whole_nodes_if_several = false; ///< several nodes only with all their GPUs
  bool must_request = false;           ///< no jobs without GPUs
  RuleCondition when = {};
  Origin origin = {};
  std::vector<GpuRequestRule> more = {}; ///< further rules; the first that holds counts
};

/// What a rank sees of the node's GPUs where the request does not say, and why.
struct GpuVisibilityRule {
  GpuVisibilityMode mode = GpuVisibilityMode::all;
  std::string why;
  Origin origin;
};

/// How a program is started on the site's nodes.
struct LauncherRule {
  std::string name; ///< "srun", "ibrun", "mpirun"
  bool is_default = false;
  std::vector<std::string> args;          ///< always given to it; {tasks} and the like are the job's numbers
  std::vector<std::string> per_node_args; ///< given to it where it starts one agent per node
  std::string rank_variable; ///< variables it sets per task, where they are not Slurm's: "PMI_RANK"
  std::string local_rank_variable;
  std::string world_size_variable;
  RuleCondition when = {};
  Origin origin;
};

/// A time limit that depends on the number of nodes.
struct TimeByNodes {
  unsigned min_nodes = 1;
  unsigned max_nodes = 0; ///< 0: no upper end
  Walltime time = Walltime::of(std::chrono::seconds(0));
};

/// A time limit that depends on the number of GPUs of the whole job.
struct TimeByGpus {
  unsigned min_gpus = 1;
  unsigned max_gpus = 0; ///< 0: no upper end
  Walltime time = Walltime::of(std::chrono::seconds(0));
};

/// Limits of a job, of a partition or of a QoS. Unset: not known.
struct Limits {
  Known<Walltime> max_time;
  Known<Walltime> min_time;
  Known<unsigned> min_nodes;
  Known<unsigned> max_nodes;
  Known<unsigned> min_gpus; ///< of the whole job
  Known<unsigned> max_gpus;
  Known<unsigned> max_node_minutes;
  Known<unsigned> max_jobs;      ///< of one user, running
  Known<unsigned> max_submitted; ///< of one user, queued and running
};

/// A partition with its own limits and the node types in it.
struct Partition : Limits {
  std::string name;
  std::vector<std::string> node_types; ///< NodeType ids
  bool is_default = false;             ///< gen takes it when --partition is not given
  std::optional<bool> slurm_default;   ///< Slurm gives it to jobs that name none; unset: as `is_default`
  bool nameable = true;                ///< false: the site forbids naming it; no --partition line
  bool exclusive = false;              ///< whole nodes only
  std::optional<bool> slurm_exclusive; ///< what Slurm itself enforces; unset: as `exclusive`
  Known<Walltime> default_time;
  Known<unsigned> node_count;
  std::vector<TimeByNodes> max_time_by_nodes; ///< the first row that fits counts
  std::vector<TimeByGpus> max_time_by_gpus;
  bool cpu_only = false;
  bool preemptible = false;
  std::optional<bool> internet; ///< where its nodes differ from the site's others
  bool on_request = false;      ///< usable after an application only
  std::string note;
  Origin origin;
};

/// A quality of service. Where it states a limit, that one holds instead of the partition's.
struct Qos : Limits {
  std::string name;
  bool is_default = false;
  std::vector<std::string> partitions; ///< empty: all
  std::vector<std::string> needs;      ///< options that a job under it must have: "--exclusive"
  bool preemptible = false;
  bool on_request = false;
  Origin origin;
};

} // namespace hpcml::model
