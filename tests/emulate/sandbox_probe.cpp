// SPDX-License-Identifier: MIT
// Asks the kernel, without any library that a test could cover: linked statically.
#include <arpa/inet.h>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace {

void print_mask(const char* who) {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) {
    std::printf("%s error\n", who);
    return;
  }
  std::printf("%s", who);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &set)) std::printf(" %d", cpu);
  std::printf("\n");
  std::fflush(stdout);
}

void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) std::printf("refused %d\n", cpu);
}

/// A thread keeps the mask that its creator had when it made it.
int run_threads() {
  bind_to(100);
  int steps[2];
  if (::pipe(steps) != 0) return 1;
  std::thread first([&] {
    char byte;
    if (::read(steps[0], &byte, 1) == 1) print_mask("made-before");
  });
  bind_to(101);
  if (::write(steps[1], "x", 1) != 1) return 1;
  first.join();
  std::thread second([] {
    print_mask("made-after");
    bind_to(7);
    print_mask("thread-own");
  });
  second.join();
  print_mask("main");
  return 0;
}

sockaddr_in address_of(const char* text, const char* port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(port)));
  ::inet_pton(AF_INET, text, &address.sin_addr);
  return address;
}

int serve(const char* port) {
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  auto address = address_of("0.0.0.0", port);
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener, 4) != 0)
    return 1;
  socklen_t size = sizeof address;
  const int peer = ::accept(listener, reinterpret_cast<sockaddr*>(&address), &size);
  char text[INET_ADDRSTRLEN];
  std::printf("from %s\n", ::inet_ntop(AF_INET, &address.sin_addr, text, sizeof text));
  return peer >= 0 ? 0 : 1;
}

int reach(const char* where, const char* port) {
  const auto address = address_of(where, port);
  for (int attempt = 0; attempt < 500; ++attempt) {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0)
      return std::puts("reached") >= 0 ? 0 : 1;
    ::close(fd);
    ::usleep(10000);
  }
  std::puts("not reached");
  return 1;
}

/// The raw call: what the kernel returns, not what a library makes of it.
int raw(const char* length) {
  unsigned char bytes[4096];
  std::printf("raw %ld\n", ::syscall(SYS_sched_getaffinity, 0, std::atoi(length), bytes));
  return 0;
}

void print_policy(const char* who) {
  int mode = -1;
  unsigned long nodes[2] = {};
  const long result = ::syscall(SYS_get_mempolicy, &mode, nodes, 128UL, 0UL, 0UL);
  std::printf("%s %ld mode %d nodes %lx\n", who, result, mode, nodes[0]);
  std::fflush(stdout);
}

/// Sets a policy by the raw call and shows it: here, in a child, in a thread, and in the program that
/// follows.
int run_policy(char** argv) {
  const int mode = std::atoi(argv[2]);
  const unsigned long nodes = std::strtoul(argv[3], nullptr, 16);
  std::printf("set %ld\n", ::syscall(SYS_set_mempolicy, mode, &nodes, 64UL));
  print_policy("own");
  if (::fork() == 0) {
    print_policy("child");
    ::_exit(0);
  }
  ::wait(nullptr);
  std::thread([] { print_policy("thread"); }).join();
  char name[] = "policy";
  char* again[] = {argv[0], name, nullptr};
  ::execv(argv[0], again);
  return 1;
}

/// What else programs ask about memory: which nodes there are, and where a page of theirs comes from.
int run_memory() {
  unsigned long nodes[16] = {};
  int mode = 7;
  std::printf("allowed %ld", ::syscall(SYS_get_mempolicy, &mode, nodes, 1024UL, 0UL, MPOL_F_MEMS_ALLOWED));
  std::printf(" mode %d nodes %lx\n", mode, nodes[0]);
  alignas(4096) static char page[4096];
  page[0] = 1;
  std::printf("page %ld", ::syscall(SYS_get_mempolicy, &mode, nullptr, 0UL, page, MPOL_F_NODE | MPOL_F_ADDR));
  std::printf(" node %d\n", mode);
  const unsigned long third = 8, none_such = 1UL << 60;
  std::printf("mbind %ld", ::syscall(SYS_mbind, page, 4096UL, MPOL_BIND, &third, 64UL, 0UL));
  std::printf(" %ld\n", ::syscall(SYS_mbind, page, 4096UL, MPOL_BIND, &none_such, 64UL, 0UL));
  std::printf("small %ld\n", ::syscall(SYS_get_mempolicy, &mode, nodes, 3UL, 0UL, 0UL));
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "";
  if (std::strcmp(what, "mask") == 0) return print_mask("mask"), 0;
  if (std::strcmp(what, "threads") == 0) return run_threads();
  if (std::strcmp(what, "raw") == 0 && argc > 2) return raw(argv[2]);
  if (std::strcmp(what, "policy") == 0) return argc > 3 ? run_policy(argv) : (print_policy("next"), 0);
  if (std::strcmp(what, "memory") == 0) return run_memory();
  if (std::strcmp(what, "serve") == 0 && argc > 2) return serve(argv[2]);
  if (std::strcmp(what, "reach") == 0 && argc > 3) return reach(argv[2], argv[3]);
  return 2;
}
