// SPDX-License-Identifier: MIT
// The hardware of a compute node, as described by a profile or read on a live node.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/model/gpu_vendor.hpp"
#include "core/model/id_set.hpp"
#include "core/model/mem_size.hpp"
#include "core/model/origin.hpp"

namespace hpcml::model {

/// The processor of a node.
enum class CpuArch { unknown, x86_64, aarch64, ppc64le };

template <>
inline constexpr std::array<NamedValue<CpuArch>, 3> k_words<CpuArch> = {
    {{"x86_64", CpuArch::x86_64}, {"aarch64", CpuArch::aarch64}, {"ppc64le", CpuArch::ppc64le}}};

/// A GPU as one device that a rank can take (a GCD on MI250X). All of its locality may be unknown.
struct GpuLocality {
  unsigned index = 0;                   ///< the runtime's index with all GPUs visible, which is PCI order
  std::optional<unsigned> numa;         ///< OS id of the NUMA node it hangs under
  std::optional<unsigned> l3;           ///< id of the L3 it hangs under, where it does (MI250X boards)
  std::string pci;                      ///< "0000:c1:00.0", or empty
  std::string nic;                      ///< the interface nearest to it, or empty
  std::optional<unsigned> package = {}; ///< the package it hangs under; known where the NUMA node is as well
};

/// One NUMA node or L3 domain with its CPUs (hardware threads, OS ids).
struct CpuDomain {
  unsigned id = 0;
  IdSet cpus;
};

/// The CPUs of a node. CPU ids are OS ids; a core is the set of its hardware threads.
struct CpuShape {
  unsigned sockets = 0;
  unsigned cores = 0;              ///< physical cores of the node
  unsigned threads_per_core = 1;   ///< hardware threads per core that the OS shows
  std::vector<IdSet> core_threads; ///< hardware threads of each core, by core number
  std::vector<CpuDomain> numa;     ///< CPU NUMA nodes; empty = unknown
  std::vector<CpuDomain> l3;       ///< empty = unknown
  std::vector<CpuDomain> packages;
  IdSet reserved;                     ///< CPUs the site keeps for the system
  std::string reserved_override = {}; ///< the option that gives them to the job: "--core-spec=0"; empty: none
  /// All hardware threads.
  IdSet all() const;
};

/// A MIG instance that can be asked for by itself.
struct MigInstanceType {
  std::string name;                 ///< Slurm's name
  std::vector<std::string> aliases; ///< other names that Slurm takes
  std::optional<unsigned> mem_gib;
  std::optional<unsigned> cpus;  ///< cores that go with it
  std::optional<MemSize> memory; ///< memory that goes with it
};

/// Whether several processes may use one GPU: nvidia-smi's compute mode.
enum class ComputeMode { unknown, shared, exclusive_process };

template <>
inline constexpr std::array<NamedValue<ComputeMode>, 2> k_words<ComputeMode> = {
    {{"default", ComputeMode::shared}, {"exclusive_process", ComputeMode::exclusive_process}}};

/// The GPUs of a node, all of one kind.
struct GpuShape {
  unsigned per_node = 0;
  GpuVendor vendor = GpuVendor::unknown;
  std::string model;                ///< for users: "AMD MI250X (GCD)"
  std::string arch;                 ///< "gfx90a", "sm_90", or empty
  std::string slurm_type;           ///< type in GRES, or empty
  std::vector<std::string> aliases; ///< other types that Slurm takes
  std::optional<unsigned> mem_gib;
  unsigned per_card = 1; ///< devices on one card: 2 on an MI250X
  std::string cuda_max;  ///< the newest that the driver runs: "12.9", or empty
  std::string rocm_max;
  ComputeMode compute_mode = ComputeMode::unknown;
  std::vector<MigInstanceType> slices; ///< MIG
  std::vector<GpuLocality> places;     ///< empty = locality unknown; else one per GPU, by index
};

/// How binding a GPU's share of cores is. `automatic`: Slurm gives the cores with the GPU.
enum class CpusPerGpuPolicy { none, recommended, max, fixed, automatic };

template <>
inline constexpr std::array<NamedValue<CpusPerGpuPolicy>, 4> k_words<CpusPerGpuPolicy> = {
    {{"recommended", CpusPerGpuPolicy::recommended},
     {"max", CpusPerGpuPolicy::max},
     {"fixed", CpusPerGpuPolicy::fixed},
     {"auto", CpusPerGpuPolicy::automatic}}};

/// What a node's memory is, where it has several kinds. `sum`: all kinds together.
enum class CountedNodeMemory { unspecified, ram, hbm, sum };

template <>
inline constexpr std::array<NamedValue<CountedNodeMemory>, 3> k_words<CountedNodeMemory> = {
    {{"ram", CountedNodeMemory::ram}, {"hbm", CountedNodeMemory::hbm}, {"sum", CountedNodeMemory::sum}}};

/// A node type of a site.
struct NodeType {
  std::string id;
  CpuArch cpu_arch = CpuArch::unknown;
  CpuShape cpu;
  std::optional<GpuShape> gpu;          ///< none: a CPU-only node
  Known<MemSize> memory;                ///< what a job can ask for in total
  std::optional<unsigned> cpus_per_gpu; ///< the share the site recommends or fixes, in physical cores
  std::optional<MemSize> mem_per_gpu;
  CpusPerGpuPolicy share_policy = CpusPerGpuPolicy::none;
  CountedNodeMemory memory_kind = CountedNodeMemory::unspecified; ///< what `memory` is
  std::string constraint;              ///< feature expression that selects these nodes: "gpu&hbm80g"
  std::vector<std::string> features;   ///< what Slurm lists for them
  bool multi_node = true;              ///< jobs may span several of them
  std::vector<std::string> interfaces; ///< high-speed interfaces: "hsn0"
  std::string host_prefix;             ///< "nid": names for the emulated nodes
  unsigned host_digits = 3;            ///< "nid000001" has 6
  std::optional<unsigned> node_count;
  std::optional<std::string> local_disk; ///< path expression of node-local storage
  std::optional<unsigned> local_disk_gib;
  std::string local_disk_option; ///< what asks for it, {gib} is its size: "--tmp={gib}G"; empty: nothing need
                                 ///< be asked
  Origin origin;
};

/// Most hardware threads that a core of these nodes can have. A profile with one thread per core may omit
/// the others, so this returns the usual number of the architecture then.
unsigned possible_threads_per_core(const NodeType& node);

/// Fills core_threads, numa, l3 and packages from counts, in the usual Linux numbering
/// (thread t of core c is CPU c + t*cores). `numa_count`/`l3_count` 0 leave that level unknown.
CpuShape make_regular_cpus(unsigned sockets, unsigned cores, unsigned threads_per_core, unsigned numa_count,
                           unsigned l3_count);

} // namespace hpcml::model
