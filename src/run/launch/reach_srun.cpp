// SPDX-License-Identifier: MIT
#include "run/launch/reach_srun.hpp"

#include <cerrno>
#include <chrono>
#include <optional>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "core/util/text.hpp"
#include "run/store/listen.hpp"

namespace hpcml::launch {

namespace {

constexpr int k_answer_milliseconds = 3000;

/// Returns whether the machine answers at the port; a refused connection is an answer as well.
bool answers(const std::string& machine, std::uint16_t port) {
  const auto to = store::parse_address(machine, port);
  if (!to) return false;
  const int fd = ::socket(to->bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  int error = ::connect(fd, reinterpret_cast<const sockaddr*>(&to->bytes), to->length) == 0 ? 0 : errno;
  if (pollfd end{fd, POLLOUT, 0}; error == EINPROGRESS) {
    socklen_t size = sizeof error;
    if (::poll(&end, 1, k_answer_milliseconds) <= 0 ||
        ::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
      error = ETIMEDOUT;
  }
  ::close(fd);
  return error == 0 || error == ECONNREFUSED;
}

} // namespace

void wait_until_srun_is_reached(const util::EnvSnapshot& env, std::uint16_t quiet_port,
                                const std::function<bool()>& is_over) {
  constexpr auto k_pause = std::chrono::seconds(1);
  const std::string machine(env.get_or("SLURM_LAUNCH_NODE_IPADDR", ""));
  const auto port = util::parse_unsigned(env.get_or("SLURM_SRUN_COMM_PORT", ""));
  if (machine.empty() || !port || *port == 0 || *port > 65535 || env.get_or("SLURM_PROCID", "").empty())
    return;
  while (!is_over()) {
    if (quiet_port != 0 && answers(machine, quiet_port)) return;
    if (answers(machine, static_cast<std::uint16_t>(*port))) return;
    std::this_thread::sleep_for(k_pause);
  }
}

} // namespace hpcml::launch
