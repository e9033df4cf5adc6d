// SPDX-License-Identifier: MIT
#include "run/torchrun/torchrun_rendezvous.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/util/host_names.hpp"
#include "core/util/text.hpp"
#include "run/torchrun/torchrun_values.hpp"

namespace hpcml::torchrun {

using util::Error;

namespace {

constexpr std::uint16_t k_static_port = 29500;
constexpr std::uint16_t k_c10d_port = 29400;
constexpr std::chrono::seconds k_static_timeout{900};

/// Decides as torch 2.13 does whether this node is alone: by the flag, or if no rendezvous is given.
bool is_alone(const TorchrunRequest& line) {
  if (line.standalone) return true;
  if (line.max_nodes > 1 || line.endpoint) return false;
  return line.backend != "static" || !line.master_port;
}

/// Settings of --rdzv-conf.
struct RendezvousConf {
  std::optional<std::chrono::seconds> join, extra_nodes_timeout, fixed, keep_alive;
  std::optional<unsigned> keep_alive_attempts;
  bool is_host = false;
  std::string key_file;
};

/// The options that follow from keep_alive_interval and keep_alive_max_attempt. torch removes a node after
/// keep_alive_max_attempt intervals without a heartbeat (default: 3 of 5 s); hpcml waits for at least 3.
agent::HeartbeatOptions heartbeat_of(const RendezvousConf& conf) {
  agent::HeartbeatOptions options;
  if (!conf.keep_alive && !conf.keep_alive_attempts) return options;
  options.interval = conf.keep_alive.value_or(options.interval);
  options.timeout = options.interval * std::max(conf.keep_alive_attempts.value_or(3), 3U);
  return options;
}

/// Settings that torch 2.13's c10d backend reads as positive numbers, and hpcml does not need.
constexpr std::array<std::string_view, 3> k_other_numbers = {"close_timeout", "heartbeat_timeout",
                                                             "read_timeout"};

std::optional<bool> truth_of(const std::string& text) {
  const auto word = util::to_lower(text);
  for (const auto* yes : {"1", "true", "t", "yes", "y"})
    if (word == yes) return true;
  for (const auto* no : {"0", "false", "f", "no", "n"})
    if (word == no) return false;
  return std::nullopt;
}

Error wrong_setting(const std::string& key, const char* must_be, const std::string& value) {
  return Error{fmt::format("--rdzv-conf: {} must be {}, not '{}'", key, must_be, value),
               fmt::format("set --rdzv-conf {}=VALUE with {}, or remove it", key, must_be)};
}

util::Result<std::chrono::seconds> read_seconds(const std::string& key, const std::string& value) {
  const auto number = parse_whole_number(value);
  if (!number || *number < 0 || *number > 86400LL * 7)
    return wrong_setting(key, "a number of seconds", value);
  return std::chrono::seconds(*number);
}

/// A setting of the backend c10d. torch ignores one that it does not read, and so does this.
util::Status read_c10d_setting(const std::string& key, const std::string& value, RendezvousConf& conf,
                               std::vector<std::string>& notes) {
  if (key == "join_timeout") {
    TRY(conf.join, read_seconds(key, value));
  } else if (key == "last_call_timeout") {
    TRY(conf.extra_nodes_timeout, read_seconds(key, value));
  } else if (key == "keep_alive_interval") {
    TRY(conf.keep_alive, read_seconds(key, value));
    if (conf.keep_alive->count() < 1) return wrong_setting(key, "a number of seconds above 0", value);
  } else if (key == "keep_alive_max_attempt") {
    const auto number = parse_whole_number(value);
    if (!number || *number < 1 || *number > 1000000)
      return wrong_setting(key, "a number of heartbeats", value);
    conf.keep_alive_attempts = static_cast<unsigned>(*number);
  } else if (key == "is_host") {
    const auto truth = truth_of(value);
    if (!truth) return wrong_setting(key, "true or false", value);
    conf.is_host = *truth;
    if (!*truth)
      notes.emplace_back(
          "--rdzv-conf: is_host=false has no effect: the node of --rdzv-endpoint is always the host\n"
          "hint: remove is_host from --rdzv-conf");
  } else if (key == "store_type") {
    if (util::to_lower(value) != "tcp") return wrong_setting(key, "tcp", value);
  } else if (util::contains(k_other_numbers, std::string_view(key))) {
    const auto number = parse_whole_number(value);
    if (!number || *number < 1) return wrong_setting(key, "a whole number above 0", value);
  }
  return util::Success{};
}

/// As torch 2.13 reads them: each backend its own, and no other. Settings that are spelt like none of them
/// are noted.
util::Result<RendezvousConf> read_conf(const TorchrunRequest& line, std::vector<std::string>& notes) {
  constexpr std::array<std::string_view, 9> k_others = {"join_timeout",
                                                        "last_call_timeout",
                                                        "timeout",
                                                        "keep_alive_interval",
                                                        "keep_alive_max_attempt",
                                                        "is_host",
                                                        "store_type",
                                                        "rank",
                                                        "key_file"};
  const bool is_static = line.backend == "static" && !line.standalone;
  RendezvousConf conf;
  for (const auto& [key, value] : line.conf) {
    if (key == "key_file") { // of hpcml, for both backends
      if (value.empty()) return wrong_setting(key, "a path", value);
      conf.key_file = value;
    } else if (is_static && key == "timeout") {
      TRY(conf.fixed, read_seconds(key, value));
    } else if (!is_static) {
      TRY_DONE(read_c10d_setting(key, value, conf, notes));
    }
    if (!util::contains(k_others, std::string_view(key)) &&
        !util::contains(k_other_numbers, std::string_view(key)))
      notes.push_back(fmt::format("--rdzv-conf: {0} has no effect: it is unknown to torchrun and hpcml\n"
                                  "hint: check the spelling of {0}, or remove it",
                                  key));
  }
  return conf;
}

/// The step's agents find each other by themselves; how many they are must be what the line says.
util::Status join_in_step(const TorchrunRequest& line, const TorchrunNodeFacts& node, TorchrunPlan& plan) {
  auto& request = plan.request;
  if (line.max_nodes < node.step_nodes || line.min_nodes > node.step_nodes)
    return Error{
        fmt::format("--nnodes requests {} nodes, but this step has {}", line.max_nodes, node.step_nodes),
        "use srun with the same number of nodes and one task per node, or set --rdzv-endpoint"};
  request.min_nodes = line.min_nodes;
  request.max_nodes = node.step_nodes;
  if (line.node_rank)
    plan.notes.emplace_back(
        "--node-rank has no effect: the Slurm step numbers its nodes\nhint: remove --node-rank");
  return util::Success{};
}

/// The endpoint: as it is given, else what torch takes where nothing is.
Endpoint endpoint_of(const TorchrunRequest& line, bool is_static) {
  const auto port = is_static ? k_static_port : k_c10d_port;
  if (line.endpoint) return {line.endpoint->host, line.endpoint->port.value_or(port)};
  if (!line.master_host.empty() || is_static)
    return {line.master_host.empty() ? "127.0.0.1" : line.master_host,
            line.master_port.value_or(k_static_port)};
  return {"localhost", port};
}

bool means_this_machine(const std::string& host) {
  return host == "localhost" || util::is_loopback_address(host);
}

/// Configures several nodes without a common step, or with an endpoint in the line.
util::Status join_at_endpoint(const TorchrunRequest& line, const RendezvousConf& conf, TorchrunPlan& plan) {
  const bool is_static = line.backend == "static";
  auto& request = plan.request;
  const auto endpoint = endpoint_of(line, is_static);
  if (is_static && line.endpoint && !line.endpoint->port)
    return Error{
        fmt::format("--rdzv-endpoint {} has no port, which the backend static requires", line.endpoint->host),
        fmt::format("use {}:{}", line.endpoint->host, k_static_port)};
  if (endpoint.port == std::uint16_t{0})
    return Error{
        "the port of the rendezvous endpoint must not be 0 (any free port): other nodes cannot find it",
        "use a port above 0"};
  if (means_this_machine(endpoint.host) && !line.endpoint && line.master_host.empty())
    plan.notes.push_back(
        fmt::format("using the default rendezvous endpoint {}:{}, which is on this machine\nhint: set "
                    "--rdzv-endpoint or --master-addr to the first node of the run",
                    endpoint.host, *endpoint.port));
  agent::RendezvousParameters place;
  place.host = endpoint.host;
  place.port = *endpoint.port;
  place.run_id = line.run_id;
  if (is_static) {
    place.node_rank = line.node_rank;
    place.join_timeout = conf.fixed.value_or(k_static_timeout);
  } else {
    if (conf.is_host) place.node_rank = 0;
    place.join_timeout = conf.join.value_or(place.join_timeout);
    place.extra_nodes_timeout = conf.extra_nodes_timeout.value_or(place.extra_nodes_timeout);
    if (line.node_rank.value_or(0) != 0)
      plan.notes.emplace_back(
          "--node-rank has no effect with --rdzv-backend c10d: nodes are numbered in the order "
          "in which they join\nhint: remove --node-rank, or use --rdzv-backend static");
  }
  request.place = place;
  request.key_file = conf.key_file;
  request.run_id = line.run_id;
  return util::Success{};
}

void stay_alone(const TorchrunRequest& line, const TorchrunNodeFacts& node, TorchrunPlan& plan) {
  auto& request = plan.request;
  request.min_nodes = request.max_nodes = 1;
  request.run_id = line.run_id == "none" ? node.fresh_id : line.run_id;
  if (node.step_nodes > 1 && !line.standalone)
    plan.notes.push_back(
        fmt::format("--nnodes is 1, the default of torchrun: each node of the step trains separately\n"
                    "hint: set --nnodes {} to join them",
                    node.step_nodes));
}

} // namespace

util::Status plan_torchrun_rendezvous(const TorchrunRequest& line, const TorchrunNodeFacts& node,
                                      TorchrunPlan& plan) {
  auto& request = plan.request;
  const bool known = line.backend == "static" || line.backend == "c10d";
  request.min_nodes = line.backend == "static" ? line.max_nodes : line.min_nodes;
  request.max_nodes = line.max_nodes;
  if (line.run_id != "none") request.run_id = line.run_id;
  TRY(const auto conf, read_conf(line, plan.notes));
  request.heartbeat = heartbeat_of(conf);
  if (is_alone(line)) {
    stay_alone(line, node, plan);
    return util::Success{};
  }
  if (line.max_nodes == 1) { // on a port that the ranks' program may know
    const auto endpoint = endpoint_of(line, line.backend == "static");
    request.run_id = line.run_id;
    if (endpoint.port.value_or(0) != 0) request.launch.master_port = *endpoint.port;
    return util::Success{};
  }
  const bool named = known && (line.endpoint || !line.master_host.empty());
  if (node.in_task && !named) {
    if (!known)
      plan.notes.push_back(fmt::format(
          "--rdzv-backend {0} has no effect: the agents of a Slurm step find each other without it\n"
          "hint: remove --rdzv-backend {0}",
          line.backend));
    if (conf.join)
      request.launch.rank_settings.rendezvous_timeout = {static_cast<unsigned>(conf.join->count()), {}};
    return join_in_step(line, node, plan);
  }
  if (!known)
    return Error{
        fmt::format(
            "--rdzv-backend {} is not supported: it requires a server or a plugin of torch's own agent",
            line.backend),
        "use --rdzv-backend c10d --rdzv-endpoint HOST:PORT, where HOST is one of the nodes"};
  return join_at_endpoint(line, conf, plan);
}

} // namespace hpcml::torchrun
