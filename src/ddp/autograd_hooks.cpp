// SPDX-License-Identifier: MIT
#include "ddp/torch_compat.hpp"

#include <torch/csrc/autograd/engine.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/utils/lambda_post_hook.h>
#include <torch/csrc/autograd/variable.h>

namespace hpcml::ddp {

namespace {

namespace autograd = torch::autograd;

// A shared_ptr until 2.12, an intrusive_ptr since.
using Accumulator = decltype(autograd::impl::grad_accumulator(std::declval<const autograd::Variable&>()));

} // namespace

struct GradientHook::State {
  Accumulator accumulator; // the leaf itself holds it weakly: without us the hook would go with the graph
  uintptr_t key = 0;
};

GradientHook::GradientHook(const at::Tensor& leaf, std::function<void()> then)
    : x_state(std::make_unique<State>()) {
  x_state->accumulator = autograd::impl::grad_accumulator(leaf);
  const auto call = [then = std::move(then)](const autograd::variable_list& outputs,
                                             const autograd::variable_list&) {
    then();
    return outputs;
  };
  x_state->key = x_state->accumulator->add_post_hook(std::make_unique<autograd::utils::LambdaPostHook>(call));
}

GradientHook::~GradientHook() {
  if (x_state != nullptr) x_state->accumulator->del_post_hook(x_state->key);
}

GradientHook::GradientHook(GradientHook&&) noexcept = default;

GradientHook& GradientHook::operator=(GradientHook&& other) noexcept {
  std::swap(x_state, other.x_state);
  return *this;
}

bool GradientHook::holds(const at::Tensor& leaf) const {
  return autograd::impl::try_get_grad_accumulator(leaf) == x_state->accumulator;
}

void at_end_of_backward(std::function<void()> then) {
  autograd::Engine::get_default_engine().queue_callback(std::move(then));
}

} // namespace hpcml::ddp
