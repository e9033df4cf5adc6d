// SPDX-License-Identifier: MIT
// What a process group holds.
#pragma once

#include <memory>
#include <string>

#include "ddp/torch_compat.hpp"
#include "ddp/trouble_watch.hpp"
#include "hpcml/ddp/process_group.hpp"

namespace hpcml::ddp {

struct ProcessGroup::State {
  State(RankEnv rank_env, GroupOptions group_options, const std::shared_ptr<Store>& store,
        const std::shared_ptr<Store>& second, std::string key_prefix, bool serves)
      : env(std::move(rank_env)), options(std::move(group_options)), prefix(std::move(key_prefix)),
        watch(store, second, prefix, env, serves) {}

  RankEnv env;
  GroupOptions options;
  std::string prefix; ///< of its keys in the store
  std::unique_ptr<Communicator> communicator;
  TroubleWatch watch; ///< ends first: that this rank leaves is said before the others lose its connections
  at::Device device = at::kCPU;
};

} // namespace hpcml::ddp
