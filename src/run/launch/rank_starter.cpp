// SPDX-License-Identifier: MIT
#include "run/launch/rank_starter.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "run/launch/exec_rank.hpp"

namespace hpcml::launch {

namespace {

/// A rank that was started, or why it was not. With it come the reading ends of its output.
struct Started {
  pid_t pid = -1;
  bool no_pipe = false;
  int error = 0;
};
constexpr std::size_t k_pipe_ends = 2;

/// Room for the descriptors that a message carries.
union Carried {
  char bytes[CMSG_SPACE(k_pipe_ends * sizeof(int))];
  cmsghdr aligned;
};

msghdr message_of(iovec& part, Carried& carried) {
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = carried.bytes;
  message.msg_controllen = sizeof carried.bytes;
  return message;
}

bool send_started(int line, Started started, const int* ends) {
  iovec part{&started, sizeof started};
  Carried carried{};
  msghdr message = message_of(part, carried);
  if (ends == nullptr) {
    message.msg_control = nullptr;
    message.msg_controllen = 0;
  } else {
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(k_pipe_ends * sizeof(int));
    std::memcpy(CMSG_DATA(header), ends, k_pipe_ends * sizeof(int));
  }
  ssize_t sent;
  do sent = ::sendmsg(line, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof started);
}

/// False where nothing more comes.
bool receive_started(int line, Started& started, int (&ends)[k_pipe_ends]) {
  iovec part{&started, sizeof started};
  Carried carried{};
  msghdr message = message_of(part, carried);
  ssize_t got;
  do got = ::recvmsg(line, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(sizeof started)) return false;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_len == CMSG_LEN(sizeof ends))
    std::memcpy(ends, CMSG_DATA(header), sizeof ends);
  else if (started.error == 0)
    started = {started.pid, true, EMFILE}; // the kernel drops descriptors that exceed the limit
  return true;
}

/// In the rank: returns only if its program cannot be executed.
int run_rank(const RankStartContext& start, unsigned local_rank) {
  ::setrlimit(RLIMIT_NOFILE, &start.files);
  RankSetup setup = make_rank_setup(start.request, start.node, local_rank);
  setup.env.set(k_launch_variable, start.mark);
  LaunchRequest request = start.request;
  request.command = command_of_rank(start.request, local_rank);
  return exec_rank(setup, request, start.context,
                   start.activity.empty() ? nullptr : start.activity[local_rank].get());
}

bool make_pipe(int ends[2]) {
  return ::pipe2(ends, O_CLOEXEC) == 0 && ::fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0;
}

/// Starts a child of our parent, so that launch and the rank are notified of each other's exit. Returns -1 if
/// it cannot be started.
pid_t fork_rank(const RankStartContext& start, unsigned local_rank, int out, int err) {
  const bool has_input = local_rank == 0 && start.input >= 0;
  util::ChildOptions options;
  options.is_sibling = true;
  options.group = util::ChildOptions::Group::own;
  options.death_signal = SIGKILL;
  options.descriptors = {{STDIN_FILENO, has_input ? start.input : util::ChildOptions::k_null_device},
                         {STDOUT_FILENO, out},
                         {STDERR_FILENO, err}};
  options.default_signals = {SIGPIPE};
  options.mask = start.mask;
  auto rank = util::ChildProcess::fork(options, [&] { return run_rank(start, local_rank); });
  return rank ? rank->release() : -1;
}

/// Starts a rank and reports it; false if the next rank should not be started.
bool start_rank(const RankStartContext& start, unsigned local_rank, int line) {
  int out[2] = {-1, -1}, err[2] = {-1, -1};
  Started started;
  if (!make_pipe(out) || !make_pipe(err)) {
    started.no_pipe = true;
  } else {
    started.pid = fork_rank(start, local_rank, out[1], err[1]);
  }
  if (started.pid < 0) started.error = errno;
  const int ends[k_pipe_ends] = {out[0], err[0]};
  const bool is_announced = send_started(line, started, started.pid > 0 ? ends : nullptr);
  if (!is_announced && started.pid > 0) ::kill(started.pid, SIGKILL); // launch would not know of it
  for (const int fd : {out[0], out[1], err[0], err[1]})
    if (fd >= 0) ::close(fd);
  return is_announced && started.pid > 0;
}

} // namespace

util::Status RankStarter::begin(const RankStartContext& start, unsigned count) {
  const auto& layout = start.node->world.layout;
  x_first_rank = layout.rank - layout.local_rank;
  int ends[2];
  const auto failed = [] {
    return util::Error{
        fmt::format("cannot start the process that starts the ranks: {}", std::strerror(errno)),
        "check the limits of open files (ulimit -n) and processes (ulimit -u) on this node"};
  };
  // Each message is one, and the end of its writer is seen.
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return failed();
  util::ChildOptions options;
  options.death_signal = SIGKILL;
  auto starter = util::ChildProcess::fork(options, [&] {
    ::close(ends[0]);
    for (unsigned local = 0; local < count && start_rank(start, local, ends[1]);) ++local;
    return 0;
  });
  const int error = errno;
  ::close(ends[1]);
  x_line = ends[0];
  errno = error;
  if (!starter) return failed();
  x_pid = starter->release(); // launch waits for all of its children
  return util::Success{};
}

util::Result<RankProcess> RankStarter::next() {
  Started started;
  int ends[k_pipe_ends] = {-1, -1};
  if (!receive_started(x_line, started, ends))
    return util::Error{"the process that starts the ranks exited unexpectedly",
                       "check dmesg for the kernel's out-of-memory killer, or request more memory (--mem)"};
  if (started.error != 0)
    return util::Error{started.no_pipe ? fmt::format("cannot create a pipe for the output of a rank: {}",
                                                     std::strerror(started.error))
                                       : fmt::format("cannot start a rank: {}", std::strerror(started.error)),
                       "check the limits of open files (ulimit -n) and processes (ulimit -u) on this node"};
  ::setpgid(started.pid, started.pid); // in both processes, so that it is set whichever runs first
  RankProcess process;
  process.rank = x_first_rank + x_local;
  process.local_rank = x_local++;
  process.pid = started.pid;
  process.out = ends[0];
  process.err = ends[1];
  return process;
}

void RankStarter::stop() {
  if (x_pid > 0) ::kill(x_pid, SIGKILL);
  if (x_line >= 0) ::close(x_line);
  x_line = -1;
}

RankStarter::~RankStarter() {
  if (x_line >= 0) ::close(x_line);
}

} // namespace hpcml::launch
