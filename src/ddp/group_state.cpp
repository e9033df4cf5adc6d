// SPDX-License-Identifier: MIT
#include "ddp/group_state.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

#include <ATen/core/Tensor.h>

namespace hpcml::ddp {

namespace {

/// The program believes that all goes well, and what it computed since the trouble is worth nothing.
[[noreturn]] void end_program(const std::string& error) {
  std::fprintf(stderr, "%s\n", error.c_str());
  std::fflush(nullptr);
  std::_Exit(1);
}

} // namespace

void ProcessGroup::State::connect(const GroupOptions& wanted) {
  // NCCL connects with the first operation, and waits without an end for those that do not come.
  if (wanted.backend == "nccl") watch.connect_ranks(options.timeout);
  communicator = std::make_unique<Communicator>(
      *store, env, wanted, Subgroup{prefix + "group", env.rank, env.world_size}, NcclWaitMode::stream);
  device = communicator->device();
  if (!device.is_cuda()) return;
  NcclWatchdog::Calls calls;
  calls.is_called = [this] { return watch.is_called(); };
  calls.on_failure = [this](const Operation& operation, const std::string& why) {
    watch.attribute_failure(operation, why);
    // The program may wait for the GPU, which waits for the others.
    communicator->abort();
  };
  calls.is_received = [this] { return watch.pending_error().empty(); };
  calls.give_up = [this] { end_program(watch.pending_error()); };
  nccl_watchdog = std::make_unique<NcclWatchdog>(options.timeout, std::move(calls));
}

Communicator& ProcessGroup::State::communicator_for(const at::Tensor& tensor) {
  if (!device.is_cuda() || !tensor.is_cpu()) return *communicator;
  if (!of_cpu) {
    GroupOptions by_gloo = options;
    by_gloo.backend = "gloo";
    of_cpu = std::make_unique<Communicator>(*store, env, by_gloo,
                                            Subgroup{prefix + "cpu", env.rank, env.world_size});
  }
  return *of_cpu;
}

ProcessGroup::State::~State() {
  if (!nccl_watchdog) return;
  const bool well = std::uncaught_exceptions() == 0;
  // A program that has not looked at its last results ends well only if they came about.
  if (well) nccl_watchdog->wait_for_all();
  nccl_watchdog.reset();
  if (const auto error = watch.pending_error(); well && !error.empty()) end_program(error);
  if (!well || watch.is_called()) communicator->give_up();
}

} // namespace hpcml::ddp
