// SPDX-License-Identifier: MIT
// What a job requests of a site, in one form for a request that becomes a script, a script that is checked,
// and a job that was submitted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/job_spec.hpp"
#include "core/model/mem_size.hpp"
#include "core/model/walltime.hpp"
#include "core/slurm/job_request.hpp"
#include "core/slurm/job_size.hpp"

namespace hpcml::site_rules {

/// How much of the job the demand knows.
enum class RequestStage {
  request,  ///< what is left open is still chosen, and the script that is written names the choice
  script,   ///< sbatch's command line, or a variable, may add to it
  submitted ///< nothing is added any more
};

/// What CPUs of a demand are.
enum class RequestCpuUnit { slurm, cores };

/// One component of a job. Members that are not specified are empty, 0 or unset.
struct ResourceRequest {
  RequestStage stage = RequestStage::script;
  bool elsewhere = false;              ///< for another cluster, or one of several
  std::vector<std::string> partitions; ///< as named; any of several may take the job
  std::string qos;                     ///< as named
  std::string gpu_type;                ///< as named
  std::string constraint;              ///< the feature expression
  std::vector<std::string> features;   ///< the names in it
  bool exclusive = false;              ///< it asks for the nodes alone
  bool reserved = false;               ///< in a reservation, whose limits may be others

  unsigned nodes = 1;             ///< at least
  unsigned spare_nodes = 0;       ///< of `nodes`, those without ranks
  bool nodes_given = false;       ///< their number is specified
  bool nodes_exact = false;       ///< and neither more nor fewer will do
  bool gpus_counted = false;      ///< their number is specified, 0 included
  unsigned gpus_per_node = 0;     ///< of one node; of a request for this many in total, those of one node
  bool gpus_spread = false;       ///< over as many nodes as Slurm takes: of no node the number is known
  std::uint64_t gpus_on_node = 0; ///< that each node must offer, where they are counted so
  std::uint64_t gpus_in_all = 0;
  bool gpus_by_other_name = false; ///< a resource or a licence of a name that may stand for GPUs

  long cpus_per_node = 0;      ///< that one node must offer
  long cpus_of_tasks = 0;      ///< of the tasks of one node, where they are counted
  bool cpus_requested = false; ///< the number of CPUs per task is specified
  long threads_per_core = 0;   ///< 0: any
  RequestCpuUnit cpu_unit = RequestCpuUnit::slurm;
  bool overcommit = false;
  std::uint64_t memory_mib = 0; ///< that one node must offer
  std::uint64_t mem_per_cpu_mib = 0, mem_per_gpu_mib = 0;
  std::optional<model::MemSize> mem; ///< of each node, where it is counted so
  std::optional<model::Walltime> time;
  bool unlimited = false;                    ///< no limit of time was asked for
  std::optional<model::Walltime> least_time; ///< Slurm may shorten the job to this, until it fits
  unsigned long long array_tasks = 0;

  std::map<std::string, std::string, std::less<>> options; ///< of sbatch, with their values, that it has
  std::string launcher;                                    ///< empty: several, or unknown
  bool container = false;
  std::string image = {}; ///< container image; empty if there is none or it is unknown

  bool has(std::string_view option) const { return options.find(option) != options.end(); }
  /// The option's value; empty where it was not given or has none.
  std::string text(std::string_view option) const;
  /// What one node must offer, in MiB, however it is counted.
  std::uint64_t memory_of_node() const;
};

/// What a request says, its raw options of sbatch included, before anything is decided about it.
ResourceRequest demand_of(const model::JobSpec& job);
/// What a component of a script asks for.
ResourceRequest demand_of(const slurm::JobOptions& request, const slurm::JobSize& size);
/// The names in a feature expression.
std::vector<std::string> feature_names(const std::string& expression);

} // namespace hpcml::site_rules
