// SPDX-License-Identifier: MIT
#include "hpcml/ddp/checkpoint.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <stdexcept>

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <torch/optim/adagrad.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>
#include <torch/optim/optimizer.h>
#include <torch/optim/rmsprop.h>
#include <torch/optim/sgd.h>
#include <torch/serialize/input-archive.h>
#include <torch/serialize/output-archive.h>
#include <torch/version.h>

#include "ddp/checkpoint_directory.hpp"
#include "ddp/format_message.hpp"

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

/// Moves the state of each parameter (moments, sums) to the parameter's device. Supports LibTorch's
/// optimizers with state per parameter; others are not changed.
void move_state_to_parameters(torch::optim::Optimizer& optimizer) {
  for (auto& group : optimizer.param_groups())
    for (const auto& parameter : group.params()) {
      const auto found = optimizer.state().find(key_of(parameter));
      if (found == optimizer.state().end()) continue;
      for (auto* tensor : tensors_of(*found->second))
        if (tensor->defined()) *tensor = tensor->to(parameter.device());
    }
}

constexpr const char* k_file = "state.pt";

at::Tensor number(std::int64_t value) { return at::scalar_tensor(value, at::kLong); }

/// Returns the generators of this rank, in a fixed order.
std::vector<at::Generator> generators_of(const ProcessGroup& group) {
  std::vector<at::Generator> all{at::globalContext().defaultGenerator(at::Device(at::kCPU))};
  if (group.device().is_cuda()) all.push_back(at::globalContext().defaultGenerator(group.device()));
  return all;
}

/// All ranks' states of the i-th generator, on every rank: the same size on each.
std::vector<at::Tensor> gather_states(ProcessGroup& group, const at::Generator& generator) {
  std::vector<at::Tensor> states;
  const auto own = generator.get_state().contiguous().to(group.device());
  group.all_gather(states, own).wait();
  for (auto& state : states) state = state.cpu();
  return states;
}

std::string state_key(std::size_t generator, int rank) {
  return format_message("random_{}_{}", generator, rank);
}

std::string pack_state(ProcessGroup& group, const TrainingState& state, std::int64_t step,
                       const std::vector<std::vector<at::Tensor>>& random) {
  torch::serialize::OutputArchive root, module, optimizer, sampler, values;
  state.module.save(module);
  state.optimizer.save(optimizer);
  root.write("module", module);
  root.write("optimizer", optimizer);
  if (state.sampler != nullptr) {
    state.sampler->save(sampler);
    root.write("sampler", sampler);
  }
  for (const auto& [name, value] : state.values) values.write(name, value.detach().cpu(), true);
  root.write("values", values);
  root.write("step", number(step), true);
  root.write("world_size", number(group.size()), true);
  for (std::size_t i = 0; i < random.size(); ++i)
    for (int rank = 0; rank < group.size(); ++rank)
      root.write(state_key(i, rank), random[i][static_cast<std::size_t>(rank)], true);
  std::ostringstream bytes;
  root.save_to(bytes);
  return bytes.str();
}

/// Rank 0's text becomes that of all.
std::string share_text(ProcessGroup& group, const std::string& text) {
  auto length = number(static_cast<std::int64_t>(text.size())).reshape({1}).to(group.device());
  group.broadcast(length).wait();
  auto bytes = at::zeros({length.item<int64_t>()}, at::kByte);
  if (bytes.numel() == 0) return {};
  if (group.rank() == 0) std::copy(text.begin(), text.end(), bytes.data_ptr<uint8_t>());
  bytes = bytes.to(group.device());
  group.broadcast(bytes).wait();
  bytes = bytes.cpu();
  return std::string(bytes.data_ptr<uint8_t>(), bytes.data_ptr<uint8_t>() + bytes.numel());
}

/// Reads into a new tensor: reading into an existing one would resize the archive's tensor.
at::Tensor read_tensor(torch::serialize::InputArchive& archive, const std::string& key) {
  at::Tensor tensor;
  archive.read(key, tensor, true);
  return tensor;
}

/// Reads the module's state; each tensor stays where it is. An archive gives tensors its own device.
void load_module(torch::nn::Module& module, torch::serialize::InputArchive& archive) {
  auto tensors = module.parameters();
  for (const auto& buffer : module.buffers()) tensors.push_back(buffer);
  std::vector<at::Device> places;
  for (const auto& tensor : tensors) places.push_back(tensor.device());
  module.load(archive);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (tensors[i].device() != places[i]) tensors[i].set_data(tensors[i].detach().to(places[i]));
}

/// The device of all parameters; the CPU where there are several.
at::Device place_of(const torch::nn::Module& module) {
  const auto parameters = module.parameters();
  for (const auto& parameter : parameters)
    if (parameter.device() != parameters.front().device()) return at::kCPU;
  return parameters.empty() ? at::kCPU : parameters.front().device();
}

void unpack_state(ProcessGroup& group, const std::string& bytes, TrainingState& state, Resumed& resumed) {
  torch::serialize::InputArchive root, module, optimizer, sampler, values;
  root.load_from(bytes.data(), bytes.size(), place_of(state.module));
  root.read("module", module);
  load_module(state.module, module);
  root.read("optimizer", optimizer);
  state.optimizer.load(optimizer);
  move_state_to_parameters(state.optimizer);
  resumed.step = read_tensor(root, "step").item<int64_t>();
  resumed.world_size = static_cast<int>(read_tensor(root, "world_size").item<int64_t>());
  if (state.sampler != nullptr && root.try_read("sampler", sampler)) state.sampler->load(sampler);
  root.read("values", values);
  for (auto& [name, value] : state.values) {
    const at::NoGradGuard no_gradients;
    const auto saved = read_tensor(values, name);
    if (value.defined())
      value.copy_(saved);
    else
      value = saved.clone();
  }
  if (resumed.world_size != group.size()) return;
  auto generators = generators_of(group);
  for (std::size_t i = 0; i < generators.size(); ++i)
    generators[i].set_state(read_tensor(root, state_key(i, group.rank())).cpu());
}

/// Rank 0's choice becomes that of all, without the bytes.
UsableCheckpoint share_choice(ProcessGroup& group, const UsableCheckpoint& own) {
  std::string text = std::to_string(own.step) + "\n" + (own.damaged ? "damaged" : "") + "\n";
  for (auto reason : own.skipped) {
    std::replace(reason.begin(), reason.end(), '\n', ' '); // a path may have one
    text += reason + "\n";
  }
  std::istringstream lines(share_text(group, text));
  UsableCheckpoint choice;
  std::string line;
  std::getline(lines, line);
  choice.step = std::stoll(line);
  std::getline(lines, line);
  choice.damaged = !line.empty();
  while (std::getline(lines, line)) choice.skipped.push_back(line);
  return choice;
}

/// A line of the job's log for each checkpoint that is not used.
void report_skipped(const std::filesystem::path& directory, const UsableCheckpoint& choice) {
  const auto end = choice.step < 0
                       ? "starting without a checkpoint"
                       : format_message("resuming from {}", checkpoint_path(directory, choice.step).string());
  for (const auto& reason : choice.skipped)
    std::fprintf(stderr, "hpcml: warning: cannot use checkpoint %s; %s\n", reason.c_str(), end.c_str());
}

} // namespace

void save_checkpoint(ProcessGroup& group, const std::filesystem::path& directory, std::int64_t step,
                     const TrainingState& state) {
  std::vector<std::vector<at::Tensor>> random;
  for (const auto& generator : generators_of(group)) random.push_back(gather_states(group, generator));
  std::string fault;
  if (group.rank() == 0) {
    try {
      write_checkpoint(directory, step, {{k_file, pack_state(group, state, step, random)}});
    } catch (const std::exception& error) {
      fault = error.what();
      if (fault.empty()) fault = "unknown";
    }
  }
  fault = share_text(group, fault);
  if (!fault.empty())
    throw std::runtime_error(format_message(
        "the checkpoint of step {} was not written (older ones are kept; fix the cause and save again): {}",
        step, fault));
}

Resumed load_checkpoint(ProcessGroup& group, const std::filesystem::path& directory, TrainingState& state) {
  UsableCheckpoint found;
  if (group.rank() == 0) found = find_usable_checkpoint(directory, k_file);
  auto choice = share_choice(group, found);
  if (choice.step < 0 && choice.damaged)
    throw std::runtime_error(format_message(
        "no checkpoint in {} can be used: {}; move its step-* directories away to start without one",
        directory.string(), choice.skipped.front()));
  if (group.rank() == 0) report_skipped(directory, choice);
  Resumed resumed;
  resumed.skipped = choice.skipped;
  if (choice.step < 0) return resumed;
  try {
    if (group.rank() > 0) found.bytes = read_checkpoint_file(directory, choice.step, k_file);
    unpack_state(group, found.bytes, state, resumed);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    group.fail("load_checkpoint", format_message("{}; the directory must be on storage that all nodes share",
                                                 what.substr(0, what.find('\n'))));
  }
  group.barrier().wait();
  return resumed;
}

} // namespace hpcml::ddp
