// SPDX-License-Identifier: MIT
#include "run/store/server.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

namespace hpcml::store {

namespace {

/// A client with this much unread output is not read from until it has read it.
constexpr std::size_t k_most_pending = 1 << 20;
constexpr auto k_free = BufferBudget::k_free;
constexpr std::size_t k_most_at_once = std::size_t{1} << 30;
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
class Server::Outbox : public AnswerSink {
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

Server::Server(ListeningSockets listening, const ServerLimits& limits, ServerObserver& observer)
    : x_listening(std::move(listening)), x_limits(limits), x_observer(observer), x_table(limits.bytes),
      x_buffers(limits.buffered), x_spare(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

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
  if (::epoll_ctl(x_epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &event) == 0) return util::Success{};
  return util::Error{
      fmt::format("the rendezvous store cannot wait for a connection: {}", std::strerror(errno)),
      "check the free memory and the limit fs.epoll.max_user_watches of this node"};
}

void Server::turn_away(int socket) {
  if (x_spare < 0) return;
  ::close(x_spare);
  const int fd = ::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd >= 0) ::close(fd);
  x_spare = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  x_observer.left(0, {}, "no file descriptor is left (ulimit -n)", x_now);
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
      x_observer.left(0, client->peer(), "the store has its maximum number of clients", x_now);
      continue;
    }
    if (!watch(fd, EPOLLIN, false)) continue;
    client->watched = EPOLLIN;
    client->moved = x_now;
    if (static_cast<std::size_t>(fd) >= x_clients.size()) x_clients.resize(static_cast<std::size_t>(fd) + 64);
    x_observer.connected(static_cast<ClientId>(fd), client->peer(), x_now);
    x_clients[static_cast<std::size_t>(fd)] = std::move(client);
    ++x_client_count;
  }
}

void Server::account(Connection& client) {
  const auto before = std::exchange(client.accounted, client.memory());
  x_buffers.account(static_cast<ClientId>(client.fd()), before, client.accounted);
}

std::size_t Server::most_pending() const { return x_buffers.is_short() ? k_free : k_most_pending; }

void Server::pause(Connection& client) {
  client.paused = true;
  x_buffers.add_paused(static_cast<ClientId>(client.fd()));
  rewatch(client);
}

void Server::resume_paused() {
  for (const ClientId id : x_buffers.take_resumed())
    if (Connection* client = find(id); client != nullptr && client->paused) {
      client->paused = false;
      rewatch(*client);
    }
}

/// Half a message, or an answer that is never taken, is kept only as long as there is memory. A paused client
/// cannot make progress, and one whose buffers are empty owes none.
void Server::end_stalled() {
  if (!x_buffers.is_stalled(x_now)) return;
  for (ClientId id = 0; id < x_clients.size(); ++id)
    if (Connection* client = find(id); client != nullptr && !client->proven && !client->paused &&
                                       client->memory() > k_free &&
                                       (client->pending() != 0 || !client->received().empty()) &&
                                       x_now - client->moved >= BufferBudget::k_stall)
      end(*client, "its message was incomplete or its answer unread while memory was short");
}

void Server::end(Connection& client, const std::string& why) {
  const auto id = static_cast<ClientId>(client.fd());
  x_buffers.account(id, client.accounted, 0);
  x_table.forget_waits(id);
  x_observer.left(id, client.peer(), why, x_now);
  --x_client_count;
  x_clients[id].reset(); // closes it, and with that epoll forgets it
}

bool Server::apply(Connection& client) {
  const auto id = static_cast<ClientId>(client.fd());
  Outbox outbox(*this);
  while (client.has_expected() && client.pending() < most_pending()) {
    const MessageReadResult found =
        read_message(client.received(), client.dialect, x_limits.limits_of(client.proven), x_message);
    if (!found.fault.empty()) {
      end(client, found.fault);
      return false;
    }
    if (found.length == 0) {
      client.expect(found.needed);
      return true;
    }
    MessageDisposition receipt;
    if (x_message.op != StoreOpcode::validate || client.greeted) {
      receipt = x_observer.receive(id, x_message, outbox, x_now);
      if (!receipt.taken && receipt.fault.empty())
        receipt.fault = x_table.apply(id, client.dialect, x_message, outbox);
    }
    client.proven = client.proven || receipt.proven;
    client.greeted = true;
    client.drop(found.length);
    client.expect(1);
    if (receipt.fault.empty()) continue;
    client.flush(); // the answers that it has earned before
    end(client, receipt.fault);
    return false;
  }
  return true;
}

void Server::read(Connection& client) {
  const auto id = static_cast<ClientId>(client.fd());
  if (!client.proven && !x_buffers.may_grow(id, client.memory())) return pause(client);
  const bool short_of_memory = x_buffers.is_short();
  const bool grows = x_buffers.is_grower(id) || client.proven;
  const Connection::Io io = client.receive(short_of_memory && !grows ? 4 * k_free : k_most_at_once);
  if (io == Connection::Io::closed) return end(client, {});
  if (io != Connection::Io::done) return;
  client.moved = x_now;
  if (apply(client)) account(client);
}

void Server::rewatch(Connection& client) {
  const bool full = client.pending() >= most_pending() || client.paused;
  const unsigned wanted = (full ? 0u : unsigned{EPOLLIN}) | (client.pending() != 0 ? unsigned{EPOLLOUT} : 0u);
  if (wanted == client.watched) return;
  client.watched = wanted;
  (void)watch(client.fd(), wanted, true); // it is watched already: only what for changes
}

void Server::flush_all() {
  // A message of one client may answer others, and a full client may continue, so that the list grows
  // meanwhile.
  for (std::size_t i = 0; i < x_to_flush.size(); ++i) {
    Connection* client = find(x_to_flush[i]);
    if (!client) continue;
    client->listed = false;
    const auto before = client->pending();
    if (client->flush() == Connection::Io::closed) {
      end(*client, {});
      continue;
    }
    if (client->pending() < before) client->moved = x_now;
    if (client->pending() < most_pending() && client->has_expected() && !client->received().empty())
      if (!apply(*client)) continue;
    account(*client);
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
  if (x_epoll < 0)
    return util::Error{fmt::format("cannot start the rendezvous store: {}", std::strerror(errno)),
                       "check the limit of open files (ulimit -n) on this node"};
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
      return util::Error{fmt::format("the rendezvous store cannot wait for its connections any more: {}",
                                     std::strerror(errno)),
                         "run the job again, and report it as a bug in hpcml if it recurs"};
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
    resume_paused();
    bool over = false;
    if (x_now >= next_tick) {
      next_tick = x_now + k_tick;
      end_stalled();
      over = x_observer.tick(x_table, x_now);
    }
    answer_late();
    if (over || (is_to_stop && !x_observer.outlasts_stop(x_now))) return util::Success{};
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
                                                  const ServerLimits& limits, ServerObserver& observer) {
  raise_file_limit();
  TRY(auto listening, listen_at_first(addresses, ports));
  return std::make_unique<Server>(std::move(listening), limits, observer);
}

} // namespace hpcml::store
