// SPDX-License-Identifier: MIT
// The ranks of a step meet before their programs start: real launchers, one for each rank, on this machine.
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <map>
#include <memory>
#include <set>
#include <unistd.h>

#include "core/util/host_names.hpp"
#include "core/util/text.hpp"
#include "generate/plan/port_formula.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/rendezvous_helper.hpp"
#include "run/resolve/rendezvous_ports.hpp"
#include "run/store/client.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;
using Catch::StartsWith;

namespace {

const std::string k_print_place = "echo $MASTER_ADDR:$MASTER_PORT:$HPCML_STORE_ADDR:";
/// Says "served" where somebody answers at the place.
const std::string k_try_place =
    "if exec 3<>/dev/tcp/$MASTER_ADDR/$MASTER_PORT; then echo served; else echo free; fi 2>/dev/null";

} // namespace

TEST_CASE("every rank of a step is told where hpcml serves, before any program runs") {
  const auto job = new_job();
  const auto outputs = run_step(
      tasks_of(3, job),
      launch_words(k_try_place + "; " + k_print_place + "$TORCHELASTIC_USE_AGENT_STORE", {"--store", "own"}));
  const auto place = util::read_host_name() + ":" + std::to_string(port_of_job(job));
  for (const auto& rank_output : outputs) CHECK(rank_output.out == "served\n" + place + ":" + place + ":1\n");
}

TEST_CASE("JAX's ranks are told of one coordinator, at a port that is kept for it") {
  const auto script =
      "echo $JAX_COORDINATOR_ADDRESS $MASTER_PORT; echo $JAX_PROCESS_ID of $JAX_NUM_PROCESSES";
  const auto outputs = run_step(tasks_of(3, new_job()), launch_words(script, {"--jax-coordinator"}));
  const auto host = util::read_host_name() + ":";
  for (unsigned rank = 0; rank < 3; ++rank) {
    const auto lines = util::split(outputs[rank].out, '\n');
    CHECK(lines.at(0) == util::split(outputs[0].out, '\n').at(0));
    CHECK(lines.at(1) == std::to_string(rank) + " of 3");
  }
  const auto line = util::split(outputs[0].out, '\n').at(0);
  REQUIRE(line.starts_with(host));
  const auto port = line.substr(host.size(), line.find(' ') - host.size());
  CHECK(port != line.substr(line.find(' ') + 1));
  const auto coordinator = store::listen_at({"127.0.0.1"}, static_cast<std::uint16_t>(std::stoi(port)));
  REQUIRE(coordinator);
  for (const int fd : coordinator->sockets) ::close(fd);
  const auto plain = run_step(tasks_of(2, new_job()), launch_words("echo =$JAX_COORDINATOR_ADDRESS="));
  for (const auto& rank_output : plain) CHECK(rank_output.out == "==\n");
}

TEST_CASE("who has launch start JAX's ranks is told how JAX learns their number, once") {
  auto env = bare_environment();
  env.set("HPCML_RENDEZVOUS_TIMEOUT", "120");
  const auto outputs =
      run_step({env}, launch_words("echo $RANK", {"--nproc-per-node", "2", "--jax-coordinator"})).front();
  const std::string hint = "num_processes=int(os.environ[\"WORLD_SIZE\"])";
  CHECK_THAT(outputs.err, Contains(hint));
  CHECK(outputs.err.find(hint) == outputs.err.rfind(hint));
  for (const auto& rank_output :
       run_step(tasks_of(2, new_job()), launch_words("true", {"--jax-coordinator"})))
    CHECK_THAT(rank_output.err, !Contains("num_processes")); // srun's tasks: JAX counts them itself
}

TEST_CASE("a coordinator that nobody could be told of is refused, by the flag or by its variable") {
  for (const unsigned ranks : {1U, 2U})
    for (const bool by_flag : {true, false}) {
      auto tasks = tasks_of(ranks, new_job());
      for (auto& rank_output : tasks)
        if (!by_flag) rank_output.set("HPCML_JAX_COORDINATOR", "1");
      std::vector<std::string> flags = {"--rendezvous-timeout", "0"};
      if (by_flag) flags.push_back("--jax-coordinator");
      for (const auto& rank_output : run_step(tasks, launch_words("echo started", flags))) {
        CAPTURE(ranks, by_flag);
        CHECK(rank_output.code == 125);
        CHECK(rank_output.out.empty());
        CHECK_THAT(rank_output.err, Contains("--jax-coordinator needs the rendezvous of the launchers"));
      }
    }
}

TEST_CASE("with --store env the port stays rank 0's program's, and nobody is sent elsewhere") {
  const auto job = new_job();
  auto tasks = tasks_of(2, job);
  for (auto& rank_output : tasks)
    rank_output.set("TORCHELASTIC_USE_AGENT_STORE", "True"); // left over from elsewhere
  const auto outputs =
      run_step(tasks, launch_words(k_try_place + "; echo $MASTER_PORT-$TORCHELASTIC_USE_AGENT_STORE-",
                                   {"--store", "env"}));
  for (const auto& rank_output : outputs) {
    CHECK(rank_output.out == "free\n" + std::to_string(port_of_job(job)) + "--\n");
    CHECK_THAT(rank_output.err, !Contains("store")); // what was asked for is no news
  }
}

TEST_CASE("where the port is somebody else's the ranks meet at another one, all at the same") {
  for (const char* store : {"own", "env"}) {
    const auto job = new_job();
    const Squatter squatter(port_of_job(job));
    const auto outputs = run_step(tasks_of(3, job), launch_words(k_print_place, {"--store", store}));
    CHECK_THAT(outputs[0].out, !Contains(":" + std::to_string(port_of_job(job)) + ":") &&
                                   StartsWith(util::read_host_name() + ":"));
    CHECK(outputs[1].out == outputs[0].out);
    CHECK(outputs[2].out == outputs[0].out);
  }
}

TEST_CASE("two jobs on one node that begin at the same port do not meet each other") {
  const auto job = new_job();
  auto tasks = tasks_of(2, job);
  for (auto& rank_output : tasks_of(2, job + 17000)) tasks.push_back(rank_output);
  REQUIRE(port_of_job(job) == port_of_job(job + 17000));
  const auto outputs = run_step(tasks, launch_words(k_print_place + "; sleep 1", {"--store", "own"}));
  CHECK_THAT(outputs[0].out, StartsWith(util::read_host_name()));
  CHECK(outputs[0].out == outputs[1].out);
  CHECK_THAT(outputs[2].out, StartsWith(util::read_host_name()));
  CHECK(outputs[2].out == outputs[3].out);
  CHECK(outputs[0].out != outputs[2].out);
}

TEST_CASE("a rank that does not come is named, and rank 0's program does not start without it") {
  auto tasks = tasks_of(3, new_job());
  tasks.pop_back();
  const auto outputs = run_step(tasks, launch_words("echo started", {"--rendezvous-timeout", "5"}));
  CHECK_THAT(outputs[0].err, Contains("rank 0/3 (" + util::read_host_name() +
                                      ", local 0): rendezvous timed out after 5 s: rank 2/3 (" +
                                      util::read_host_name() + ", local 2) has not connected"));
  CHECK_THAT(outputs[0].err, Contains("its task has not started") && Contains("--rendezvous-timeout"));
  CHECK(outputs[0].out.empty());
  CHECK(outputs[0].code == 125);
  CHECK(outputs[1].out == "started\n");
}

TEST_CASE("a rank whose rank 0 does not come says where it has looked") {
  const auto job = new_job();
  const auto outputs =
      run_step({task(1, 2, job)}, launch_words("echo started", {"--rendezvous-timeout", "1"}));
  CHECK_THAT(outputs[0].err,
             Contains("the launcher of rank 0 on " + util::read_host_name() + " did not answer within 1 s"));
  CHECK_THAT(outputs[0].err, Contains(":" + std::to_string(port_of_job(job))) && Contains("refused"));
  CHECK(outputs[0].code == 125);
}

TEST_CASE("names that do not resolve: the ranks meet at the node that srun ran on, or say the name at once") {
  const auto job = new_job();
  auto tasks = tasks_of(2, job);
  for (auto& rank_output : tasks) {
    rank_output.set("SLURM_STEP_NODELIST", "no-such-node.invalid");
    rank_output.set("SLURMD_NODENAME", "no-such-node.invalid");
  }
  const auto alone = run_step({tasks[1]}, launch_words("echo started"));
  CHECK_THAT(alone[0].err,
             Contains("the name of rank 0's node, 'no-such-node.invalid', does not resolve on this node"));
  for (auto& rank_output : tasks) rank_output.set("SLURM_LAUNCH_NODE_IPADDR", "127.0.0.1");
  const auto outputs = run_step(tasks, launch_words(k_try_place + "; " + k_print_place, {"--store", "own"}));
  CHECK_THAT(outputs[1].out, StartsWith("served\n127.0.0.1:" + std::to_string(port_of_job(job)) + ":"));
  CHECK(outputs[0].out == outputs[1].out);
}

TEST_CASE("what serves for an exec is nobody's child, holds nothing open and goes when all have gone") {
  const auto job = new_job();
  std::vector<std::unique_ptr<Running>> ranks;
  for (const auto& rank_output : tasks_of(2, job))
    ranks.push_back(std::make_unique<Running>(
        std::vector<std::string>{"launch", "--bind", "none", "--store", "own", "--", "bash", "-c",
                                 "read -r c < /proc/$$/task/$$/children; echo children: $c; exec sleep 1"},
        rank_output, true));
  for (auto& rank_output : ranks) {
    auto line = rank_output->read_line();
    while (line.starts_with("hpcml: ")) line = rank_output->read_line();
    CHECK(util::trim(line) == "children:");
  }
  const auto port = port_of_job(job);
  CHECK(answers(port));
  // Standard output and error are one pipe, and its end comes when nobody holds it: the store outlives that.
  // Rank 0 reports that no program has connected.
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    std::size_t reports = 0;
    auto line = ranks[i]->read_line();
    for (; line.starts_with("hpcml: "); line = ranks[i]->read_line()) ++reports;
    CHECK(reports == (i == 0 ? 2U : 0U));
    CHECK(line.empty());
    CHECK(ranks[i]->wait() == 0);
  }
  CHECK(answers(port));
  CHECK(falls_silent(port));
}

TEST_CASE(
    "a port that was asked for is the program's where that serves, and its launcher's store is not there") {
  for (const char* store : {"env", "own"})
    for (const bool by_flag : {true, false}) {
      const auto port = launch::free_loopback_port();
      REQUIRE(port);
      const auto text = std::to_string(*port);
      auto env = bare_environment();
      env.set("HPCML_RENDEZVOUS_TIMEOUT", "120");
      auto words = launch_words(k_try_place + "; echo at $MASTER_PORT, $HPCML_STORE_ADDR=",
                                {"--nproc-per-node", "2", "--store", store});
      if (by_flag)
        words.insert(words.begin() + 2, {"--master-port", text});
      else
        env.set("MASTER_PORT", text);
      const auto outputs = run_step({env}, words).front();
      const auto end_of_run = std::chrono::steady_clock::now();
      const bool own = std::string(store) == "own";
      CAPTURE(store, by_flag, outputs.out, outputs.err);
      for (const char* rank : {"0", "1"}) {
        CHECK_THAT(outputs.out, Contains("[" + std::string(rank) + (own ? "] served" : "] free")));
        CHECK_THAT(outputs.out, Contains("[" + std::string(rank) + "] at " + text + ","));
      }
      CHECK_THAT(outputs.err, !Contains("cannot use the requested port"));
      const auto place = outputs.out.find(", "), end = outputs.out.find('=');
      REQUIRE(end != std::string::npos);
      const auto at = store::parse_place(outputs.out.substr(place + 2, end - place - 2));
      REQUIRE(at);
      CHECK((std::to_string(at->second) == text) == own);
      CHECK(falls_silent(at->second)); // the launcher's own child, gone with it
      CHECK(std::chrono::steady_clock::now() - end_of_run < std::chrono::seconds(5));
    }
}

TEST_CASE("the ranks that a launch starts meet at its own child, which ends with it") {
  auto env = bare_environment();
  env.set("HPCML_RENDEZVOUS_TIMEOUT", "120");
  const auto output = run_hpcml({"launch", "--bind", "none", "--nproc-per-node", "3", "--store", "own", "--",
                                 "bash", "-c", "echo at $MASTER_PORT=; " + k_try_place},
                                env);
  CHECK(output.exit_code == 0);
  const auto at = output.out.find("at ");
  REQUIRE(at != std::string::npos);
  const auto port = util::parse_unsigned(output.out.substr(at + 3, output.out.find('=', at) - at - 3));
  REQUIRE(port);
  for (const char* rank : {"0", "1", "2"})
    CHECK_THAT(output.out, Contains("[" + std::string(rank) + "] served"));
  CHECK(falls_silent(static_cast<unsigned>(*port)));
}

TEST_CASE("ranks meet by an address of IPv6, and at the node's own name besides the one they were told") {
  for (const char* address : {"::1", "127.0.0.2"}) {
    auto tasks = tasks_of(2, new_job());
    for (auto& rank_output : tasks) {
      rank_output.set("HPCML_MASTER_ADDR", address);
      rank_output.set("HPCML_MASTER_NODE", util::read_host_name());
    }
    const auto by_name =
        "if exec 4<>/dev/tcp/" + util::read_host_name() + "/$MASTER_PORT; then echo by name; fi";
    const auto outputs = run_step(
        tasks, launch_words(k_try_place + "; " + by_name + "; echo $MASTER_ADDR", {"--store", "own"}));
    for (const auto& rank_output : outputs)
      CHECK(rank_output.out == "served\nby name\n" + std::string(address) + "\n");
  }
}

TEST_CASE("a store is served at the addresses that its names have here, at all where the first tells none") {
  using List = std::vector<std::string>;
  const std::map<std::string, List> names = {
      {"node1", {"10.0.0.1", "fd00::1"}}, {"node1-ib", {"10.1.0.1"}},           {"node2", {"10.0.0.2"}},
      {"debian1", {"127.0.1.1"}},         {"half1", {"127.0.1.1", "10.0.0.1"}}, {"localhost", {"127.0.0.1"}},
      {"10.0.0.1", {"10.0.0.1"}},         {"10.0.0.2", {"10.0.0.2"}},           {"127.0.0.1", {"127.0.0.1"}}};
  const List own = {"127.0.0.1", "10.0.0.1", "10.1.0.1", "fd00::1"};
  const List all = {};
  const struct {
    List requested, served;
  } cases[] = {{{"node1"}, {"10.0.0.1", "fd00::1"}},
               {{"node1-ib", "node1", "", "node1-ib"}, {"10.1.0.1", "10.0.0.1", "fd00::1"}},
               {{"debian1"}, all}, // the other nodes know another address
               {{"debian1", "node1"}, all},
               {{"node1", "debian1"}, {"10.0.0.1", "fd00::1", "127.0.1.1"}},
               {{"half1"}, {"127.0.1.1", "10.0.0.1"}},
               {{"no-such-node"}, all},
               {{"no-such-node", "node1"}, all},
               {{"node2", "node1"}, all}, // another node's
               {{"10.0.0.2", "node1"}, all},
               {{"10.0.0.1"}, {"10.0.0.1"}},
               {{"127.0.0.1", "node1"}, {"127.0.0.1", "10.0.0.1", "fd00::1"}}, // all ranks are here
               {{"localhost"}, {"127.0.0.1"}}};
  for (const auto& rank_output : cases) {
    CAPTURE(rank_output.requested);
    CHECK(launch::serving_addresses(rank_output.requested, own, [&](const std::string& name) {
            const auto found = names.find(name);
            return found == names.end() ? List() : found->second;
          }) == rank_output.served);
  }
}

TEST_CASE("a restart gets the port that was asked for while connections of the first run linger") {
  const auto job = new_job();
  for (int run = 0; run < 2; ++run) {
    auto tasks = tasks_of(2, job);
    for (auto& rank_output : tasks) rank_output.set("SLURM_RESTART_COUNT", std::to_string(run));
    const auto outputs =
        run_step(tasks, launch_words(k_try_place + "; " + k_print_place,
                                     {"--store", "own", "--master-port", std::to_string(port_of_job(job))}));
    const auto place = util::read_host_name() + ":" + std::to_string(port_of_job(job));
    for (const auto& rank_output : outputs)
      CHECK(rank_output.out == "served\n" + place + ":" + place + ":\n");
    if (run == 0) CHECK(falls_silent(port_of_job(job)));
  }
}

TEST_CASE("the ports of a step begin with the one that its ranks always had, and are all different") {
  const auto first = launch::step_port({77, 3, 0});
  const auto ports = launch::rendezvous_ports(first);
  CHECK(ports.size() == launch::k_rendezvous_ports);
  CHECK(ports.front() == first);
  CHECK(std::set<std::uint16_t>(ports.begin(), ports.end()).size() == ports.size());
  for (const auto port : ports)
    CHECK((port >= plan::k_first_port && port < plan::k_first_port + plan::k_port_count));
  auto offered_ports = launch::rendezvous_ports(first, 29500);
  CHECK(offered_ports.front() == 29500);
  offered_ports.erase(offered_ports.begin());
  CHECK(offered_ports == ports);
}
