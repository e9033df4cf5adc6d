// SPDX-License-Identifier: MIT
// Ranks that are processes of their own and meet at a store: store_crowd ADDRESS PORT FIRST COUNT WORLD. Each
// sets its key, counts itself, waits for the last one's word and reads its neighbour's key, as torch 2's
// clients say it; prints the seconds that the whole took and the slowest rank's. `store_crowd.sh` runs it in
// several namespaces.
#include <arpa/inet.h>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/store/message_bytes.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using messages::text;
using messages::u64;

struct Rendezvous {
  const char* address;
  int port;
  long world;
};

[[noreturn]] void fail(const char* what, long rank) {
  std::fprintf(stderr, "rank %ld: %s: %s\n", rank, what, std::strerror(errno));
  ::_exit(1);
}

std::string receive(int fd, std::size_t count, long rank) {
  std::string bytes(count, '\0');
  for (std::size_t got = 0; got < count;) {
    const auto more = ::recv(fd, bytes.data() + got, count - got, 0);
    if (more <= 0) fail("recv", rank);
    got += static_cast<std::size_t>(more);
  }
  return bytes;
}

std::uint64_t number_of(const std::string& bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

void send_all(int fd, const std::string& bytes, long rank) {
  if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size()))
    fail("send", rank);
}

void be_rank(const Rendezvous& rendezvous, long rank) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(rendezvous.port));
  ::inet_pton(AF_INET, rendezvous.address, &place.sin_addr);
  if (fd < 0 || ::connect(fd, reinterpret_cast<sockaddr*>(&place), sizeof place) != 0) fail("connect", rank);
  const int now = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
  const std::uint32_t magic = 0x3C85F7CE;
  std::string request(1, '\0');
  request.append(reinterpret_cast<const char*>(&magic), sizeof magic);
  request += '\x01' + text("default_pg/0/rank_" + std::to_string(rank)) + text(std::string(100, 'a'));
  request += '\x04' + text("came") + u64(1);
  send_all(fd, request, rank);
  const auto came = static_cast<long>(number_of(receive(fd, 8, rank)));
  if (came == rendezvous.world) send_all(fd, '\x01' + text("all here") + text("1"), rank);
  send_all(fd, '\x06' + u64(1) + text("all here"), rank);
  receive(fd, 1, rank);
  const auto next = std::to_string((rank + 1) % rendezvous.world);
  send_all(fd, '\x03' + text("default_pg/0/rank_" + next), rank);
  receive(fd, number_of(receive(fd, 8, rank)), rank);
  ::close(fd);
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const Rendezvous rendezvous{argv[1], std::atoi(argv[2]), std::atol(argv[5])};
  const long first = std::atol(argv[3]), count = std::atol(argv[4]);
  auto* slowest = static_cast<double*>(::mmap(nullptr, sizeof(double) * static_cast<std::size_t>(count),
                                              PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (slowest == MAP_FAILED) return 1;
  const auto begin = Clock::now();
  for (long i = 0; i < count; ++i) {
    const pid_t child = ::fork();
    if (child < 0) fail("fork", first + i);
    if (child > 0) continue;
    const auto start = Clock::now();
    be_rank(rendezvous, first + i);
    slowest[i] = std::chrono::duration<double>(Clock::now() - start).count();
    ::_exit(0);
  }
  long failed = 0;
  int status = 0;
  while (::wait(&status) > 0) failed += status != 0;
  double most = 0;
  for (long i = 0; i < count; ++i) most = slowest[i] > most ? slowest[i] : most;
  std::printf("%ld ranks from %ld: %.2f s, a rank at most %.2f s, %ld failed\n", count, first,
              std::chrono::duration<double>(Clock::now() - begin).count(), most, failed);
  return failed != 0;
}
