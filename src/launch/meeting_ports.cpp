// SPDX-License-Identifier: MIT
// Which job a meeting is for, and the ports where it may be.
#include <algorithm>
#include <unistd.h>

#include "launch/meet.hpp"
#include "launch/rendezvous.hpp"

namespace hpcml::launch {

namespace {
constexpr unsigned k_ports = 8;
} // namespace

std::string meeting_job(const slurm::StepIdentity& identity) {
  return std::to_string(identity.job) + "." + std::to_string(identity.restart) + "." +
         std::to_string(::getuid());
}

std::vector<std::uint16_t> meeting_ports(const World& world) {
  std::vector<std::uint16_t> ports;
  if (world.port_given) ports.push_back(static_cast<std::uint16_t>(world.port));
  // Far apart, so that neighbouring jobs, which begin one after the other, do not follow each other.
  constexpr unsigned k_stride = 1237;
  const unsigned first = world.in_job ? step_port(world.identity) : world.port;
  for (unsigned i = 0; i < k_ports; ++i) {
    const auto offset =
        (first + plan::k_port_count - plan::k_first_port % plan::k_port_count + i * k_stride) %
        plan::k_port_count;
    const auto port = static_cast<std::uint16_t>(i == 0 ? first : plan::k_first_port + offset);
    if (std::find(ports.begin(), ports.end(), port) == ports.end()) ports.push_back(port);
  }
  return ports;
}

} // namespace hpcml::launch
