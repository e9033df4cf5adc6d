// SPDX-License-Identifier: MIT
#include "emulate/sysfs_tree.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "emulate/task_status.hpp"

namespace hpcml::emulate {

namespace {

/// Writes many small files; keeps the first error.
class TreeWriter {
public:
  explicit TreeWriter(std::string root) : x_root(std::move(root)) {
    check(::mkdir(x_root.c_str(), 0755), x_root);
  }
  void directory(const std::string& path) {
    const std::string full = x_root + "/" + path;
    check(::mkdir(full.c_str(), 0755), full);
  }
  void link(const std::string& path, const std::string& target) {
    const std::string full = x_root + "/" + path;
    check(::symlink(target.c_str(), full.c_str()), full);
  }
  /// `text` gets the newline that every file in /sys ends with.
  void line(const std::string& path, const std::string& text) { file(path, text + "\n"); }
  void file(const std::string& path, const std::string& text) {
    const std::string full = x_root + "/" + path;
    const int fd = ::open(full.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0444);
    check(fd < 0 ? -1 : 0, full);
    if (fd < 0) return;
    check(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : -1, full);
    ::close(fd);
  }
  const std::string& root() const { return x_root; }
  bool failed() const { return !x_error.empty(); }
  util::Error error() const { return {x_error, {}}; }

private:
  void check(int result, const std::string& path) {
    if (result != 0 && x_error.empty() && errno != EEXIST)
      x_error = fmt::format("cannot write the emulated node's {}: {}", path, std::strerror(errno));
  }
  std::string x_root;
  std::string x_error;
};

/// Where each CPU belongs.
struct CpuPlace {
  unsigned core = 0;
  const model::CpuDomain* package = nullptr;
  const model::CpuDomain* numa = nullptr;
  const model::CpuDomain* l3 = nullptr;
};

const model::CpuDomain* find_domain(const std::vector<model::CpuDomain>& domains, unsigned cpu) {
  for (const auto& domain : domains)
    if (domain.cpus.contains(cpu)) return &domain;
  return nullptr;
}

/// A set as the two files NAME (mask) and NAME_list.
void write_set(TreeWriter& out, const std::string& path, const model::IdSet& ids, unsigned count,
               const std::string& list_name) {
  out.line(path, render_kernel_mask(ids, count));
  out.line(list_name, ids.to_list());
}

struct Cache {
  const char* index;
  const char* level;
  const char* type;
  const char* size;
  const char* ways;
  const char* sets;
};
constexpr Cache k_l1d{"index0", "1", "Data", "32K", "8", "64"};
constexpr Cache k_l1i{"index1", "1", "Instruction", "32K", "8", "64"};
constexpr Cache k_l2{"index2", "2", "Unified", "512K", "8", "1024"};
constexpr Cache k_l3{"index3", "3", "Unified", "32768K", "16", "32768"};

void write_cache(TreeWriter& out, const std::string& cpu, const Cache& cache, unsigned id,
                 const model::IdSet& shared, unsigned count) {
  const std::string at = cpu + "/cache/" + cache.index;
  out.directory(at);
  out.line(at + "/id", std::to_string(id));
  out.line(at + "/level", cache.level);
  out.line(at + "/type", cache.type);
  out.line(at + "/size", cache.size);
  out.line(at + "/ways_of_associativity", cache.ways);
  out.line(at + "/number_of_sets", cache.sets);
  out.line(at + "/coherency_line_size", "64");
  write_set(out, at + "/shared_cpu_map", shared, count, at + "/shared_cpu_list");
}

void write_topology(TreeWriter& out, const std::string& cpu, const model::CpuShape& shape,
                    const CpuPlace& place, unsigned count) {
  const std::string at = cpu + "/topology/";
  out.directory(cpu + "/topology");
  unsigned first_core = 0; // the kernel counts cores from 0 in each package
  while (!shape.core_threads[first_core].intersects(place.package->cpus)) ++first_core;
  out.line(at + "core_id", std::to_string(place.core - first_core));
  out.line(at + "physical_package_id", std::to_string(place.package->id));
  out.line(at + "die_id", "0");
  out.line(at + "cluster_id", "65535");
  const auto& threads = shape.core_threads[place.core];
  const auto& package = place.package->cpus;
  write_set(out, at + "thread_siblings", threads, count, at + "thread_siblings_list");
  write_set(out, at + "core_cpus", threads, count, at + "core_cpus_list");
  write_set(out, at + "core_siblings", package, count, at + "core_siblings_list");
  write_set(out, at + "package_cpus", package, count, at + "package_cpus_list");
  write_set(out, at + "die_cpus", package, count, at + "die_cpus_list");
}

void write_cpu_tree(TreeWriter& out, const model::CpuShape& shape, unsigned count) {
  const std::string all = shape.all().to_list();
  for (const char* name : {"online", "possible", "present"}) out.line(name, all);
  for (const char* name : {"offline", "isolated"}) out.line(name, "");
  out.line("kernel_max", "8191");
  out.directory("smt");
  out.line("smt/active", shape.threads_per_core > 1 ? "1" : "0");
  out.line("smt/control", shape.threads_per_core > 1 ? "on" : "notsupported");
  for (unsigned core = 0; core < shape.core_threads.size(); ++core) {
    const auto& threads = shape.core_threads[core];
    for (const unsigned id : threads.ids()) {
      const CpuPlace place{core, find_domain(shape.packages, id), find_domain(shape.numa, id),
                           find_domain(shape.l3, id)};
      const std::string cpu = "cpu" + std::to_string(id);
      out.directory(cpu);
      if (id != 0) out.line(cpu + "/online", "1");
      if (place.package) write_topology(out, cpu, shape, place, count);
      out.directory(cpu + "/cache");
      for (const auto* cache : {&k_l1d, &k_l1i, &k_l2}) write_cache(out, cpu, *cache, core, threads, count);
      if (place.l3) write_cache(out, cpu, k_l3, place.l3->id, place.l3->cpus, count);
      if (place.numa) {
        const std::string node = "node" + std::to_string(place.numa->id);
        out.link(cpu + "/" + node, "../../node/" + node);
      }
    }
  }
}

std::string render_distances(const model::CpuShape& shape, const model::CpuDomain& from) {
  std::string line;
  for (const auto& to : shape.numa) {
    const bool same_package = find_domain(shape.packages, from.cpus.empty() ? 0 : from.cpus.first()) ==
                              find_domain(shape.packages, to.cpus.empty() ? 0 : to.cpus.first());
    line += (line.empty() ? "" : " ") + std::string(to.id == from.id ? "10" : same_package ? "12" : "32");
  }
  return line;
}

void write_numa_tree(TreeWriter& out, const model::CpuShape& shape, unsigned long long mem_mib,
                     unsigned count) {
  model::IdSet nodes;
  for (const auto& domain : shape.numa) nodes.add(domain.id);
  for (const char* name : {"online", "possible", "has_cpu", "has_memory", "has_normal_memory"})
    out.line(name, nodes.to_list());
  const auto kib = mem_mib * 1024 / shape.numa.size();
  for (const auto& domain : shape.numa) {
    const std::string id = std::to_string(domain.id);
    const std::string node = "node" + id;
    out.directory(node);
    write_set(out, node + "/cpumap", domain.cpus, count, node + "/cpulist");
    out.line(node + "/distance", render_distances(shape, domain));
    const auto line = [&](const char* name, unsigned long long value) {
      return "Node " + id + " " + name + ": " + std::to_string(value) + " kB\n";
    };
    out.file(node + "/meminfo",
             line("MemTotal", kib) + line("MemFree", kib - kib / 16) + line("MemUsed", kib / 16));
    out.file(node + "/numastat",
             "numa_hit 0\nnuma_miss 0\nnuma_foreign 0\ninterleave_hit 0\nlocal_node 0\nother_node 0\n");
    for (const unsigned cpu : domain.cpus.ids())
      out.link(node + "/cpu" + std::to_string(cpu), "../../cpu/cpu" + std::to_string(cpu));
  }
}

unsigned long long host_mem_mib(const std::string& meminfo) {
  const auto at = meminfo.find("MemTotal:");
  return at == std::string::npos ? 1024 : std::strtoull(meminfo.c_str() + at + 9, nullptr, 10) / 1024;
}

} // namespace

util::Result<std::vector<GeneratedFileMount>>
write_node_view(const std::string& directory, const model::CpuShape& cpu, unsigned long long mem_mib) {
  const model::CpuShape shape = complete_shape(cpu);
  unsigned count = 0;
  for (const unsigned id : shape.all().ids()) count = id + 1;
  if (count == 0)
    return util::Error{
        "the site profile does not state the CPUs of the node type, so hpcml cannot emulate the node",
        "add \"cpu\" to the node type in the profile, or use another --partition"};
  const std::string host_memory = util::read_file("/proc/meminfo").value_or("");
  if (mem_mib == 0) mem_mib = host_mem_mib(host_memory);

  TreeWriter top(directory);
  top.file("cpuinfo", render_cpuinfo(shape, util::read_file("/proc/cpuinfo").value_or("")));
  top.file("meminfo", render_meminfo(host_memory, mem_mib));
  TreeWriter cpus(directory + "/cpu");
  write_cpu_tree(cpus, shape, count);
  TreeWriter nodes(directory + "/node");
  write_numa_tree(nodes, shape, mem_mib, count);
  TreeWriter bus_cpus(directory + "/bus_cpu");
  for (const unsigned id : shape.all().ids())
    bus_cpus.link("cpu" + std::to_string(id), "../../../devices/system/cpu/cpu" + std::to_string(id));
  TreeWriter bus_nodes(directory + "/bus_node");
  for (const auto& domain : shape.numa)
    bus_nodes.link("node" + std::to_string(domain.id),
                   "../../../devices/system/node/node" + std::to_string(domain.id));

  for (const auto* writer : {&top, &cpus, &nodes, &bus_cpus, &bus_nodes})
    if (writer->failed()) return writer->error();
  return std::vector<GeneratedFileMount>{
      {cpus.root(), "/sys/devices/system/cpu"},  {nodes.root(), "/sys/devices/system/node"},
      {bus_cpus.root(), "/sys/bus/cpu/devices"}, {bus_nodes.root(), "/sys/bus/node/devices"},
      {directory + "/cpuinfo", "/proc/cpuinfo"}, {directory + "/meminfo", "/proc/meminfo"}};
}

} // namespace hpcml::emulate
