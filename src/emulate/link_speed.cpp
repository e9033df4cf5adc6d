// SPDX-License-Identifier: MIT
#include "emulate/link_speed.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <functional>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "core/util/child.hpp"
#include "core/util/process.hpp"

namespace hpcml::emulate {

namespace {

util::EnvSnapshot tc_environment() {
  util::EnvSnapshot env;
  env.set("PATH", "/usr/sbin:/sbin:/usr/bin:/bin");
  return env;
}

/// Runs `tc` in a child that `enter` has taken elsewhere.
bool run_tc(const std::vector<std::string>& words, const std::function<bool()>& enter) {
  auto child = util::ChildProcess::fork({}, [&] {
    const auto done = enter() ? util::run_process(words, tc_environment(), std::chrono::seconds(30))
                              : util::Result<util::ProcessOutput>(util::Error{"", {}});
    return done && done->exit_code == 0 ? 0 : 1;
  });
  return child && child->wait() == 0;
}

unsigned kilobits(unsigned factor) { return k_cable_speed * 1000 / factor; }

std::vector<std::string> limit_words(const std::string& interface, unsigned factor) {
  // What comes at once: 2 ms of the speed, but room for the largest packet that the kernel hands down.
  const unsigned burst = std::max(128U * 1024, kilobits(factor) / 8 * 2);
  return {"tc",
          "qdisc",
          "replace",
          "dev",
          interface,
          "root",
          "tbf",
          "rate",
          std::to_string(kilobits(factor)) + "kbit",
          "burst",
          std::to_string(burst),
          "latency",
          "50ms"};
}

bool enter_network_of(pid_t process) {
  const int fd = ::open(("/proc/" + std::to_string(process) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC);
  const bool entered = fd >= 0 && ::setns(fd, CLONE_NEWNET) == 0;
  if (fd >= 0) ::close(fd);
  return entered;
}

} // namespace

util::Status try_link_speed() {
  if (!util::find_program("tc", tc_environment()))
    return util::Error{"the program tc, which limits the speed of network links, is not installed",
                       "run apt-get install iproute2 (Debian), or remove --fault slow-link"};
  if (run_tc(limit_words("lo", 2), [] { return ::unshare(CLONE_NEWNET) == 0; })) return util::Success{};
  return util::Error{"this kernel cannot limit the speed of network links: its module sch_tbf is missing",
                     "run modprobe sch_tbf as root, or remove --fault slow-link"};
}

util::Status set_link_speed(const std::string& interface, unsigned factor, std::optional<pid_t> in) {
  const auto words = factor > 1 ? limit_words(interface, factor)
                                : std::vector<std::string>{"tc", "qdisc", "del", "dev", interface, "root"};
  if (run_tc(words, [&] { return !in || enter_network_of(*in); })) return util::Success{};
  return util::Error{
      fmt::format("tc cannot change the speed of network interface {} of an emulated node", interface),
      "run hpcml emulate again, and report it as a bug in hpcml if it recurs"};
}

std::string describe_link_speed(unsigned factor) {
  const auto left = kilobits(factor);
  if (left >= 1000000 && left % 1000000 == 0) return std::to_string(left / 1000000) + " Gbit/s";
  return left >= 1000 ? std::to_string(left / 1000) + " Mbit/s" : std::to_string(left) + " kbit/s";
}

} // namespace hpcml::emulate
