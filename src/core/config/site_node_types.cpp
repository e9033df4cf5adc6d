// SPDX-License-Identifier: MIT
// Node types of a profile.
#include <algorithm>
#include <cctype>
#include <fmt/format.h>

#include "core/config/member_factory.hpp"
#include "core/config/site_parts.hpp"

namespace hpcml::config {

/// The CPUs of a node as a profile writes them.
struct WrittenCpus {
  std::optional<unsigned> sockets, cores;
  unsigned threads_per_core = 1;
  std::optional<std::string> reserved;
  std::string reserved_override;
  model::CpuShape shape; ///< what they make
};

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
      cpu.report_value(
          key,
          fmt::format("{}.{} is {}, but the {} cores of the node do not split into {} equal parts",
                      cpu.path(), key, count, shape.cores, count),
          "use a number that divides cores, or a list of the CPUs of each part");
    return domains;
  }
  const auto all = shape.all();
  model::IdSet seen;
  for (const auto& text : cpu.texts(key)) {
    const auto cpus = model::IdSet::parse_list(text);
    if (!cpus || cpus->empty() || !cpus->is_subset_of(all) || cpus->intersects(seen)) {
      cpu.report_value(
          key,
          fmt::format("\"{}\" in {}.{} must be a list of CPUs of this node that no other entry has", text,
                      cpu.path(), key),
          fmt::format("use CPUs of the node, each in one entry: {}", all.to_list()));
      return {};
    }
    seen = seen | *cpus;
    domains.push_back({static_cast<unsigned>(domains.size()), *cpus});
  }
  return domains;
}

void make_cpus(ObjectReader& cpu, WrittenCpus& written) {
  const auto sockets = written.sockets.value_or(1);
  const auto cores = written.cores.value_or(sockets);
  if (cores % sockets != 0)
    cpu.report_value("cores",
                     fmt::format("{}.cores is {}, which cannot be split equally over {} sockets", cpu.path(),
                                 cores, sockets),
                     "set cores to a multiple of sockets");
  auto& shape = written.shape;
  shape = model::make_regular_cpus(sockets, cores, written.threads_per_core, 0, 0);
  unsigned numa_count = 0;
  unsigned l3_count = 0;
  auto numa = read_domains(cpu, "numa", shape, numa_count);
  auto l3 = read_domains(cpu, "l3", shape, l3_count);
  auto regular = model::make_regular_cpus(sockets, cores, written.threads_per_core, numa_count, l3_count);
  if (!written.sockets) {
    shape.sockets = 0;
    shape.packages.clear();
  }
  shape.numa = std::move(numa.empty() ? regular.numa : numa);
  shape.l3 = std::move(l3.empty() ? regular.l3 : l3);
  shape.reserved_override = written.reserved_override;
  if (!written.reserved) return;
  const auto reserved = model::IdSet::parse_list(*written.reserved);
  if (!reserved)
    cpu.report_value("reserved", reserved.error().what, reserved.error().hint);
  else if (!reserved->is_subset_of(shape.all()) || *reserved == shape.all())
    cpu.report_value("reserved",
                     fmt::format("{}.reserved is \"{}\", but must name CPUs of the node, and not all of them",
                                 cpu.path(), *written.reserved),
                     fmt::format("use some of the CPUs of the node: {}", shape.all().to_list()));
  else
    shape.reserved = *reserved;
}

/// Places name domains that the node's CPUs have.
void check_places(ObjectReader& gpu, const model::GpuShape& shape, const model::CpuShape& cpu) {
  auto items = gpu.items("places");
  for (std::size_t i = 0; i < items.size() && i < shape.places.size(); ++i) {
    const auto check = [&](std::string_view key, const std::optional<unsigned>& id, std::size_t count) {
      if (id && *id >= count)
        items[i].report_value(
            key,
            fmt::format("{}.{} is {}, but the node's \"cpu\" describes only {}, numbered from 0",
                        items[i].path(), key, *id, count),
            fmt::format("add \"{}\" to \"cpu\", or use the number of one that \"cpu\" describes", key));
    };
    check("numa", shape.places[i].numa, cpu.numa.size());
    check("l3", shape.places[i].l3, cpu.l3.size());
  }
}

void finish_gpus(ObjectReader& gpu, model::GpuShape& shape) {
  for (auto& place : shape.places) place.index = static_cast<unsigned>(&place - shape.places.data());
  if (!shape.places.empty() && shape.places.size() != shape.per_node)
    gpu.report_value("places",
                     fmt::format("{}.places has {} entries, but per_node is {}", gpu.path(),
                                 shape.places.size(), shape.per_node),
                     "add one entry for each GPU, or remove \"places\"");
}

void check_node(ObjectReader& object, model::NodeType& node) {
  if (!node.gpu) return;
  if (const auto gpu = object.items("gpu"); !gpu.empty()) {
    auto reader = gpu.front();
    check_places(reader, *node.gpu, node.cpu);
  }
  const unsigned gpus = node.gpu->per_node;
  if (node.cpus_per_gpu && node.cpu.cores > 0 && *node.cpus_per_gpu * gpus > node.cpu.cores)
    object.report_value("cpus_per_gpu",
                        fmt::format("{}.cpus_per_gpu is {}, which for {} GPUs exceeds the node's cores ({})",
                                    object.path(), *node.cpus_per_gpu, gpus, node.cpu.cores),
                        "set a lower cpus_per_gpu, or check per_node of the GPUs and cores of the CPUs");
  // Documents round: "188G per GPU" of four is a little more than such a node's 767000M.
  if (node.mem_per_gpu && node.memory && node.mem_per_gpu->mib() * gpus * 20 > node.memory->value.mib() * 21)
    object.report_value("mem_per_gpu",
                        fmt::format("{}.mem_per_gpu is {}, which for {} GPUs exceeds the node's memory ({})",
                                    object.path(), node.mem_per_gpu->to_slurm(), gpus,
                                    node.memory->value.to_slurm()),
                        "set a lower mem_per_gpu, or check per_node of the GPUs and memory of the node");
}

/// Features with & and |, as --constraint takes them.
void read_constraint(ObjectReader& object, const MemberSchema& schema, model::NodeType& node) {
  const auto text = object.text(schema.key).value_or("");
  const bool good = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("_.:&|*()-").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (good)
    node.constraint = text;
  else
    object.report_value(
        schema.key,
        fmt::format("{}.constraint is \"{}\", which is not an expression of features", object.path(), text),
        "use names with & and |, for example gpu&hbm80g");
}

/// Read when the node's cores are known.
void leave_domains(ObjectReader& object, const MemberSchema& schema, WrittenCpus&) { object.raw(schema.key); }

constexpr MemberSchema domains(std::string_view key, std::string_view about) {
  return {.key = key,
          .kind = MemberKind::number_or_texts,
          .about = about,
          .least = 1,
          .most = 1024,
          .pattern = "^[0-9,-]+$"};
}

} // namespace

template <> const ObjectSchema<WrittenCpus>& schema_of() {
  using T = WrittenCpus;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::number<&T::sockets>("sockets", 1, 4096, "Sockets."),
      M::number<&T::cores>("cores", 1, 4096, "Physical cores of the node.")
          .must("set the number of physical cores of a node; remove the whole of \"cpu\" if it is not known"),
      M::number<&T::threads_per_core>("threads_per_core", 1, 8,
                                      "Hardware threads per core that the system shows."),
      M::special(domains("numa", "NUMA nodes with CPUs: their number, or the CPUs of each."), &leave_domains),
      M::special(domains("l3", "L3 domains: their number, or the CPUs of each."), &leave_domains),
      M::text<&T::reserved>("reserved", TextRule::line, "CPUs that the site keeps for the system."),
      M::text<&T::reserved_override>("reserved_override", TextRule::option,
                                     "The option that gives them to the job: --core-spec=0."),
  });
  static constexpr ObjectSchema<T> k_schema{"cpu", "The CPUs of a node.", k_members, &make_cpus};
  return k_schema;
}

template <> const ObjectSchema<model::GpuLocality>& schema_of() {
  using T = model::GpuLocality;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::number<&T::numa>("numa", 0, MemberSchema::k_most, "NUMA node to which the GPU is attached."),
      M::number<&T::l3>("l3", 0, MemberSchema::k_most, "L3 domain to which it is attached."),
      M::text<&T::pci>("pci", TextRule::word, "PCI address."),
      M::text<&T::nic>("nic", TextRule::name,
                       "The network card nearest to it, by its interface or adapter: hsn0, mlx5_0."),
  });
  static constexpr ObjectSchema<T> k_schema{"gpu_place", "Where a GPU is attached.", k_members};
  return k_schema;
}

template <> const ObjectSchema<model::MigInstanceType>& schema_of() {
  using T = model::MigInstanceType;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::name>("name", TextRule::name, "Slurm's name for the slice.")
          .must("set Slurm's name for the slice"),
      M::texts<&T::aliases>("aliases", TextRule::name, "Other names that Slurm takes."),
      M::number<&T::mem_gib>("mem_gib", 1, 100000, "Its memory in GiB."),
      M::number<&T::cpus>("cpus", 1, 4096, "Cores that go with it."),
      M::memory<&T::memory>("memory", "Memory that goes with it."),
  });
  static constexpr ObjectSchema<T> k_schema{"mig", "A MIG instance that jobs can request.", k_members};
  return k_schema;
}

template <> const ObjectSchema<model::GpuShape>& schema_of() {
  using T = model::GpuShape;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::number<&T::per_node>("per_node", 1, 1024, "Devices that a rank can use; a GCD of an MI250X is one.")
          .must("set how many GPUs a node has"),
      M::word<&T::vendor>("vendor", "Who makes it; absent: unknown."),
      M::text<&T::model>("model", TextRule::line, "Its name in messages."),
      M::text<&T::arch>("arch", TextRule::name, "sm_90, gfx90a: what code is compiled for."),
      M::text<&T::slurm_type>("slurm_type", TextRule::name, "Its type in Slurm's GRES."),
      M::texts<&T::aliases>("aliases", TextRule::name, "Other types that Slurm takes for it."),
      M::number<&T::mem_gib>("mem_gib", 1, 100000, "Memory of one device in GiB."),
      M::number<&T::per_card>("per_card", 1, 64, "Devices on one card: 2 on an MI250X."),
      M::text<&T::cuda_max>("cuda_max", TextRule::name, "The newest CUDA that the driver runs: 12.9."),
      M::text<&T::rocm_max>("rocm_max", TextRule::name, "The newest ROCm that the driver runs: 6.3."),
      M::word<&T::compute_mode>("compute_mode", "Whether several processes may use one GPU."),
      M::objects<&T::slices>("mig", "MIG instances that jobs can request."),
      M::objects<&T::places>("places", "Where each GPU is attached, in the order of the devices."),
  });
  static constexpr ObjectSchema<T> k_schema{"gpu", "The GPUs of a node.", k_members, &finish_gpus};
  return k_schema;
}

template <> const ObjectSchema<model::NodeType>& schema_of() {
  using T = model::NodeType;
  using M = MemberFactory<T>;
  static constexpr auto k_members = std::to_array<Member<T>>({
      M::text<&T::id>("id", TextRule::name, "What partitions call it.")
          .must("set an id: partitions name node types by it"),
      M::word<&T::cpu_arch>("cpu_arch", "Architecture."),
      M::special(
          {.key = "cpu", .kind = MemberKind::object, .about = {}, .schema = &M::any_schema<WrittenCpus>},
          [](ObjectReader& object, const MemberSchema& schema, T& node) {
            auto cpu = object.object(schema.key);
            if (!cpu) return;
            node.cpu = read_object<WrittenCpus>(cpu).shape;
            cpu.finish();
          }),
      M::object<&T::gpu>("gpu"),
      M::memory<&T::memory>("memory",
                            "What jobs can request of a node, which is less than the installed memory. "
                            "If a site states only the latter, omit it, and list it in unknown: "
                            "\"node_types[].memory (512 GiB are installed)\"."),
      M::word<&T::memory_kind>("memory_kind", "What that memory is; sum: with the GPUs' own."),
      M::number<&T::cpus_per_gpu>("cpus_per_gpu", 1, 4096, "Cores that go with one GPU."),
      M::memory<&T::mem_per_gpu>("mem_per_gpu", "Memory that goes with one GPU."),
      M::word<&T::share_policy>("share_policy", "What holds for the two: a recommendation, an upper limit, "
                                                "exactly that much, or Slurm gives them by itself."),
      M::special({.key = "constraint",
                  .kind = MemberKind::text,
                  .about = "Feature expression that selects these nodes (--constraint): h100, or gpu&hbm80g.",
                  .pattern = "^[A-Za-z0-9_.:&|*()-]*$"},
                 &read_constraint),
      M::texts<&T::features>("features", TextRule::name, "Features that Slurm lists for these nodes."),
      M::yes_no<&T::multi_node>("multi_node", "Whether jobs may span several of these nodes."),
      M::texts<&T::interfaces>(
          "interfaces", TextRule::interface,
          "IP interfaces of these nodes that Gloo and NCCL use, as ip link prints them."),
      M::text<&T::host_prefix>("host_prefix", TextRule::name, "How the nodes' names begin."),
      M::number<&T::host_digits>("host_digits", 1, 9, "Digits after it."),
      M::count<&T::node_count>("node_count", "How many there are."),
      M::text<&T::local_disk>("local_disk", TextRule::expression, "Path of node-local storage."),
      M::number<&T::local_disk_gib>("local_disk_gib", 1, 10000000, "Its size in GiB."),
      M::text<&T::local_disk_option>("local_disk_option", TextRule::option,
                                     "What requests it: --constraint=nvme, --tmp={gib}G, --gres=nvme:{gib}."),
  });
  static constexpr ObjectSchema<T> k_schema{"node_type", "A type of node.", k_members, &check_node};
  return k_schema;
}

} // namespace hpcml::config
