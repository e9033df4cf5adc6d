// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/topo/live_node.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "run/launch/system.hpp"

namespace hpcml::launch {

namespace {

constexpr std::size_t k_max_cpus = 8192, k_max_nodes = 1024;
using MaskWords = std::vector<unsigned long>;
constexpr unsigned k_bits = 8 * sizeof(unsigned long);

MaskWords to_words(const model::IdSet& ids, std::size_t bits) {
  MaskWords words(bits / k_bits, 0);
  for (const unsigned id : ids.ids())
    if (id < bits) words[id / k_bits] |= 1UL << (id % k_bits);
  return words;
}

/// Room for the descriptors that a message carries.
constexpr std::size_t k_most_carried = 4;
union Carried {
  char bytes[CMSG_SPACE(k_most_carried * sizeof(int))];
  cmsghdr aligned;
};

msghdr message_of(iovec& part, Carried& carried, std::size_t fds) {
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = fds == 0 ? nullptr : carried.bytes;
  message.msg_controllen = fds == 0 ? 0 : CMSG_SPACE(fds * sizeof(int));
  return message;
}

class NativeSystem final : public System {
public:
  Time now() override { return std::chrono::steady_clock::now(); }

  pid_t getpid() override { return ::getpid(); }
  pid_t getppid() override { return ::getppid(); }
  pid_t fork(const util::ChildOptions& options, const std::function<int()>& body) override {
    auto child = util::ChildProcess::fork(options, body);
    return child ? child->release() : -1;
  }
  void execve(const std::string& path, std::vector<std::string> argv,
              std::vector<std::string> variables) override {
    ::execve(path.c_str(), util::exec_pointers(argv).data(), util::exec_pointers(variables).data());
  }
  pid_t waitpid(pid_t pid, int* status, int options) override { return ::waitpid(pid, status, options); }
  int kill(pid_t pid, int signal) override { return ::kill(pid, signal); }
  int setpgid(pid_t pid, pid_t group) override { return ::setpgid(pid, group); }
  void become_subreaper() override { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  int getrlimit(int resource, rlimit& limit) override {
    return ::getrlimit(static_cast<decltype(RLIMIT_NOFILE)>(resource), &limit);
  }
  int setrlimit(int resource, const rlimit& limit) override {
    return ::setrlimit(static_cast<decltype(RLIMIT_NOFILE)>(resource), &limit);
  }

  util::Result<model::IdSet> allowed_cpus() override { return topo::read_allowed_cpus(); }
  int set_affinity(const model::IdSet& cpus) override {
    const auto words = to_words(cpus, k_max_cpus);
    return static_cast<int>(
        ::syscall(SYS_sched_setaffinity, 0, words.size() * sizeof words[0], words.data()));
  }
  int set_mempolicy(int policy, const model::IdSet& nodes) override {
    const auto words = to_words(nodes, k_max_nodes);
    return static_cast<int>(::syscall(SYS_set_mempolicy, policy, words.data(), k_max_nodes + 1));
  }
  std::optional<topo::MemoryPolicy> memory_policy() override { return topo::read_memory_policy(); }

  int sigprocmask(int how, const sigset_t* set, sigset_t* before) override {
    return ::sigprocmask(how, set, before);
  }
  void set_action(int signal, sighandler_t action) override { ::signal(signal, action); }
  int signalfd(const sigset_t& set) override { return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK); }
  int sigtimedwait(const sigset_t& set, std::chrono::nanoseconds limit) override {
    const timespec time{limit.count() / 1'000'000'000, limit.count() % 1'000'000'000};
    return ::sigtimedwait(&set, nullptr, &time);
  }

  int poll(std::span<pollfd> ends, int milliseconds) override {
    return ::poll(ends.data(), ends.size(), milliseconds);
  }
  ssize_t read(int fd, void* bytes, std::size_t count) override { return ::read(fd, bytes, count); }
  ssize_t pread(int fd, void* bytes, std::size_t count, off_t offset) override {
    return ::pread(fd, bytes, count, offset);
  }
  ssize_t write(int fd, const void* bytes, std::size_t count) override { return ::write(fd, bytes, count); }
  ssize_t send(int fd, const void* bytes, std::size_t count) override {
    return ::send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  }
  int open(const std::string& path, int flags) override { return ::open(path.c_str(), flags | O_CLOEXEC); }
  int close(int fd) override { return ::close(fd); }
  int pipe(int (&ends)[2]) override { return ::pipe2(ends, O_CLOEXEC); }
  int set_nonblocking(int fd) override { return ::fcntl(fd, F_SETFL, O_NONBLOCK); }
  int flags(int fd) override { return ::fcntl(fd, F_GETFL); }
  int fstat(int fd, struct stat& found) override { return ::fstat(fd, &found); }
  bool isatty(int fd) override { return ::isatty(fd) != 0; }
  int unread_bytes(int fd) override {
    int count = 0;
    return ::ioctl(fd, FIONREAD, &count) == 0 ? count : -1;
  }
  bool is_foreground(int fd) override { return ::tcgetpgrp(fd) == ::getpgrp(); }
  int epoll_create() override { return ::epoll_create1(EPOLL_CLOEXEC); }
  int epoll_add(int set, int fd, std::uint64_t key) override {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = key;
    return ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
  }
  int epoll_ready(int set, std::span<std::uint64_t> keys) override {
    std::array<epoll_event, 64> events;
    const auto most = static_cast<int>(std::min(keys.size(), events.size()));
    const int count = ::epoll_wait(set, events.data(), most, 0);
    for (int i = 0; i < count; ++i)
      keys[static_cast<std::size_t>(i)] = events[static_cast<std::size_t>(i)].data.u64;
    return count;
  }
  int socketpair(int (&ends)[2]) override {
    return ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends);
  }
  bool send_descriptors(int line, std::string_view text, std::span<const int> fds) override {
    iovec part{const_cast<char*>(text.data()), text.size()};
    Carried carried{};
    const msghdr message = message_of(part, carried, fds.size());
    if (!fds.empty()) {
      cmsghdr* header = CMSG_FIRSTHDR(&message);
      header->cmsg_level = SOL_SOCKET;
      header->cmsg_type = SCM_RIGHTS;
      header->cmsg_len = CMSG_LEN(fds.size_bytes());
      std::memcpy(CMSG_DATA(header), fds.data(), fds.size_bytes());
    }
    ssize_t sent;
    do sent = ::sendmsg(line, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(text.size());
  }
  int receive_descriptors(int line, std::span<char> text, std::span<int> fds) override {
    iovec part{text.data(), text.size()};
    Carried carried{};
    msghdr message = message_of(part, carried, fds.size());
    ssize_t got;
    do got = ::recvmsg(line, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(text.size())) return -1;
    const cmsghdr* header = CMSG_FIRSTHDR(&message);
    if (header == nullptr || header->cmsg_len != CMSG_LEN(fds.size_bytes())) return 0;
    std::memcpy(fds.data(), CMSG_DATA(header), fds.size_bytes());
    return static_cast<int>(fds.size());
  }

  int access(const std::string& path, int mode) override { return ::access(path.c_str(), mode); }
  int stat(const std::string& path, struct stat& found) override { return ::stat(path.c_str(), &found); }
  util::Result<std::string> read_file(const std::string& path) override { return util::read_file(path); }
  std::vector<std::string> list_directory(const std::string& path) override {
    return util::list_directory(path);
  }
};

} // namespace

System& System::native() {
  static NativeSystem system;
  return system;
}

void write_stderr_line(System& system, std::string_view line) {
  util::write_line(
      line, [&](int fd, const void* bytes, std::size_t count) { return system.write(fd, bytes, count); });
}

void log_message(System& system, util::LogLevel level, const std::string& text) {
  if (util::is_logged(level)) write_stderr_line(system, util::log_text(level, text));
}

} // namespace hpcml::launch
