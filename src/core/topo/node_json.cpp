// SPDX-License-Identifier: MIT
// Nodes from JSON: every finding at once.
#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/topo/read_node.hpp"
#include "core/util/text.hpp"

namespace hpcml::topo {
namespace {

using Json = nlohmann::json;
using model::IdSet;

class NodeReader {
public:
  explicit NodeReader(const Json& root) : x_root(root) {}

  Node read() {
    x_node.name = text(x_root, "", "name", text(x_root, "", "machine", ""));
    x_node.cpus.sockets = number(x_root, "", "sockets").value_or(0);
    x_node.cpus.numa = domains("numa");
    x_node.cpus.l3 = domains("l3");
    x_node.cpus.packages = domains("packages");
    read_cores();
    x_node.cpus.reserved = list(x_root, "", "reserved");
    x_node.allowed = list(x_root, "", "allowed");
    read_memory();
    read_gpus();
    read_nics();
    read_links();
    note_unknown_keys();
    return std::move(x_node);
  }
  const std::vector<std::string>& findings() const { return x_findings; }

private:
  void report(const std::string& where, const std::string& what) {
    x_findings.push_back(fmt::format("'{}' in the topology file {}", where, what));
  }

  static std::string join(const std::string& path, const std::string& key) {
    return path.empty() ? key : path + "." + key;
  }

  std::string text(const Json& object, const std::string& path, const char* key, std::string fallback) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return fallback;
    if (found->is_string()) return found->get<std::string>();
    report(join(path, key), "must be a string in double quotes");
    return fallback;
  }

  std::optional<unsigned> number(const Json& object, const std::string& path, const char* key) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return std::nullopt;
    if (found->is_number_unsigned() && found->get<unsigned long long>() <= 65535)
      return found->get<unsigned>();
    if (*found == -1 && &object != &x_root)
      return std::nullopt; // as the kernel says "unknown" of a device's place
    report(join(path, key), "must be a number from 0 to 65535");
    return std::nullopt;
  }

  /// "0-7,9", or the start of a text that continues in words: "0-7 (absent from the export)".
  IdSet list(const Json& object, const std::string& path, const char* key) {
    const std::string value = text(object, path, key, "");
    if (value == "none") return {};
    return parse_list(join(path, key), value.substr(0, value.find(' ')));
  }

  IdSet parse_list(const std::string& where, const std::string& value) {
    auto set = IdSet::parse_list(value);
    if (set) return *set;
    report(where, fmt::format("is not a list of CPUs: {}", set.error().what));
    return {};
  }

  void each(const char* key,
            const std::function<void(const std::string&, const std::string&, const Json&)>& take) {
    const auto found = x_root.find(key);
    if (found == x_root.end() || found->is_null()) return;
    if (!found->is_object()) return report(key, "must be a JSON object");
    for (const auto& [name, value] : found->items()) take(join(key, name), name, value);
  }

  std::optional<unsigned> id_of(const std::string& where, const std::string& name) {
    const auto id = util::parse_unsigned(name);
    if (id && *id <= 65535) return static_cast<unsigned>(*id);
    report(where, fmt::format("must have a number from 0 to 65535 as its key, not '{}'", name));
    return std::nullopt;
  }

  std::vector<model::CpuDomain> domains(const char* key) {
    std::vector<model::CpuDomain> found;
    each(key, [&](const std::string& where, const std::string& name, const Json& value) {
      const auto id = id_of(where, name);
      const Json& cpus = value.is_object() && value.contains("cpus") ? value.at("cpus") : value;
      if (!cpus.is_string()) return report(where, "must be a list of CPUs such as \"0-7,64-71\"");
      if (id) found.push_back({*id, parse_list(where, cpus.get<std::string>())});
    });
    return found;
  }

  void read_cores() {
    constexpr const char* k_core_lists = "must be a list of CPU lists such as [\"0,64\", \"1,65\"]";
    model::CpuShape& shape = x_node.cpus;
    if (const auto field = x_root.find("core_threads"); field != x_root.end()) {
      if (!field->is_array()) return report("core_threads", k_core_lists);
      for (const auto& core : *field)
        if (core.is_string())
          shape.core_threads.push_back(parse_list("core_threads", core.get<std::string>()));
        else
          report("core_threads", k_core_lists);
      return;
    }
    const unsigned smt = number(x_root, "", "smt").value_or(1);
    const unsigned cores = number(x_root, "", "cores").value_or(0);
    IdSet cpus;
    for (const auto* level : {&shape.numa, &shape.l3, &shape.packages})
      for (const auto& domain : *level) cpus = cpus | domain.cpus;
    if (cpus.empty() && cores > 0) cpus = IdSet::range(0, cores * std::max(1u, smt) - 1);
    if (smt == 0 || smt > 16) return report("smt", "must be from 1 to 16 hardware threads per core");
    make_cores(cpus, smt, stride(smt, cores, cpus));
    if (cores > 0 && shape.core_threads.size() != cores)
      x_node.notes.push_back(fmt::format("'cores' in the topology file is {}, but its CPU lists have {} "
                                         "cores with {} each: hpcml uses the lists",
                                         cores, shape.core_threads.size(),
                                         util::counted(smt, "hardware thread")));
  }

  /// Distance of a core's hardware threads; 0: they are neighbours.
  unsigned stride(unsigned smt, unsigned cores, const IdSet& cpus) {
    const std::string rule = text(x_root, "", "smt_sibling", "");
    if (smt == 1) return 0;
    if (rule.starts_with("n+")) {
      const auto distance = util::parse_unsigned(rule.substr(2));
      if (distance && *distance > 0 && *distance <= 65535) return static_cast<unsigned>(*distance);
      report("smt_sibling", fmt::format("must be n+NUMBER with a number from 1 to 65535, not '{}'", rule));
    } else if (rule == "adjacent" || rule.starts_with(std::to_string(smt) + "k")) { // "2k,2k+1"
      return 0;
    } else if (!rule.empty()) {
      report("smt_sibling", fmt::format("must be \"n+NUMBER\" or \"adjacent\", not '{}'", rule));
    }
    // Without a rule: the usual Linux numbering where every domain is closed under it, else neighbours
    // (POWER).
    if (cores == 0 || !(cpus == IdSet::range(0, cores * smt - 1))) return 0;
    for (const auto* level : {&x_node.cpus.numa, &x_node.cpus.l3, &x_node.cpus.packages})
      for (const auto& domain : *level)
        for (unsigned cpu : domain.cpus.ids())
          if (!domain.cpus.contains((cpu + cores) % (cores * smt))) return 0;
    return cores;
  }

  void make_cores(const IdSet& cpus, unsigned smt, unsigned distance) {
    model::CpuShape& shape = x_node.cpus;
    IdSet seen;
    const std::vector<unsigned> ids = cpus.ids();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (seen.contains(ids[i])) continue;
      IdSet core;
      for (unsigned t = 0; t < smt; ++t) {
        const std::size_t next = i + t;
        const unsigned id = distance ? ids[i] + t * distance : next < ids.size() ? ids[next] : ids[i];
        if (id <= 65535) core.add(id);
      }
      // Lists that omit the siblings mean whole cores anyway.
      for (auto* level : {&shape.numa, &shape.l3, &shape.packages})
        for (auto& domain : *level)
          if (domain.cpus.contains(ids[i])) domain.cpus = domain.cpus | core;
      seen = seen | core;
      shape.core_threads.push_back(std::move(core));
    }
  }

  void read_memory() {
    IdSet device = list(x_root, "", "gpu_memory_numa");
    for (const auto& domain : x_node.cpus.numa)
      if (!domain.cpus.empty())
        x_node.numa.push_back({domain.id, domain.cpus, NumaMemoryOwner::cpu});
      else
        device.add(domain.id);
    auto& numa = x_node.cpus.numa;
    numa.erase(std::remove_if(numa.begin(), numa.end(), [](const auto& d) { return d.cpus.empty(); }),
               numa.end());
    const IdSet bare = list(x_root, "", "numa_without_memory");
    for (NumaNode& node : x_node.numa)
      if (bare.contains(node.id)) node.kind = NumaMemoryOwner::none;
    for (unsigned id : device.ids()) x_node.numa.push_back({id, {}, NumaMemoryOwner::device});
  }

  std::vector<std::string> path(const Json& value, const std::string& where) {
    std::vector<std::string> bridges;
    const auto found = value.find("path");
    if (found == value.end()) return bridges;
    if (!found->is_array())
      return report(join(where, "path"), "must be a list of names of PCI bridges"), bridges;
    for (const auto& bridge : *found)
      if (bridge.is_string()) bridges.push_back(bridge.get<std::string>());
    return bridges;
  }

  void read_gpus() {
    each("gpu", [&](const std::string& where, const std::string& name, const Json& value) {
      const auto id = id_of(where, name);
      if (!value.is_object()) return report(where, "must be a JSON object of a GPU");
      Gpu gpu;
      gpu.place.index = id.value_or(0);
      gpu.place.pci = text(value, where, "pci", "");
      gpu.place.numa = number(value, where, "numa");
      gpu.place.l3 = number(value, where, "l3");
      gpu.place.package = number(value, where, "package");
      gpu.place.nic = text(value, where, "nic", "");
      gpu.partition = number(value, where, "partition").value_or(0);
      gpu.uuid = text(value, where, "uuid", "");
      gpu.cpus = list(value, where, "cpus");
      gpu.memory_numa = number(value, where, "gpu_memory_numa");
      gpu.path = path(value, where);
      if (gpu.memory_numa) x_node.numa.push_back({*gpu.memory_numa, {}, NumaMemoryOwner::device});
      x_node.gpus.push_back(std::move(gpu));
    });
    std::stable_sort(x_node.gpus.begin(), x_node.gpus.end(),
                     [](const Gpu& a, const Gpu& b) { return a.place.index < b.place.index; });
  }

  void read_nics() {
    each("nic", [&](const std::string& where, const std::string& name, const Json& value) {
      if (!value.is_object()) return report(where, "must be a JSON object of a NIC");
      Nic nic;
      nic.name = name;
      nic.pci = text(value, where, "pci", "");
      nic.numa = number(value, where, "numa");
      nic.l3 = number(value, where, "l3");
      nic.package = number(value, where, "package");
      const auto eth = value.find("eth");
      nic.management = eth != value.end() && eth->is_boolean() && eth->get<bool>();
      nic.path = path(value, where);
      x_node.nics.push_back(std::move(nic));
    });
  }

  /// [[0, 1, 4], [0, 2]]: two GPUs and how wide their link is.
  void read_links() {
    const auto links = x_root.find("links");
    if (links == x_root.end() || links->is_null()) return;
    if (!links->is_array())
      return report("links", "must be a list of GPU pairs and widths such as [[0, 1, 4], [1, 2, 1]]");
    for (std::size_t i = 0; i < links->size(); ++i) {
      const Json& link = (*links)[i];
      bool good = link.is_array() && (link.size() == 2 || link.size() == 3);
      for (std::size_t k = 0; good && k < link.size(); ++k)
        good = link[k].is_number_unsigned() && link[k].get<unsigned long long>() <= 4'000'000'000ull;
      if (good)
        x_node.links.push_back({link[0].get<unsigned>(), link[1].get<unsigned>(),
                                link.size() == 3 ? std::max(1u, link[2].get<unsigned>()) : 1u});
      else
        report(fmt::format("links[{}]", i), "must be two GPUs and a width, such as [0, 1, 4]");
    }
  }

  /// Notes keys that are not read: most of them are misspelt.
  void note_unknown_keys() {
    static const std::vector<std::string> known = {"name",
                                                   "machine",
                                                   "sockets",
                                                   "cores",
                                                   "smt",
                                                   "smt_sibling",
                                                   "core_threads",
                                                   "packages",
                                                   "numa",
                                                   "l3",
                                                   "gpu",
                                                   "nic",
                                                   "links",
                                                   "reserved",
                                                   "allowed",
                                                   "gpu_memory_numa",
                                                   "numa_without_memory"};
    for (const auto& [key, value] : x_root.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) continue;
      const auto near = util::nearest(key, known);
      x_node.notes.push_back(
          near ? fmt::format(
                     "hpcml ignores the unknown key '{}' in the topology file; use '{}' if that is meant",
                     key, *near)
               : fmt::format("hpcml ignores the unknown key '{}' in the topology file; remove it", key));
    }
  }

  const Json& x_root;
  Node x_node;
  std::vector<std::string> x_findings;
};

} // namespace

util::Result<Node> parse_node_json(std::string_view text) {
  Json root;
  try {
    root = Json::parse(text);
  } catch (const Json::parse_error& error) {
    return util::Error{
        fmt::format("the topology file is not valid JSON: its text is incomplete or invalid at byte {}",
                    error.byte),
        "check the brackets, quotes and commas before this byte", error.byte};
  }
  if (!root.is_object())
    return util::Error{
        "the topology file must contain one JSON object that describes a node: { \"cores\": …, \"numa\": … }",
        "run hpcml affinity --help to see the keys of a node"};
  NodeReader reader(root);
  Node node = reader.read();
  std::vector<std::string> findings = reader.findings();
  complete_node(node);
  for (auto& finding : check_node(node)) findings.push_back(std::move(finding));
  if (findings.empty()) return node;
  return util::Error{util::join(findings, "\n"), "run hpcml affinity --help to see the keys of a node"};
}

} // namespace hpcml::topo
