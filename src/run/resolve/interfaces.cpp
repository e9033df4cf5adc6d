// SPDX-License-Identifier: MIT
#include "run/resolve/interfaces.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::launch {

bool names_interfaces(const std::string& variable) {
  return variable == "GLOO_SOCKET_IFNAME" || variable == "NCCL_SOCKET_IFNAME";
}

std::string present_interfaces(const std::string& variable, const std::string& value,
                               const std::vector<std::string>& present) {
  const bool nccl = variable == "NCCL_SOCKET_IFNAME";
  if (present.empty() || (nccl && value.starts_with("^"))) return value;
  const bool exact = !nccl || value.starts_with("=");
  const std::string list = nccl && exact ? value.substr(1) : value;
  std::vector<std::string> kept;
  for (const auto& piece : util::split(list, ',')) {
    const std::string name(util::trim(piece));
    const std::string bare = nccl ? name.substr(0, name.find(':')) : name; // NCCL takes NAME:PORT
    const bool is_present = std::any_of(present.begin(), present.end(), [&](const std::string& interface) {
      return exact ? interface == bare : interface.starts_with(bare);
    });
    if (!name.empty() && is_present) kept.push_back(name);
  }
  return (nccl && exact && !kept.empty() ? "=" : "") + util::join(kept, ",");
}

} // namespace hpcml::launch
