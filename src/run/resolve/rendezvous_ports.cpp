// SPDX-License-Identifier: MIT
#include "run/resolve/rendezvous_ports.hpp"

#include "core/util/text.hpp"
#include "generate/plan/port_formula.hpp"

namespace hpcml::launch {

unsigned step_port(const slurm::StepIdentity& identity) {
  constexpr unsigned long long k_count = plan::k_port_count;
  const auto offset = (identity.job % k_count) * plan::k_job_stride +
                      (identity.restart % k_count) * plan::k_restart_stride + identity.step % k_count;
  return plan::k_first_port + static_cast<unsigned>(offset % k_count);
}

std::string step_address(const util::EnvSnapshot& env, const std::string& first_node,
                         const std::string& suffix) {
  auto address = env.get_or("HPCML_MASTER_ADDR", "");
  if (!address.empty() && env.get_or("HPCML_MASTER_NODE", "") == first_node) return address;
  return first_node + suffix;
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

unsigned side_port(unsigned port) {
  const unsigned offset = port >= plan::k_first_port ? port - plan::k_first_port
                                                     : port; // a requested port may be outside the range
  return plan::k_first_port + (offset + plan::k_port_count / 2) % plan::k_port_count;
}

} // namespace hpcml::launch
