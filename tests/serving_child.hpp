// SPDX-License-Identifier: MIT
// The process that serves a store beside a launcher.
#pragma once

#include <filesystem>
#include <string>
#include <sys/types.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::test {

/// The child of `parent` that waits at sockets by epoll, as the store does and neither ranks nor the other
/// helpers do. Waits up to a minute for one; 0: there is none.
inline pid_t find_serving_child(pid_t parent) {
  const auto process = std::to_string(parent);
  for (int i = 0; i < 6000; ++i, ::usleep(10000)) {
    const auto children = util::read_file("/proc/" + process + "/task/" + process + "/children").value_or("");
    for (const auto& child : util::split(children, ' ')) {
      const auto pid = util::parse_unsigned(child);
      if (!pid) continue;
      std::error_code gone;
      for (const auto& fd : std::filesystem::directory_iterator("/proc/" + child + "/fd", gone))
        if (std::filesystem::read_symlink(fd.path(), gone).string() == "anon_inode:[eventpoll]")
          return static_cast<pid_t>(*pid);
    }
  }
  return 0;
}

} // namespace hpcml::test
