// SPDX-License-Identifier: MIT
// The second step of the planner: which partition and which node type the job goes to.
#pragma once

#include <string>

#include "core/site_rules/limits.hpp"
#include "core/site_rules/placement.hpp"
#include "core/site_rules/site_text.hpp"
#include "generate/plan/plan_request.hpp"

namespace hpcml::plan {

/// What a MIG instance brings of its node to a request that does not count it.
struct MigRequestDefaults {
  model::Known<unsigned> gpus_per_node;
  model::Known<unsigned> cpus_per_task;
  model::Known<model::MemSize> mem;
};

/// Where a job goes. A script's follows from the request, a running job's from its script and the live node.
struct Placement {
  site_rules::ResolvedPlacement
      place; ///< its `facts` are those of the request; those of the job are the layout's
  std::string partition;
  std::string node_type;
  std::string gpu_type; ///< a MIG instance, or a type that the profile does not know; empty: the node type's
  std::string qos;      ///< the one that the job is known to have, named or not; empty: unknown
  model::GpuVendor gpu_vendor = model::GpuVendor::unknown;
  MigRequestDefaults mig_defaults = {};
};

/// Places the request.
PlanStepResult<Placement> plan_placement(const Request& request);

/// A request at its place, for the steps after it: what they may look at.
struct RequestWithPlacement {
  RequestWithPlacement(const Request& input_request, const Placement& at)
      : request(input_request), site(input_request.site), job(input_request.job), placement(at) {}

  const Request& request;
  const model::Site& site;
  const model::JobSpec& job;
  const Placement& placement;

  /// None where the site has none, or the request is wrong.
  const model::Partition* partition() const { return placement.place.partition(); }
  /// None where the site has none.
  const model::NodeType* node() const { return placement.place.node(); }
  /// The MIG instance that the job asks for.
  const model::MigInstanceType* slice() const { return placement.place.slice; }
  /// None where the profile does not describe the job's.
  const model::Qos* qos() const { return placement.place.qos; }
  /// By the partition: launch, which plans the same on the node, does not know of the job's own options.
  bool owns_nodes() const { return partition() && partition()->exclusive; }
  /// As the request has them, or a MIG instance brings them.
  const model::Known<unsigned>& gpus_per_node() const {
    return job.gpus_per_node ? job.gpus_per_node : placement.mig_defaults.gpus_per_node;
  }
  const model::Known<unsigned>& cpus_per_task() const {
    return job.cpus_per_task ? job.cpus_per_task : placement.mig_defaults.cpus_per_task;
  }
  const model::Known<model::MemSize>& mem() const { return job.mem ? job.mem : placement.mig_defaults.mem; }
  /// A limit of the job's QoS, or the partition's where the QoS states none.
  template <class T> const model::Known<T>& limit(model::Known<T> model::Limits::*which) const {
    return site_rules::limit_of(qos(), partition(), which);
  }
  /// What the limit is a limit of.
  template <class T> std::string limit_owner(model::Known<T> model::Limits::*which) const {
    return site_rules::limit_owner(site, qos(), partition(), which);
  }
};

} // namespace hpcml::plan
