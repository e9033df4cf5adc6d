// SPDX-License-Identifier: MIT
// What the networks that were read amount to, and what to do where it is the wrong one.
#include <algorithm>

#include "core/util/text.hpp"
#include "diagnose/joblog/networks.hpp"

namespace hpcml::joblog {

namespace {

/// What takes NCCL onto a fabric, by how the profile calls it.
Carrier wanted_on(const std::string& fabric) {
  const auto name = util::to_lower(fabric);
  if (holds(name, "slingshot") || holds(name, "omni-path") || holds(name, "omnipath") || holds(name, "efa"))
    return Carrier::libfabric;
  if (holds(name, "infiniband") || holds(name, "roce")) return Carrier::infiniband;
  return Carrier::unknown;
}

std::string describe(const ProcessNetwork& process) {
  const auto carrier = carrier_of(process);
  const auto plugin = process.plugin.empty() ? std::string() : " (" + process.plugin + ")";
  switch (carrier) {
  case Carrier::sockets:
    return process.provider.empty() || process.network.starts_with("Socket")
               ? "TCP sockets"
               : "TCP, by libfabric's provider " + process.provider + plugin;
  case Carrier::infiniband:
    return "InfiniBand or RoCE (" + (process.network.empty() ? std::string("IB") : process.network) + ")";
  case Carrier::libfabric:
    return process.provider.empty() ? "libfabric, its provider is not told" + plugin
                                    : "libfabric's provider " + process.provider + plugin;
  case Carrier::plugin: return "the network plugin " + process.network;
  case Carrier::unknown: break;
  }
  return "not told";
}

/// The lines that show why the group is what it is, by line.
std::vector<LogEvidence> evidence_of(const ProcessNetwork& process) {
  std::vector<LogEvidence> list;
  for (const auto& [what, evidence] : process.evidence) {
    const bool beside_point = process.evidence.count("network") == 1 &&
                              carrier_of(process) == Carrier::sockets && (what == "ib" || what == "plugin");
    if (!beside_point) list.push_back(evidence);
  }
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  return list;
}

std::vector<std::string> next_steps(const NetworkGroup& group, Carrier wanted) {
  std::vector<std::string> steps;
  const auto seen = [&](NetworkObstacle what) { return group.obstacles.count(what) == 1; };
  if (seen(NetworkObstacle::switched_off))
    steps.emplace_back(
        "a variable switches the fast network off: unset NCCL_IB_DISABLE, NCCL_NET and NCCL_NET_PLUGIN "
        "in the job and the image");
  if (wanted != Carrier::infiniband && seen(NetworkObstacle::no_plugin))
    steps.emplace_back(
        "the plugin for libfabric was not found: load the site's module of it, take an image that has it, "
        "or put the folder with libnccl-net.so (librccl-net.so) into LD_LIBRARY_PATH");
  if (seen(NetworkObstacle::plugin_failed))
    steps.emplace_back(
        "the plugin was found and did not start: its libfabric must be the host's, with the provider of "
        "this network (bind /opt/cray and libcxi into the image on Slingshot); FI_LOG_LEVEL=warn says at "
        "what it fails");
  if (seen(NetworkObstacle::no_verbs_library))
    steps.emplace_back(
        "libibverbs.so.1 is missing: an image needs rdma-core (libibverbs1, ibverbs-providers)");
  if (wanted != Carrier::libfabric && seen(NetworkObstacle::no_device))
    steps.emplace_back(
        "no device of InfiniBand was seen: /dev/infiniband must be in the container, and NCCL_IB_HCA name "
        "devices that the node has (ls /sys/class/infiniband)");
  if (steps.empty() && wanted == Carrier::libfabric)
    steps.emplace_back(
        "NCCL has no way of its own onto this network: it needs the plugin aws-ofi-nccl (aws-ofi-rccl), by "
        "the site's module or image");
  if (steps.empty())
    steps.emplace_back("run with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,NET: the lines before \"Using "
                       "network\" say what was tried");
  return steps;
}

void evaluate(NetworkGroup& group, const NetworkReport& report, const SiteNetwork& site) {
  if (!report.several_nodes || group.carrier != Carrier::sockets) return;
  const auto wanted = wanted_on(site.fabric);
  if (!site.name.empty() && wanted == Carrier::unknown) return; // nothing faster is known there
  group.warning = "the traffic between nodes goes over TCP";
  group.warning += site.name.empty()
                       ? ", which is right only where there is no faster network (--site SITE tells)"
                       : ", and " + site.name + " has " + site.fabric;
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
    if (carrier == Carrier::unknown && process.obstacles.empty()) continue; // other lines of NCCL
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
