// SPDX-License-Identifier: MIT
// A stop policy whose events and times are text: "TERM; 30 s pass; 0 dies KILL last".
#pragma once

#include <catch2/catch.hpp>

#include <csignal>
#include <sstream>
#include <string>
#include <vector>

#include "core/util/signal_names.hpp"
#include "core/util/text.hpp"
#include "run/launch/rank_process.hpp"
#include "run/launch/stop_policy.hpp"

namespace hpcml::testing {

/// Of an agent in a step: all that a launch can have.
inline launch::StopOptions all_stop_options() {
  return {std::chrono::seconds(30), std::chrono::seconds(10), SIGUSR2, true, true};
}

inline int signal_of(const std::string& name) {
  for (int signal = 1; signal < 32; ++signal)
    if (util::signal_name(signal) == "SIG" + name) return signal;
  FAIL("unknown signal " << name);
  return 0;
}

/// "buffer, TERM, CONT, request TERM"
inline std::string text_of(const launch::StopActions& actions) {
  using Kind = launch::StopAction::Kind;
  std::vector<std::string> texts;
  for (const auto& action : actions) {
    const auto signal = util::signal_name(action.signal).substr(3);
    const auto rank = std::to_string(action.rank);
    switch (action.kind) {
    case Kind::signal_ranks: texts.push_back(signal); break;
    case Kind::request_save: texts.push_back("save " + signal); break;
    case Kind::suspend: texts.emplace_back("suspend"); break;
    case Kind::buffer_output: texts.emplace_back("buffer"); break;
    case Kind::read_last_lines: texts.push_back("read " + rank); break;
    case Kind::check_memory: texts.push_back("memory " + rank); break;
    case Kind::notify_request: texts.push_back("request " + signal); break;
    case Kind::notify_failure: texts.push_back("failure " + rank); break;
    case Kind::notify_store_lost: texts.emplace_back("store"); break;
    case Kind::report_kill: texts.push_back("report " + signal); break;
    case Kind::give_up_groups: texts.emplace_back("give up"); break;
    }
  }
  return util::join(texts, ", ");
}

/// One launch, whose clock stands still between the events.
class StopPlay {
public:
  explicit StopPlay(const launch::StopOptions& options = all_stop_options()) : x_policy(options) {}

  /// Events: `TERM`, `QUIT at terminal`, `2 s pass`, `60 s paused`, `observer stops`, `observer kills`,
  /// `store exits`, `drain`, `progress`; of rank 0 `0 exits 3`, `0 dies KILL`, `0 leaves 143` (others of its
  /// group run), `0 group ends`, and `last` after them if no group is left. Returns the actions.
  std::string happen(const std::string& event) {
    std::istringstream words(event);
    std::string first, verb, what, last;
    words >> first >> verb >> what >> last;
    if (event == "observer stops") return text_of(x_policy.on_observer_stop(now));
    if (event == "observer kills") return text_of(x_policy.on_kill(now));
    if (event == "store exits") return text_of(x_policy.on_store_lost(now));
    if (event == "drain") return x_policy.on_drain(now), "";
    if (event == "progress") return x_policy.on_drain_progress(now), "";
    if (verb == "s") return pass(std::chrono::seconds(std::stoi(first)), what == "paused");
    if (verb == "ms") return pass(std::chrono::milliseconds(std::stoi(first)), false);
    if (verb.empty() || verb == "at") return text_of(x_policy.on_signal(signal_of(first), verb == "at", now));
    return end(static_cast<std::size_t>(std::stoul(first)), verb, what, last != "last");
  }
  /// The same of several, separated by ";". Returns the actions of the last.
  std::string play(const std::string& events) {
    std::string actions;
    for (const auto& event : util::split(events, ';')) actions = happen(std::string(util::trim(event)));
    return actions;
  }
  launch::StopPolicy& policy() { return x_policy; }
  /// Seconds until the next deadline; -1: none.
  double seconds_left() const {
    const auto next = x_policy.next_deadline();
    return next ? std::chrono::duration<double>(*next - now).count() : -1;
  }

  launch::StopPolicy::Time now{std::chrono::seconds(1000)};

private:
  std::string pass(std::chrono::steady_clock::duration time, bool paused) {
    now += time;
    if (paused) x_policy.on_suspended(time);
    return text_of(x_policy.on_time(now));
  }
  std::string end(std::size_t rank, const std::string& verb, const std::string& what, bool any_left) {
    if (verb == "group") return text_of(x_policy.on_group_ended(rank, any_left, now));
    const int status = verb == "dies" ? signal_of(what) : std::stoi(what) << 8;
    const bool has_others = verb == "leaves" && x_policy.waits_for_group(status);
    return text_of(x_policy.on_rank_ended(rank, status, has_others, any_left || has_others, now));
  }
  launch::StopPolicy x_policy;
};

} // namespace hpcml::testing
