// SPDX-License-Identifier: MIT
// What a process group holds.
#pragma once

#include <memory>
#include <string>

#include "ddp/failure_detector.hpp"
#include "ddp/nccl_watchdog.hpp"
#include "ddp/torch_compat.hpp"
#include "hpcml/ddp/process_group.hpp"

namespace hpcml::ddp {

struct ProcessGroup::State {
  State(RankEnv rank_env, GroupOptions group_options, std::shared_ptr<Store> own_store,
        const std::shared_ptr<Store>& second, std::string key_prefix, bool serves)
      : env(std::move(rank_env)), options(std::move(group_options)), prefix(std::move(key_prefix)),
        store(std::move(own_store)), watch(store, second, prefix, env, serves) {}
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  /// Connects the ranks by NCCL or Gloo, and looks after what runs on the GPU.
  void connect(const GroupOptions& wanted);
  /// The connections that a tensor travels by: those of GPUs, or on the CPU Gloo's.
  Communicator& communicator_for(const at::Tensor& tensor);

  RankEnv env;
  GroupOptions options;
  std::string prefix; ///< of its keys in the store
  std::shared_ptr<Store> store;
  std::unique_ptr<Communicator> communicator;
  std::unique_ptr<Communicator> of_cpu; ///< of a group on GPUs, from its first tensor on the CPU on
  FailureDetector
      watch; ///< ends first: the others learn that this rank leaves before they lose its connections
  at::Device device = at::kCPU;
  std::unique_ptr<NcclWatchdog> nccl_watchdog; ///< of GPUs: first to end, as it uses all of these
};

} // namespace hpcml::ddp
