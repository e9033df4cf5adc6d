// SPDX-License-Identifier: MIT
// When ranks count as quiet, and what happens to those that stay so.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/util/file.hpp"
#include "free_port.hpp"
#include "run/agent/agent_helper.hpp"
#include "run/agent/stall_watch.hpp"
#include "run/store/shared_store_activity.hpp"

using namespace hpcml;
using namespace hpcml::agent;
using namespace hpcml::testing;
using Catch::Contains;
using std::chrono::seconds;

TEST_CASE("ranks become quiet when nothing has come for the limit, and busy with the next sign of life") {
  const StallWatch::Time begin{};
  auto now = begin;
  StallWatch watch(seconds(10), now);
  /// What comes until a time, when it is asked each second.
  const auto look_until = [&](int time) {
    std::vector<std::pair<long, QuietEvent>> found;
    for (now += seconds(1); now <= begin + seconds(time); now += seconds(1))
      if (const auto news = watch.look(now))
        found.emplace_back(std::chrono::duration_cast<seconds>(now - begin).count(), *news);
    now -= seconds(1);
    return found;
  };
  using News = std::vector<std::pair<long, QuietEvent>>;
  CHECK(look_until(12) == News{{10, QuietEvent{true}}});
  watch.sign_of_life(now + seconds(1));
  CHECK(look_until(14) == News{{13, QuietEvent{false}}});
  watch.sign_of_life(begin + seconds(5)); // what is older changes nothing
  CHECK(look_until(23) == News{{23, QuietEvent{true}}});
}

TEST_CASE("a watch is due at a time that comes, whatever is heard meanwhile") {
  const StallWatch::Time start{};
  StallWatch watch(seconds(10), start);
  const auto first = watch.due();
  CHECK((first > start && first <= start + seconds(1)));
  watch.sign_of_life(start + seconds(3));
  CHECK(watch.due() == first);
  CHECK_FALSE(watch.look(first));
  CHECK((watch.due() > first && watch.due() <= first + seconds(1)));
}

TEST_CASE("what only asks a store is no sign of life: watchdogs do it while all ranks hang") {
  store::TcpStoreMessage message;
  for (const auto op :
       {store::StoreOpcode::check, store::StoreOpcode::get, store::StoreOpcode::wait,
        store::StoreOpcode::multi_get, store::StoreOpcode::ping, store::StoreOpcode::get_num_keys}) {
    message.op = op;
    CHECK_FALSE(store::changes_store(message));
  }
  for (const auto op : {store::StoreOpcode::set, store::StoreOpcode::compare_set, store::StoreOpcode::append,
                        store::StoreOpcode::queue_push}) {
    message.op = op;
    CHECK(store::changes_store(message));
  }
  message.op = store::StoreOpcode::add;
  CHECK_FALSE(store::changes_store(message));
  message.number = 1;
  CHECK(store::changes_store(message));
}

TEST_CASE("ranks that stall are looked at, then stopped, and start again where they may") {
  test::TempDirectory directory;
  auto request = agent_of(2, "echo up; test $TORCHELASTIC_RESTART_COUNT = 1 && exit 0; exec sleep 300");
  request.stall_timeout = seconds(1);
  request.log_directory = directory.path().string();
  request.run_id = "stalled";
  SECTION("once") {
    request.max_restarts = 1;
    const auto end = run_one(request);
    CAPTURE(end.out, end.err);
    CHECK(end.code == 0);
  }
  SECTION("for good") {
    const auto end = run_one(request);
    CAPTURE(end.out, end.err);
    CHECK(end.code == 124);
    CHECK_THAT(end.err, Contains("no output from any rank for 1 s") && Contains("stacks.txt"));
  }
  const auto run = directory / "stalled/attempt_0";
  CHECK_THAT(util::read_file((run / "stacks.txt").string()).value_or(""), Contains("sleep"));
  CHECK_THAT(util::read_file((run / "stacks-node0.txt").string()).value_or(""), Contains("sleep"));
}

TEST_CASE(
    "ranks of several nodes stall when nothing has come of any, and the first node says where each is") {
  test::TempDirectory directory;
  auto request = agent_at(static_cast<unsigned>(test::free_port()), 1, "echo up; exec sleep 300", 2);
  request.stall_timeout = seconds(1);
  request.log_directory = directory.path().string();
  request.run_id = "stalled";
  request.place->node_rank = 0;
  AgentProcess first(request, "node0");
  request.place->node_rank = 1;
  AgentProcess second(request, "node1");
  const auto end = first.wait();
  CAPTURE(end.out, end.err);
  CHECK(end.code == 124);
  CHECK(second.wait().code == 124);
  CHECK_THAT(end.err, Contains("no output from any rank for 1 s"));
  for (const char* name : {"stacks-node0.txt", "stacks-node1.txt", "stacks.txt"})
    CHECK_THAT(util::read_file((directory / "stalled/attempt_0" / name).string()).value_or(""),
               Contains("sleep"));
}

TEST_CASE("a rank that writes, or touches its progress file, keeps all others from counting as stalled") {
  const auto life = GENERATE("echo .", "touch $HPCML_PROGRESS_FILE");
  auto request =
      agent_of(2, "test $RANK = 1 && exec sleep 8; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do " +
                      std::string(life) + "; sleep 0.5; done");
  request.stall_timeout = seconds(5);
  const auto end = run_one(request);
  CAPTURE(life, end.out, end.err);
  CHECK(end.code == 0);
}
