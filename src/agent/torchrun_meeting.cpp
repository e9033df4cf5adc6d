// SPDX-License-Identifier: MIT
#include "agent/torchrun_meeting.hpp"

#include <algorithm>
#include <array>

#include "agent/torchrun_values.hpp"
#include "util/host_names.hpp"
#include "util/text.hpp"

namespace hpcml::agent {

using util::Error;

namespace {

constexpr std::uint16_t k_static_port = 29500;
constexpr std::uint16_t k_c10d_port = 29400;
constexpr std::chrono::seconds k_static_patience{900};

/// As torch 2.13 decides it: by the flag, or where nothing says that there is anybody to meet.
bool is_alone(const TorchrunRequest& line) {
  if (line.standalone) return true;
  if (line.max_nodes > 1 || line.endpoint) return false;
  return line.backend != "static" || !line.master_port;
}

/// Settings of --rdzv-conf.
struct MeetingConf {
  std::optional<std::chrono::seconds> join, last_call, fixed, keep_alive;
  std::optional<unsigned> keep_alive_attempts;
  bool is_host = false;
};

/// Torch treats a node as lost after 3 intervals of 5 s without a heartbeat, or as many as it is set to;
/// hpcml waits for at least 3.
HeartbeatOptions heartbeat_of(const MeetingConf& conf) {
  HeartbeatOptions options;
  if (!conf.keep_alive && !conf.keep_alive_attempts) return options;
  options.interval = conf.keep_alive.value_or(options.interval);
  options.timeout = options.interval * std::max(conf.keep_alive_attempts.value_or(3), 3U);
  return options;
}

std::optional<bool> truth_of(const std::string& text) {
  const auto word = util::to_lower(text);
  for (const auto* yes : {"1", "true", "t", "yes", "y"})
    if (word == yes) return true;
  for (const auto* no : {"0", "false", "f", "no", "n"})
    if (word == no) return false;
  return std::nullopt;
}

util::Status take_setting(const std::string& key, const std::string& value, MeetingConf& conf,
                          std::vector<std::string>& notes) {
  const auto wrong = [&](const char* what) {
    return Error{"--rdzv-conf: " + key + " must be " + what + ", not \"" + value + "\""};
  };
  auto* seconds = key == "join_timeout"          ? &conf.join
                  : key == "last_call_timeout"   ? &conf.last_call
                  : key == "timeout"             ? &conf.fixed
                  : key == "keep_alive_interval" ? &conf.keep_alive
                                                 : nullptr;
  if (seconds != nullptr) {
    const auto number = parse_whole_number(value);
    const int least = seconds == &conf.keep_alive ? 1 : 0;
    if (!number || *number < least || *number > 86400 * 7) return wrong("a number of seconds");
    *seconds = std::chrono::seconds(*number);
  } else if (key == "keep_alive_max_attempt") {
    const auto number = parse_whole_number(value);
    if (!number || *number < 1 || *number > 1000000) return wrong("a number of heartbeats");
    conf.keep_alive_attempts = static_cast<unsigned>(*number);
  } else if (key == "is_host") {
    const auto truth = truth_of(value);
    if (!truth) return wrong("true or false");
    conf.is_host = *truth;
    if (!*truth) notes.emplace_back("--rdzv-conf: is_host=false has no effect: the endpoint's node serves");
  } else if (key == "store_type") {
    if (value != "tcp") return wrong("tcp: the nodes meet by TCP");
  } else {
    static constexpr std::array c_theirs = {"close_timeout", "heartbeat_timeout", "read_timeout", "rank"};
    const bool known = std::find(c_theirs.begin(), c_theirs.end(), key) != c_theirs.end();
    notes.push_back(
        "--rdzv-conf: " + key + " has no effect: " +
        (known ? "the end of an agent is heard of at once" : "neither torchrun nor hpcml knows it"));
  }
  return util::Done{};
}

util::Result<MeetingConf> read_conf(const TorchrunRequest& line, std::vector<std::string>& notes) {
  MeetingConf conf;
  for (const auto& [key, value] : line.conf) TRY_DONE(take_setting(key, value, conf, notes));
  return conf;
}

/// The step's agents find each other by themselves; how many they are must be what the line says.
util::Status meet_in_step(const TorchrunRequest& line, const TorchrunNode& node, TorchrunPlan& plan) {
  auto& request = plan.request;
  if (line.max_nodes < node.step_nodes || line.min_nodes > node.step_nodes)
    return Error{"--nnodes asks for " + std::to_string(line.max_nodes) + " nodes, and this step has " +
                     util::counted(node.step_nodes, "node"),
                 "start it by srun with as many nodes and one task on each, or name --rdzv-endpoint"};
  request.min_nodes = line.min_nodes;
  request.max_nodes = node.step_nodes;
  if (line.node_rank) plan.notes.emplace_back("--node-rank has no effect: Slurm's step numbers its nodes");
  return util::Done{};
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

/// Several nodes that no step joins, or that are to meet where the line says.
util::Status meet_at_endpoint(const TorchrunRequest& line, const MeetingConf& conf, TorchrunPlan& plan) {
  const bool is_static = line.backend == "static";
  auto& request = plan.request;
  const auto endpoint = endpoint_of(line, is_static);
  if (is_static && line.endpoint && !line.endpoint->port)
    return Error{"--rdzv-endpoint " + line.endpoint->host + " names no port, and the backend static has none",
                 "write " + line.endpoint->host + ":" + std::to_string(k_static_port)};
  if (endpoint.port == std::uint16_t{0})
    return Error{"port 0 means any, and the other nodes could not find it", "name a port above 0"};
  if (means_this_machine(endpoint.host) && !line.endpoint && line.master_host.empty())
    plan.notes.push_back("the nodes meet at " + endpoint.host + ":" + std::to_string(*endpoint.port) +
                         ", which is on this machine: --rdzv-endpoint or --master-addr names another");
  MeetingPlace place;
  place.host = endpoint.host;
  place.port = *endpoint.port;
  place.run_id = line.run_id;
  if (is_static) {
    place.node_rank = line.node_rank;
    place.patience = conf.fixed.value_or(k_static_patience);
  } else {
    if (conf.is_host) place.node_rank = 0;
    place.patience = conf.join.value_or(place.patience);
    place.last_call = conf.last_call.value_or(place.last_call);
    if (line.node_rank.value_or(0) != 0)
      plan.notes.emplace_back("--node-rank has no effect with --rdzv-backend c10d: the nodes are numbered as "
                              "they come");
  }
  request.place = place;
  request.run_id = line.run_id;
  return util::Done{};
}

void stay_alone(const TorchrunRequest& line, const TorchrunNode& node, TorchrunPlan& plan) {
  auto& request = plan.request;
  request.min_nodes = request.max_nodes = 1;
  request.run_id = line.run_id == "none" ? node.fresh_id : line.run_id;
  if (node.step_nodes > 1 && !line.standalone)
    plan.notes.push_back("--nnodes is 1, torchrun's default: each of the step's " +
                         std::to_string(node.step_nodes) + " nodes runs by itself; --nnodes " +
                         std::to_string(node.step_nodes) + " joins them");
}

} // namespace

util::Status plan_torchrun_meeting(const TorchrunRequest& line, const TorchrunNode& node,
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
    return util::Done{};
  }
  if (line.max_nodes == 1) { // on a port that the ranks' program may know
    const auto endpoint = endpoint_of(line, line.backend == "static");
    request.run_id = line.run_id;
    if (endpoint.port.value_or(0) != 0) request.launch.master_port = *endpoint.port;
    return util::Done{};
  }
  const bool named = known && (line.endpoint || !line.master_host.empty());
  if (node.in_task && !named) {
    if (!known)
      plan.notes.push_back("--rdzv-backend " + line.backend +
                           " is not asked: the agents of a step find each other");
    if (conf.join) request.launch.asked.meet_timeout = {static_cast<unsigned>(conf.join->count()), {}};
    return meet_in_step(line, node, plan);
  }
  if (!known)
    return Error{"--rdzv-backend " + line.backend +
                     " needs a server or a plugin of torch's agent, which does not run",
                 "--rdzv-backend c10d --rdzv-endpoint HOST:PORT needs none: HOST is one of the nodes"};
  return meet_at_endpoint(line, conf, plan);
}

} // namespace hpcml::agent
