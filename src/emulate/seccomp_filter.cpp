// SPDX-License-Identifier: MIT
// Raw BPF: some thirty instructions do not justify libseccomp in every installation.
#include "emulate/seccomp_filter.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace hpcml::emulate {

namespace {

#if defined(__x86_64__)
constexpr unsigned k_arch = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned k_arch = AUDIT_ARCH_AARCH64;
#else
#error "seccomp_filter.cpp knows x86_64 and aarch64 only"
#endif

// glibc's own O_DIRECTORY and friends differ by architecture; these are the running one's.
constexpr unsigned k_not_plain_reading = O_WRONLY | O_RDWR | O_CREAT | O_DIRECTORY | O_PATH;

constexpr unsigned arg_offset(unsigned index) {
  return static_cast<unsigned>(offsetof(seccomp_data, args)) + 8 * index; // low half: both are little-endian
}

class FilterText {
public:
  void load(unsigned offset) { x_code.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)); }
  void give(unsigned action) { x_code.push_back(BPF_STMT(BPF_RET | BPF_K, action)); }
  /// Skips the next `skip` instructions unless the loaded value is `value`.
  void unless_equal(unsigned value, unsigned char skip) {
    x_code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, skip));
  }
  /// Skips the next `skip` instructions if the loaded value has one of `bits`.
  void if_any_bit(unsigned bits, unsigned char skip) {
    x_code.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, skip, 0));
  }
  void notify(unsigned number) {
    unless_equal(number, 1);
    give(SECCOMP_RET_USER_NOTIF);
  }
  void answer_zero(unsigned number) {
    unless_equal(number, 1);
    give(SECCOMP_RET_ERRNO);
  }
  /// A call that opens a file: of interest only when it just reads.
  void notify_open(unsigned number, unsigned flags_arg) {
    unless_equal(number, 4);
    load(arg_offset(flags_arg));
    if_any_bit(k_not_plain_reading, 1);
    give(SECCOMP_RET_USER_NOTIF);
    give(SECCOMP_RET_ALLOW);
  }
  std::vector<sock_filter>& code() { return x_code; }

private:
  std::vector<sock_filter> x_code;
};

std::vector<sock_filter> make_filter(bool only_root_exists) {
  FilterText text;
  text.load(offsetof(seccomp_data, arch));
  text.code().push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k_arch, 1, 0));
  text.give(SECCOMP_RET_ALLOW); // another architecture's numbers mean other calls
  text.load(offsetof(seccomp_data, nr));
  text.notify_open(SYS_openat, 2);
#ifdef SYS_open
  text.notify_open(SYS_open, 1);
#endif
  text.notify(SYS_openat2);
  text.notify(SYS_sched_setaffinity);
  text.notify(SYS_sched_getaffinity);
  text.notify(SYS_set_mempolicy);
  text.notify(SYS_get_mempolicy);
  text.notify(SYS_mbind);
  // A user namespace with one user forbids setgroups, and daemons that drop to a user's groups would fail.
  if (only_root_exists) text.answer_zero(SYS_setgroups);
  // The timer slack stores the thread's mask: a program that sets its slack gets success without an effect.
  text.unless_equal(SYS_prctl, 3);
  text.load(arg_offset(0));
  text.unless_equal(PR_SET_TIMERSLACK, 1);
  text.give(SECCOMP_RET_ERRNO);
  text.give(SECCOMP_RET_ALLOW);
  return text.code();
}

int install(const sock_fprog& program, unsigned flags) {
  return static_cast<int>(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program));
}

} // namespace

util::Result<int> install_node_filter(bool only_root_exists) {
  auto code = make_filter(only_root_exists);
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  constexpr unsigned listen = SECCOMP_FILTER_FLAG_NEW_LISTENER;
  // Killable waits keep a signal from interrupting a call that the supervisor is about to answer; Linux 5.19.
  const auto try_both = [&] {
    const int fd = install(program, listen | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
    return fd >= 0 || errno != EINVAL ? fd : install(program, listen);
  };
  int fd = try_both();
  if (fd < 0 && errno == EACCES && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) fd = try_both();
  if (fd >= 0) return fd;
  const int why = errno;
  return util::Error{
      fmt::format("the kernel rejected the seccomp filter that emulates the node's CPUs: {}",
                  std::strerror(why)),
      why == EBUSY
          ? "run hpcml emulate outside of the sandbox that already filters this process's system calls"
          : "use Linux 5.14 or later with CONFIG_SECCOMP_FILTER, outside of sandboxes that forbid it"};
}

} // namespace hpcml::emulate
