// SPDX-License-Identifier: MIT
// What the networks that were read amount to, and what to do where it is the wrong one.
#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "diagnose/joblog/networks.hpp"

namespace hpcml::joblog {

namespace {

/// What takes NCCL onto a fabric, by how the profile calls it.
NetworkTransport wanted_on(const std::string& fabric) {
  const auto name = util::to_lower(fabric);
  if (holds(name, "slingshot") || holds(name, "omni-path") || holds(name, "omnipath") || holds(name, "efa"))
    return NetworkTransport::libfabric;
  if (holds(name, "infiniband") || holds(name, "roce")) return NetworkTransport::infiniband;
  return NetworkTransport::unknown;
}

std::string describe(const ProcessNetwork& process) {
  const auto carrier = carrier_of(process);
  const auto plugin = process.plugin.empty() ? std::string() : fmt::format(" ({})", process.plugin);
  switch (carrier) {
  case NetworkTransport::sockets:
    return process.provider.empty() || process.network.starts_with("Socket")
               ? "TCP sockets"
               : fmt::format("TCP, by libfabric provider {}{}", process.provider, plugin);
  case NetworkTransport::infiniband:
    return fmt::format("InfiniBand or RoCE ({})", process.network.empty() ? "IB" : process.network);
  case NetworkTransport::libfabric:
    return fmt::format("libfabric, provider {}{}", process.provider.empty() ? "unknown" : process.provider,
                       plugin);
  case NetworkTransport::plugin: return fmt::format("network plugin {}", process.network);
  case NetworkTransport::unknown: break;
  }
  return "unknown";
}

/// The lines that show why the group is what it is, by line.
std::vector<NetworkEvidence> evidence_of(const ProcessNetwork& process) {
  std::vector<NetworkEvidence> list;
  for (const auto& [what, evidence] : process.evidence) {
    const bool beside_point = process.evidence.count("network") == 1 &&
                              carrier_of(process) == NetworkTransport::sockets &&
                              (what == "ib" || what == "plugin");
    if (!beside_point) list.push_back(evidence);
  }
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  return list;
}

std::vector<std::string> next_steps(const NetworkGroup& group, NetworkTransport wanted) {
  std::vector<std::string> steps;
  const auto seen = [&](NetworkObstacle what) { return group.obstacles.count(what) == 1; };
  if (seen(NetworkObstacle::switched_off))
    steps.emplace_back("remove NCCL_IB_DISABLE, NCCL_NET and NCCL_NET_PLUGIN from the job and the image: one "
                       "of them disables "
                       "the high-speed network");
  if (wanted != NetworkTransport::infiniband && seen(NetworkObstacle::no_plugin))
    steps.emplace_back("use the site's module or an image with the plugin for libfabric, or add the "
                       "directory of libnccl-net.so "
                       "(librccl-net.so) to LD_LIBRARY_PATH: the plugin was not found");
  if (seen(NetworkObstacle::plugin_failed))
    steps.emplace_back(
        "use the host's libfabric with the provider of this network (on Slingshot, bind /opt/cray and libcxi "
        "into the image): the plugin did not start, and FI_LOG_LEVEL=warn prints why");
  if (seen(NetworkObstacle::no_verbs_library))
    steps.emplace_back(
        "add rdma-core (libibverbs1, ibverbs-providers) to the image: libibverbs.so.1 is missing");
  if (wanted != NetworkTransport::libfabric && seen(NetworkObstacle::no_device))
    steps.emplace_back(
        "add /dev/infiniband to the container, and set NCCL_IB_HCA to devices in /sys/class/infiniband: no "
        "InfiniBand device was found");
  if (steps.empty() && wanted == NetworkTransport::libfabric)
    steps.emplace_back(
        "use the plugin aws-ofi-nccl (aws-ofi-rccl) from the site's module or image: NCCL has no built-in "
        "support for this network");
  if (steps.empty())
    steps.emplace_back(
        "run with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET: the lines before \"Using network\" show "
        "what was tried");
  return steps;
}

void evaluate(NetworkGroup& group, const NetworkReport& report, const SiteNetwork& site) {
  if (!report.several_nodes || group.carrier != NetworkTransport::sockets) return;
  const auto wanted = wanted_on(site.fabric);
  if (!site.name.empty() && wanted == NetworkTransport::unknown) return; // nothing faster is known there
  group.warning = site.name.empty()
                      ? "traffic between nodes uses TCP, which is right only without a high-speed network "
                        "(check with --site SITE)"
                      : fmt::format("traffic between nodes uses TCP, but {} has {}", site.name, site.fabric);
  group.next = next_steps(group, wanted);
}

void add(NetworkGroup& group, const ProcessNetwork& process) {
  if (group.processes == 0) group.evidence = evidence_of(process);
  ++group.processes;
  if (!process.host.empty()) group.hosts.insert(process.host);
  if (process.rank) group.ranks.insert(*process.rank);
  for (const auto& [what, evidence] : process.obstacles) group.obstacles.try_emplace(what, evidence);
}

} // namespace

bool NetworkReport::is_bad() const {
  return std::any_of(groups.begin(), groups.end(), [](const auto& group) { return !group.warning.empty(); });
}

NetworkReport evaluate_networks(const NetworkReader& reader, const SiteNetwork& site) {
  NetworkReport report;
  report.complete = !reader.overflowed();
  std::map<std::string, std::size_t> places;
  std::set<std::string> hosts;
  for (const auto& process : reader.processes()) {
    if (!process.host.empty()) hosts.insert(process.host);
    report.several_nodes = report.several_nodes || process.nodes > 1;
    const auto carrier = carrier_of(process);
    if (carrier == NetworkTransport::unknown && process.obstacles.empty()) continue; // other lines of NCCL
    ++report.processes;
    const auto how = describe(process);
    const auto [place, is_new] = places.try_emplace(how, report.groups.size());
    if (is_new) {
      report.groups.emplace_back();
      report.groups.back().carrier = carrier;
      report.groups.back().how = how;
    }
    add(report.groups[place->second], process);
  }
  report.hosts = hosts.size();
  report.several_nodes = report.several_nodes || hosts.size() > 1;
  for (auto& group : report.groups) evaluate(group, report, site);
  std::stable_sort(report.groups.begin(), report.groups.end(),
                   [](const auto& a, const auto& b) { return a.warning.empty() < b.warning.empty(); });
  return report;
}

} // namespace hpcml::joblog
