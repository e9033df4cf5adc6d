// SPDX-License-Identifier: MIT
#include "emulate/child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/util/process.hpp"

namespace hpcml::emulate {

namespace {
constexpr char k_ready = '\1';

bool read_byte(int fd, char& byte) {
  ssize_t count;
  do count = ::read(fd, &byte, 1);
  while (count < 0 && errno == EINTR);
  return count == 1;
}

} // namespace

StartChannel::StartChannel() {
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, x_ends) != 0) x_ends[0] = x_ends[1] = -1;
}

StartChannel::~StartChannel() {
  close_end(x_ends[0]);
  close_end(x_ends[1]);
}

void StartChannel::close_end(int& end) {
  if (end >= 0) ::close(end);
  end = -1;
}

void StartChannel::keep_child_end() { close_end(x_ends[0]); }

void StartChannel::fail(const util::Error& error) {
  const std::string text = error.what + '\0' + error.hint;
  [[maybe_unused]] const auto ignored = ::send(x_ends[1], text.data(), text.size(), MSG_NOSIGNAL);
  ::_exit(127);
}

std::optional<util::Error> StartChannel::wait() {
  close_end(x_ends[1]);
  std::string text;
  for (char byte; read_byte(x_ends[0], byte);) text += byte;
  if (text.empty()) return std::nullopt;
  const auto zero = text.find('\0');
  return util::Error{text.substr(0, zero), zero == std::string::npos ? std::string() : text.substr(zero + 1)};
}

bool StartChannel::wait_for_parent() {
  char answer = 0;
  return ::send(x_ends[1], &k_ready, 1, MSG_NOSIGNAL) == 1 && read_byte(x_ends[1], answer);
}

bool StartChannel::wait_for_child() {
  close_end(x_ends[1]); // so that a child's death is noticed
  char byte = 0;
  // An error text is left to wait(): only peek at what came.
  ssize_t count;
  do count = ::recv(x_ends[0], &byte, 1, MSG_PEEK);
  while (count < 0 && errno == EINTR);
  return count == 1 && byte == k_ready && read_byte(x_ends[0], byte);
}

bool StartChannel::release_child() { return ::send(x_ends[0], &k_ready, 1, MSG_NOSIGNAL) == 1; }

void reset_signals() {
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

util::Status detach_from_terminal(const std::string& log_file) {
  ::setsid();
  const std::string path = log_file.empty() ? "/dev/null" : log_file;
  const int in = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int out = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (in < 0 || out < 0)
    return util::Error{
        fmt::format("cannot open the log {} or /dev/null for a process of the emulated cluster: {}", path,
                    std::strerror(errno)),
        "check the free memory of this machine (free -h), which holds the logs until --keep-logs saves them"};
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
  return util::Success{};
}

util::Error execute(const std::vector<std::string>& argv, const util::EnvSnapshot& env) {
  if (argv.empty()) return {"no command given", {}};
  const auto program = util::find_program(argv[0], env);
  if (!program)
    return {fmt::format("cannot find the program '{}'", argv[0]), "check its name, or use its path"};
  std::vector<std::string> words = argv;
  std::vector<std::string> variables = env.to_envp();
  ::execve(program->c_str(), util::exec_pointers(words).data(), util::exec_pointers(variables).data());
  return {fmt::format("cannot execute {}: {}", *program, std::strerror(errno)), {}};
}

int close_all_but(int keep) {
  if (keep < 0) {
    util::close_descriptors(3);
    return -1;
  }
  if (keep != 3) {
    ::dup2(keep, 3);
    ::fcntl(3, F_SETFD, FD_CLOEXEC);
  }
  util::close_descriptors(4);
  return 3;
}

namespace {
/// A message of one byte with room for one descriptor.
struct DescriptorMessage {
  char byte = 0;
  iovec piece{&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr head{};
  DescriptorMessage() {
    head.msg_iov = &piece;
    head.msg_iovlen = 1;
    head.msg_control = control;
    head.msg_controllen = sizeof control;
  }
};
} // namespace

bool send_descriptor(int socket, int fd) {
  DescriptorMessage message;
  cmsghdr* item = CMSG_FIRSTHDR(&message.head);
  item->cmsg_level = SOL_SOCKET;
  item->cmsg_type = SCM_RIGHTS;
  item->cmsg_len = CMSG_LEN(sizeof fd);
  std::memcpy(CMSG_DATA(item), &fd, sizeof fd);
  return ::sendmsg(socket, &message.head, MSG_NOSIGNAL) == 1;
}

int receive_descriptor(int socket) {
  DescriptorMessage message;
  ssize_t count;
  do count = ::recvmsg(socket, &message.head, MSG_CMSG_CLOEXEC);
  while (count < 0 && errno == EINTR);
  const cmsghdr* item = count == 1 ? CMSG_FIRSTHDR(&message.head) : nullptr;
  if (!item || item->cmsg_type != SCM_RIGHTS) return -1;
  int fd = -1;
  std::memcpy(&fd, CMSG_DATA(item), sizeof fd);
  return fd;
}

} // namespace hpcml::emulate
