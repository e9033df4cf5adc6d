// SPDX-License-Identifier: MIT
// The device of an optimizer's own tensors.
#pragma once

#include <torch/optim/optimizer.h>

namespace hpcml::ddp {

/// Moves the state of each parameter (moments, sums) to the parameter's device. Supports LibTorch's
/// optimizers with state per parameter; others are not changed.
void move_state_to_parameters(torch::optim::Optimizer& optimizer);

} // namespace hpcml::ddp
