// SPDX-License-Identifier: MIT
// Completing and checking nodes, whatever they were read from.
#include "core/topo/node.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <tuple>

#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

using model::CpuDomain;
using model::IdSet;

/// The only domain that holds all of `cpus`.
std::optional<unsigned> domain_around(const std::vector<CpuDomain>& domains, const IdSet& cpus) {
  if (cpus.empty()) return std::nullopt;
  for (const CpuDomain& domain : domains)
    if (cpus.is_subset_of(domain.cpus)) return domain.id;
  return std::nullopt;
}

/// Outer levels follow from inner ones, and from the CPUs that the source calls local.
void complete_place(const model::CpuShape& shape, const IdSet& local, std::optional<unsigned>& l3,
                    std::optional<unsigned>& numa, std::optional<unsigned>& package) {
  IdSet known = local;
  if (l3)
    if (const CpuDomain* domain = find_domain(shape.l3, *l3)) known = domain->cpus;
  if (!numa) numa = domain_around(shape.numa, known);
  if (numa && known.empty())
    if (const CpuDomain* domain = find_domain(shape.numa, *numa)) known = domain->cpus;
  if (!package) package = domain_around(shape.packages, known);
  // On a node with one package everything is under it; a package that is one NUMA node is both.
  if (!package && known.empty() && shape.packages.size() == 1) package = shape.packages.front().id;
  if (package && !numa)
    if (const CpuDomain* domain = find_domain(shape.packages, *package))
      numa = domain_around(shape.numa, domain->cpus);
}

/// Packages as equal runs of NUMA nodes where only their number is known.
void complete_packages(model::CpuShape& shape) {
  if (!shape.packages.empty() || shape.sockets == 0) return;
  const std::size_t count = shape.sockets;
  if (count == 1) {
    shape.packages.push_back({0, shape.all()});
  } else if (!shape.numa.empty() && shape.numa.size() % count == 0) {
    const std::size_t width = shape.numa.size() / count;
    for (std::size_t p = 0; p < count; ++p) {
      CpuDomain package{static_cast<unsigned>(p), {}};
      for (std::size_t i = p * width; i < (p + 1) * width; ++i)
        package.cpus = package.cpus | shape.numa[i].cpus;
      shape.packages.push_back(std::move(package));
    }
  }
}

/// Digits count as numbers: mlx5_2 is before mlx5_10.
bool natural_less(const std::string& a, const std::string& b) {
  const auto key = [](const std::string& text) {
    std::vector<std::pair<std::string, unsigned long long>> parts;
    for (std::size_t i = 0; i < text.size();) {
      std::string word, digits;
      while (i < text.size() && (text[i] < '0' || text[i] > '9')) word += text[i++];
      while (i < text.size() && text[i] >= '0' && text[i] <= '9') digits += text[i++];
      parts.emplace_back(word, util::parse_unsigned(digits).value_or(0));
    }
    return parts;
  };
  return std::make_tuple(key(a), a) < std::make_tuple(key(b), b);
}

void check_place(const Node& node, const std::string& who, const std::optional<unsigned>& l3,
                 const std::optional<unsigned>& numa, std::vector<std::string>& findings) {
  if (numa && !node.cpus.numa.empty() && !find_domain(node.cpus.numa, *numa))
    findings.push_back(fmt::format(
        "{0} is under NUMA {1}, which the topology file does not define; add NUMA {1}, or change {0}", who,
        *numa));
  if (l3 && !node.cpus.l3.empty() && !find_domain(node.cpus.l3, *l3))
    findings.push_back(fmt::format(
        "{0} is under L3 {1}, which the topology file does not define; add L3 {1}, or change {0}", who, *l3));
}

void check_cpus(const Node& node, std::vector<std::string>& findings) {
  IdSet seen;
  for (const IdSet& core : node.cpus.core_threads) {
    if (core.intersects(seen))
      findings.push_back(
          fmt::format("CPU {} is in two cores of the topology file; remove it from one of them",
                      (core & seen).to_list()));
    seen = seen | core;
  }
  const auto check_level = [&](const char* name, const std::vector<CpuDomain>& domains) {
    IdSet level;
    for (const CpuDomain& domain : domains) {
      const std::string who = std::string(name) + " " + std::to_string(domain.id);
      if (const IdSet twice = domain.cpus & level; !twice.empty())
        findings.push_back(
            fmt::format("CPU {} is both in {} and in another {} of the topology file; remove it from one",
                        twice.to_list(), who, name));
      if (const IdSet unknown = domain.cpus - seen; !unknown.empty())
        findings.push_back(fmt::format(
            "{} has CPU {}, which is in no core of the topology file; add the core, or remove the CPU", who,
            unknown.to_list()));
      level = level | domain.cpus;
    }
  };
  check_level("NUMA", node.cpus.numa);
  check_level("L3", node.cpus.l3);
  check_level("package", node.cpus.packages);
}

} // namespace

const model::CpuDomain* find_domain(const std::vector<model::CpuDomain>& domains, unsigned id) {
  for (const model::CpuDomain& domain : domains)
    if (domain.id == id) return &domain;
  return nullptr;
}

Node make_node(const model::NodeType& type) {
  Node node;
  node.name = type.id;
  node.cpus = type.cpu;
  if (type.gpu) {
    for (const model::GpuLocality& place : type.gpu->places) {
      Gpu gpu;
      gpu.place = place;
      node.gpus.push_back(std::move(gpu));
    }
    // Without a map the number of GPUs is still known.
    for (auto index = static_cast<unsigned>(node.gpus.size()); index < type.gpu->per_node; ++index) {
      Gpu gpu;
      gpu.place.index = index;
      node.gpus.push_back(std::move(gpu));
    }
  }
  for (const std::string& name : type.interfaces) {
    Nic nic;
    nic.name = name;
    node.nics.push_back(std::move(nic));
  }
  complete_node(node);
  // A NIC that the profile calls nearest to GPUs of one NUMA node hangs there as well.
  for (Nic& nic : node.nics) {
    const auto first = std::find_if(node.gpus.begin(), node.gpus.end(),
                                    [&](const Gpu& gpu) { return gpu.place.nic == nic.name; });
    if (first == node.gpus.end()) continue;
    const bool is_single = std::all_of(node.gpus.begin(), node.gpus.end(), [&](const Gpu& gpu) {
      return gpu.place.nic != nic.name || gpu.place.numa == first->place.numa;
    });
    if (is_single) nic.numa = first->place.numa;
    nic.package = first->place.package;
  }
  return node;
}

void complete_node(Node& node) {
  model::CpuShape& shape = node.cpus;
  const auto by_id = [](const auto& a, const auto& b) { return a.id < b.id; };
  for (auto* level : {&shape.numa, &shape.l3, &shape.packages})
    std::stable_sort(level->begin(), level->end(), by_id);
  shape.cores = static_cast<unsigned>(shape.core_threads.size());
  for (const IdSet& core : shape.core_threads)
    shape.threads_per_core = std::max(shape.threads_per_core, static_cast<unsigned>(core.size()));
  complete_packages(shape);
  if (shape.sockets == 0) shape.sockets = static_cast<unsigned>(shape.packages.size());
  if (node.numa.empty())
    for (const CpuDomain& domain : shape.numa)
      node.numa.push_back({domain.id, domain.cpus, NumaMemoryOwner::cpu});
  std::stable_sort(node.numa.begin(), node.numa.end(), by_id);
  for (Gpu& gpu : node.gpus) {
    complete_place(shape, gpu.cpus, gpu.place.l3, gpu.place.numa, gpu.place.package);
    gpu.place.pci = util::to_lower(gpu.place.pci);
  }
  // Both ends describe a link, some sources both times.
  std::map<std::pair<unsigned, unsigned>, unsigned> widths;
  for (const GpuLink& link : node.links)
    if (link.first != link.second) {
      unsigned& width = widths[std::minmax(link.first, link.second)];
      width = std::max(width, link.width);
    }
  node.links.clear();
  for (const auto& [ends, width] : widths) node.links.push_back({ends.first, ends.second, width});
  for (Nic& nic : node.nics) complete_place(shape, {}, nic.l3, nic.numa, nic.package);
  std::stable_sort(node.nics.begin(), node.nics.end(),
                   [](const Nic& a, const Nic& b) { return natural_less(a.name, b.name); });
}

std::vector<std::string> check_node(const Node& node) {
  std::vector<std::string> findings;
  check_cpus(node, findings);
  if (const IdSet unknown = node.allowed - node.cpus.all(); !unknown.empty() && !node.cpus.all().empty())
    findings.push_back(
        fmt::format("the topology file allows CPU {}, which is in no core; add the core, or remove the CPU",
                    unknown.to_list()));
  std::map<unsigned, unsigned> indices;
  for (const Gpu& gpu : node.gpus) {
    const std::string who = "GPU " + std::to_string(gpu.place.index);
    check_place(node, who, gpu.place.l3, gpu.place.numa, findings);
    if (++indices[gpu.place.index] == 2) findings.push_back(fmt::format("{} appears twice", who));
  }
  for (const GpuLink& link : node.links)
    for (const unsigned end : {link.first, link.second})
      if (indices.count(end) == 0)
        findings.push_back(fmt::format("a link of the topology file ends at GPU {0}, which is not defined; "
                                       "add GPU {0}, or remove the link",
                                       end));
  for (const Nic& nic : node.nics) check_place(node, "NIC " + nic.name, nic.l3, nic.numa, findings);
  return findings;
}

std::string pci_bus(const std::string& address) {
  const std::vector<std::string> parts = util::split(address, ':');
  return parts.size() >= 2 ? parts[parts.size() - 2] : address;
}

bool pci_matches(const std::string& address, const std::string& wanted) {
  const std::string have = util::to_lower(address), want = util::to_lower(wanted);
  if (want.empty() || have.empty()) return false;
  if (have == want || (want.find(':') == std::string::npos && pci_bus(have) == want)) return true;
  return have.size() > want.size() + 1 && have.find(':') == 4 && have.substr(5) == want;
}

} // namespace hpcml::topo
