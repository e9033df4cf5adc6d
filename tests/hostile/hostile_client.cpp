// SPDX-License-Identifier: MIT
// A client that attacks hpcml's channels, for tests: it speaks hpcml's own protocol, with and without a key.
// Prints one line: what came of it.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <map>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "core/util/text.hpp"
#include "run/agent/agent_protocol.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/resolve/rendezvous_ports.hpp"
#include "run/resolve/world.hpp"
#include "run/store/client.hpp"
#include "run/store/hpcml_protocol.hpp"
#include "run/store/listen.hpp"
#include "run/store/packed.hpp"
#include "run/store/session_gate.hpp"

using namespace hpcml;
using namespace hpcml::store;

namespace {

constexpr const char* k_usage = R"(hostile_client NAME=VALUE... ATTACK
  at=ADDRESS:PORT  job=TEXT  step=TEXT  rank=N  world=N  key=HEX  address=HOST  port=N  file=PATH  count=N
old-decision   announces rank N with BASH_ENV=file in the protocol that had no keys
decision       announces rank 0 with MASTER_ADDR=address; without key=: outside of a session
failure        announces rank N as one that cannot start
size           announces a world of count ranks
version        asks for a session of another version
replay         sends the bytes of the file
show           asks who waits; with key=: as hpcml store show
answer         listens at port and answers every client with decisions and BASH_ENV=file
relay          listens at port, forwards to at= and writes what clients send into the file
ports          prints the ports of a step's ranks in one line, those of its agents in the next: number=JOB step=N
agent          joins as the agent of node N of run step; with kind= sends an event: failed, serving, leaving
flood          opens count connections, kind= silent, half, long, own, wait, list, ping, set; then waits for its input to end
)";

std::map<std::string, std::string> g_words;

std::string word(const std::string& name, const std::string& otherwise = {}) {
  const auto found = g_words.find(name);
  return found == g_words.end() ? otherwise : found->second;
}
unsigned number(const std::string& name, unsigned otherwise = 0) {
  return static_cast<unsigned>(std::stoul(word(name, std::to_string(otherwise))));
}

std::pair<std::string, std::uint16_t> target() {
  const auto place = parse_place(word("at"));
  if (!place) throw std::runtime_error("at= is no place");
  return *place;
}

std::optional<Credentials> credentials(PeerRole role, unsigned rank) {
  const auto key = SecretKey::parse(word("key"));
  if (!key) return std::nullopt;
  return Credentials{*key, {role, word("job"), word("step", "0"), rank}};
}

auto soon() { return std::chrono::steady_clock::now() + std::chrono::seconds(3); }

void print(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// The answer to one message, or why there is none.
std::string answer_of(Client& client) {
  const auto value = client.wait_for_value(soon());
  if (!value) return client.fault().empty() ? "no answer" : client.fault();
  if (const auto welcome = unpack_message<JoinReply>(*value)) {
    if (welcome->refusal != JoinError::none) return "refused: " + welcome->refused;
    if (!welcome->failed.empty()) return "welcome: " + welcome->failed;
    return "welcome: " + welcome->decision.address + ":" + std::to_string(welcome->decision.port);
  }
  if (const auto reply = unpack_message<agent::RegisterReply>(*value))
    return reply->refused.empty() ? "joined" : "refused: " + reply->refused;
  return "answered with " + std::to_string(value->size()) + " bytes";
}

JoinRequest announcement(unsigned rank) {
  return {word("job"), word("step", "0"), rank, number("world", 2), rank, "node001", 4242};
}

/// What a launcher sent before there were keys: it named variables, and every rank set them.
std::string old_decision() {
  WireWriter packed("hpcml announcement 1");
  packed.text(word("job"));
  packed.text(word("step", "0"));
  for (const unsigned value : {number("rank", 3), number("world", 4), number("rank", 3)})
    packed.number(value);
  packed.text("node001");
  packed.number(4242);
  packed.text("");
  packed.number(1); // a decision follows
  packed.number(0);
  packed.number(1);
  packed.text("BASH_ENV");
  packed.text(word("file"));
  for (int i = 0; i < 3; ++i) packed.number(0);
  return packed.take();
}

std::string old_welcome() {
  WireWriter packed("hpcml welcome 2");
  packed.number(0);
  packed.text("");
  packed.text("");
  packed.number(29400);
  packed.number(1);
  packed.text("BASH_ENV");
  packed.text(word("file"));
  packed.number(0);
  return packed.take();
}

void announce(JoinRequest who) {
  const auto [address, port] = target();
  Client client(address, port, credentials(PeerRole::rank, who.rank));
  client.put_compare_set(k_announce_key, "?", pack_message(who));
  print(answer_of(client));
  // A step's first rank 0 keeps its connection: without it the step ends.
  if (word("stay") == "yes") std::this_thread::sleep_for(std::chrono::seconds(number("seconds", 60)));
}

void send_raw(const std::string& key, const std::string& value) {
  const auto [address, port] = target();
  Client client(address, port);
  client.put_compare_set(key, "?", value);
  print(answer_of(client));
}

int connect_to_target() {
  const auto [address, port] = target();
  const auto to = parse_address(address, port);
  const int fd = ::socket(to->bytes.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&to->bytes), to->length) == 0) return fd;
  ::close(fd);
  return -1;
}

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

std::string read_all(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void replay() {
  const int fd = connect_to_target();
  send_all(fd, read_all(word("file")));
  std::string got;
  std::array<char, 4096> bytes;
  pollfd wait{fd, POLLIN, 0};
  while (::poll(&wait, 1, 1500) == 1) {
    const ssize_t count = ::recv(fd, bytes.data(), bytes.size(), 0);
    if (count <= 0) break;
    got.append(bytes.data(), static_cast<std::size_t>(count));
  }
  // The challenge answers the request; another answer means that the recorded proof was accepted.
  std::uint64_t length = 0;
  if (got.size() >= sizeof length) std::memcpy(&length, got.data(), sizeof length);
  print(got.size() > sizeof length + length ? "answered" : "not answered");
}

int listen_here() {
  const auto listening = listen_at({}, static_cast<std::uint16_t>(number("port")));
  if (!listening) {
    print(listening.error().what);
    std::exit(2);
  }
  print("listening");
  return listening->sockets.front();
}

int accept_one(int socket) {
  pollfd wait{socket, POLLIN, 0};
  while (::poll(&wait, 1, -1) != 1) {
  }
  return ::accept4(socket, nullptr, nullptr, SOCK_CLOEXEC);
}

/// One answer after the other, in each form that a launcher may believe.
void answer_everybody() {
  const int socket = listen_here();
  JoinReply welcome;
  welcome.decision = {word("address", "192.0.2.1"), 29400, AgentStoreUse::allowed, {}};
  WireWriter challenge("hpcml session challenge");
  challenge.number(k_session_version);
  challenge.text(std::string(16, 'n'));
  challenge.number(number("port"));
  challenge.text(std::string(32, 'c'));
  const std::array answers = {old_welcome(), pack_message(welcome), challenge.take()};
  for (std::size_t i = 0;; ++i) {
    const int fd = accept_one(socket);
    std::string bytes;
    for (int times = 0; times < 4; ++times) put_bytes(bytes, answers[i % answers.size()]);
    send_all(fd, bytes);
    std::thread([fd] {
      ::usleep(500'000);
      ::close(fd);
    }).detach();
  }
}

void forward(int from, int to, const std::string& record) {
  std::array<char, 4096> bytes;
  for (ssize_t count; (count = ::recv(from, bytes.data(), bytes.size(), 0)) > 0;) {
    if (!record.empty()) std::ofstream(record, std::ios::binary | std::ios::app).write(bytes.data(), count);
    send_all(to, {bytes.data(), static_cast<std::size_t>(count)});
  }
  ::shutdown(to, SHUT_WR);
}

void relay() {
  const int socket = listen_here();
  for (;;) {
    const int client = accept_one(socket), server = connect_to_target();
    std::thread([=] { forward(client, server, word("file")); }).detach();
    std::thread([=] {
      forward(server, client, {});
      ::close(client);
    }).detach();
  }
}

void join_as_agent() {
  const auto [address, port] = target();
  const auto node = number("rank", 1);
  Client client(address, port, credentials(PeerRole::agent, node));
  const agent::RegisterRequest hello{word("job"), word("step", "none"), "node-of-stranger",
                                     node,        number("world", 2),   word("leads") == "yes"};
  client.put_compare_set(agent::k_register_key, {}, pack_message(hello));
  std::string answer = answer_of(client);
  const auto kind = word("kind");
  agent::FailedEvent failed;
  failed.failure.host = word("host", "node002");
  failed.failure.status = 256;
  failed.failure.message = "NVRM: Xid (PCI:0000:c1:00): 79, GPU has fallen off the bus";
  agent::AgentEvent event{0, agent::EndedEvent{}};
  if (kind == "failed") event.what = failed;
  if (kind == "serving") event.what = agent::ServingEvent{word("address", "192.0.2.1") + ":29400"};
  if (kind == "leaving") event.what = agent::LeavingEvent{15};
  if (!kind.empty()) {
    client.put_set(agent::k_event_key, pack_message(event));
    client.put_get(agent::k_order_key);
    const auto order = client.wait_for_value(soon());
    answer += order ? ", then got an order" : ", then got nothing";
  }
  print(answer);
  if (word("stay") == "yes") std::this_thread::sleep_for(std::chrono::seconds(number("seconds", 60)));
}

/// What each hostile connection sends.
std::string flood_bytes(const std::string& kind) {
  std::string bytes("\x00\xce\xf7\x85\x3c", 5);
  const auto op = [&](StoreOpcode code) { bytes += static_cast<char>(code); };
  if (kind == "half") { // a value that never comes to its end
    op(StoreOpcode::set);
    put_bytes(bytes, "key");
    put_u64(bytes, 8 << 20);
    bytes += std::string(1 << 20, 'x');
  } else if (kind == "long") { // buffers that stay
    op(StoreOpcode::check);
    put_u64(bytes, 4);
    for (int key = 0; key < 4; ++key) put_bytes(bytes, std::string(50'000, 'k'));
  } else if (kind == "own") {
    op(StoreOpcode::compare_set);
    put_bytes(bytes, k_announce_key);
    put_bytes(bytes, "?");
    put_u64(bytes, 1 << 20);
    bytes += std::string(1 << 20, 'x');
  } else if (kind == "wait") {
    op(StoreOpcode::wait);
    put_u64(bytes, 20);
    for (int key = 0; key < 20; ++key) put_bytes(bytes, std::string(50'000, 'w') + std::to_string(key));
  } else if (kind == "list") {
    for (int times = 0; times < 50; ++times) op(StoreOpcode::list_keys);
  } else if (kind == "ping") {
    for (int times = 0; times < 100'000; ++times) bytes += std::string("\x0d\x01\x02\x03\x04", 5);
  } else if (kind == "set") {
    op(StoreOpcode::set);
    put_bytes(bytes, "key");
    put_bytes(bytes, std::string(1 << 20, 'x'));
  }
  return bytes;
}

/// Writes without waiting, so that a server that does not read holds nobody up.
void flood() {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &files);
  const auto bytes = flood_bytes(word("kind", "silent"));
  std::vector<std::pair<int, std::string_view>> connections; ///< and what they have not sent yet
  std::size_t refused = 0;
  for (unsigned i = 0; i < number("count", 5000); ++i) {
    const int fd = connect_to_target();
    if (fd < 0)
      ++refused;
    else
      connections.emplace_back(fd, bytes);
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(number("seconds", 5));
  std::size_t closed = 0;
  for (bool any = true; any && std::chrono::steady_clock::now() < until;) {
    any = false;
    for (auto& [fd, left] : connections) {
      if (left.empty()) continue;
      const ssize_t count =
          ::send(fd, left.data(), std::min<std::size_t>(left.size(), 65536), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count < 0 && errno != EAGAIN) {
        ++closed;
        left = {};
      }
      if (count > 0) left.remove_prefix(static_cast<std::size_t>(count));
      any = true;
    }
    ::usleep(1000);
  }
  print("flooded: " + std::to_string(connections.size()) + " connections, " + std::to_string(closed) +
        " closed by the server, " + std::to_string(refused) + " not accepted");
  std::string line;
  while (std::getline(std::cin, line)) {
  }
}

int run(const std::string& attack) {
  auto who = announcement(number("rank"));
  if (attack == "old-decision") {
    send_raw(std::string(k_announce_key), old_decision());
  } else if (attack == "decision") {
    who.decision = MasterEndpoint{word("address", "192.0.2.1"),
                                  static_cast<std::uint16_t>(number("port", 29400)),
                                  AgentStoreUse::allowed,
                                  {}};
    announce(who);
  } else if (attack == "failure") {
    who.failed = "a stranger's reason";
    announce(who);
  } else if (attack == "size") {
    who.world_size = number("count", 10'000'000);
    announce(who);
  } else if (attack == "version") {
    WireWriter request("hpcml session request");
    request.number(k_session_version + 1);
    send_raw(std::string(k_session_key), request.take());
  } else if (attack == "show") {
    const auto [address, port] = target();
    Client client(address, port, credentials(PeerRole::viewer, 0));
    client.put_compare_set(k_show_key, k_not_ours, "");
    print(answer_of(client));
  } else if (attack == "replay") {
    replay();
  } else if (attack == "answer") {
    answer_everybody();
  } else if (attack == "relay") {
    relay();
  } else if (attack == "ports") {
    const slurm::StepIdentity step{number("number"), number("step"), 0};
    for (const auto first : {launch::step_port(step), launch::side_port(launch::step_port(step))}) {
      std::string line;
      for (const auto port : launch::rendezvous_ports(first)) line += std::to_string(port) + " ";
      print(line);
    }
  } else if (attack == "agent") {
    join_as_agent();
  } else if (attack == "flood") {
    flood();
  } else {
    std::fputs(k_usage, stderr);
    return 2;
  }
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  std::string attack;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const auto sign = text.find('=');
    if (sign == std::string::npos)
      attack = text;
    else
      g_words[text.substr(0, sign)] = text.substr(sign + 1);
  }
  try {
    return run(attack);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hostile_client: %s\n", error.what());
    return 2;
  }
}
