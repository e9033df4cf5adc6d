// SPDX-License-Identifier: MIT
#include "run/resolve/job_channel.hpp"

#include <fmt/format.h>

namespace hpcml::launch {

std::string describe_channel(const JobChannel& channel) {
  return channel.is_shared && !channel.is_open ? fmt::format("key from {}", channel.origin)
                                               : fmt::format("no key ({})", channel.origin);
}

} // namespace hpcml::launch
