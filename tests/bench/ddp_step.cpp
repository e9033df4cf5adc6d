// SPDX-License-Identifier: MIT
// A rank of tests/bench/ddp.py: ddp_step ours|reducer WIDTH BATCH. Reads a number of steps per line, prints
// the milliseconds of each (rank 0 only). `reducer` drives LibTorch's own Reducer, where its headers are
// shipped.
#include <chrono>
#include <cstdio>
#include <iostream>
#include <limits>
#include <string>

#include <torch/nn.h>
#include <torch/optim.h>
#include <torch/version.h>

#include "hpcml/ddp/distributed_data_parallel.hpp"
#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 13)
#define HPCML_BENCH_REDUCER
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#endif

using namespace hpcml;

namespace {

struct Net : torch::nn::Module {
  explicit Net(int64_t width) {
    first = register_module("first", torch::nn::Linear(width, width));
    second = register_module("second", torch::nn::Linear(width, width));
    last = register_module("last", torch::nn::Linear(width, 10));
  }
  torch::Tensor forward(const torch::Tensor& x) { return last(torch::relu(second(torch::relu(first(x))))); }
  torch::nn::Linear first{nullptr}, second{nullptr}, last{nullptr};
};

template <class Step> void serve(int rank, const Step& step) {
  for (int steps = 0; std::cin >> steps;) {
    std::string line;
    for (int i = 0; i < steps; ++i) {
      const auto start = std::chrono::steady_clock::now();
      step();
      const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
      line += std::to_string(spent.count()) + " ";
    }
    if (rank == 0) std::cout << line << std::endl;
  }
}

void run_ours(const std::shared_ptr<Net>& net, const torch::Tensor& batch, const torch::Tensor& wanted) {
  auto group = ddp::init_process_group();
  ddp::DistributedDataParallel<Net> model(net, group);
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01));
  serve(group->rank(), [&] {
    net->zero_grad(true);
    torch::mse_loss(model.forward(batch), wanted).backward();
    optimizer.step();
  });
}

#ifdef HPCML_BENCH_REDUCER
void run_reducer(const std::shared_ptr<Net>& net, const torch::Tensor& batch, const torch::Tensor& wanted) {
  const auto env = RankEnv::from_environment();
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(env.master_port);
  options.isServer = env.rank == 0;
  options.waitWorkers = false;
  auto store = c10::make_intrusive<c10d::TCPStore>(env.master_addr, options);
  auto settings = c10d::ProcessGroupGloo::Options::create();
  settings->devices.push_back(c10d::ProcessGroupGloo::createDeviceForHostname("127.0.0.1"));
  auto gloo = c10::make_intrusive<c10d::ProcessGroupGloo>(store, env.rank, env.world_size, settings);
  auto group = c10::make_intrusive<c10d::ProcessGroup>(store, env.rank, env.world_size);
  group->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::GLOO, gloo);
  group->setDefaultBackend(c10d::ProcessGroup::BackendType::GLOO);
  const auto parameters = net->parameters();
  auto buckets = std::get<0>(
      c10d::compute_bucket_assignment_by_size(parameters, {std::numeric_limits<std::size_t>::max()}));
  std::reverse(buckets.begin(), buckets.end());
  c10d::Reducer reducer(parameters, buckets, group, std::vector<bool>(parameters.size(), false), 25 << 20,
                        false, true, {}, 1 << 20, false, false, {});
  torch::optim::SGD optimizer(net->parameters(), torch::optim::SGDOptions(0.01));
  serve(env.rank, [&] {
    net->zero_grad(true);
    reducer.rebuild_buckets();
    reducer.prepare_for_forward();
    const auto output = net->forward(batch);
    reducer.prepare_for_backward({});
    torch::mse_loss(output, wanted).backward();
    optimizer.step();
  });
}
#endif

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  torch::set_num_threads(1);
  torch::manual_seed(1);
  const std::string which = argv[1];
  const int64_t width = std::stoll(argv[2]), count = std::stoll(argv[3]);
  auto net = std::make_shared<Net>(width);
  const auto batch = torch::randn({count, width}), wanted = torch::randn({count, 10});
  if (which == "ours") return run_ours(net, batch, wanted), 0;
#ifdef HPCML_BENCH_REDUCER
  if (which == "reducer") return run_reducer(net, batch, wanted), 0;
#endif
  return 3;
}
