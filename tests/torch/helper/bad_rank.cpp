// SPDX-License-Identifier: MIT
// A rank that takes part in a preflight until the all_reduce and then misbehaves, or ends before it:
// bad_rank wrong|die|hang|quit BYTES SECONDS
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>
#include <unistd.h>

#include <ATen/ATen.h>

#include "hpcml/rank_env.hpp"
#include "torch/helper/group_rendezvous.hpp"

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string how = argv[1];
  const int64_t bytes = std::stoll(argv[2]);
  hpcml::ddp::GroupOptions options;
  options.timeout = std::chrono::seconds(std::stoi(argv[3]));
  const auto env = hpcml::RankEnv::from_environment();
  try {
    hpcml::helper::PhaseBarrier barrier(env, options.timeout);
    barrier.enter("setup");
    barrier.conclude("setup", "");
    barrier.enter("connect");
    hpcml::helper::Communicator group(barrier.store(), env, options);
    barrier.conclude("connect", "");
    if (how == "quit") ::kill(::getpid(), SIGKILL);
    barrier.enter("all_reduce");
    if (how == "die") ::kill(::getpid(), SIGKILL);
    if (how == "hang") {
      std::this_thread::sleep_for(4 * options.timeout);
      return 0;
    }
    // Looks like this rank's share, but one element of it is another rank's.
    auto tensor =
        (at::arange(bytes / 4, at::TensorOptions().dtype(at::kLong)).remainder(251) + 1).to(at::kFloat) *
        (env.rank + 1);
    tensor[5] += 1;
    group.all_reduce_sum(tensor);
    barrier.conclude("all_reduce", "");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bad_rank: %s\n", error.what());
    return 6;
  }
  return 0;
}
