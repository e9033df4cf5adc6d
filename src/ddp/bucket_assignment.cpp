// SPDX-License-Identifier: MIT
#include "ddp/bucket_assignment.hpp"

#include <algorithm>
#include <map>

namespace hpcml::ddp {

BucketAssignment assign_buckets(const std::vector<GradientBucketCriteria>& gradients,
                                const std::vector<std::size_t>& order,
                                const std::vector<std::size_t>& limits) {
  struct Open {
    std::vector<std::size_t> members;
    std::size_t bytes = 0, limit = 0;
  };
  std::map<std::string, Open> open;
  BucketAssignment full;
  for (const auto index : order) {
    const auto& gradient = gradients.at(index);
    auto& bucket = open[gradient.kind];
    bucket.members.push_back(index);
    bucket.bytes += gradient.bytes;
    if (bucket.bytes < limits.at(bucket.limit)) continue;
    full.push_back(std::move(bucket.members));
    bucket.members.clear();
    bucket.bytes = 0;
    bucket.limit = std::min(bucket.limit + 1, limits.size() - 1);
  }
  // What is left over, by its first member's place in the order: the same on every rank.
  std::vector<std::vector<std::size_t>> rest;
  for (auto& [kind, bucket] : open)
    if (!bucket.members.empty()) rest.push_back(std::move(bucket.members));
  const auto place = [&](std::size_t index) { return std::find(order.begin(), order.end(), index); };
  std::sort(rest.begin(), rest.end(),
            [&](const auto& a, const auto& b) { return place(a.front()) < place(b.front()); });
  full.insert(full.end(), rest.begin(), rest.end());
  return full;
}

} // namespace hpcml::ddp
