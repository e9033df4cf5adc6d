// SPDX-License-Identifier: MIT
// Small models of the tests, and the numbers that they begin with: the same in every process and language.
#pragma once

#include <cmath>
#include <string>

#include <torch/nn.h>

namespace ddp_test {

/// Deterministic, and not too smooth: element i of the k-th tensor.
inline double number(int64_t k, int64_t i) {
  return 0.5 * std::sin(0.7 * static_cast<double>(i) + 1.3 * static_cast<double>(k + 1));
}

inline void fill(torch::Tensor tensor, int64_t k) {
  const torch::NoGradGuard no_gradients;
  auto values = torch::empty({tensor.numel()}, torch::kDouble);
  for (int64_t i = 0; i < tensor.numel(); ++i) values.data_ptr<double>()[i] = number(k, i);
  tensor.copy_(values.view(tensor.sizes()));
}

/// Three layers, of which some kinds use the second twice, or one more now and then, or have it in another
/// precision ("mixed": double), or the first on the CPU wherever the others are.
struct Model : torch::nn::Module {
  explicit Model(const std::string& model_kind, int64_t width) : kind(model_kind) {
    first = register_module("first", torch::nn::Linear(7, width));
    second = register_module("second", torch::nn::Linear(width, width));
    if (kind == "batchnorm") norm = register_module("norm", torch::nn::BatchNorm1d(width));
    if (kind == "unused") {
      sometimes = register_module("sometimes", torch::nn::Linear(width, width));
      never = register_module("never", torch::nn::Linear(3, 5));
    }
    last = register_module("last", torch::nn::Linear(width, 3));
    if (kind == "mixed") second->to(torch::kDouble);
    if (kind == "bf16") second->to(torch::kBFloat16);
    int64_t k = 0;
    for (auto& parameter : parameters()) fill(parameter, k++);
  }

  /// To where its rank computes.
  void place(torch::Device device) {
    to(device);
    if (kind == "split") first->to(torch::kCPU);
  }

  torch::Tensor forward(torch::Tensor x, bool branch = false) {
    x = torch::tanh(first(x.to(first->weight.device())));
    x = torch::tanh(second(x.to(second->weight.device(), second->weight.scalar_type())))
            .to(last->weight.dtype());
    if (kind == "batchnorm") x = norm(x);
    if (kind == "shared") x = torch::tanh(second(x));
    if (kind == "unused" && branch) x = x + torch::tanh(sometimes(x));
    return last(x);
  }

  std::string kind;
  torch::nn::Linear first{nullptr}, second{nullptr}, sometimes{nullptr}, never{nullptr}, last{nullptr};
  torch::nn::BatchNorm1d norm{nullptr};
};

/// Samples first, first+1, … as a batch of inputs and of wanted outputs.
inline std::pair<torch::Tensor, torch::Tensor> batch_of(int64_t first, int64_t count, torch::Dtype dtype,
                                                        torch::Device device = torch::kCPU) {
  auto inputs = torch::empty({count, 7}, torch::kDouble), wanted = torch::empty({count, 3}, torch::kDouble);
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < 7; ++j) inputs.data_ptr<double>()[7 * i + j] = number(100 + first + i, 3 * j + 1);
    for (int64_t j = 0; j < 3; ++j) wanted.data_ptr<double>()[3 * i + j] = number(900 + first + i, 5 * j + 2);
  }
  return {inputs.to(device, dtype), wanted.to(device, dtype)};
}

/// The mean over samples (and outputs) of the squared error.
inline torch::Tensor loss_of(const torch::Tensor& output, const torch::Tensor& wanted) {
  return (output - wanted).square().mean();
}

} // namespace ddp_test
