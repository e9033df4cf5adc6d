// SPDX-License-Identifier: MIT
#include "rank_modes.hpp"

#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <unistd.h>

#include <torch/optim.h>

#include "hpcml/ddp/checkpoint.hpp"
#include "hpcml/ddp/distributed_data_parallel.hpp"
#include "hpcml/json_line.hpp"

using namespace hpcml;

namespace ddp_test {

RankOptions parse_rank_options(int argc, char** argv) {
  RankOptions rank_options;
  for (int i = 2; i < argc; ++i) {
    const std::string name = argv[i];
    const bool valued = i + 1 < argc && std::strncmp(argv[i + 1], "--", 2) != 0;
    rank_options.values[name] = valued ? argv[++i] : "";
  }
  return rank_options;
}

void clear_gradients(torch::nn::Module& module, bool keep) {
  for (auto& parameter : module.parameters()) {
    if (!parameter.grad().defined()) continue;
    if (keep)
      parameter.mutable_grad().detach_().zero_();
    else
      parameter.mutable_grad().reset();
  }
}

int write_state(const torch::nn::Module& module, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  const auto write = [&](const auto& items) {
    for (const auto& item : items) {
      const auto tensor = item.value().detach().cpu().contiguous();
      file.write(static_cast<const char*>(tensor.data_ptr()), static_cast<std::streamsize>(tensor.nbytes()));
    }
  };
  write(module.named_parameters());
  write(module.named_buffers());
  return file.flush() ? 0 : 1;
}

/// Trains with random masks and shuffled samples, saves every third step, and goes on from what is there; all
/// ranks end themselves in step --kill-at.
int run_resume(const RankOptions& rank_options) {
  torch::set_num_threads(1);
  auto group = ddp::init_process_group();
  torch::manual_seed(static_cast<std::uint64_t>(rank_options.number("--seed", 1)) +
                     1000 * static_cast<std::uint64_t>(group->rank()));
  auto module = std::make_shared<Model>(rank_options.get("--model", "batchnorm"), 13);
  module->place(group->device());
  ddp::DistributedDataParallel<Model> model(module, group);
  ddp::DistributedSampler sampler(60, group->size(), group->rank(), true,
                                  static_cast<std::uint64_t>(rank_options.number("--seed", 1)));
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  if (rank_options.get("--optimizer", "sgd") == "adam")
    optimizer = std::make_unique<torch::optim::Adam>(module->parameters(), torch::optim::AdamOptions(0.01));
  else
    optimizer = std::make_unique<torch::optim::SGD>(module->parameters(),
                                                    torch::optim::SGDOptions(0.1).momentum(0.9));
  ddp::TrainingState state{*module, *optimizer, &sampler, {{"seen", torch::zeros({1}, torch::kLong)}}};
  const auto resumed = ddp::load_checkpoint(*group, rank_options.get("--folder", ""), state);
  for (int64_t step = resumed.step + 1; step < rank_options.number("--steps", 20); ++step) {
    if (step == rank_options.number("--kill-at", -1)) ::kill(::getpid(), SIGKILL);
    auto indices = sampler.next(4);
    if (!indices) {
      sampler.set_epoch(sampler.epoch() + 1);
      indices = sampler.next(4);
    }
    std::vector<torch::Tensor> inputs, wanted;
    for (const auto index : *indices) {
      const auto [input, output] = batch_of(static_cast<int64_t>(index), 1, torch::kFloat, group->device());
      inputs.push_back(input);
      wanted.push_back(output);
    }
    clear_gradients(*module, false);
    loss_of(model.forward(torch::dropout(torch::cat(inputs), 0.2, true)), torch::cat(wanted)).backward();
    optimizer->step();
    state.values.at("seen") += static_cast<int64_t>(indices->size());
    if (step % 3 == 0) ddp::save_checkpoint(*group, rank_options.get("--folder", ""), step, state);
  }
  std::printf("%s\n", JsonLine()
                          .add("rank", group->rank())
                          .add("resumed", static_cast<long long>(resumed.step))
                          .add("seen", static_cast<long long>(state.values.at("seen").item<int64_t>()))
                          .text()
                          .c_str());
  return write_state(*module, rank_options.get("--folder", "") + "/weights." + std::to_string(group->rank()));
}

/// Prints the indices of the sampler's next `most` batches.
void print_batches(ddp::DistributedSampler& sampler, int most) {
  for (int i = 0; i < most; ++i) {
    const auto batch = sampler.next(3);
    if (!batch) return;
    for (const auto index : *batch) std::printf("%zu ", index);
  }
}

namespace {

struct SamplerCase {
  std::size_t size = 0;
  int ranks = 1;
  std::uint64_t seed = 0;
  std::size_t epoch = 0;
  bool shuffle = true, drop_last = false;
};

ddp::DistributedSampler make_sampler(const SamplerCase& sampled, int rank) {
  return {sampled.size, sampled.ranks, rank, sampled.shuffle, sampled.seed, sampled.drop_last};
}

} // namespace

/// What DistributedSampler deals: for each line of standard input, SIZE RANKS SEED EPOCH SHUFFLE DROP_LAST, a
/// line for each rank. Each sampler is saved after its first batch, and another one, reset with the same size
/// as loaders may do, continues.
int run_sampler() {
  SamplerCase sampled;
  while (std::cin >> sampled.size >> sampled.ranks >> sampled.seed >> sampled.epoch >> sampled.shuffle >>
         sampled.drop_last) {
    for (int rank = 0; rank < sampled.ranks; ++rank) {
      auto sampler = make_sampler(sampled, rank);
      sampler.set_epoch(sampled.epoch);
      print_batches(sampler, 1);
      torch::serialize::OutputArchive saved;
      sampler.save(saved);
      std::stringstream bytes;
      saved.save_to(bytes);
      torch::serialize::InputArchive archive;
      archive.load_from(bytes);
      auto resumed = make_sampler(sampled, rank);
      resumed.load(archive);
      resumed.reset(sampled.size);
      print_batches(resumed, static_cast<int>(sampled.size));
      std::printf("\n");
    }
  }
  return std::cin.eof() ? 0 : 2;
}

} // namespace ddp_test
