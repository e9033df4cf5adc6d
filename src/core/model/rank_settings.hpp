// SPDX-License-Identifier: MIT
// What of a request reaches the ranks unchanged: a member and a row each. The row defines the key of a
// request (flag, HPCML_* variable, job file, config, init), the option that gen writes into the line of
// `hpcml launch`, the flag that launch accepts, its reason in --explain and the plan's JSON.
#pragma once

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/model/agent_choices.hpp"
#include "core/model/origin.hpp"
#include "core/model/rank_choices.hpp"
#include "core/util/result.hpp"
#include "core/util/text.hpp"

namespace hpcml::model {

// Headings of the options in help.
inline constexpr std::string_view k_rank_group = "Ranks";
inline constexpr std::string_view k_recovery_group = "Checkpoint, requeue and restart";

// Defaults of options.
inline constexpr unsigned k_default_rendezvous_timeout = 300; ///< seconds
inline constexpr unsigned k_default_max_requeues = 3;

/// How often agents and their coordinator send heartbeats, and without how many seconds of them one is lost.
struct HeartbeatTiming {
  unsigned interval = 5, timeout = 30;
};

/// What a request says to each rank, unset where it says nothing.
struct RankSettings {
  Known<BindCheckAction> bind_check; ///< the CPUs and GPUs of each rank are checked before its program starts
  Known<bool> report;                ///< one line per rank
  Known<Tf32> tf32;                  ///< GPUs compute float32 in TF32, or do not
  Known<bool> preflight;             ///< the process group is tested before the program starts
  Known<StoreProvider> store;        ///< which process serves the rendezvous store of the programs
  Known<unsigned> rendezvous_timeout; ///< seconds for the launchers of all ranks to connect; 0: no rendezvous
  Known<bool> coordinator;            ///< JAX gets the address of its coordinator, at a reserved port
  Known<bool> agent;                  ///< one process of hpcml per node starts its ranks, and stays
  Known<LogDirectory> log_dir;        ///< what the ranks write goes there, a file each
  Known<unsigned> max_restarts;       ///< number of times that all ranks are restarted after a failure
  Known<unsigned> stall_timeout;  ///< seconds without output of the ranks or a message to the store; 0: off
  Known<ElasticNodeRange> nnodes; ///< number of nodes with which the ranks continue
  Known<unsigned> heartbeat_interval; ///< seconds between heartbeats of agents and their coordinator
  Known<unsigned> heartbeat_timeout;  ///< seconds without one after which an agent is lost; 0: never
};

/// A key of a request that reaches the ranks unchanged. If its flag is not given, they also read their
/// environment: one export applies to all steps of a script.
struct RankSettingFlag {
  std::string_view name;     ///< without the leading dashes
  std::string_view group;    ///< heading of the option in help
  std::string_view type;     ///< placeholder of the value; empty: a switch
  std::string_view help;     ///< what the option means
  std::string_view fallback; ///< the default; empty: none
  std::string_view reason;   ///< what happens then, for --explain; empty: the line says it
  /// Takes a text; says what is wrong with it, or nothing.
  std::optional<util::Error> (*read)(RankSettings&, const std::string&, const Origin&);
  /// The value as a text; nothing where it is not asked for.
  std::optional<std::string> (*write)(const RankSettings&);
  /// Takes over what the other one asks for.
  void (*merge)(RankSettings&, const RankSettings&);
  /// Returns the origin of the value; nullptr if it is not set.
  const Origin* (*origin)(const RankSettings&);
  /// The words that it takes; empty where any text may be right.
  std::vector<std::string> (*words)();
  bool is_number = false;

  constexpr bool is_switch() const { return type.empty(); }
};

namespace rank_flags {

template <class T> struct Kind;

template <class E>
requires std::is_enum_v<E>
struct Kind<E> {
  static util::Result<E> parse(const std::string& text) { return parse_word<E>(text); }
  static std::string text(E value) { return word_of(value); }
  static std::vector<std::string> words() { return words_of<E>(); }
};

template <> struct Kind<bool> {
  static util::Result<bool> parse(const std::string& text) {
    if (text == "1" || text == "true" || text == "yes") return true;
    if (text == "0" || text == "false" || text == "no") return false;
    return util::Error{fmt::format("the value \"{}\" is neither true nor false", text), "use true or false"};
  }
  static std::string text(bool value) { return value ? "true" : "false"; }
  static std::vector<std::string> words() { return {}; }
};

template <> struct Kind<unsigned> {
  static util::Result<unsigned> parse(const std::string& text) {
    const auto number = util::parse_unsigned(text);
    if (number && *number <= 1000000) return static_cast<unsigned>(*number);
    return util::Error{fmt::format("the value \"{}\" is not a whole number from 0 to 1000000", text),
                       "use a whole number, 0 or more"};
  }
  static std::string text(unsigned value) { return std::to_string(value); }
  static std::vector<std::string> words() { return {}; }
};

/// A type that reads and writes itself.
template <class T>
requires requires(const T& value) {
  T::parse(std::string());
  value.text();
}
struct Kind<T> {
  static util::Result<T> parse(const std::string& text) { return T::parse(text); }
  static std::string text(const T& value) { return value.text(); }
  static std::vector<std::string> words() { return {}; }
};

template <auto Member> struct Access;

template <class T, Known<T> RankSettings::*Member> struct Access<Member> {
  static std::optional<util::Error> read(RankSettings& job, const std::string& text, const Origin& origin) {
    TRY(const auto value, Kind<T>::parse(text));
    job.*Member = Sourced<T>{value, origin};
    return std::nullopt;
  }
  static std::optional<std::string> write(const RankSettings& job) {
    if (!(job.*Member)) return std::nullopt;
    if constexpr (std::is_same_v<T, bool>)
      if (!(job.*Member)->value) return std::nullopt;
    return Kind<T>::text((job.*Member)->value);
  }
  static void merge(RankSettings& job, const RankSettings& over) {
    if (over.*Member) job.*Member = over.*Member;
  }
  static const Origin* origin(const RankSettings& job) {
    return job.*Member ? &(job.*Member)->origin : nullptr;
  }
  static constexpr RankSettingFlag row(std::string_view name, std::string_view group, std::string_view type,
                                       std::string_view help, std::string_view fallback,
                                       std::string_view reason) {
    return {name,  group,  type,   help,    fallback,        reason,
            &read, &write, &merge, &origin, &Kind<T>::words, std::is_same_v<T, unsigned>};
  }
};

} // namespace rank_flags

/// The keys that reach the ranks.
inline constexpr auto k_rank_flags = std::to_array<RankSettingFlag>({
    rank_flags::Access<&RankSettings::bind_check>::row(
        "bind-check", k_rank_group, "ACTION",
        "Check each rank's CPU and memory binding before the program starts", "",
        "a rank's CPUs and memory are checked before its program starts"),
    rank_flags::Access<&RankSettings::report>::row("report", k_rank_group, "",
                                                   "Print one line per rank: host, GPU, cores", "", ""),
    rank_flags::Access<&RankSettings::tf32>::row(
        "tf32", k_rank_group, "MODE", "Allow (on) or forbid (off) TF32 for float32 on GPUs", "PyTorch's",
        "whether GPUs compute float32 in TF32 does not depend on the torch version"),
    rank_flags::Access<&RankSettings::preflight>::row(
        "preflight", k_rank_group, "", "Test communication between the ranks before the program starts", "",
        ""),
    rank_flags::Access<&RankSettings::store>::row(
        "store", k_rank_group, "SERVER",
        "Server of the rendezvous store: hpcml (own) or rank 0's program (env)", "auto",
        "the process that serves the rendezvous store of the ranks"),
    rank_flags::Access<&RankSettings::rendezvous_timeout>::row(
        "rendezvous-timeout", k_rank_group, "SECONDS", "Time for all ranks to connect; 0 disables the check",
        DecimalText<k_default_rendezvous_timeout>::text,
        "the launchers of all ranks must connect within this time"),
    rank_flags::Access<&RankSettings::coordinator>::row(
        "jax-coordinator", k_rank_group, "", "Set JAX_COORDINATOR_ADDRESS for JAX programs", "",
        "JAX gets the address of its coordinator, at a port that is reserved for it"),
    rank_flags::Access<&RankSettings::agent>::row(
        "agent", k_recovery_group, "", "Start and supervise the ranks of a node by one process, the agent",
        "", ""),
    rank_flags::Access<&RankSettings::log_dir>::row(
        "log-dir", k_recovery_group, "DIR", "Write each rank's output to its own files in DIR (uses agents)",
        "", "each rank's output goes to its own files there"),
    rank_flags::Access<&RankSettings::max_restarts>::row(
        "max-restarts", k_recovery_group, "N",
        "Restart all ranks after a failure, up to N times (uses agents)", "0",
        "all ranks restart after a failure, up to this number of times"),
    rank_flags::Access<&RankSettings::stall_timeout>::row(
        "stall-timeout", k_recovery_group, "SECONDS",
        "Stop ranks without output for SECONDS and save their stacks (uses agents)", "off",
        "ranks without output for this time are stopped, and their stack traces are saved"),
    rank_flags::Access<&RankSettings::nnodes>::row(
        "nnodes", k_recovery_group, "MIN:MAX",
        "Continue with MIN or more nodes after a node failure (uses agents)", "",
        "after a node failure, the other nodes continue"),
    rank_flags::Access<&RankSettings::heartbeat_interval>::row(
        "heartbeat-interval", k_recovery_group, "SECONDS", "Interval of the heartbeats between agents",
        DecimalText<HeartbeatTiming{}.interval>::text,
        "agents and their coordinator send each other heartbeats in this interval"),
    rank_flags::Access<&RankSettings::heartbeat_timeout>::row(
        "heartbeat-timeout", k_recovery_group, "SECONDS",
        "Treat an agent without a heartbeat for SECONDS as lost; 0 is never",
        DecimalText<HeartbeatTiming{}.timeout>::text,
        "an agent without a heartbeat for this time is treated as lost"),
});

/// The variable of a key: "HPCML_GPUS_PER_NODE" for "gpus-per-node".
inline std::string variable_of(std::string_view key) {
  std::string name = "HPCML_";
  for (const char c : key)
    name += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  return name;
}

/// True if the launchers of a step's ranks connect to each other before the programs start.
inline bool needs_rendezvous(const RankSettings& rank_settings, unsigned ranks) {
  return ranks > 1 && (!rank_settings.rendezvous_timeout || rank_settings.rendezvous_timeout->value > 0);
}

/// Whether it is asked for.
inline bool is_on(const Known<bool>& known) { return known && known->value; }
/// Returns the requested value, or `otherwise` if there is none.
template <class T> T value_or(const Known<T>& known, T otherwise) { return known ? known->value : otherwise; }

/// The flags with what only an agent does, as they are asked for; empty where the launch needs none.
inline std::string options_for_agent(const RankSettings& rank_settings) {
  std::string text;
  const auto add = [&](bool requested, const char* name) {
    if (requested) text += std::string(text.empty() ? "" : ", ") + name;
  };
  add(is_on(rank_settings.agent), "--agent");
  add(rank_settings.log_dir.has_value(), "--log-dir");
  add(value_or(rank_settings.max_restarts, 0U) > 0, "--max-restarts");
  add(value_or(rank_settings.stall_timeout, 0U) > 0, "--stall-timeout");
  add(rank_settings.nnodes.has_value(), "--nnodes");
  return text;
}
/// Whether one agent per node is to start the ranks and stay with them.
inline bool is_agent(const RankSettings& rank_settings) { return !options_for_agent(rank_settings).empty(); }

/// Returns the requested values. If only one is set, the other is derived: six intervals per timeout.
inline HeartbeatTiming heartbeat_seconds(const RankSettings& request) {
  HeartbeatTiming seconds;
  const auto &interval = request.heartbeat_interval, &timeout = request.heartbeat_timeout;
  seconds.timeout = timeout ? timeout->value : std::max(seconds.timeout, 6 * value_or(interval, 0U));
  if (interval)
    seconds.interval = interval->value;
  else if (seconds.timeout > 0)
    seconds.interval = std::clamp(seconds.timeout / 6, 1U, seconds.interval);
  return seconds;
}

/// Returns why the requested heartbeats are invalid, if they are. With less than three intervals per timeout
/// an agent would be lost for one late heartbeat.
inline std::optional<util::Error> find_heartbeat_fault(const RankSettings& request) {
  const auto [interval, timeout] = heartbeat_seconds(request);
  if (interval == 0)
    return util::Error{"--heartbeat-interval is 0, but must be at least 1 second",
                       "use 1 or more, or --heartbeat-timeout 0 to disable heartbeats"};
  if (timeout == 0 || timeout >= 3 * interval) return std::nullopt;
  return util::Error{
      fmt::format("--heartbeat-timeout ({} s) must be at least 3 times --heartbeat-interval ({} s)", timeout,
                  interval),
      fmt::format("use --heartbeat-timeout {} or more", 3 * interval)};
}

/// What of a request contradicts the rest; nothing where nothing does.
inline std::optional<util::Error> find_contradiction(const RankSettings& request) {
  const bool no_rendezvous = request.rendezvous_timeout && request.rendezvous_timeout->value == 0;
  if (is_on(request.coordinator) && no_rendezvous)
    return util::Error{
        "--jax-coordinator needs the rendezvous of the launchers, which --rendezvous-timeout 0 disables",
        "remove one of these options"};
  if (request.agent && !request.agent->value && is_agent(request))
    return util::Error{fmt::format("{} disables the agent, but only the agent supports {}",
                                   request.agent->origin.by, options_for_agent(request)),
                       fmt::format("remove {}, or remove the other options", request.agent->origin.by)};
  return find_heartbeat_fault(request);
}

} // namespace hpcml::model
