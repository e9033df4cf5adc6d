// SPDX-License-Identifier: MIT
#include "emulate/script_requirements.hpp"

#include <algorithm>

#include "core/model/script_provenance.hpp"
#include "core/site_rules/resource_request.hpp"
#include "core/slurm/job_reading.hpp"
#include "core/util/text.hpp"

namespace hpcml::emulate {

namespace {

std::uint64_t divide_up(std::uint64_t amount, std::uint64_t by) {
  return by == 0 ? 0 : (amount + by - 1) / by;
}

} // namespace

ScriptRequirements read_script_requirements(std::string_view script) {
  slurm::LocatedFindings ignored("", script);
  const auto job = slurm::read_job(script, slurm::k_newest_version, ignored);
  ScriptRequirements request;
  if (const auto head = model::find_script_head(script.substr(0, job.header.end))) request.site = head->site;
  request.nodes = 0;
  for (std::size_t i = 0; i < job.requests.size(); ++i) {
    const auto demand = site_rules::demand_of(job.requests[i], job.sizes[i]);
    request.nodes += demand.nodes;
    if (request.partition.empty() && !demand.partitions.empty())
      request.partition = demand.partitions.front();
    request.appends = request.appends || job.requests[i].text("open-mode").starts_with("a");
    if (demand.nodes_given) continue;
    request.nodes_given = false;
    request.gpus += demand.gpus_in_all;
    request.cpus += static_cast<std::uint64_t>(std::max(1L, job.sizes[i].cpus));
  }
  request.nodes = std::max(1U, request.nodes);
  return request;
}

unsigned count_needed_nodes(const ScriptRequirements& request, const model::NodeType& type) {
  if (request.nodes_given) return request.nodes;
  const auto by_gpus = divide_up(request.gpus, type.gpu ? type.gpu->per_node : 0);
  const auto by_cpus = divide_up(request.cpus, type.cpu.all().size());
  return static_cast<unsigned>(
      std::min<std::uint64_t>(std::max({std::uint64_t{request.nodes}, by_gpus, by_cpus}), 1U << 16U));
}

} // namespace hpcml::emulate
