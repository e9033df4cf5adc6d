// SPDX-License-Identifier: MIT
// Which gradients are reduced together. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace hpcml::ddp {

/// What decides where a gradient goes.
struct GradientBucketCriteria {
  std::string kind; ///< dtype and device: only equals share a bucket
  std::size_t bytes = 0;
};

/// Indices of gradients, bucket by bucket.
using BucketAssignment = std::vector<std::vector<std::size_t>>;

/// Fills buckets in the order given; one is full once it holds `limits` bytes or more: the first of each kind
/// by the first limit, and so on, the last limit for all further ones. The rule is that of Li et al.,
/// "PyTorch Distributed", VLDB 2020, section 3.2.3, as torch's own DistributedDataParallel applies it: so
/// sums have the same order.
BucketAssignment assign_buckets(const std::vector<GradientBucketCriteria>& gradients,
                                const std::vector<std::size_t>& order,
                                const std::vector<std::size_t>& limits);

} // namespace hpcml::ddp
