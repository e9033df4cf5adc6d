// SPDX-License-Identifier: MIT
#include "emulate/node_processes.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "core/util/file.hpp"
#include "core/util/text.hpp"

namespace hpcml::emulate {

std::string read_node_mark(pid_t pid) {
  std::error_code lost;
  const auto target = std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/ns/uts", lost);
  return lost ? std::string() : target.string();
}

util::Status end_processes_of(const std::string& mark) {
  if (mark.empty())
    return util::Error{
        "cannot find the processes of an emulated node: /proc/PID/ns/uts was not readable at its start",
        "run hpcml emulate again, and report it as a bug in hpcml if it recurs"};
  constexpr auto k_pause = std::chrono::milliseconds(5);
  constexpr unsigned k_most = 4000; // a process that waits for a disk ends when that has answered
  for (unsigned round = 0; round < k_most; ++round) {
    unsigned left = 0;
    for (const auto& name : util::list_directory("/proc")) {
      const auto number = util::parse_unsigned(name);
      if (!number || read_node_mark(static_cast<pid_t>(*number)) != mark) continue;
      ::kill(static_cast<pid_t>(*number), SIGKILL);
      ++left;
    }
    if (left == 0) return util::Success{};
    std::this_thread::sleep_for(k_pause);
  }
  return util::Error{
      "some processes of an emulated node did not exit within 20 s after SIGKILL",
      "check ps -eo pid,stat,comm for processes in state D, which wait for a disk or file server"};
}

} // namespace hpcml::emulate
