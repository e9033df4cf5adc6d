// SPDX-License-Identifier: MIT
// How DistributedDataParallel reduces gradients.
#pragma once

#include <cstddef>

namespace hpcml::ddp {

/// In which form gradients travel.
enum class Compression {
  none,
  fp16, ///< half the bytes; values above 65,504 become infinite
  bf16, ///< half the bytes, the range of fp32; Gloo takes it from torch 2.0
};

/// The defaults are those of torch's own DistributedDataParallel, except that gradients are views of the
/// buckets.
struct Options {
  std::size_t bucket_bytes = 25 * 1024 * 1024;  ///< of a bucket, at least one gradient
  std::size_t first_bucket_bytes = 1024 * 1024; ///< of the first one: so that the network has work early
  bool find_unused_parameters = false;          ///< some parameters get no gradient in some steps
  bool static_graph = false;                    ///< the same parameters are used in each step, equally often
  bool gradients_in_buckets = true; ///< no copy after the reduction; grad() is a part of the bucket
  bool broadcast_buffers = true;    ///< rank 0's, before a forward pass that follows one that reduces
  Compression compression = Compression::none;
};

} // namespace hpcml::ddp
