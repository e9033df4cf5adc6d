// SPDX-License-Identifier: MIT
// Node types of a profile.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "spec/site_parts.hpp"

namespace hpcml::spec {

namespace {

/// A level of the CPU tree: a count (regular numbering) or a list of CPU lists, by OS id.
std::vector<model::CpuDomain> read_domains(ObjectReader& cpu, std::string_view key,
                                           const model::CpuShape& shape, unsigned& count) {
  std::vector<model::CpuDomain> domains;
  count = 0;
  const auto* node = cpu.raw(key);
  if (!node) return domains;
  if (node->is(JsonKind::integer)) {
    count = cpu.number(key, 1, 1024).value_or(0);
    if (count > 0 && shape.cores % count != 0)
      cpu.report_value(key, fmt::format("{} cores cannot be split into {} equal parts", shape.cores, count));
    return domains;
  }
  const auto all = shape.all();
  model::IdSet seen;
  for (const auto& text : cpu.texts(key)) {
    const auto cpus = model::IdSet::parse_list(text);
    if (!cpus || cpus->empty() || !cpus->is_subset_of(all) || cpus->intersects(seen)) {
      cpu.report_value(
          key,
          fmt::format("\"{}\" in {}.{} is not a list of CPUs of this node that no other part has", text,
                      cpu.path(), key),
          fmt::format("the node's CPUs are {}", all.to_list()));
      return {};
    }
    seen = seen | *cpus;
    domains.push_back({static_cast<unsigned>(domains.size()), *cpus});
  }
  return domains;
}

model::CpuShape read_cpus(ObjectReader& cpu) {
  cpu.require("cores",
              "the number of physical cores of a node; leave out the whole of \"cpu\" where it is not known");
  const auto known_sockets = cpu.number("sockets", 1, 4096);
  const auto sockets = known_sockets.value_or(1);
  const auto cores = cpu.number("cores", 1, 4096).value_or(sockets);
  const auto threads = cpu.number("threads_per_core", 1, 8).value_or(1);
  if (cores % sockets != 0)
    cpu.report_value("cores", fmt::format("{} cores cannot be split over {} sockets", cores, sockets));
  auto shape = model::make_regular_cpus(sockets, cores, threads, 0, 0);
  unsigned numa_count = 0;
  unsigned l3_count = 0;
  auto numa = read_domains(cpu, "numa", shape, numa_count);
  auto l3 = read_domains(cpu, "l3", shape, l3_count);
  const auto regular = model::make_regular_cpus(sockets, cores, threads, numa_count, l3_count);
  if (!known_sockets) {
    shape.sockets = 0;
    shape.packages.clear();
  }
  shape.numa = numa.empty() ? regular.numa : std::move(numa);
  shape.l3 = l3.empty() ? regular.l3 : std::move(l3);
  if (const auto text = cpu.text("reserved")) {
    const auto reserved = model::IdSet::parse_list(*text);
    if (!reserved)
      cpu.report_value("reserved", reserved.error().what, reserved.error().hint);
    else if (!reserved->is_subset_of(shape.all()) || *reserved == shape.all())
      cpu.report_value("reserved", "the reserved CPUs must be CPUs of the node, and not all of them");
    else
      shape.reserved = *reserved;
  }
  shape.reserved_override = cpu.text("reserved_override", TextRule::option).value_or("");
  cpu.finish();
  return shape;
}

void read_places(ObjectReader& gpu, model::GpuShape& shape, const model::CpuShape& cpu) {
  gpu.each("places", [&](ObjectReader& item) {
    model::GpuPlace place;
    place.index = static_cast<unsigned>(shape.places.size());
    place.numa = item.number("numa");
    place.l3 = item.number("l3");
    place.pci = item.text("pci", TextRule::word).value_or("");
    place.nic = item.text("nic", TextRule::name).value_or("");
    const auto check = [&](std::string_view key, const std::optional<unsigned>& id, std::size_t count) {
      if (id && *id >= count)
        item.report_value(key,
                          fmt::format("there is no {} {}: the node's cpu section has {}", key, *id, count));
    };
    check("numa", place.numa, cpu.numa.size());
    check("l3", place.l3, cpu.l3.size());
    shape.places.push_back(std::move(place));
  });
  if (!shape.places.empty() && shape.places.size() != shape.per_node) {
    gpu.report_value("places", fmt::format("places has {} entries, but there are {} GPUs per node",
                                           shape.places.size(), shape.per_node));
  }
}

model::GpuShape read_gpus(ObjectReader& gpu, const model::CpuShape& cpu) {
  model::GpuShape shape;
  gpu.require("per_node", "say how many GPUs a node has");
  shape.per_node = gpu.number("per_node", 1, 1024).value_or(1);
  shape.vendor = gpu.choice<model::GpuVendor>("vendor").value_or(shape.vendor);
  shape.model = gpu.text("model").value_or("");
  shape.arch = gpu.text("arch", TextRule::name).value_or("");
  shape.slurm_type = gpu.text("slurm_type", TextRule::name).value_or("");
  shape.aliases = gpu.texts("aliases", TextRule::name);
  shape.mem_gib = gpu.number("mem_gib", 1, 100000);
  shape.per_card = gpu.number("per_card", 1, 64).value_or(1);
  shape.cuda_max = gpu.text("cuda_max", TextRule::name).value_or("");
  shape.rocm_max = gpu.text("rocm_max", TextRule::name).value_or("");
  shape.compute_mode = gpu.choice<model::ComputeMode>("compute_mode").value_or(shape.compute_mode);
  gpu.each("mig", [&](ObjectReader& item) {
    model::GpuSlice slice;
    item.require("name", "Slurm's name for the slice");
    slice.name = item.text("name", TextRule::name).value_or("");
    slice.aliases = item.texts("aliases", TextRule::name);
    slice.mem_gib = item.number("mem_gib", 1, 100000);
    slice.cpus = item.number("cpus", 1, 4096);
    slice.memory = item.parsed<model::MemSize>("memory");
    shape.slices.push_back(std::move(slice));
  });
  read_places(gpu, shape, cpu);
  gpu.finish();
  return shape;
}

/// Features with & and |, as --constraint takes them.
std::string read_constraint(ObjectReader& object) {
  const auto text = object.text("constraint").value_or("");
  const bool good = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_.:&|*()-").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (!good)
    object.report_value("constraint",
                        fmt::format("{}.constraint is not an expression of features", object.path()),
                        "as gpu&hbm80g: names with & and |");
  return good ? text : std::string();
}

} // namespace

model::NodeType read_node_type(ObjectReader& object) {
  model::NodeType node;
  object.require("id", "partitions name node types by their id");
  node.id = object.text("id", TextRule::name).value_or("");
  node.cpu_arch = object.choice<model::CpuArch>("cpu_arch").value_or(node.cpu_arch);
  if (auto cpu = object.object("cpu")) node.cpu = read_cpus(cpu);
  if (auto gpu = object.object("gpu")) node.gpu = read_gpus(gpu, node.cpu);
  node.memory = object.known("memory", object.parsed<model::MemSize>("memory"));
  node.cpus_per_gpu = object.number("cpus_per_gpu", 1, 4096);
  node.mem_per_gpu = object.parsed<model::MemSize>("mem_per_gpu");
  node.share_policy = object.choice<model::SharePolicy>("share_policy").value_or(node.share_policy);
  node.memory_kind = object.choice<model::MemoryCounted>("memory_kind").value_or(node.memory_kind);
  node.constraint = read_constraint(object);
  node.features = object.texts("features", TextRule::name);
  node.multi_node = object.flag("multi_node").value_or(true);
  node.interfaces = object.texts("interfaces", TextRule::name);
  node.host_prefix = object.text("host_prefix", TextRule::name).value_or("");
  node.host_digits = object.number("host_digits", 1, 9).value_or(node.host_digits);
  node.node_count = object.number("node_count", 1, 1000000);
  node.local_disk = object.text("local_disk", TextRule::expression);
  node.local_disk_gib = object.number("local_disk_gib", 1, 10000000);
  node.local_disk_option = object.text("local_disk_option", TextRule::option).value_or("");
  node.origin = object.origin();
  if (!node.gpu) return node;
  const unsigned gpus = node.gpu->per_node;
  if (node.cpus_per_gpu && node.cpu.cores > 0 && *node.cpus_per_gpu * gpus > node.cpu.cores)
    object.report_value("cpus_per_gpu",
                        fmt::format("{} cores for each of {} GPUs are more than the {} cores of the node",
                                    *node.cpus_per_gpu, gpus, node.cpu.cores));
  // Documents round: "188G per GPU" of four is a little more than such a node's 767000M.
  if (node.mem_per_gpu && node.memory && node.mem_per_gpu->mib() * gpus * 20 > node.memory->value.mib() * 21)
    object.report_value("mem_per_gpu",
                        fmt::format("{} for each of {} GPUs are more than the node's {}",
                                    node.mem_per_gpu->to_slurm(), gpus, node.memory->value.to_slurm()));
  return node;
}

} // namespace hpcml::spec
