// SPDX-License-Identifier: MIT
#include "run/agent/syscall_names.hpp"

#include <algorithm>
#include <iterator>

namespace hpcml::agent {

namespace {

struct SyscallRow {
  const char* name;
  int x86_64;  ///< arch/x86/entry/syscalls/syscall_64.tbl; -1: it has none
  int aarch64; ///< include/uapi/asm-generic/unistd.h
};

constexpr SyscallRow k_syscalls[] = {
    {"read", 0, 63},
    {"write", 1, 64},
    {"open", 2, -1},
    {"openat", 257, 56},
    {"close", 3, 57},
    {"stat", 4, -1},
    {"fstat", 5, 80},
    {"lstat", 6, -1},
    {"newfstatat", 262, 79},
    {"statx", 332, 291},
    {"access", 21, -1},
    {"getdents64", 217, 61},
    {"poll", 7, -1},
    {"ppoll", 271, 73},
    {"select", 23, -1},
    {"pselect6", 270, 72},
    {"epoll_wait", 232, -1},
    {"epoll_pwait", 281, 22},
    {"epoll_pwait2", 441, 441},
    {"mmap", 9, 222},
    {"munmap", 11, 215},
    {"madvise", 28, 233},
    {"mbind", 237, 235},
    {"move_pages", 279, 239},
    {"ioctl", 16, 29},
    {"fcntl", 72, 25},
    {"flock", 73, 32},
    {"fsync", 74, 82},
    {"fdatasync", 75, 83},
    {"sync", 162, 81},
    {"pread64", 17, 67},
    {"pwrite64", 18, 68},
    {"readv", 19, 65},
    {"writev", 20, 66},
    {"preadv", 295, 69},
    {"sendfile", 40, 71},
    {"splice", 275, 76},
    {"copy_file_range", 326, 285},
    {"rename", 82, -1},
    {"mkdir", 83, -1},
    {"unlink", 87, -1},
    {"connect", 42, 203},
    {"accept", 43, 202},
    {"accept4", 288, 242},
    {"sendto", 44, 206},
    {"recvfrom", 45, 207},
    {"sendmsg", 46, 211},
    {"recvmsg", 47, 212},
    {"recvmmsg", 299, 243},
    {"sendmmsg", 307, 269},
    {"futex", 202, 98},
    {"futex_waitv", 449, 449},
    {"futex_wait", 455, 455},
    {"semop", 65, 193},
    {"semtimedop", 220, 192},
    {"msgrcv", 70, 188},
    {"nanosleep", 35, 101},
    {"clock_nanosleep", 230, 115},
    {"sched_yield", 24, 124},
    {"pause", 34, -1},
    {"rt_sigtimedwait", 128, 137},
    {"rt_sigsuspend", 130, 133},
    {"restart_syscall", 219, 128},
    {"wait4", 61, 260},
    {"waitid", 247, 95},
    {"clone", 56, 220},
    {"execve", 59, 221},
    {"exit_group", 231, 94},
    {"kill", 62, 129},
    {"process_vm_readv", 310, 270},
    {"io_getevents", 208, 4},
    {"io_pgetevents", 333, 292},
    {"io_uring_enter", 426, 426},
};

} // namespace

std::string syscall_name(long number, SyscallArchitecture processor) {
  const auto of = [&](const SyscallRow& row) {
    return processor == SyscallArchitecture::x86_64    ? row.x86_64
           : processor == SyscallArchitecture::aarch64 ? row.aarch64
                                                       : -1;
  };
  const auto* const found = std::find_if(std::begin(k_syscalls), std::end(k_syscalls),
                                         [&](const auto& row) { return number >= 0 && of(row) == number; });
  return found != std::end(k_syscalls) ? found->name : "system call " + std::to_string(number);
}

} // namespace hpcml::agent
