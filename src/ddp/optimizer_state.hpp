// SPDX-License-Identifier: MIT
// Where an optimizer's own tensors lie.
#pragma once

#include <torch/optim/optimizer.h>

namespace hpcml::ddp {

/// Moves the state of each parameter (moments, sums) to the parameter's device. Of LibTorch's optimizers that
/// keep state per parameter; others stay as they are.
void move_state_to_parameters(torch::optim::Optimizer& optimizer);

} // namespace hpcml::ddp
