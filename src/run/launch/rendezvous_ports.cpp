// SPDX-License-Identifier: MIT
#include "run/launch/rendezvous_ports.hpp"

#include <unistd.h>

#include "core/util/text.hpp"
#include "generate/plan/port_formula.hpp"

namespace hpcml::launch {

std::string rendezvous_job(const slurm::StepIdentity& identity) {
  return std::to_string(identity.job) + "." + std::to_string(identity.restart) + "." +
         std::to_string(::getuid());
}

std::vector<std::uint16_t> rendezvous_ports(unsigned first, std::optional<unsigned> requested) {
  std::vector<std::uint16_t> ports;
  if (requested) ports.push_back(static_cast<std::uint16_t>(*requested));
  // Far apart, so that neighbouring jobs, which begin one after the other, do not follow each other.
  constexpr unsigned k_stride = 1237;
  for (unsigned i = 0; i < k_rendezvous_ports; ++i) {
    const auto offset =
        (first + plan::k_port_count - plan::k_first_port % plan::k_port_count + i * k_stride) %
        plan::k_port_count;
    const auto port = static_cast<std::uint16_t>(i == 0 ? first : plan::k_first_port + offset);
    if (!util::contains(ports, port)) ports.push_back(port);
  }
  return ports;
}

} // namespace hpcml::launch
