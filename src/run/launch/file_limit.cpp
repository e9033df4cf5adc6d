// SPDX-License-Identifier: MIT
#include "run/launch/file_limit.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace hpcml::launch {

FileLimit::~FileLimit() {
  if (x_raised) x_system.setrlimit(RLIMIT_NOFILE, x_before);
}

util::Status FileLimit::raise(rlim_t count, unsigned ranks) {
  if (x_before.rlim_cur >= count) return util::Success{};
  rlimit raised = x_before;
  raised.rlim_cur = std::min(count, x_before.rlim_max);
  if (raised.rlim_cur < count || x_system.setrlimit(RLIMIT_NOFILE, raised) != 0)
    return util::Error{
        fmt::format("{} ranks require {} open files, which exceeds the hard limit ({}, ulimit -Hn)", ranks,
                    count, x_before.rlim_max),
        "use fewer ranks on this node, or request a higher limit"};
  x_raised = true;
  return util::Success{};
}

} // namespace hpcml::launch
