// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <map>

#include "hpcml/rank_env.hpp"

using hpcml::RankEnv;
using Variables = std::map<std::string, std::string>;

namespace {

RankEnv read(const Variables& variables) {
  return RankEnv::from([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional<std::string>(found->second);
  });
}

const Variables k_complete = {
    {"RANK", "9"},      {"WORLD_SIZE", "16"},         {"LOCAL_RANK", "1"},     {"LOCAL_WORLD_SIZE", "8"},
    {"NODE_RANK", "1"}, {"MASTER_ADDR", "nid005001"}, {"MASTER_PORT", "29500"}};

Variables with(const std::string& name, const std::string& value) {
  auto variables = k_complete;
  variables[name] = value;
  return variables;
}

std::string message_of(const Variables& variables) {
  try {
    read(variables);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "no error";
}

} // namespace

TEST_CASE("a complete rank environment is read") {
  const auto env = read(k_complete);
  CHECK(env.rank == 9);
  CHECK(env.world_size == 16);
  CHECK(env.local_rank == 1);
  CHECK(env.local_world_size == 8);
  CHECK(env.node_rank == 1);
  CHECK(env.master_addr == "nid005001");
  CHECK(env.master_port == 29500);
  CHECK(env.backend == "auto");
  CHECK(env.interface_hint.empty());
}

TEST_CASE("what hpcml launch plans for threads and data loaders is read where it is set") {
  CHECK(read(k_complete).interop_threads == 0);
  CHECK(read(k_complete).dataloader_workers == -1);
  CHECK(read(with("HPCML_INTEROP_THREADS", "2")).interop_threads == 2);
  CHECK(read(with("HPCML_DATALOADER_WORKERS", "0")).dataloader_workers == 0);
  CHECK(message_of(with("HPCML_DATALOADER_WORKERS", "many")).find("HPCML_DATALOADER_WORKERS is 'many'") !=
        std::string::npos);
}

TEST_CASE("Gloo's interface goes before NCCL's, whose names are prefixes") {
  auto variables = with("NCCL_SOCKET_IFNAME", "hsn");
  CHECK(read(variables).interface_hint == "hsn");
  CHECK(read(variables).interface_is_prefix);
  variables["GLOO_SOCKET_IFNAME"] = "hsn0";
  CHECK(read(variables).interface_hint == "hsn0");
  CHECK_FALSE(read(variables).interface_is_prefix);
}

TEST_CASE("who started the ranks serves the store where that says so, and rank 0 else") {
  CHECK_FALSE(read(k_complete).launcher_serves_store);
  for (const char* yes : {"1", "True", "true"})
    CHECK(read(with("TORCHELASTIC_USE_AGENT_STORE", yes)).launcher_serves_store);
  for (const char* no : {"", "0", "False", "false"})
    CHECK_FALSE(read(with("TORCHELASTIC_USE_AGENT_STORE", no)).launcher_serves_store);
}

TEST_CASE("an empty rank environment names every missing variable and who sets them") {
  const auto message = message_of({});
  for (const char* part : {"RANK is not set", "WORLD_SIZE is not set", "MASTER_ADDR is not set",
                           "MASTER_PORT is not set", "hpcml launch"})
    CHECK_THAT(message, Catch::Contains(part));
}

TEST_CASE("a wrong rank variable is named with its value") {
  struct Row {
    std::string name, value, expected;
  };
  for (const auto& row : std::vector<Row>{{"RANK", "x", "RANK is 'x'"},
                                          {"RANK", "16", "RANK 16 is not below WORLD_SIZE 16"},
                                          {"RANK", "-1", "RANK is '-1'"},
                                          {"RANK", " 3", "RANK is ' 3'"},
                                          {"LOCAL_RANK", "8", "LOCAL_RANK 8 is not below LOCAL_WORLD_SIZE 8"},
                                          {"WORLD_SIZE", "4 ", "WORLD_SIZE is '4 '"},
                                          {"MASTER_PORT", "70000", "MASTER_PORT is '70000'"},
                                          {"MASTER_PORT", "0", "MASTER_PORT is '0'"},
                                          {"HPCML_BACKEND", "mpi", "HPCML_BACKEND is 'mpi'"}}) {
    INFO(row.name << "=" << row.value);
    CHECK_THAT(message_of(with(row.name, row.value)), Catch::Contains(row.expected));
  }
}
