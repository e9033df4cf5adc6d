// SPDX-License-Identifier: MIT
// Ranks and events drawn by chance: whatever happens, ranks are killed in time and the first failure stays.
#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <optional>

#include "core/util/process.hpp"
#include "random_numbers.hpp"
#include "run/launch/stop_policy.hpp"
#include "samples.hpp"

using namespace hpcml;
using hpcml::test::chance;
using hpcml::test::pick;
using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

using Time = launch::StopPolicy::Time;

launch::StopOptions draw_options(std::mt19937& random) {
  launch::StopOptions options;
  if (chance(random, 70)) options.grace_after_signal = seconds(pick(random, 0, 30));
  options.grace_after_failure = seconds(pick(random, 0, 10));
  options.save_signal = chance(random, 50) ? SIGUSR2 : 0;
  options.has_observer = chance(random, 50);
  return options;
}

int draw_status(std::mt19937& random) {
  const int statuses[] = {0, 1 << 8, 7 << 8, (128 + SIGTERM) << 8, SIGTERM, SIGKILL, SIGSEGV, SIGUSR2};
  return statuses[pick(random, 0, std::size(statuses) - 1)];
}

/// Ranks that exit some time after a signal, or never, and the policy that stops them.
class Node {
public:
  explicit Node(std::mt19937& random)
      : x_random(random), x_options(draw_options(random)), x_policy(x_options), x_ranks(pick(random, 1, 4)) {
    for (auto& rank : x_ranks) {
      rank.ignores_signals = chance(random, 30);
      rank.leaves_others = chance(random, 30);
    }
  }

  bool any_left() const {
    return std::any_of(x_ranks.begin(), x_ranks.end(), [](const Rank& r) { return r.running || r.lingers; });
  }

  /// One event by chance, or time that passes.
  void go_on() {
    const auto event = pick(x_random, 0, 30);
    const int signals[] = {SIGINT, SIGTERM, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGURG, SIGCONT, SIGTSTP};
    if (event < std::size(signals))
      send(signals[event]);
    else if (event == 10)
      perform(x_policy.on_observer_stop(x_now), true);
    else if (event == 11 && chance(x_random, 30))
      perform(x_policy.on_store_lost(x_now), true);
    else if (event == 12 && chance(x_random, 30))
      perform(x_policy.on_kill(x_now), true);
    else if (event == 13)
      pause();
    else if (event < 17)
      end(pick(x_random, 0, static_cast<unsigned>(x_ranks.size()) - 1), draw_status(x_random));
    else
      pass_time();
  }

  /// All ranks are gone, and the reader of their output hangs.
  void check_end() {
    const auto result = x_policy.outcome(false);
    if (x_own_failure) CHECK(result.code == util::exit_code_of_status(*x_own_failure));
    CHECK((result.code != 0) == (x_policy.failed_rank().has_value() || (result.stopped && result.code != 0)));
    x_policy.on_drain(x_now);
    x_policy.on_signal(SIGTERM, false, x_now);
    x_policy.on_time(x_now + seconds(2));
    CHECK(x_policy.is_drain_given_up());
    CHECK(x_policy.outcome(false).code != 0);
    if (x_own_failure) CHECK(x_policy.outcome(true).code == result.code);
  }

private:
  struct Rank {
    bool ignores_signals = false; ///< except KILL
    bool leaves_others = false;
    bool running = true;
    bool lingers = false;
    std::optional<Time> exit_at{}; ///< after a signal
    int status = 0;                ///< with which it exits then
  };

  void pass_time() {
    auto next = x_now + milliseconds(pick(x_random, 1, 3000));
    if (const auto deadline = x_policy.next_deadline()) next = std::max(x_now, std::min(next, *deadline));
    x_now = next;
    for (std::size_t i = 0; i < x_ranks.size(); ++i)
      if (x_ranks[i].exit_at && *x_ranks[i].exit_at <= x_now) end(i, x_ranks[i].status);
    perform(x_policy.on_time(x_now), true);
    if (!any_left()) return;
    if (x_kill_by && x_now >= *x_kill_by) CHECK(x_killed_at);
    if (x_killed_at && x_now >= *x_killed_at + launch::k_after_kill) CHECK(x_given_up);
  }

  /// Of this process and its ranks.
  void pause() {
    const seconds duration(pick(x_random, 6, 600));
    x_now += duration;
    x_policy.on_suspended(duration);
    for (auto* time : {&x_kill_by, &x_killed_at})
      if (*time) **time += duration;
    for (auto& rank : x_ranks)
      if (rank.exit_at) *rank.exit_at += duration;
  }

  void send(int signal) {
    const bool was_ending = x_policy.is_ending(), ends = signal == SIGINT || signal == SIGTERM;
    const auto kills = x_kills;
    perform(x_policy.on_signal(signal, false, x_now), false);
    if (!ends) return;
    const bool is_second = was_ending && x_now - x_ending_at > launch::k_same_request;
    CHECK(x_kills == kills + (is_second ? 1 : 0));
    if (was_ending) return;
    x_ending_at = x_now;
    if (x_options.grace_after_signal) promise(*x_options.grace_after_signal);
  }

  void end(std::size_t index, int status) {
    auto& rank = x_ranks[index];
    if (!rank.running) return;
    const auto before = x_policy.failed_rank();
    const bool is_first = !before && !x_policy.is_stopped() && !x_policy.is_ending() && !x_any_signal;
    rank.running = false;
    rank.exit_at.reset();
    rank.lingers = x_policy.waits_for_group(status) && rank.leaves_others;
    perform(x_policy.on_rank_ended(index, status, rank.lingers, any_left(), x_now), true);
    if (before) CHECK(x_policy.failed_rank() == before);
    if (!is_first || status == 0) return;
    CHECK(x_policy.failed_rank() == index);
    x_own_failure = status;
  }

  /// The ranks exit within this time.
  void promise(seconds grace) {
    if (!x_kill_by || x_now + grace < *x_kill_by) x_kill_by = x_now + grace;
  }

  void perform(const launch::StopActions& actions, bool decided) {
    for (const auto& action : actions) {
      if (action.kind == launch::StopAction::Kind::give_up_groups) give_up();
      if (action.kind != launch::StopAction::Kind::signal_ranks &&
          action.kind != launch::StopAction::Kind::request_save)
        continue;
      if (decided && action.signal == SIGTERM && !x_kill_by) promise(x_options.grace_after_failure);
      deliver(action.signal);
    }
  }
  void deliver(int signal) {
    const bool kills = signal == SIGKILL;
    if (kills) ++x_kills;
    if (kills && !x_killed_at) x_killed_at = x_now;
    x_any_signal = x_any_signal || signal != SIGCONT;
    for (auto& rank : x_ranks) {
      if (!rank.running || signal == SIGCONT || signal == SIGTSTP || (rank.ignores_signals && !kills))
        continue;
      rank.exit_at = x_now + milliseconds(kills ? 1 : pick(x_random, 1, 20000));
      rank.status = kills || chance(x_random, 50) ? signal : 0;
    }
  }
  void give_up() {
    x_given_up = true;
    for (std::size_t i = 0; i < x_ranks.size(); ++i) {
      if (!std::exchange(x_ranks[i].lingers, false)) continue;
      const auto before = x_policy.failed_rank();
      perform(x_policy.on_group_ended(i, any_left(), x_now), true);
      if (before) CHECK(x_policy.failed_rank() == before);
    }
  }

  std::mt19937& x_random;
  launch::StopOptions x_options;
  launch::StopPolicy x_policy;
  std::vector<Rank> x_ranks;
  Time x_now{seconds(1000)}, x_ending_at{};
  std::optional<Time> x_kill_by;   ///< what the policy has promised
  std::optional<Time> x_killed_at; ///< the first time
  unsigned x_kills = 0;
  bool x_given_up = false;
  bool x_any_signal = false;
  std::optional<int> x_own_failure; ///< the status of a rank that failed before any signal
};

} // namespace

TEST_CASE("ranks are killed in time after random events") {
  std::mt19937 random(20261130);
  for (unsigned round = 0; round < hpcml::test::sampled(20000); ++round) {
    CAPTURE(round);
    Node node(random);
    for (int step = 0; step < 3000 && node.any_left(); ++step) node.go_on();
    REQUIRE_FALSE(node.any_left());
    node.check_end();
  }
}
