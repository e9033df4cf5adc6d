// SPDX-License-Identifier: MIT
#include "ddp/optimizer_state.hpp"

#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>
#include <torch/version.h>

namespace hpcml::ddp {

namespace {

auto key_of(const at::Tensor& parameter) {
#if TORCH_VERSION_MAJOR >= 2
  return parameter.unsafeGetTensorImpl();
#else
  return c10::guts::to_string(parameter.unsafeGetTensorImpl());
#endif
}

/// The tensors of a state; none of one that is of no known class.
std::vector<at::Tensor*> tensors_of(torch::optim::OptimizerParamState& state) {
  using namespace torch::optim;
  if (auto* sgd = dynamic_cast<SGDParamState*>(&state)) return {&sgd->momentum_buffer()};
  if (auto* adam = dynamic_cast<AdamParamState*>(&state))
    return {&adam->exp_avg(), &adam->exp_avg_sq(), &adam->max_exp_avg_sq()};
  if (auto* adamw = dynamic_cast<AdamWParamState*>(&state))
    return {&adamw->exp_avg(), &adamw->exp_avg_sq(), &adamw->max_exp_avg_sq()};
  if (auto* adagrad = dynamic_cast<AdagradParamState*>(&state)) return {&adagrad->sum()};
  if (auto* rmsprop = dynamic_cast<RMSpropParamState*>(&state))
    return {&rmsprop->square_avg(), &rmsprop->momentum_buffer(), &rmsprop->grad_avg()};
  return {};
}

} // namespace

void move_state_to_parameters(torch::optim::Optimizer& optimizer) {
  for (auto& group : optimizer.param_groups())
    for (const auto& parameter : group.params()) {
      const auto found = optimizer.state().find(key_of(parameter));
      if (found == optimizer.state().end()) continue;
      for (auto* tensor : tensors_of(*found->second))
        if (tensor->defined()) *tensor = tensor->to(parameter.device());
    }
}

} // namespace hpcml::ddp
