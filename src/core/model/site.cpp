// SPDX-License-Identifier: MIT
#include "core/model/site.hpp"

#include <algorithm>

namespace hpcml::model {

const SbatchOptionRule& Site::flag(const std::string& flag_name) const {
  static const SbatchOptionRule k_free;
  const auto found = flags.find(flag_name);
  return found == flags.end() ? k_free : found->second;
}

const Partition* Site::find_partition(const std::string& partition) const {
  const auto found = std::find_if(partitions.begin(), partitions.end(),
                                  [&](const Partition& p) { return p.name == partition; });
  return found == partitions.end() ? nullptr : &*found;
}

const Partition* Site::default_partition(const std::function<bool(const Partition&)>& suits) const {
  const Partition* chosen = nullptr;
  for (const auto& partition : partitions)
    if (suits(partition) && (!chosen || (partition.is_default && !chosen->is_default))) chosen = &partition;
  return chosen;
}

const NodeType* Site::find_node_type(const std::string& node_type) const {
  const auto found = std::find_if(node_types.begin(), node_types.end(),
                                  [&](const NodeType& n) { return n.id == node_type; });
  return found == node_types.end() ? nullptr : &*found;
}

const Qos* Site::find_qos(const std::string& wanted) const {
  const auto found = std::find_if(qos.begin(), qos.end(), [&](const Qos& q) { return q.name == wanted; });
  return found == qos.end() ? nullptr : &*found;
}

std::string Site::short_name() const { return name.substr(0, name.find(" (")); }

GpuVendor Site::gpu_vendor() const {
  for (const auto& type : node_types)
    if (type.gpu && type.gpu->vendor != GpuVendor::unknown) return type.gpu->vendor;
  return GpuVendor::unknown;
}

} // namespace hpcml::model
