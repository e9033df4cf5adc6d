// SPDX-License-Identifier: MIT
// A load for a rendezvous store: store_load PORT CLIENTS SECONDS. Each client says its next message when the
// last one is answered; prints how many of each kind were answered in a second. `store.sh` runs it on torch's
// and ours.
#include <arpa/inet.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

#include "run/store/message_bytes.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using messages::text;
using messages::u64;

int connect_to(int port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || ::connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    std::perror("store_load: connect");
    std::exit(1);
  }
  const int now = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
  return fd;
}

void send_all(int fd, const std::string& bytes) {
  if (::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    std::perror("store_load: send");
    std::exit(1);
  }
}

/// Answered messages per second; `reply` bytes end one.
double measure(const std::vector<int>& clients, int epoll, const std::vector<std::string>& messages,
               std::size_t reply, double seconds) {
  std::vector<std::size_t> got(65536, 0);
  for (std::size_t i = 0; i < clients.size(); ++i) send_all(clients[i], messages[i]);
  std::vector<std::size_t> index(65536, 0);
  for (std::size_t i = 0; i < clients.size(); ++i) index[static_cast<std::size_t>(clients[i])] = i;
  std::vector<epoll_event> events(256);
  std::vector<char> scratch(65536);
  const auto start = Clock::now();
  const auto end = start + std::chrono::duration<double>(seconds);
  std::size_t answered = 0, outstanding = clients.size();
  bool over = false;
  while (outstanding != 0) {
    const int count = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), 20'000);
    if (count <= 0) {
      std::fprintf(stderr, "store_load: no answer for 20 s\n");
      std::exit(1);
    }
    over = over || Clock::now() >= end;
    for (int i = 0; i < count; ++i) {
      const int fd = events[static_cast<std::size_t>(i)].data.fd;
      const ssize_t size = ::recv(fd, scratch.data(), scratch.size(), 0);
      if (size <= 0) {
        std::fprintf(stderr, "store_load: the server ended a connection\n");
        std::exit(1);
      }
      auto& have = got[static_cast<std::size_t>(fd)];
      have += static_cast<std::size_t>(size);
      if (have < reply) continue;
      have = 0;
      if (over) {
        --outstanding;
        continue;
      }
      ++answered;
      send_all(fd, messages[index[static_cast<std::size_t>(fd)]]);
    }
  }
  return static_cast<double>(answered) / std::chrono::duration<double>(end - start).count();
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 4) return std::fprintf(stderr, "store_load PORT CLIENTS SECONDS\n"), 2;
  const int port = std::atoi(argv[1]), count = std::atoi(argv[2]);
  const double seconds = std::atof(argv[3]);
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const int epoll = ::epoll_create1(0);
  std::vector<int> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(connect_to(port));
    send_all(clients.back(), std::string("\x00\xce\xf7\x85\x3c", 5));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = clients.back();
    ::epoll_ctl(epoll, EPOLL_CTL_ADD, clients.back(), &event);
  }
  // Each client once, unmeasured: torch's server looks up the name of every new one.
  measure(clients, epoll, std::vector<std::string>(clients.size(), "\x0dhere"), 4, 0);
  const std::string value(100, 'v');
  struct Kind {
    const char* name;
    std::size_t reply;
    std::string (*message)(const std::string& key, const std::string& value);
  };
  const Kind kinds[] = {
      // A set has no answer: a ping behind it tells when it was done.
      {"set", 4,
       [](const std::string& key, const std::string& v) {
         return "\x01" + text(key) + text(v) + "\x0dhere";
       }},
      {"get", 108, [](const std::string& key, const std::string&) { return "\x03" + text(key); }},
      {"wait", 1, [](const std::string& key, const std::string&) { return "\x06" + u64(1) + text(key); }},
      {"add", 8,
       [](const std::string& key, const std::string&) { return "\x04" + text("count/" + key) + u64(1); }},
  };
  for (const auto& kind : kinds) {
    std::vector<std::string> messages;
    for (int i = 0; i < count; ++i) messages.push_back(kind.message("rank/" + std::to_string(i), value));
    std::printf("%s %.0f\n", kind.name, measure(clients, epoll, messages, kind.reply, seconds));
    std::fflush(stdout);
  }
}
