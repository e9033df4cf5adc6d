// SPDX-License-Identifier: MIT
#include "model/site.hpp"

#include <algorithm>

namespace hpcml::model {

const FlagRule& Site::flag(const std::string& flag_name) const {
  static const FlagRule k_free;
  const auto found = flags.find(flag_name);
  return found == flags.end() ? k_free : found->second;
}

const Partition* Site::find_partition(const std::string& partition) const {
  const auto found = std::find_if(partitions.begin(), partitions.end(), [&](const Partition& p) { return p.name == partition; });
  return found == partitions.end() ? nullptr : &*found;
}

const NodeType* Site::find_node_type(const std::string& node_type) const {
  const auto found = std::find_if(node_types.begin(), node_types.end(), [&](const NodeType& n) { return n.id == node_type; });
  return found == node_types.end() ? nullptr : &*found;
}

const Qos* Site::find_qos(const std::string& wanted) const {
  const auto found = std::find_if(qos.begin(), qos.end(), [&](const Qos& q) { return q.name == wanted; });
  return found == qos.end() ? nullptr : &*found;
}

} // namespace hpcml::model
