// SPDX-License-Identifier: MIT
// A rank of the checks on a GPU that has no place among those on the CPU.
//   gpu_rank steps WIDTH BATCH LAYERS   reads numbers of steps, prints milliseconds per step (steps.py does
//   the
//                                       same with torch's own)
//   gpu_rank tf32                       how wrong a product of fp32 matrices is
//   gpu_rank kinds                      all_reduce and others with all kinds of tensors, those of the CPU too
//   gpu_rank ahead                      whether a wait for a sum of GPUs holds the program up
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <torch/torch.h>

#include <hpcml/ddp/distributed_data_parallel.hpp>
#include <hpcml/json_line.hpp>

using namespace hpcml;

namespace {

double milliseconds() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

struct Net : torch::nn::Module {
  Net(int64_t width, int64_t count) {
    for (int64_t i = 0; i < count; ++i)
      layers.push_back(
          register_module("layer" + std::to_string(i), torch::nn::Linear(width, i + 1 < count ? width : 10)));
  }
  torch::Tensor forward(torch::Tensor x) {
    for (std::size_t i = 0; i + 1 < layers.size(); ++i) x = torch::relu(layers[i](x));
    return layers.back()(x);
  }
  std::vector<torch::nn::Linear> layers;
};

int run_steps(int64_t width, int64_t batch, int64_t layers) {
  torch::manual_seed(1);
  auto group = ddp::init_process_group();
  auto net = std::make_shared<Net>(width, layers);
  net->to(group->device());
  const auto place = torch::device(group->device());
  const auto inputs = torch::randn({batch, width}, place), wanted = torch::randn({batch, 10}, place);
  ddp::DistributedDataParallel<Net> model(net, group);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01));
  for (int64_t count = 0; std::cin >> count;) {
    torch::cuda::synchronize();
    const double start = milliseconds();
    for (int64_t i = 0; i < count; ++i) {
      optimizer.zero_grad();
      torch::mse_loss(model.forward(inputs), wanted).backward();
      optimizer.step();
    }
    torch::cuda::synchronize();
    if (group->rank() == 0) std::cout << (milliseconds() - start) / static_cast<double>(count) << std::endl;
  }
  return 0;
}

int run_tf32() {
  torch::manual_seed(1);
  const auto a = torch::randn({1024, 1024}, torch::device(torch::kCUDA).dtype(torch::kDouble)),
             b = torch::randn_like(a);
  const auto exact = a.matmul(b), fast = a.to(torch::kFloat).matmul(b.to(torch::kFloat)).to(torch::kDouble);
  std::printf("%g\n", ((fast - exact).norm() / exact.norm()).item<double>());
  return 0;
}

int run_kinds() {
  auto group = ddp::init_process_group();
  const int size = group->size(), rank = group->rank();
  int wrong = 0;
  const auto check = [&](bool right, const char* what) {
    if (!right) std::printf("rank %d: %s is wrong\n", rank, what);
    wrong += right ? 0 : 1;
  };
  const double sum = size * (size + 1) / 2.0;
  for (const auto device : {group->device(), at::Device(at::kCPU)})
    for (const auto dtype : {torch::kFloat, torch::kDouble, torch::kHalf, torch::kBFloat16, torch::kLong}) {
      const auto options = torch::device(device).dtype(dtype);
      auto tensor = torch::full({1000}, rank + 1, options);
      group->all_reduce(tensor).wait();
      check(tensor.eq(sum).all().item<bool>(), "a sum");
      tensor.fill_(rank + 1);
      group->all_reduce(tensor, ddp::ReduceOp::max).wait();
      check(tensor.eq(size).all().item<bool>(), "a greatest");
      tensor.fill_(rank);
      group->broadcast(tensor, size - 1).wait();
      check(tensor.eq(size - 1).all().item<bool>(), "a broadcast");
      std::vector<torch::Tensor> all;
      group->all_gather(all, torch::full({3}, rank, options)).wait();
      for (int peer = 0; peer < size; ++peer)
        check(all.at(static_cast<std::size_t>(peer)).eq(peer).all().item<bool>(), "a gathered part");
    }
  group->barrier().wait();
  std::printf(
      "%s\n",
      JsonLine().add("rank", rank).add("backend", group->backend()).add("wrong", wrong).text().c_str());
  return wrong == 0 ? 0 : 1;
}

/// The program goes on while GPUs sum: waits take no longer than beginning does, and the sums are right.
int run_ahead() {
  auto group = ddp::init_process_group();
  auto tensor = torch::ones({1 << 24}, torch::device(group->device()));
  group->all_reduce(tensor).wait();
  torch::cuda::synchronize();
  const double start = milliseconds();
  for (int i = 0; i < 10; ++i) group->all_reduce(tensor).wait();
  const double begun = milliseconds() - start;
  torch::cuda::synchronize();
  const double done = milliseconds() - start;
  const bool right = tensor.eq(std::pow(group->size(), 11)).all().item<bool>();
  std::printf("%s\n", JsonLine()
                          .add("rank", group->rank())
                          .add("begun_ms", begun)
                          .add("done_ms", done)
                          .add("right", right)
                          .text()
                          .c_str());
  return right ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  try {
    if (what == "steps" && argc == 5)
      return run_steps(std::stoll(argv[2]), std::stoll(argv[3]), std::stoll(argv[4]));
    if (what == "tf32") return run_tf32();
    if (what == "kinds") return run_kinds();
    if (what == "ahead") return run_ahead();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gpu_rank: %s\n", error.what());
    return 7;
  }
  return 2;
}
