// SPDX-License-Identifier: MIT
// The size of all gradients together, and its bound.
#include <c10/core/GradMode.h>

#include "ddp/gradient_slot.hpp"
#include "ddp/reducer.hpp"

namespace hpcml::ddp {

double Reducer::gradient_norm(double p) const {
  const at::NoGradGuard no_gradients;
  std::vector<at::Tensor> norms;
  for (const auto& parameter : x_parameters) {
    const auto& gradient = parameter.tensor.grad();
    // Whole buckets at once, where they are the gradients: zeros of unused parameters add nothing.
    if (gradient.defined() && !is_within(gradient, parameter.slot)) norms.push_back(gradient.norm(p));
  }
  const bool all_lie_in_buckets = norms.empty();
  if (!all_lie_in_buckets) {
    for (const auto& parameter : x_parameters) {
      const auto& gradient = parameter.tensor.grad();
      if (gradient.defined() && is_within(gradient, parameter.slot)) norms.push_back(gradient.norm(p));
    }
  } else {
    for (const auto& bucket : x_buckets) norms.push_back(bucket.flat.norm(p));
  }
  for (auto& norm : norms) norm = norm.to(at::kCPU, at::kDouble);
  return at::stack(norms).norm(p).item<double>();
}

void Reducer::scale_gradients(double factor) {
  const at::NoGradGuard no_gradients;
  for (auto& parameter : x_parameters) {
    auto& gradient = parameter.tensor.mutable_grad();
    if (gradient.defined()) gradient.mul_(factor);
  }
}

} // namespace hpcml::ddp
