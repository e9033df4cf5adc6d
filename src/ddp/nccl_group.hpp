// SPDX-License-Identifier: MIT
// What c10d calls a group, and, where NCCL is compiled in, one whose operations run on GPUs, and how it ends.
#pragma once

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/version.h>

#include "ddp/torch_compat.hpp"

#if TORCH_VERSION_MAJOR >= 2
#include <torch/csrc/distributed/c10d/Backend.hpp>
#else
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#endif

namespace hpcml::ddp {

// In 1.x ProcessGroupGloo *is* a process group; since 2.0 it is a backend that a process group holds. Both
// have the same operations, so we hold the thing that has them.
#if TORCH_VERSION_MAJOR >= 2
using Group = c10d::Backend;
#else
using Group = c10d::ProcessGroup;
#endif

#ifdef USE_C10D_NCCL
c10::intrusive_ptr<Group> make_nccl(const c10::intrusive_ptr<c10d::Store>& store, const GroupOptions& options,
                                    const Subgroup& members, NcclWaitMode wait);
/// Ends operations that wait on the GPU for other ranks. Waits for them return with an undefined result.
/// Does nothing in LibTorch 1.x, which does not support it.
void abort_nccl(Group& group) noexcept;
/// All operations have ended, and none follows.
void end_nccl(Group& group) noexcept;
#endif

} // namespace hpcml::ddp
