// SPDX-License-Identifier: MIT
#include "core/slurm/possible.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string>

#include "core/model/hostlist.hpp"
#include "core/slurm/gres_check.hpp"
#include "core/util/text.hpp"

namespace hpcml::slurm {
namespace {

std::vector<std::string> names_of(const JobOptions& request, std::string_view option) {
  const auto list = model::Hostlist::parse(hostlist_text(request.text(option)));
  return list ? list->names() : std::vector<std::string>();
}

/// What the controller learns from sbatch, with what follows from GPUs.
JobDescriptorCounts count_with_gpus(const JobOptions& r, ComparisonTrackingVersion version) {
  JobDescriptorCounts sent = count_sent(r, version);
  (void)check_gres(r, version, sent);
  return sent;
}

/// The fewest nodes that --nodes asks for; not more than there are tasks.
long least_nodes(const JobOptions& r) {
  return r.has("ntasks") ? std::min(r.nodes->min, r.count("ntasks")) : r.nodes->min;
}

void check_nodelist(const JobOptions& r, ComparisonTrackingVersion version, LocatedFindings& findings) {
  const auto wanted = names_of(r, "nodelist");
  const auto refuse = [&](std::string message, std::string hint) {
    findings.error(r.place("nodelist"), "slurm/impossible", std::move(message), std::move(hint));
  };
  if (wanted.empty()) return;
  const std::set<std::string> distinct(wanted.begin(), wanted.end());
  if (has_choice(r, version)) {
    const auto without = names_of(r, "exclude");
    const auto left = std::count_if(distinct.begin(), distinct.end(), [&](const std::string& name) {
      return std::find(without.begin(), without.end(), name) == without.end();
    });
    if (left < least_nodes(r) && version >= Version::v23_11)
      refuse(fmt::format("--exclude leaves only {} of the nodes in --nodelist, but the job needs {}", left,
                         least_nodes(r)),
             "remove nodes from --exclude, or add nodes to --nodelist");
    return;
  }
  for (const auto& name : names_of(r, "exclude"))
    if (distinct.count(name) > 0)
      return refuse(fmt::format("node '{}' is in both --nodelist and --exclude", name),
                    "remove it from one of the two options");
  if (!r.nodes || version >= Version::v23_02) return;
  const auto count = static_cast<long>(version == Version::v20_11 ? wanted.size() : distinct.size());
  if (r.nodes->max > 0 && count > r.nodes->max)
    refuse(fmt::format("--nodelist names {} nodes, which exceeds --nodes ({})", count, r.nodes->max),
           "use a higher --nodes, or remove nodes from --nodelist");
}

} // namespace

bool has_choice(const JobOptions& r, ComparisonTrackingVersion version) {
  return r.nodes && least_nodes(r) < listed_nodes(r) && version >= Version::v23_02;
}

bool exceeds_places(const JobOptions& request, const JobSize& size, long nodes,
                    ComparisonTrackingVersion version) {
  const bool limited = request.has("ntasks") &&
                       (request.has("ntasks-per-node") || (size.tasks_per_node > 0 && size.nodes_given));
  // 26.05 no longer proves it for one node.
  return limited && size.tasks > nodes * size.tasks_per_node &&
         !(size.max_nodes == 1 && version >= Version::v26_05);
}

void check_no_nodes(const JobOptions& r, ComparisonTrackingVersion version, LocatedFindings& findings) {
  if (!r.nodes || r.nodes->max != 0 || r.nodes->min != 0) return;
  const auto sent = count_with_gpus(r, version);
  // A job that spreads and has tasks has a node for them, in 26.05 every one that has tasks.
  const bool counted_later = r.text("array").empty() && sent.tasks.value_or(0) > 0 &&
                             (r.has("spread-job") || version >= Version::v26_05);
  const bool by_names = !names_of(r, "nodelist").empty() && version < Version::v23_02;
  const bool by_gpus = sent.min_nodes.value_or(0) > 0;
  if (!counted_later && !by_names && !by_gpus)
    findings.error(r.place("nodes"), "slurm/impossible", "--nodes requests 0 nodes, which sbatch rejects",
                   "use --nodes=1 or more");
}

void check_contradictions(const JobOptions& r, const JobSize& s, ComparisonTrackingVersion version,
                          LocatedFindings& findings) {
  check_nodelist(r, version, findings);
  const auto refuse = [&](std::string_view option, std::string message, std::string hint) {
    findings.error(r.place(option), "slurm/impossible", std::move(message), std::move(hint));
  };
  if (r.nodes && r.nodes->min == 0 && s.min_nodes == 0 && !r.text("array").empty())
    refuse("nodes", "--nodes has a minimum of 0, which sbatch rejects for a job array",
           fmt::format("use a minimum of at least 1: --nodes=1-{}", std::max(1L, r.nodes->max)));
  if (r.has("extra-node-info") && s.tasks_known == 0 && !s.nodes_given &&
      (s.sockets_per_node < 0 || s.cores_per_socket < 0 || s.threads_per_core < 0))
    refuse("extra-node-info", "--extra-node-info requests 0 sockets, cores or threads, so no task can run",
           "use at least 1 for each number of --extra-node-info");
  if (util::to_lower(r.text("distribution")) == "arbitrary" && !r.has("nodelist") &&
      !(r.nodes && version == Version::v20_11))
    refuse("distribution", "--distribution=arbitrary needs --nodelist",
           "use --nodelist with one name for each task");
}

void check_possible(const JobOptions& r, const JobSize& s, ComparisonTrackingVersion version,
                    LocatedFindings& findings) {
  check_no_nodes(r, version, findings);
  check_contradictions(r, s, version, findings);
  if (r.has("hold") || s.max_nodes <= 0 || (r.has("nodelist") && !r.nodes) ||
      !exceeds_places(r, s, s.max_nodes, version))
    return;
  const auto needed = (s.tasks + s.tasks_per_node - 1) / s.tasks_per_node;
  findings.error(r.place("ntasks"), "slurm/impossible",
                 fmt::format("{} tasks (--ntasks) with at most {} per node need {} nodes, but the job has {}",
                             s.tasks, s.tasks_per_node, needed, s.max_nodes),
                 "remove --ntasks, which counts the whole job, or use a higher --nodes");
}

} // namespace hpcml::slurm
