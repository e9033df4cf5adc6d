// SPDX-License-Identifier: MIT
// The same digits in shuffled batches, saved now and then: a job that ends before the training does goes on
// where it was saved, and ends with the same weights as if it had never stopped.
//
//   hpcml launch --nproc-per-node 2 -- resume_ddp --checkpoints DIR              (again and again)
//   hpcml launch --nproc-per-node 2 -- resume_ddp --checkpoints DIR --stop-after 150
//
// The folder is one that all nodes see; without --checkpoints it is HPCML_CHECKPOINT_DIR, where that is set.
// A job that was requeued, or is the next of a chain, begins with the newest whole checkpoint in it; where
// there is none, the training begins anew. Asked to save (hpcml gen --save-before), the ranks save and end.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <torch/torch.h>

#include <hpcml/ddp/checkpoint.hpp>
#include <hpcml/ddp/distributed_data_parallel.hpp>

#include "digits.hpp"

namespace ddp = hpcml::ddp;

volatile std::sig_atomic_t asked_to_save = 0;

extern "C" void note_request(int) { asked_to_save = 1; }

std::string text_of(const char* value) { return value != nullptr ? value : ""; }

/// HPCML_SAVE_SIGNAL says by which signal the job's script asks; TERM is Slurm's own.
void listen_for_requests() {
  const auto name = text_of(std::getenv("HPCML_SAVE_SIGNAL"));
  std::signal(SIGTERM, note_request);
  if (name == "USR1") std::signal(SIGUSR1, note_request);
  if (name == "USR2") std::signal(SIGUSR2, note_request);
  if (name == "HUP") std::signal(SIGHUP, note_request);
}

/// Whether a rank was asked: they hear of it at nearly the same time, and must all stop behind the same step.
bool is_any_asked(ddp::ProcessGroup& group) {
  const auto requested = torch::full({1}, static_cast<double>(asked_to_save), group.device());
  group.all_reduce(requested).wait();
  return requested.item<double>() > 0;
}

struct Options {
  std::string data;
  std::string checkpoints = text_of(std::getenv("HPCML_CHECKPOINT_DIR"));
  std::int64_t steps = 300;
  std::int64_t save_every = 50;
  std::int64_t stop_after = -1; ///< as a job whose time is over; -1: not
};

/// With dropout: the random state of each rank is a part of what goes on.
struct Network : torch::nn::Module {
  Network() {
    hidden = register_module("hidden", torch::nn::Linear(examples::k_pixels, 64));
    output = register_module("output", torch::nn::Linear(64, examples::k_classes));
  }
  torch::Tensor forward(torch::Tensor images) {
    return output(torch::dropout(torch::relu(hidden(images)), 0.1, is_training()));
  }
  torch::nn::Linear hidden{nullptr}, output{nullptr};
};

/// The next batch of this rank; a new epoch where one has ended.
torch::Tensor next_rows(ddp::DistributedSampler& sampler) {
  constexpr std::size_t k_batch = 32;
  auto rows = sampler.next(k_batch);
  if (!rows) {
    sampler.set_epoch(sampler.epoch() + 1);
    rows = sampler.next(k_batch);
  }
  const std::vector<std::int64_t> numbers(rows->begin(), rows->end());
  return torch::tensor(numbers);
}

/// Why the training stopped before its end; empty where it came to it.
std::string train(const std::shared_ptr<Network>& network, const examples::Digits& digits,
                  const std::shared_ptr<ddp::ProcessGroup>& group, const Options& options) {
  ddp::DistributedDataParallel<Network> model(network, group);
  torch::optim::Adam optimizer(network->parameters(), torch::optim::AdamOptions(0.005));
  ddp::DistributedSampler sampler(static_cast<std::size_t>(digits.train_labels.size(0)), group->size(),
                                  group->rank());
  ddp::TrainingState state{*network, optimizer, &sampler};
  ddp::Resumed resumed;
  if (!options.checkpoints.empty()) resumed = ddp::load_checkpoint(*group, options.checkpoints, state);
  if (group->rank() == 0 && resumed)
    std::printf("goes on after step %lld, epoch %zu\n", static_cast<long long>(resumed.step),
                sampler.epoch());
  for (auto step = resumed.step + 1; step < options.steps; ++step) {
    if (step == options.stop_after)
      return "stopped before step " + std::to_string(step) +
             "; the same command without --stop-after goes on";
    const auto rows = next_rows(sampler);
    const auto images = digits.train_images.index_select(0, rows).to(group->device());
    const auto labels = digits.train_labels.index_select(0, rows).to(group->device());
    optimizer.zero_grad();
    model.set_batch_samples(static_cast<double>(images.size(0)));
    torch::nn::functional::cross_entropy(model.forward(images), labels).backward();
    optimizer.step();
    const bool ends = is_any_asked(*group) && step + 1 < options.steps;
    if (!options.checkpoints.empty() && (ends || (step + 1) % options.save_every == 0))
      ddp::save_checkpoint(*group, options.checkpoints, step, state);
    if (ends)
      return "stopped after step " + std::to_string(step) + ", as it was asked to; the same command goes on";
  }
  return {};
}

/// Share of the held-out images that are read rightly.
double accuracy(Network& network, const examples::Digits& digits, torch::Device device) {
  const torch::NoGradGuard no_gradients;
  network.eval();
  const auto guess = network.forward(digits.test_images.to(device)).argmax(1).cpu();
  return guess.eq(digits.test_labels).to(torch::kDouble).mean().item<double>();
}

std::string weights_hash(const Network& network) {
  std::vector<torch::Tensor> parts;
  for (const auto& weight : network.parameters()) parts.push_back(weight.detach().cpu().flatten());
  const auto flat = torch::cat(parts).contiguous();
  return examples::fnv1a_hex(flat.data_ptr(), flat.nbytes());
}

int run(const Options& options) {
  torch::set_num_threads(1);
  const auto digits = examples::load_digits(options.data);
  const auto group = ddp::init_process_group();
  torch::manual_seed(static_cast<std::uint64_t>(1 + group->rank()));
  const auto network = std::make_shared<Network>();
  network->to(group->device());
  if (const auto stopped = train(network, digits, group, options); !stopped.empty()) {
    if (group->rank() == 0) std::printf("%s\n", stopped.c_str());
    return 0;
  }
  if (group->rank() == 0)
    std::printf("%lld steps, held-out accuracy %.4f, weights %s\n", static_cast<long long>(options.steps),
                accuracy(*network, digits, group->device()), weights_hash(*network).c_str());
  return 0;
}

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--help" || i + 1 == argc)
      throw std::invalid_argument("usage: resume_ddp [--data digits.csv.gz] [--checkpoints DIR] [--steps N] "
                                  "[--save-every N] [--stop-after STEP]");
    const std::string value = argv[++i];
    if (flag == "--data")
      options.data = value;
    else if (flag == "--checkpoints")
      options.checkpoints = value;
    else if (flag == "--steps")
      options.steps = std::stoll(value);
    else if (flag == "--save-every")
      options.save_every = std::stoll(value);
    else if (flag == "--stop-after")
      options.stop_after = std::stoll(value);
    else
      throw std::invalid_argument("unknown flag '" + flag + "'; see --help");
  }
  return options;
}

int main(int argc, char** argv) {
  try {
    listen_for_requests();
    return run(parse_options(argc, argv));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "resume_ddp: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "resume_ddp: error: %s\n", error.what());
    return 1;
  }
}
