// SPDX-License-Identifier: MIT
// The lines: NCCL's net.cc, net_ib.cc, net_socket.cc and plugin/net.cc (2.10 to 2.29), RCCL's, and
// aws-ofi-nccl's nccl_ofi_net.c, as logs of clusters have them.
#include "diagnose/joblog/networks.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::joblog {

namespace {

/// Returns the text after `mark` up to the first of `ends`; empty without the mark.
std::string behind(std::string_view text, std::string_view mark, std::string_view ends) {
  const auto at = text.find(mark);
  if (at == std::string_view::npos) return {};
  const auto rest = text.substr(at + mark.size());
  return clipped(rest.substr(0, rest.find_first_of(ends)));
}

/// Returns the number after `mark`, or 0.
unsigned number_behind(std::string_view text, std::string_view mark) {
  const auto number = util::parse_unsigned(behind(text, mark, " ,"));
  return number && *number <= 10000000 ? static_cast<unsigned>(*number) : 0;
}

struct Note {
  ProcessNetwork& process;
  std::uint64_t line;
  std::string_view text;

  void add_evidence(const char* of) const {
    process.evidence.try_emplace(of, NetworkEvidence{line, clipped(text)});
  }
  void is_network_obstacle(NetworkObstacle what) const {
    process.obstacles.try_emplace(what, NetworkEvidence{line, clipped(text)});
  }
};

void read_place(const Note& note) {
  const auto& text = note.text;
  auto& process = note.process;
  process.nodes = std::max(process.nodes, number_behind(text, " nNodes "));
  if (!holds(text, "comm ") || !holds(text, " rank ")) return;
  const auto size = std::max(number_behind(text, " nranks "), number_behind(text, " nRanks "));
  if (size <= process.communicator) return;
  process.communicator = size;
  process.rank = number_behind(text, " rank ");
}

void read_libfabric(const Note& note, bool warning) {
  const auto& text = note.text;
  auto& process = note.process;
  if (!holds(text, "NET/OFI")) return;
  if (const auto at = text.find("aws-ofi-"); at != std::string_view::npos && !holds(text, "ailed")) {
    process.plugin = clipped(text.substr(at));
    note.add_evidence("plugin");
  }
  for (const auto* mark : {"Selected Provider is ", "Selected provider is "})
    if (auto provider = behind(text, mark, " ,"); !provider.empty()) {
      process.provider = std::move(provider);
      note.add_evidence("provider");
    }
  if (warning || holds(text, "initialization failed") || holds(text, "plugin failed"))
    note.is_network_obstacle(NetworkObstacle::plugin_failed);
}

void read_devices(const Note& note) {
  const auto& text = note.text;
  auto& process = note.process;
  // Also without any device newer ones write "NET/IB : Using [RO]; OOB eth0:…".
  const auto found = behind(text, "NET/IB : Using ", "");
  if (found.size() > 1 && found[0] == '[' && found[1] >= '0' && found[1] <= '9') {
    process.has_ib = true;
    note.add_evidence("ib");
  }
  if (holds(text, "NET/Socket : Using ")) {
    process.has_sockets = true;
    note.add_evidence("socket");
  }
  // "Channel 00/0 : 0[0] -> 8[0] [send] via NET/AWS Libfabric/0/GDRDMA": where a log begins after the
  // decision.
  for (const auto* mark : {"Using network ", "Assigned NET plugin ", " via NET/"}) {
    auto network = behind(text, mark, mark[0] == ' ' ? "/" : "");
    if (const auto end = network.find(" to comm"); end != std::string::npos) network.resize(end);
    if (network.empty() || (mark[0] != 'U' && !process.network.empty())) continue;
    process.network = std::move(network);
    process.evidence["network"] = {note.line, clipped(text)};
  }
}

void read_obstacles(const Note& note) {
  const auto& text = note.text;
  const bool about_plugin = holds(text, "NET/Plugin");
  if (about_plugin && (holds(text, "Could not find") || holds(text, "No plugin found")))
    note.is_network_obstacle(NetworkObstacle::no_plugin);
  else if ((about_plugin && holds(text, "ailed")) ||
           (holds(text, "Failed to initialize NET plugin ") && !holds(text, "plugin IB")))
    note.is_network_obstacle(NetworkObstacle::plugin_failed);
  if (holds(text, "Failed to open libibverbs.so"))
    note.is_network_obstacle(NetworkObstacle::no_verbs_library);
  if (holds(text, "NET/IB : No device found")) note.is_network_obstacle(NetworkObstacle::no_device);
  const auto find_setting = [&](const char* variable) {
    auto value = behind(text, variable, "");
    const auto to = value.find(" to ");
    return to == std::string::npos ? std::string() : std::string(util::trim(value.substr(to + 4)));
  };
  const auto off = find_setting("NCCL_IB_DISABLE set");
  const auto net = find_setting("NCCL_NET set"), plugin = find_setting("NCCL_NET_PLUGIN set");
  if ((!off.empty() && off[0] != '0') || util::to_lower(net).starts_with("socket") ||
      plugin.starts_with("none"))
    note.is_network_obstacle(NetworkObstacle::switched_off);
}

} // namespace

ProcessNetwork* NetworkReader::process_of(const NcclLine& line) {
  constexpr std::size_t c_most = 65536;
  const auto& writer = line.writer;
  // Where nothing names the process the rank in front of the line does.
  const auto key = writer.pid == 0 && writer.rank
                       ? "rank " + std::to_string(*writer.rank)
                       : writer.host + ":" + std::to_string(writer.pid) + ":" + line.device;
  const auto [found, is_new] = x_places.try_emplace(key, x_processes.size());
  if (is_new && x_processes.size() >= c_most) {
    x_places.erase(found);
    x_overflowed = true;
    return nullptr;
  }
  if (is_new) {
    x_processes.emplace_back();
    x_processes.back().host = writer.host;
    x_processes.back().rank = writer.rank;
  }
  return &x_processes[found->second];
}

void NetworkReader::read(std::uint64_t number, const NcclLine& line) {
  auto* process = process_of(line);
  if (process == nullptr) return;
  const Note note{*process, number, line.text};
  read_place(note);
  read_libfabric(note, line.warning);
  read_devices(note);
  read_obstacles(note);
}

NetworkTransport carrier_of(const ProcessNetwork& process) {
  const auto network = util::to_lower(process.network);
  // libfabric's own providers for TCP are what sockets are.
  const auto provider = util::to_lower(process.provider);
  const bool slow_provider = provider.starts_with("tcp") || provider.starts_with("sockets") ||
                             provider.starts_with("udp") || provider.starts_with("net");
  if (network.starts_with("socket")) return NetworkTransport::sockets;
  if (network.starts_with("ib")) return NetworkTransport::infiniband;
  if (holds(network, "libfabric") || holds(network, "ofi"))
    return slow_provider ? NetworkTransport::sockets : NetworkTransport::libfabric;
  if (!network.empty()) return NetworkTransport::plugin;
  if (!process.provider.empty())
    return slow_provider ? NetworkTransport::sockets : NetworkTransport::libfabric;
  if (process.has_ib) return NetworkTransport::infiniband;
  return process.has_sockets ? NetworkTransport::sockets : NetworkTransport::unknown;
}

} // namespace hpcml::joblog
