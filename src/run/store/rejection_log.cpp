// SPDX-License-Identifier: MIT
#include "run/store/rejection_log.hpp"

#include <fmt/format.h>

#include "core/util/text.hpp"

namespace hpcml::store {

namespace {

constexpr std::size_t k_most_peers = 8; ///< that get a line each

std::string peer_and_reason(const std::string& peer, const std::string& why) {
  return fmt::format("{}: {}", peer.empty() ? "unknown address" : peer, why);
}

} // namespace

std::vector<std::string> RejectionLog::add(const std::string& peer, const std::string& why, Time now) {
  if (x_peers.count(peer) == 0 && x_peers.size() < k_most_peers) {
    x_peers.insert(peer);
    return {fmt::format("rejected a client at {}", peer_and_reason(peer, why))};
  }
  if (x_counted == 0) x_due = now + x_interval;
  ++x_counted;
  x_last = peer_and_reason(peer, why);
  return {};
}

std::vector<std::string> RejectionLog::tick(Time now) {
  if (x_counted == 0 || now < x_due) return {};
  auto line = fmt::format("rejected {}, the last one at {}", util::counted(x_counted, "more client"), x_last);
  x_counted = 0;
  x_interval *= 10;
  return {std::move(line)};
}

} // namespace hpcml::store
