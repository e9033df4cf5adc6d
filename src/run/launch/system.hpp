// SPDX-License-Identifier: MIT
// The system calls by which a launch is performed: processes, signals, CPUs, descriptors, /proc and a clock.
// Tests perform launches in memory, see tests/run/launch/recorded_system.hpp.
#pragma once

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <poll.h>
#include <span>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include "core/model/id_set.hpp"
#include "core/topo/memory_policy.hpp"
#include "core/util/child.hpp"
#include "core/util/log.hpp"
#include "core/util/result.hpp"

struct stat; // of <sys/stat.h>

namespace hpcml::launch {

/// Each function returns what the system call of its name does, and sets errno. Descriptors that are opened
/// are closed by exec.
class System {
public:
  using Time = std::chrono::steady_clock::time_point;
  System() = default;
  virtual ~System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;
  /// The kernel.
  static System& native();

  virtual Time now() = 0;

  // Processes.

  virtual pid_t getpid() = 0;
  virtual pid_t getppid() = 0;
  /// Runs `body` in a copy of this process, which exits with the code that it returns; -1 if it cannot start.
  virtual pid_t fork(const util::ChildOptions& options, const std::function<int()>& body) = 0;
  /// Returns only if `path` cannot be executed.
  virtual void execve(const std::string& path, std::vector<std::string> argv,
                      std::vector<std::string> variables) = 0;
  virtual pid_t waitpid(pid_t pid, int* status, int options) = 0;
  virtual int kill(pid_t pid, int signal) = 0;
  virtual int setpgid(pid_t pid, pid_t group) = 0;
  /// Makes this process the parent of its descendants that lose theirs.
  virtual void become_subreaper() = 0;
  virtual int getrlimit(int resource, rlimit& limit) = 0;
  virtual int setrlimit(int resource, const rlimit& limit) = 0;

  // CPUs and memory of this process.

  virtual util::Result<model::IdSet> allowed_cpus() = 0;
  virtual int set_affinity(const model::IdSet& cpus) = 0;
  /// `policy`: a number of <linux/mempolicy.h>.
  virtual int set_mempolicy(int policy, const model::IdSet& nodes) = 0;
  virtual std::optional<topo::MemoryPolicy> memory_policy() = 0;

  // Signals of this process.

  virtual int sigprocmask(int how, const sigset_t* set, sigset_t* before) = 0;
  virtual void set_action(int signal, sighandler_t action) = 0;
  /// A descriptor that does not block.
  virtual int signalfd(const sigset_t& set) = 0;
  virtual int sigtimedwait(const sigset_t& set, std::chrono::nanoseconds limit) = 0;

  // Descriptors.

  virtual int poll(std::span<pollfd> ends, int milliseconds) = 0;
  virtual ssize_t read(int fd, void* bytes, std::size_t count) = 0;
  virtual ssize_t pread(int fd, void* bytes, std::size_t count, off_t offset) = 0;
  virtual ssize_t write(int fd, const void* bytes, std::size_t count) = 0;
  /// To a socket, without waiting and without SIGPIPE.
  virtual ssize_t send(int fd, const void* bytes, std::size_t count) = 0;
  virtual int open(const std::string& path, int flags) = 0;
  virtual int close(int fd) = 0;
  virtual int pipe(int (&ends)[2]) = 0;
  virtual int set_nonblocking(int fd) = 0;
  /// Status flags (F_GETFL).
  virtual int flags(int fd) = 0;
  virtual int fstat(int fd, struct stat& found) = 0;
  virtual bool isatty(int fd) = 0;
  /// Returns what was written into a pipe or socket and not read yet (FIONREAD); -1 for others.
  virtual int unread_bytes(int fd) = 0;
  /// True if this process's group is in the foreground of the terminal `fd`.
  virtual bool is_foreground(int fd) = 0;
  virtual int epoll_create() = 0;
  /// Adds `fd` to the set for reading, as `key` in the events.
  virtual int epoll_add(int set, int fd, std::uint64_t key) = 0;
  /// Returns the number of keys of readable descriptors, without waiting.
  virtual int epoll_ready(int set, std::span<std::uint64_t> keys) = 0;
  /// A pair of sockets that keep messages apart (SOCK_SEQPACKET).
  virtual int socketpair(int (&ends)[2]) = 0;
  /// Sends a message with copies of descriptors.
  virtual bool send_descriptors(int line, std::string_view message, std::span<const int> fds) = 0;
  /// Receives into `message` and `fds`. Returns the number of descriptors received; -1 if there is no message
  /// of this size.
  virtual int receive_descriptors(int line, std::span<char> message, std::span<int> fds) = 0;

  // Files of programs and of /proc.

  virtual int access(const std::string& path, int mode) = 0;
  virtual int stat(const std::string& path, struct stat& found) = 0;
  virtual util::Result<std::string> read_file(const std::string& path) = 0;
  virtual std::vector<std::string> list_directory(const std::string& path) = 0;
};

/// The same as util::write_stderr_line and util::log_message.
void write_stderr_line(System& system, std::string_view line);
void log_message(System& system, util::LogLevel level, const std::string& text);

} // namespace hpcml::launch
