// SPDX-License-Identifier: MIT
// A rank that trains with hpcml::ddp, and by itself the same on the batches of all ranks: prints where the
// two differ.
//   ddp_rank equal [--model mlp|shared|unused|split] [--samples even|uneven|weighted] [--bucket-bytes N]
//                  [--accumulate N] [--static] [--copies] [--compress fp16|bf16] [--steps N]
//                  [--keep-gradients] [--join] [--clip X] [--eval]
//   ddp_rank train --write FILE [--model mlp|shared|unused|batchnorm|mixed] [--width N]
//                  [--bucket-bytes N] [--steps N] [--join]
//   ddp_rank sampler   (standard input: lines of SIZE RANKS SEED EPOCH SHUFFLE DROP_LAST)
//   ddp_rank overlap [--wait] [--width N] [--batch N] [--steps N] [--trace FILE]
//   ddp_rank late
//   ddp_rank exchange [--ring] [--pipeline] [--how die|hang|leave|itself|short|tags] [--bad RANK]
//                     [--timeout SECONDS]
//   ddp_rank forwards --kinds FILE --write FILE [--frozen NAME] [--bucket-bytes N] [--copies]
//                     [--own-buffers] [--find-unused] [--join]
//   ddp_rank fallback --folder FOLDER
//   ddp_rank fail --how die|hang|leave|throw|unused|differs|absent [--bad RANK] [--timeout SECONDS]
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>

#include <torch/optim.h>

#include "hpcml/ddp/distributed_data_parallel.hpp"
#include "hpcml/json_line.hpp"
#include "rank_modes.hpp"

using namespace hpcml;
using namespace ddp_test;

namespace {

ddp::Options options_of(const RankOptions& rank_options) {
  ddp::Options options;
  options.bucket_bytes = options.first_bucket_bytes =
      static_cast<std::size_t>(rank_options.number("--bucket-bytes", 25 << 20));
  options.find_unused_parameters =
      rank_options.get("--model", "") == "unused" && !rank_options.has("--static");
  options.static_graph = rank_options.has("--static");
  options.gradients_in_buckets = !rank_options.has("--copies");
  const auto compression = rank_options.get("--compress", "none");
  if (compression == "fp16") options.compression = ddp::Compression::fp16;
  if (compression == "bf16") options.compression = ddp::Compression::bf16;
  return options;
}

/// Of rank `rank` in step `step`: which samples, and with what weight its loss counts.
struct Share {
  int64_t first = 0, count = 0;
  double weight = 0;
};

Share share_of(int rank, int size, int64_t step, const std::string& samples) {
  const int64_t even = 4;
  const auto count_of = [&](int number) { return samples == "even" ? even : even + (number * 3 + step) % 5; };
  Share share;
  int64_t total = 0;
  for (int number = 0; number < size; ++number) {
    if (number < rank) share.first += count_of(number);
    total += count_of(number);
  }
  share.first += step * 50;
  share.count = count_of(rank);
  share.weight =
      samples == "weighted" ? static_cast<double>(share.count) / static_cast<double>(total) : 1.0 / size;
  return share;
}

bool takes_branch(int rank, int64_t step) { return (rank + step) % 2 == 1; }

double worst_difference(const torch::nn::Module& first, const torch::nn::Module& second, bool gradients) {
  double worst = 0;
  const auto own = first.parameters(), theirs = second.parameters();
  for (std::size_t i = 0; i < own.size(); ++i) {
    const auto a = gradients ? own[i].grad() : own[i], b = gradients ? theirs[i].grad() : theirs[i];
    if (a.defined() != b.defined()) return 1e9;
    if (!a.defined()) continue;
    const auto scale = std::max(1e-300, b.detach().abs().max().item<double>());
    worst = std::max(worst, (a.detach() - b.detach()).abs().max().item<double>() / scale);
  }
  return worst;
}

int run_equal(const RankOptions& rank_options) {
  torch::set_num_threads(1);
  auto group = ddp::init_process_group();
  const auto kind = rank_options.get("--model", "mlp"), samples = rank_options.get("--samples", "even");
  const int64_t width = rank_options.number("--width", 13), parts = rank_options.number("--accumulate", 1);
  const auto dtype = torch::kDouble;
  auto module = std::make_shared<Model>(kind, width), alone = std::make_shared<Model>(kind, width);
  for (auto* module_used : {module.get(), alone.get()}) {
    module_used->to(dtype);
    module_used->place(group->device());
  }
  if (group->rank() > 0) // rank 0's parameters are to become those of all
    for (auto& parameter : module->parameters()) torch::NoGradGuard(), parameter.data().fill_(group->rank());
  ddp::DistributedDataParallel<Model> model(module, group, options_of(rank_options));
  if (rank_options.has("--eval")) module->eval();
  torch::optim::SGD optimizer(module->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  torch::optim::SGD alone_optimizer(alone->parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));
  double worst_gradient = 0, worst_norm = 0;
  const int64_t steps = rank_options.number("--steps", 6);
  // With --join rank r ends after steps - r: those that go on are means over all ranks, with nothing of the
  // others.
  const auto last_step = [&](int rank) { return rank_options.has("--join") ? steps - rank : steps; };
  const auto own_step = [&](int64_t step) {
    clear_gradients(*module, rank_options.has("--keep-gradients"));
    for (int64_t part = 0; part < parts; ++part) {
      const auto share = share_of(group->rank(), group->size(), step * parts + part, samples);
      const auto [inputs, wanted] = batch_of(share.first, share.count, dtype, group->device());
      if (samples == "weighted") model.set_batch_samples(static_cast<double>(share.count));
      const auto train = [&] {
        loss_of(model.forward(inputs, takes_branch(group->rank(), step)), wanted).backward();
      };
      if (part + 1 < parts) {
        const auto local = model.no_sync();
        train();
      } else {
        train();
      }
    }
  };
  const auto alone_step = [&](int64_t step) {
    clear_gradients(*alone, rank_options.has("--keep-gradients"));
    for (int64_t part = 0; part < parts; ++part) {
      double active = 0;
      for (int rank = 0; rank < group->size(); ++rank)
        if (step < last_step(rank))
          active += share_of(rank, group->size(), step * parts + part, samples).weight;
      for (int rank = 0; rank < group->size(); ++rank) {
        if (step >= last_step(rank)) continue;
        const auto share = share_of(rank, group->size(), step * parts + part, samples);
        const auto [inputs, wanted] = batch_of(share.first, share.count, dtype, group->device());
        const double weight = samples == "weighted" ? share.weight / active : share.weight;
        (loss_of(alone->forward(inputs, takes_branch(rank, step)), wanted) * weight).backward();
      }
    }
  };
  const auto loop = [&] {
    for (int64_t step = 0; step < last_step(group->rank()); ++step) {
      own_step(step);
      alone_step(step);
      worst_gradient = std::max(worst_gradient, worst_difference(*module, *alone, true));
      if (rank_options.has("--clip")) {
        const double own = model.clip_grad_norm(std::stod(rank_options.get("--clip", "1")));
        const double theirs = torch::nn::utils::clip_grad_norm_(alone->parameters(),
                                                                std::stod(rank_options.get("--clip", "1")));
        worst_norm = std::max(worst_norm, std::abs(own - theirs) / theirs);
      }
      optimizer.step();
      alone_optimizer.step();
    }
  };
  if (rank_options.has("--join"))
    model.join(loop);
  else
    loop();
  for (int64_t step = last_step(group->rank()); step < steps; ++step) {
    alone_step(step);
    alone_optimizer.step();
  }
  std::printf("%s\n", JsonLine()
                          .add("rank", group->rank())
                          .add("gradients", worst_gradient)
                          .add("weights", worst_difference(*module, *alone, false))
                          .add("norm", worst_norm)
                          .add("buckets", static_cast<long long>(model.bucket_count()))
                          .text()
                          .c_str());
  return 0;
}

/// Trains in single precision and writes all parameters and buffers, as tests/ddp/compare_with_python.py does
/// with torch's own.
int run_train(const RankOptions& rank_options) {
  torch::set_num_threads(1);
  auto group = ddp::init_process_group();
  auto module =
      std::make_shared<Model>(rank_options.get("--model", "mlp"), rank_options.number("--width", 13));
  module->place(group->device());
  ddp::DistributedDataParallel<Model> model(module, group, options_of(rank_options));
  // LibTorch's C++ rounds the factor of mul_ to bf16 (0.9 to 0.8984), Python does not: momentum is not the
  // same.
  const double momentum = module->kind == "bf16" ? 0 : 0.9;
  torch::optim::SGD optimizer(module->parameters(), torch::optim::SGDOptions(0.1).momentum(momentum));
  // With --join rank r ends r steps before rank 0.
  const int64_t steps = rank_options.number("--steps", 6) - (rank_options.has("--join") ? group->rank() : 0);
  const auto loop = [&] {
    for (int64_t step = 0; step < steps; ++step) {
      clear_gradients(*module, false);
      const auto [inputs, wanted] =
          batch_of(step * 50 + group->rank() * 4, 4, torch::kFloat, group->device());
      loss_of(model.forward(inputs, takes_branch(group->rank(), step)), wanted).backward();
      optimizer.step();
    }
  };
  if (rank_options.has("--join"))
    model.join(loop);
  else
    loop();
  return write_state(*module, rank_options.get("--write", "") + "." + std::to_string(group->rank()));
}

/// Rank --bad misbehaves in step 3, before its share of the gradients; the others say what they hear of it,
/// the rank --busy only after a while of its own.
int run_failing(const RankOptions& rank_options) {
  torch::set_num_threads(1);
  ddp::GroupOptions init;
  init.timeout = std::chrono::seconds(rank_options.number("--timeout", 10));
  const auto how = rank_options.get("--how", "die");
  if (how == "absent" && std::getenv("RANK") == std::string("1")) return 0;
  auto group = ddp::init_process_group(init);
  const bool bad = group->rank() == rank_options.number("--bad", 1);
  auto module =
      std::make_shared<Model>(how == "differs" && bad ? "shared" : "mlp", how == "differs" && bad ? 17 : 13);
  module->place(group->device());
  ddp::DistributedDataParallel<Model> model(module, group);
  for (int64_t step = 0; step < 6; ++step) {
    clear_gradients(*module, false);
    if (step == 3 && group->rank() == rank_options.number("--busy", -1))
      std::this_thread::sleep_for(std::chrono::seconds(2));
    if (bad && step == 3) {
      if (how == "die") ::kill(::getpid(), SIGKILL);
      if (how == "hang") std::this_thread::sleep_for(std::chrono::seconds(15));
      if (how == "leave") return 0;
      if (how == "throw") throw std::runtime_error("no such file");
      if (how == "unused") {
        auto [inputs, wanted] = batch_of(0, 4, torch::kFloat, group->device());
        model.forward(inputs);
        torch::tanh(module->first(inputs)).sum().backward();
      }
    }
    const auto [inputs, wanted] = batch_of(step, 4, torch::kFloat, group->device());
    loss_of(model.forward(inputs), wanted).backward();
  }
  std::printf("%s\n", JsonLine().add("rank", group->rank()).add("end", "well").text().c_str());
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const auto rank_options = parse_rank_options(argc, argv);
  try {
    if (what == "equal") return run_equal(rank_options);
    if (what == "train") return run_train(rank_options);
    if (what == "resume") return run_resume(rank_options);
    if (what == "sampler") return run_sampler();
    if (what == "overlap") return run_overlap(rank_options);
    if (what == "late") return run_late();
    if (what == "exchange") return run_exchange(rank_options);
    if (what == "forwards") return run_forwards(rank_options);
    if (what == "fallback") return run_fallback(rank_options);
    if (what == "fail") return run_failing(rank_options);
  } catch (const ddp::Error& error) {
    std::string failed_ranks;
    for (const int rank : error.failed_ranks())
      failed_ranks += (failed_ranks.empty() ? "" : " ") + std::to_string(rank);
    std::printf("%s\n", JsonLine()
                            .add("error", error.what())
                            .add("phase", error.phase())
                            .add("failed_ranks", failed_ranks)
                            .text()
                            .c_str());
    return 6;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "ddp_rank: %s\n", error.what());
    return 7;
  }
  return 2;
}
