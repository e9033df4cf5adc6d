// SPDX-License-Identifier: MIT
#include "ddp/state_broadcast.hpp"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace hpcml::ddp {

namespace {

constexpr int64_t k_alignment = 16; ///< of each tensor in the bytes: the largest element is complex<double>

struct Packed {
  std::vector<at::Tensor> members;
  int64_t bytes = 0;
  at::Tensor flat;
  Work work;
};

int64_t room_for(const at::Tensor& tensor) {
  return (static_cast<int64_t>(tensor.nbytes()) + k_alignment - 1) / k_alignment * k_alignment;
}

/// Calls `copy` with each member and its part of the bytes, as a tensor of the same dtype and shape.
template <class Copy> void for_each_part(const Packed& packed, const Copy& copy) {
  int64_t offset = 0;
  for (const auto& member : packed.members) {
    const auto part = packed.flat.narrow(0, offset, static_cast<int64_t>(member.nbytes()));
    copy(member, part.view(member.scalar_type()).view(member.sizes()));
    offset += room_for(member);
  }
}

std::vector<Packed> pack_tensors(const std::vector<at::Tensor>& tensors) {
  std::vector<Packed> all;
  for (const auto& tensor : tensors) {
    if (tensor.nbytes() == 0) continue;
    if (all.empty() || all.back().bytes + room_for(tensor) > k_broadcast_bytes ||
        all.back().members.front().device() != tensor.device())
      all.emplace_back();
    all.back().members.push_back(tensor);
    all.back().bytes += room_for(tensor);
  }
  return all;
}

} // namespace

void broadcast_tensors(ProcessGroup& group, const std::vector<at::Tensor>& tensors, int root) {
  if (group.size() == 1) return;
  const c10::NoGradGuard no_gradients;
  auto all = pack_tensors(tensors);
  for (auto& packed : all) {
    packed.flat = at::empty({packed.bytes},
                            at::TensorOptions().dtype(at::kByte).device(packed.members.front().device()));
    if (group.rank() == root)
      for_each_part(packed, [](const at::Tensor& member, at::Tensor part) { part.copy_(member); });
    packed.work = group.broadcast(packed.flat, root);
  }
  for (auto& packed : all) {
    packed.work.wait();
    if (group.rank() != root)
      for_each_part(packed, [](at::Tensor member, const at::Tensor& part) { member.copy_(part); });
  }
}

} // namespace hpcml::ddp
