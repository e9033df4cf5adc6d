// SPDX-License-Identifier: MIT
#include "store/server.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hpcml::store {

namespace {

/// A client that has so much to take is not read from until it has taken it.
constexpr std::size_t k_most_pending = 1 << 20;
constexpr auto k_tick = std::chrono::milliseconds(500);

/// "10.1.2.3", "fd00::1"; an IPv4 client of an IPv6 socket has its IPv4 name.
std::string peer_name(const sockaddr_storage& bytes) {
  char text[INET6_ADDRSTRLEN] = "";
  if (bytes.ss_family == AF_INET) {
    ::inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(bytes).sin_addr, text, sizeof text);
  } else {
    const in6_addr& six = reinterpret_cast<const sockaddr_in6&>(bytes).sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(&six))
      ::inet_ntop(AF_INET, six.s6_addr + 12, text, sizeof text);
    else
      ::inet_ntop(AF_INET6, &six, text, sizeof text);
  }
  return text;
}

/// Each takes a descriptor, and some are needed for the store itself.
std::size_t most_clients(const ServerLimits& limits) {
  constexpr rlim_t k_own = 32;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == RLIM_INFINITY) return limits.clients;
  return static_cast<std::size_t>(
      std::min<rlim_t>(limits.clients, files.rlim_cur > k_own ? files.rlim_cur - k_own : 1));
}

} // namespace

/// Puts answers where their connections send them from.
class Server::Outbox : public Answers {
public:
  explicit Outbox(Server& server) : x_server(server) {}
  void bytes(ClientId client, std::string_view bytes) override {
    if (Connection* to = open(client)) to->put(bytes);
  }
  void value(ClientId client, const SharedValue& value) override {
    if (Connection* to = open(client)) to->put(value);
  }

private:
  Connection* open(ClientId client) {
    Connection* to = x_server.find(client);
    if (to && !to->listed) {
      to->listed = true;
      x_server.x_to_flush.push_back(client);
    }
    return to;
  }
  Server& x_server;
};

Server::Server(Listening listening, const ServerLimits& limits, Observer& observer)
    : x_listening(std::move(listening)), x_limits(limits), x_observer(observer), x_table(limits.bytes),
      x_spare(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

Server::~Server() {
  for (const int fd : x_listening.sockets) ::close(fd);
  if (x_epoll >= 0) ::close(x_epoll);
  if (x_spare >= 0) ::close(x_spare);
}

Connection* Server::find(ClientId id) { return id < x_clients.size() ? x_clients[id].get() : nullptr; }

util::Status Server::watch(int fd, unsigned events, bool known) {
  epoll_event event{};
  event.events = events;
  event.data.fd = fd;
  if (::epoll_ctl(x_epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) == 0) return util::Done{};
  return util::Error{std::string("the store cannot watch a connection: ") + std::strerror(errno)};
}

void Server::turn_away(int socket) {
  if (x_spare < 0) return;
  ::close(x_spare);
  const int fd = ::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) ::close(fd);
  x_spare = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  x_observer.left(0, {}, "no descriptor is left for another client (ulimit -n)", x_now);
}

void Server::accept_all(int socket) {
  for (;;) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    const int fd =
        ::accept4(socket, reinterpret_cast<sockaddr*>(&address), &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0 && (errno == EINTR || errno == ECONNABORTED)) continue;
    if (fd < 0 && (errno == EMFILE || errno == ENFILE)) return turn_away(socket);
    if (fd < 0) return;
    const int yes = 1;
    ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    watch_for_death(fd, x_limits.clients_read);
    auto client = std::make_unique<Connection>(fd, peer_name(address));
    if (x_client_count >= x_limits.clients) {
      x_observer.left(0, client->peer(), "the store has as many clients as it may have", x_now);
      continue;
    }
    if (!watch(fd, EPOLLIN, false)) continue;
    client->watched = EPOLLIN;
    if (static_cast<std::size_t>(fd) >= x_clients.size()) x_clients.resize(static_cast<std::size_t>(fd) + 64);
    x_observer.connected(static_cast<ClientId>(fd), client->peer(), x_now);
    x_clients[static_cast<std::size_t>(fd)] = std::move(client);
    ++x_client_count;
  }
}

void Server::end(Connection& client, const std::string& why) {
  const auto id = static_cast<ClientId>(client.fd());
  x_table.forget_waits(id);
  x_observer.left(id, client.peer(), why, x_now);
  --x_client_count;
  x_clients[id].reset(); // closes it, and with that epoll forgets it
}

bool Server::apply(Connection& client) {
  const auto id = static_cast<ClientId>(client.fd());
  Outbox outbox(*this);
  while (client.has_expected() && client.pending() < k_most_pending) {
    const ReadMessage found = read_message(client.received(), client.dialect, x_limits.message, x_message);
    if (!found.fault.empty()) {
      end(client, found.fault);
      return false;
    }
    if (found.length == 0) {
      client.expect(found.needed);
      return true;
    }
    std::string fault;
    if (x_message.op == Op::validate && !client.greeted)
      ;
    else if (!x_observer.heard(id, x_message, outbox, x_now))
      fault = x_table.apply(id, client.dialect, x_message, outbox);
    client.greeted = true;
    client.drop(found.length);
    client.expect(1);
    if (fault.empty()) continue;
    client.flush(); // the answers that it has earned before
    end(client, fault);
    return false;
  }
  return true;
}

void Server::read(Connection& client) {
  const Connection::Io io = client.receive();
  if (io == Connection::Io::closed) return end(client, {});
  if (io == Connection::Io::done) apply(client);
}

void Server::rewatch(Connection& client) {
  const bool full = client.pending() >= k_most_pending;
  const unsigned wanted = (full ? 0u : unsigned{EPOLLIN}) | (client.pending() != 0 ? unsigned{EPOLLOUT} : 0u);
  if (wanted == client.watched) return;
  client.watched = wanted;
  (void)watch(client.fd(), wanted, true); // it is watched already: only what for changes
}

void Server::flush_all() {
  // A message of one client may answer others, and one that was full may go on: the list grows meanwhile.
  for (std::size_t i = 0; i < x_to_flush.size(); ++i) {
    Connection* client = find(x_to_flush[i]);
    if (!client) continue;
    client->listed = false;
    if (client->flush() == Connection::Io::closed) {
      end(*client, {});
      continue;
    }
    if (client->pending() < k_most_pending && client->has_expected() && !client->received().empty())
      if (!apply(*client)) continue;
    rewatch(*client);
  }
  x_to_flush.clear();
}

void Server::answer_late() {
  Outbox outbox(*this);
  for (;;) {
    x_observer.round(outbox, x_now);
    if (x_to_flush.empty()) return;
    flush_all(); // a client that has gone is news to the observer
  }
}

util::Status Server::run(int stop) {
  x_epoll = ::epoll_create1(EPOLL_CLOEXEC);
  if (x_epoll < 0) return util::Error{std::string("the store has no event loop: ") + std::strerror(errno)};
  for (const int fd : x_listening.sockets) TRY_DONE(watch(fd, EPOLLIN, false));
  if (stop >= 0) TRY_DONE(watch(stop, EPOLLIN, false));
  std::array<epoll_event, 512> events;
  x_now = std::chrono::steady_clock::now();
  Time next_tick = x_now + k_tick;
  bool is_to_stop = false;
  x_observer.begins(x_table, most_clients(x_limits));
  for (;;) {
    const int count = ::epoll_wait(x_epoll, events.data(), static_cast<int>(events.size()), k_tick.count());
    if (count < 0 && errno != EINTR)
      return util::Error{std::string("the store's event loop ended: ") + std::strerror(errno)};
    x_now = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
      const epoll_event& event = events[static_cast<std::size_t>(i)];
      const int fd = event.data.fd;
      if (fd == stop) {
        is_to_stop = true;
        ::epoll_ctl(x_epoll, EPOLL_CTL_DEL, stop, nullptr);
        continue;
      }
      Connection* client = find(static_cast<ClientId>(fd));
      if (!client) {
        for (const int socket : x_listening.sockets)
          if (socket == fd) accept_all(fd);
        continue;
      }
      if ((event.events & EPOLLOUT) && !client->listed) {
        client->listed = true;
        x_to_flush.push_back(static_cast<ClientId>(fd));
      }
      if (event.events & (EPOLLIN | EPOLLHUP | EPOLLERR)) read(*client);
    }
    flush_all();
    bool over = false;
    if (x_now >= next_tick) {
      next_tick = x_now + k_tick;
      over = x_observer.tick(x_table, x_now);
    }
    answer_late();
    if (over || (is_to_stop && !x_observer.outlasts_stop(x_now))) return util::Done{};
  }
}

void raise_file_limit() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == files.rlim_max) return;
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files); // without it fewer clients: said when the first is turned away
}

util::Result<std::unique_ptr<Server>> make_server(const std::vector<std::string>& addresses,
                                                  const std::vector<std::uint16_t>& ports,
                                                  const ServerLimits& limits, Observer& observer) {
  raise_file_limit();
  TRY(auto listening, listen_at_first(addresses, ports));
  return std::make_unique<Server>(std::move(listening), limits, observer);
}

} // namespace hpcml::store
