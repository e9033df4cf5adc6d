// SPDX-License-Identifier: MIT
#include "run/store/hpcml_protocol.hpp"

#include <algorithm>

#include "core/util/text.hpp"
#include "run/store/client.hpp"
#include "run/store/packed.hpp"

namespace hpcml::store {

namespace {

constexpr std::string_view k_announcement_mark = "hpcml announcement 2";
constexpr std::string_view k_welcome_mark = "hpcml welcome 3";
constexpr std::size_t k_longest_host = 253;

void pack(WireWriter& packed, const MasterEndpoint& decision) {
  packed.text(decision.address);
  packed.number(decision.port);
  packed.number(static_cast<unsigned>(decision.agent_store));
  packed.text(decision.coordinator);
}

/// Values that cannot be what they are for make `unpacked` bad.
MasterEndpoint unpack_decision(WireReader& unpacked) {
  MasterEndpoint decision;
  decision.address = unpacked.text();
  decision.port = static_cast<std::uint16_t>(unpacked.number(65535));
  decision.agent_store =
      static_cast<AgentStoreUse>(unpacked.number(static_cast<unsigned>(AgentStoreUse::always)));
  decision.coordinator = unpacked.text();
  if (!decision.address.empty() && !is_host(decision.address)) unpacked.good = false;
  if (!decision.coordinator.empty() && !is_place(decision.coordinator)) unpacked.good = false;
  return decision;
}

} // namespace

bool is_host(std::string_view text) {
  return !text.empty() && text.size() <= k_longest_host && text.front() != '-' &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return util::is_name_char(c) || c == '-' || c == '.' || c == ':'; });
}

bool is_place(std::string_view text) {
  const auto place = parse_place(text);
  return place && is_host(place->first);
}

JoinReply refuse_without_key() { return {JoinError::key, "requires a key", {}, {}}; }

std::string pack_announcement(const JoinRequest& announcement) {
  WireWriter packed(k_announcement_mark);
  packed.text(announcement.job);
  packed.text(announcement.step);
  packed.number(announcement.rank);
  packed.number(announcement.world_size);
  packed.number(announcement.local_rank);
  packed.text(announcement.host);
  packed.number(static_cast<unsigned long long>(announcement.pid));
  packed.text(announcement.failed);
  packed.number(announcement.decision ? 1 : 0);
  if (announcement.decision) pack(packed, *announcement.decision);
  packed.number(announcement.nodes.size());
  for (const auto& node : announcement.nodes) packed.text(node);
  packed.number(announcement.tasks_per_node.size());
  for (const unsigned tasks : announcement.tasks_per_node) packed.number(tasks);
  return packed.take();
}

std::optional<JoinRequest> unpack_announcement(std::string_view bytes) {
  WireReader unpacked(bytes, k_announcement_mark);
  JoinRequest result;
  result.job = unpacked.text();
  result.step = unpacked.text();
  result.rank = static_cast<unsigned>(unpacked.number());
  result.world_size = static_cast<unsigned>(unpacked.number());
  result.local_rank = static_cast<unsigned>(unpacked.number());
  result.host = unpacked.text();
  result.pid = static_cast<std::int64_t>(unpacked.number(1ULL << 32));
  result.failed = unpacked.text();
  if (unpacked.number(1) == 1) result.decision = unpack_decision(unpacked);
  for (auto left = unpacked.count(); left > 0 && unpacked.good; --left)
    result.nodes.emplace_back(unpacked.text());
  for (auto left = unpacked.count(); left > 0 && unpacked.good; --left)
    result.tasks_per_node.push_back(static_cast<unsigned>(unpacked.number()));
  if (!unpacked.whole() || result.rank >= result.world_size || !is_host(result.host)) return std::nullopt;
  if (!std::all_of(result.nodes.begin(), result.nodes.end(), is_host)) return std::nullopt;
  if (result.nodes.size() != result.tasks_per_node.size()) return std::nullopt;
  return result;
}

std::string pack_welcome(const JoinReply& welcome) {
  WireWriter packed(k_welcome_mark);
  packed.number(static_cast<unsigned>(welcome.refusal));
  packed.text(welcome.refused);
  packed.text(welcome.failed);
  pack(packed, welcome.decision);
  return packed.take();
}

std::optional<JoinReply> unpack_welcome(std::string_view bytes) {
  WireReader unpacked(bytes, k_welcome_mark);
  JoinReply result;
  result.refusal = static_cast<JoinError>(unpacked.number(static_cast<unsigned>(JoinError::key)));
  result.refused = unpacked.text();
  result.failed = unpacked.text();
  result.decision = unpack_decision(unpacked);
  if (!unpacked.whole()) return std::nullopt;
  return result;
}

} // namespace hpcml::store
