// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/util/text.hpp"
#include "free_port.hpp"
#include "ranks_helper.hpp"
#include "wrong_preflight_lines.hpp"

using namespace hpcml;
using namespace torch_test;
using Catch::Contains;

namespace {

std::function<std::vector<std::string>(int)> preflight(const std::vector<std::string>& flags) {
  return [flags](int) {
    std::vector<std::string> words = {helper_path(), "preflight"};
    words.insert(words.end(), flags.begin(), flags.end());
    return words;
  };
}

/// Three honest ranks and rank 2 as tests/torch/helper/bad_rank.cpp plays it.
Run with_bad_rank(const std::string& how, const std::string& seconds) {
  const std::string bytes = "65536";
  return run_ranks(4, {0, 1, 2, 3}, [&](int rank) -> std::vector<std::string> {
    if (rank == 2) return {tested_build().bad_rank, how, bytes, seconds};
    return {helper_path(), "preflight", "--timeout", seconds, "--bytes", bytes};
  });
}

} // namespace

TEST_CASE("the helper was compiled with the headers of the library that it loads, and with the LibTorch that "
          "CMake took") {
  const auto output = util::run_process({helper_path(), "info"}, util::EnvSnapshot::of_process());
  REQUIRE(output);
  const auto info = nlohmann::json::parse(output->out);
  CHECK(info.at("torch") == tested_build().torch_version);
  CHECK(info.at("torch_library") == info.at("torch"));
  CHECK(info.at("gloo") == true);
}

TEST_CASE("four ranks meet, sum and exchange messages over the loopback interface") {
  const auto run = run_ranks(4, {0, 1, 2, 3}, preflight({"--timeout", "60", "--backend", "gloo"}));
  INFO(run.transcript());
  for (int rank = 0; rank < 4; ++rank) {
    CHECK(run.ranks.at(rank).exit_code == 0);
    for (const char* phase : {"all_reduce", "send_recv"}) {
      REQUIRE(run.events(rank, phase).size() == 1);
      CHECK(run.events(rank, phase)[0].at("ok") == true);
      CHECK(run.events(rank, phase)[0].at("gbps").get<double>() > 0);
    }
    const auto connected = run.events(rank, "connected");
    REQUIRE(connected.size() == 1);
    CHECK(connected[0].at("interface") == "lo");
    CHECK(connected[0].at("connections").size() == 3); // one to each other rank
  }
  REQUIRE(run.events(0, "summary").size() == 1);
  CHECK(run.events(0, "summary")[0].at("ranks").size() == 4);
}

TEST_CASE("the checks take one thread: an emulated node shows more cores than there are") {
  // The OpenMP runtime itself prints a line for each thread that it starts.
  const auto run = run_ranks(2, {0, 1}, preflight({"--timeout", "60", "--backend", "gloo"}),
                             {{"OMP_NUM_THREADS", "3"}, {"OMP_DISPLAY_AFFINITY", "TRUE"}});
  INFO(run.transcript());
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(run.ranks.at(rank).exit_code == 0);
    CHECK(util::split(run.ranks.at(rank).err, '\n').size() <= 2);
  }
}

TEST_CASE("a task of the site's MPI launcher is one rank of the preflight") {
  // ibrun's task: the site's profile names its variables, Slurm's of the step are not there.
  const auto run = run_ranks(2, {0, 1},
                             [](int rank) -> std::vector<std::string> {
                               const std::string number = std::to_string(rank);
                               return {"/usr/bin/env",
                                       "-u",
                                       "RANK",
                                       "-u",
                                       "LOCAL_RANK",
                                       "-u",
                                       "WORLD_SIZE",
                                       "-u",
                                       "LOCAL_WORLD_SIZE",
                                       "-u",
                                       "MASTER_ADDR",
                                       "-u",
                                       "MASTER_PORT",
                                       "OMPI_COMM_WORLD_RANK=" + number,
                                       "OMPI_COMM_WORLD_LOCAL_RANK=" + number,
                                       "OMPI_COMM_WORLD_SIZE=2",
                                       tested_build().hpcml,
                                       "preflight",
                                       "--site",
                                       "vista",
                                       "--backend",
                                       "gloo",
                                       "--format",
                                       "json"};
                             },
                             {{"SLURM_JOB_ID", std::to_string(::getpid())}});
  INFO(run.transcript());
  for (int rank = 0; rank < 2; ++rank) {
    CHECK(run.ranks.at(rank).exit_code == 0);
    CHECK(run.events(rank, "arrived").size() == 1);
  }
  REQUIRE(run.events(0, "summary").size() == 1);
  CHECK(run.events(0, "summary")[0].at("ranks").size() == 2);
  CHECK(run.events(1, "summary").empty());
}

TEST_CASE("rank 0 names the ranks that did not come, within the deadline, and all others end too") {
  const auto run = run_ranks(5, {0, 1, 4}, preflight({"--timeout", "8"}));
  INFO(run.transcript());
  REQUIRE(run.events(0, "cause").size() == 1);
  const auto faulty_rank = run.events(0, "cause")[0];
  CHECK(faulty_rank.at("ranks") == nlohmann::json({2, 3}));
  CHECK(faulty_rank.at("phase") == "rendezvous");
  CHECK_THAT(faulty_rank.at("what").get<std::string>(), Contains("ranks 2, 3") && Contains("within 8 s"));
  for (const int rank : {0, 1, 4}) CHECK(run.ranks.at(rank).exit_code == 6);
  CHECK(run.seconds < 90);
}

TEST_CASE("without rank 0 the others say which address they could not reach and why") {
  const auto run = run_ranks(2, {1}, preflight({"--timeout", "2"}));
  INFO(run.transcript());
  CHECK(run.ranks.at(1).exit_code == 6);
  REQUIRE(run.events(1, "cause").size() == 1);
  CHECK(run.events(1, "cause")[0].at("ranks") == nlohmann::json({0}));
  CHECK_THAT(run.events(1, "cause")[0].at("what").get<std::string>(),
             Contains("127.0.0.1:") && Contains("refused"));
}

TEST_CASE(
    "a rank whose wrong contribution makes the preflight fail is named, though it says that all is well") {
  const auto run = with_bad_rank("wrong", "60");
  INFO(run.transcript());
  for (const int rank : {0, 1, 3}) CHECK(run.ranks.at(rank).exit_code == 6);
  REQUIRE(run.events(0, "cause").size() == 1);
  const auto faulty_rank = run.events(0, "cause")[0];
  CHECK(faulty_rank.at("phase") == "all_reduce");
  CHECK(faulty_rank.at("ranks") == nlohmann::json({2}));
  // element 5 of the pattern is 6, times 1+2+3+4
  CHECK_THAT(faulty_rank.at("what").get<std::string>(),
             Contains("wrong in 1 of 16384 elements") && Contains("element 5: 61 instead of 60"));
}

TEST_CASE("a rank that dies or hangs in the all_reduce is named") {
  const std::string how = GENERATE("die", "hang");
  const auto run = with_bad_rank(how, "8");
  INFO(how << "\n" << run.transcript());
  for (const int rank : {0, 1, 3}) CHECK(run.ranks.at(rank).exit_code == 6);
  REQUIRE(run.events(0, "cause").size() == 1);
  CHECK(run.events(0, "cause")[0].at("ranks") == nlohmann::json({2}));
  CHECK(run.events(0, "cause")[0].at("phase") == "all_reduce");
  CHECK_THAT(run.events(0, "cause")[0].at("what").get<std::string>(), Contains("stopped responding"));
}

TEST_CASE("where rank 0 dies it is named by its host, though the store went with it") {
  const std::string bytes = "65536";
  // In the all_reduce, or while the others enter it.
  const std::string how = GENERATE("die", "quit", "quit", "quit", "quit");
  const auto run = run_ranks(3, {0, 1, 2}, [&](int rank) -> std::vector<std::string> {
    if (rank == 0) return {tested_build().bad_rank, how, bytes, "8"};
    return {helper_path(), "preflight", "--timeout", "8", "--bytes", bytes};
  });
  INFO(run.transcript());
  char name[256] = {};
  REQUIRE(::gethostname(name, sizeof name - 1) == 0);
  for (const int rank : {1, 2}) {
    CHECK(run.ranks.at(rank).exit_code == 6);
    REQUIRE(run.events(rank, "cause").size() == 1);
    const auto faulty_rank = run.events(rank, "cause")[0];
    CHECK(faulty_rank.at("ranks") == nlohmann::json({0}));
    CHECK(faulty_rank.at("hosts") ==
          nlohmann::json({std::string(name)})); // not 127.0.0.1, which --exclude refuses
  }
}

TEST_CASE("an interface that is not there is named together with those that are") {
  const auto run = run_ranks(2, {0, 1}, preflight({"--timeout", "60", "--interface", "hsn9"}));
  INFO(run.transcript());
  CHECK(run.ranks.at(0).exit_code == 6);
  CHECK_THAT(run.ranks.at(0).out, Contains("no interface 'hsn9'") && Contains("lo (127.0.0.1)"));
  CHECK(run.seconds < 50); // at once, and not when the time is over
}

namespace {

/// A port on which somebody listens.
struct HeldPort {
  int fd, number;
  ~HeldPort() { ::close(fd); }
};

HeldPort hold_port() {
  const int fd = ::socket(AF_INET6, SOCK_STREAM, 0);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_any;
  socklen_t length = sizeof address;
  REQUIRE(::bind(fd, reinterpret_cast<sockaddr*>(&address), length) == 0);
  REQUIRE(::listen(fd, 1) == 0);
  REQUIRE(::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length) == 0);
  return {fd, ntohs(address.sin6_port)};
}

} // namespace

TEST_CASE("a port that another program holds is named") {
  const auto held = hold_port();
  const auto run = run_ranks(1, {0}, preflight({"--timeout", "5"}), {}, held.number);
  INFO(run.transcript());
  CHECK(run.ranks.at(0).exit_code == 6);
  CHECK_THAT(run.ranks.at(0).out,
             Contains("127.0.0.1:" + std::to_string(held.number)) && Contains("could not serve"));
}

TEST_CASE("launch says before the program starts that its port is taken, and in one line that all is well") {
  const auto launch = [](int port) {
    auto env = util::EnvSnapshot::of_process();
    env.set("MASTER_PORT", std::to_string(port));
    const auto output = util::run_process({tested_build().hpcml, "launch", "--backend", "gloo", "--preflight",
                                           "--nproc-per-node", "2", "--", "echo", "started"},
                                          env, std::chrono::seconds(600));
    REQUIRE(output);
    return *output;
  };
  const auto held = hold_port();
  const auto failed = launch(held.number);
  INFO(failed.out << failed.err);
  CHECK(failed.exit_code == 6);
  CHECK_THAT(failed.out, !Contains("started"));
  CHECK_THAT(failed.err, Contains("127.0.0.1:" + std::to_string(held.number) + " (MASTER_PORT)") &&
                             Contains("Address already in use"));
  const auto passed = launch(test::free_port());
  INFO(passed.out << passed.err);
  CHECK(passed.exit_code == 0);
  CHECK_THAT(passed.out, Contains("started"));
  const std::string line = "hpcml: preflight passed: 2 ranks on 1 host connected";
  CHECK_THAT(passed.err, Contains(line));
  CHECK(passed.err.find(line) == passed.err.rfind(line));
}

TEST_CASE("the helper explains what is wrong with its command line") {
  for (const auto& words : test::wrong_preflight_lines()) {
    std::vector<std::string> all = {helper_path()};
    all.insert(all.end(), words.begin(), words.end());
    const auto output = util::run_process(all, util::EnvSnapshot::of_process());
    REQUIRE(output);
    CHECK(output->exit_code == 2);
    CHECK_THAT(output->err, Contains("hpcml-torch: error:") && Contains("usage:"));
  }
}
