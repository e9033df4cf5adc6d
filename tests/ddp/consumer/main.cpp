// SPDX-License-Identifier: MIT
// Fits a line with the installed hpcml::ddp: each rank sees another part of it, and all find the same.
#include <cstdio>

#include <torch/nn/modules/linear.h>
#include <torch/optim/sgd.h>

#include <hpcml/ddp/distributed_data_parallel.hpp>

static_assert(__cplusplus >= 201703L && __cplusplus < 202600L, "C++17, where LibTorch takes it");

int main() {
  torch::set_num_threads(1);
  auto group = hpcml::ddp::init_process_group();
  torch::manual_seed(static_cast<std::uint64_t>(group->rank()));
  torch::nn::Linear line(1, 1);
  hpcml::ddp::DistributedDataParallel model(line, group);
  torch::optim::SGD optimizer(line->parameters(), torch::optim::SGDOptions(0.5));
  const auto x = torch::linspace(group->rank(), group->rank() + 1, 16).unsqueeze(1) / group->size();
  for (int step = 0; step < 400; ++step) {
    optimizer.zero_grad();
    (model.forward(x) - (3 * x + 1)).square().mean().backward();
    optimizer.step();
  }
  std::printf("rank %d: y = %.3f x + %.3f\n", group->rank(), line->weight.item<double>(),
              line->bias.item<double>());
}
