// SPDX-License-Identifier: MIT
// A rank on LibTorch alone: meets the others at a TCPStore that rank 0 takes itself for the server of.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <torch/csrc/distributed/c10d/TCPStore.hpp>

int main() {
  const auto number = [](const char* name) { return std::atoi(std::getenv(name)); };
  const int rank = number("RANK"), size = number("WORLD_SIZE");
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(number("MASTER_PORT"));
  options.isServer = rank == 0;
  options.numWorkers = size;
  options.timeout = std::chrono::seconds(300);
  c10d::TCPStore store(std::getenv("MASTER_ADDR"), options);
  store.set("rank/" + std::to_string(rank), std::vector<std::uint8_t>{static_cast<std::uint8_t>(rank)});
  int sum = 0;
  for (int peer = 0; peer < size; ++peer) sum += store.get("rank/" + std::to_string(peer)).at(0);
  // Rank 0's program may be the server: the others need it until they have read everything.
  if (store.add("done", 1) == size) store.set("all done", std::vector<std::uint8_t>{1});
  store.wait({"all done"});
  store.add("left", 1);
  while (rank == 0 && store.add("left", 0) < size)
    ;
  std::printf("met, the sum is %d\n", sum);
}
