// SPDX-License-Identifier: MIT
// The place of one gradient in its bucket.
#pragma once

#include <ATen/ATen.h>

namespace hpcml::ddp {

/// A place in `flat` with the shape of `like`: its own tensor on the same storage, because views may not be
/// detached in place, as zero_grad() does.
inline at::Tensor slot_in(const at::Tensor& flat, int64_t offset, const at::Tensor& like) {
  at::Tensor slot = at::empty({0}, flat.options());
  slot.set_(flat.storage(), flat.storage_offset() + offset, like.sizes(),
            like.is_non_overlapping_and_dense() ? like.strides()
                                                : at::empty(like.sizes(), at::kMeta).strides());
  return slot;
}

/// Whether the gradient is that place, and not a copy.
inline bool is_within(const at::Tensor& gradient, const at::Tensor& slot) {
  return gradient.data_ptr() == slot.data_ptr() && gradient.strides() == slot.strides();
}

} // namespace hpcml::ddp
