// SPDX-License-Identifier: MIT
#include "ranks_helper.hpp"

#include <catch2/catch.hpp>

#include <chrono>
#include <future>

#include "core/util/text.hpp"
#include "free_port.hpp"

namespace torch_test {

using namespace hpcml;

std::vector<nlohmann::json> Run::events(int rank, const std::string& name) const {
  std::vector<nlohmann::json> list;
  for (const auto& line : util::split(ranks.at(rank).out, '\n')) {
    const auto event = nlohmann::json::parse(line, nullptr, false);
    if (event.is_object() && event.value("event", "") == name) list.push_back(event);
  }
  return list;
}

std::string Run::transcript() const {
  std::string text;
  for (const auto& [rank, output] : ranks)
    text += "rank " + std::to_string(rank) + " (code " + std::to_string(output.exit_code) + ")\n" +
            output.out + output.err;
  return text;
}

Run run_ranks(int world_size, const std::vector<int>& present,
              const std::function<std::vector<std::string>(int)>& words,
              const std::map<std::string, std::string>& extra_env, int port) {
  if (port == 0) port = test::free_port();
  const auto start = std::chrono::steady_clock::now();
  std::map<int, std::future<util::Result<util::ProcessOutput>>> running;
  for (const int rank : present) {
    auto env = util::EnvSnapshot::of_process();
    for (const char* name :
         {"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME", "HPCML_BACKEND", "NODE_RANK", "GROUP_RANK"})
      env.unset(name);
    env.set("RANK", std::to_string(rank));
    env.set("LOCAL_RANK", std::to_string(rank));
    env.set("WORLD_SIZE", std::to_string(world_size));
    env.set("LOCAL_WORLD_SIZE", std::to_string(world_size));
    env.set("MASTER_ADDR", "127.0.0.1");
    env.set("MASTER_PORT", std::to_string(port));
    env.set("OMP_NUM_THREADS", "1");
    for (const auto& [name, value] : extra_env) env.set(name, value);
    running[rank] = std::async(std::launch::async, [argv = words(rank), env] {
      return util::run_process(argv, env, std::chrono::seconds(600));
    });
  }
  Run run;
  for (auto& [rank, future] : running) {
    auto output = future.get();
    INFO("rank " << rank << (output ? "" : ": " + output.error().what));
    REQUIRE(output);
    run.ranks[rank] = *output;
  }
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return run;
}

Run run_all_ranks(int world_size, std::vector<std::string> first, const std::vector<std::string>& more) {
  std::vector<int> present;
  for (int rank = 0; rank < world_size; ++rank) present.push_back(rank);
  first.insert(first.end(), more.begin(), more.end());
  return run_ranks(world_size, present, [&](int) { return first; });
}

std::string helper_path() { return tested_build().helper; }
std::string train_path() { return tested_build().train_ddp; }
std::string resume_path() { return tested_build().resume_ddp; }

} // namespace torch_test
