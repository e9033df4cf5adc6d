// SPDX-License-Identifier: MIT
#include "run/launch/report_bad_node.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "core/util/log.hpp"
#include "run/launch/launcher_failure.hpp"

namespace hpcml::launch {

void report_bad_node(const node_health::BadNode& bad, const util::EnvSnapshot& env) {
  const auto file = env.get_or(node_health::k_bad_nodes_variable, "");
  if (file.empty()) return;
  const auto line = node_health::render_bad_node(bad);
  std::error_code ignored; // the next says it
  std::filesystem::create_directories(std::filesystem::path(file).parent_path(), ignored);
  const int fd = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  const bool written = fd >= 0 && ::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size());
  if (!written)
    util::log_warning(fmt::format(
        "cannot record the faulty node {0} ({1}) in {2}: {3}; the next start does not exclude it\n"
        "hint: add --exclude={0} to the job, and check the quota and permissions of this file",
        bad.node, bad.why, file, std::strerror(errno)));
  if (fd >= 0) ::close(fd);
}

} // namespace hpcml::launch
