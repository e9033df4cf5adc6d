// SPDX-License-Identifier: MIT
// Compiled at configure time: does LibTorch's NCCL header find all it needs?
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

c10d::ProcessGroupNCCL* group_of_none() { return nullptr; }
