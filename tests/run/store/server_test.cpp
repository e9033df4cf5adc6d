// SPDX-License-Identifier: MIT
// The server over real connections of the loopback interface.
#include <catch2/catch.hpp>

#include <arpa/inet.h>
#include <atomic>
#include <memory>
#include <mutex>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "messages.hpp"
#include "run/store/server.hpp"

using namespace hpcml;
using messages::text;
using messages::u64;
using store::StoreOpcode;

namespace {

class Noted : public store::ServerObserver {
public:
  void left(store::ClientId, const std::string&, const std::string& why, store::Time) override {
    const std::lock_guard lock(guard);
    if (!why.empty()) reasons.push_back(why);
  }
  std::string reason() {
    const std::lock_guard lock(guard);
    return reasons.empty() ? std::string() : reasons.back();
  }
  std::mutex guard;
  std::vector<std::string> reasons;
};

/// A server in a thread of its own, for as long as it is there.
class Running {
public:
  explicit Running(std::uint16_t port = 0, const store::ServerLimits& limits = {}) : x_stop(::eventfd(0, 0)) {
    auto made = store::make_server({"127.0.0.1"}, {port}, limits, observer);
    REQUIRE(made);
    x_server = std::move(*made);
    x_thread = std::thread([this] { (void)x_server->run(x_stop); });
  }
  ~Running() {
    ::eventfd_write(x_stop, 1);
    x_thread.join();
    ::close(x_stop);
  }
  std::uint16_t port() const { return x_server->port(); }
  Noted observer;

private:
  int x_stop;
  std::unique_ptr<store::Server> x_server;
  std::thread x_thread;
};

class Client {
public:
  explicit Client(std::uint16_t port, bool greet = true) : x_fd(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(x_fd, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    const timeval timeout{20, 0};
    ::setsockopt(x_fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (greet) send(messages::greeting());
  }
  ~Client() { ::close(x_fd); }
  Client(Client&& other) noexcept : x_fd(std::exchange(other.x_fd, -1)) {}
  Client(const Client&) = delete;

  bool send(const std::string& bytes) const {
    std::size_t at = 0;
    while (at < bytes.size()) {
      const ssize_t sent = ::send(x_fd, bytes.data() + at, bytes.size() - at, MSG_NOSIGNAL);
      if (sent <= 0) return false;
      at += static_cast<std::size_t>(sent);
    }
    return true;
  }
  /// Fewer bytes where the server has ended the connection, or says nothing for 20 s.
  std::string read(std::size_t count) const {
    std::string bytes(count, '\0');
    std::size_t at = 0;
    while (at < count) {
      const ssize_t got = ::recv(x_fd, bytes.data() + at, count - at, 0);
      if (got <= 0) break;
      at += static_cast<std::size_t>(got);
    }
    bytes.resize(at);
    return bytes;
  }
  bool is_served() const { return send(messages::op(StoreOpcode::ping, "here")) && read(4) == "here"; }
  int fd() const { return x_fd; }

private:
  int x_fd;
};

const std::string k_ready("\0", 1);

} // namespace

TEST_CASE("bytes that come one by one are a message all the same") {
  Running server;
  const Client client(server.port(), false);
  const int now = 1;
  ::setsockopt(client.fd(), IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
  for (const char byte : messages::greeting() + messages::op(StoreOpcode::set, text("k") + text("value")) +
                             messages::op(StoreOpcode::get, text("k")))
    client.send(std::string(1, byte));
  CHECK(client.read(13) == text("value"));
}

TEST_CASE("a client that talks nonsense loses its connection, the others lose nothing") {
  Running server;
  const Client good(server.port());
  struct Row {
    std::string bytes, why;
  };
  const Row rows[] = {
      {"GET / HTTP/1.1\r\n\r\n", "unknown operation 71"},
      {std::string("\0\1\2\3\4\0\0\0\0", 9), "a key of 67305985 bytes exceeds the limit (65536)"},
      {messages::greeting() + messages::greeting(), "it sent a second handshake"},
      {messages::greeting() + messages::op(StoreOpcode::set, u64(~0ull)),
       "a key of 18446744073709551615 bytes exceeds the limit (65536)"},
      {messages::greeting() + messages::op(StoreOpcode::set, text("x") + text("y")) +
           messages::op(StoreOpcode::add, text("x") + u64(1)),
       "the value to increment is not a number"}};
  for (const auto& row : rows) {
    const Client bad(server.port(), false);
    bad.send(row.bytes);
    CHECK(bad.read(1).empty());
    CHECK(server.observer.reason().substr(0, 30) == row.why.substr(0, 30));
    CHECK(good.is_served());
  }
}

TEST_CASE("half a message and silence, and a length without its bytes, keep nobody waiting") {
  Running server;
  const Client half(server.port()), claims(server.port()), good(server.port());
  half.send(messages::op(StoreOpcode::set, text("k") + u64(1000) + "half"));
  claims.send(messages::op(StoreOpcode::set, text("k") + u64(std::uint64_t{200} << 20)));
  CHECK(good.is_served());
  good.send(messages::op(StoreOpcode::get_num_keys));
  CHECK(good.read(8) == u64(0));
  half.send(std::string(996, '.'));
  half.send(messages::op(StoreOpcode::get, text("k")));
  CHECK(half.read(1008).size() == 1008);
}

TEST_CASE("a client that never reads is not answered without end", "[time]") {
  Running server;
  const Client deaf(server.port()), good(server.port());
  good.send(messages::op(StoreOpcode::set, text("k") + text(std::string(1 << 20, 'v'))));
  REQUIRE(good.is_served());
  const int requests = 300; // 300 MB of answers
  std::string questions;
  for (int i = 0; i < requests; ++i) questions += messages::op(StoreOpcode::get, text("k"));
  deaf.send(questions);
  for (int i = 0; i < 50; ++i) CHECK(good.is_served());
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  CHECK(usage.ru_maxrss < 200 * 1024); // kB, with the test itself
  // When it reads at last, all of it is there.
  for (int i = 0; i < requests; ++i) REQUIRE(deaf.read(8 + (1 << 20)).size() == 8 + (1 << 20));
  CHECK(deaf.is_served());
}

TEST_CASE("a value of 64 MB goes and comes back") {
  Running server;
  const Client client(server.port());
  std::string value(64 << 20, '\0');
  for (std::size_t i = 0; i < value.size(); i += 4093) value[i] = static_cast<char>(i / 4093);
  client.send(messages::op(StoreOpcode::set, text("k") + text(value)));
  client.send(messages::op(StoreOpcode::get, text("k")));
  CHECK(client.read(8) == u64(value.size()));
  CHECK(client.read(value.size()) == value);
}

TEST_CASE("a thousand who wait for one key are woken by it, those who died meanwhile do no harm") {
  Running server;
  std::vector<Client> clients;
  for (int i = 0; i < 1000; ++i) clients.emplace_back(server.port());
  for (const auto& client : clients) {
    client.send(messages::op(StoreOpcode::wait, u64(1) + text("go")));
    REQUIRE(client.is_served());
  }
  for (int i = 0; i < 100; ++i) clients.pop_back();
  const Client quiet_client(server.port());
  quiet_client.send(messages::op(StoreOpcode::set, text("go") + text("")));
  for (const auto& client : clients) REQUIRE(client.read(1) == k_ready);
}

TEST_CASE("a store that ended with clients there can be started again at its port") {
  std::uint16_t port = 0;
  std::unique_ptr<Client> client;
  {
    Running server;
    port = server.port();
    client = std::make_unique<Client>(port);
    REQUIRE(client->is_served());
  }
  Running again(port);
  CHECK(Client(port).is_served());
}

TEST_CASE("more clients than it may have are sent away, and room comes with the first who goes") {
  store::ServerLimits limits;
  limits.clients = 2;
  Running server(0, limits);
  auto first = std::make_unique<Client>(server.port());
  const Client second(server.port());
  REQUIRE(first->is_served());
  REQUIRE(second.is_served());
  const Client third(server.port());
  CHECK(third.read(1).empty());
  CHECK(server.observer.reason() == "the store has its maximum number of clients");
  first.reset();
  REQUIRE(second.is_served());
  CHECK(Client(server.port()).is_served());
}

TEST_CASE("where no descriptor is left a client is sent away, and the others are served", "[program]") {
  int line[2];
  REQUIRE(::pipe(line) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit few{20, 20};
    ::dup2(line[1], 1);
    ::close(2);
    ::setrlimit(RLIMIT_NOFILE, &few);
    ::execl(HPCML_BINARY, HPCML_BINARY, "internal", "store-serve", "--listen", "127.0.0.1",
            static_cast<char*>(nullptr));
    ::_exit(127);
  }
  ::close(line[1]);
  char received[16] = "";
  REQUIRE(::read(line[0], received, sizeof received - 1) > 1);
  const auto port = static_cast<std::uint16_t>(std::atoi(received));
  std::vector<Client> served;
  int away = 0;
  for (int i = 0; i < 30; ++i) {
    Client client(port);
    if (client.is_served())
      served.push_back(std::move(client));
    else
      ++away;
  }
  CHECK(served.size() >= 5);
  CHECK(away >= 10);
  for (const auto& client : served) CHECK(client.is_served());
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  ::close(line[0]);
}

TEST_CASE("an address that cannot be served is named") {
  Noted observer;
  const auto why = [&](const char* address, std::uint16_t port = 0) {
    const auto made = store::make_server({address}, {port}, {}, observer);
    REQUIRE_FALSE(made);
    return made.error().what + " | " + made.error().hint;
  };
  CHECK(why("node001") == "cannot listen at 'node001': it is not a numeric address | "
                          "use an IPv4 or IPv6 address of this node, not a name");
  CHECK(why("192.0.2.1", 4000) ==
        "the rendezvous store cannot listen at 192.0.2.1, port 4000: Cannot assign requested address | "
        "use an address of this node's interfaces");
  Running server;
  CHECK(why("127.0.0.1", server.port()).find("Address already in use | use another port") !=
        std::string::npos);
}
