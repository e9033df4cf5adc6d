// SPDX-License-Identifier: MIT
#include "run/store/client.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include "core/util/text.hpp"
#include "run/store/hpcml_protocol.hpp"
#include "run/store/listen.hpp"
#include "run/store/session_gate.hpp"

namespace hpcml::store {

namespace {

/// An answer longer than this is none that hpcml asked for.
constexpr std::uint64_t k_longest_answer = 64ULL << 20;

} // namespace

Client::Client(const std::string& address, std::uint16_t port, const std::optional<Credentials>& credentials)
    : x_place(place_text(address, port)) {
  const auto to = parse_address(address, port);
  if (!to) {
    end(fmt::format("'{}' is not a numeric address", address));
    return;
  }
  x_out.push_back(static_cast<char>(StoreOpcode::validate));
  for (int i = 0; i < 4; ++i) x_out.push_back(static_cast<char>(k_magic >> (8 * i)));
  if (credentials) {
    x_session.emplace(credentials->key, credentials->identity,
                      credentials->checks_port ? port : std::uint16_t{0});
    put_session(StoreOpcode::compare_set, x_session->request());
  }
  x_fd = ::socket(to->bytes.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (x_fd < 0) {
    end(std::strerror(errno));
    return;
  }
  const int yes = 1;
  ::setsockopt(x_fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  watch_for_death(x_fd);
  if (::connect(x_fd, reinterpret_cast<const sockaddr*>(&to->bytes), to->length) == 0)
    x_connected = true;
  else if (errno != EINPROGRESS)
    end(std::strerror(errno));
}

Client::~Client() {
  if (x_fd >= 0) ::close(x_fd);
}

Client::Client(Client&& source) noexcept
    : x_fd(std::exchange(source.x_fd, -1)), x_connected(source.x_connected),
      x_place(std::move(source.x_place)), x_fault(std::move(source.x_fault)), x_out(std::move(source.x_out)),
      x_in(std::move(source.x_in)), x_sent(source.x_sent), x_session(std::move(source.x_session)),
      x_unsealed(std::move(source.x_unsealed)), x_session_error(source.x_session_error) {}

bool Client::end(const std::string& why) {
  if (x_fault.empty()) x_fault = why;
  if (x_fd >= 0) ::close(x_fd);
  x_fd = -1;
  return false;
}

void Client::put(StoreOpcode op, std::string_view key, std::string_view expected, std::string_view value) {
  if (x_session) {
    auto body = pack_inner({op, key, value});
    if (auto* channel = x_session->channel())
      put_session(StoreOpcode::set, channel->seal(body));
    else
      x_unsealed.push_back(std::move(body));
    return;
  }
  x_out.push_back(static_cast<char>(op));
  put_bytes(x_out, key);
  if (op == StoreOpcode::compare_set) put_bytes(x_out, expected);
  if (op != StoreOpcode::get) put_bytes(x_out, value);
}

void Client::put_session(StoreOpcode op, std::string_view bytes) {
  x_out.push_back(static_cast<char>(op));
  put_bytes(x_out, k_session_key);
  if (op == StoreOpcode::compare_set) put_bytes(x_out, k_not_ours);
  put_bytes(x_out, bytes);
}

void Client::put_compare_set(std::string_view key, std::string_view expected, std::string_view desired) {
  put(StoreOpcode::compare_set, key, expected, desired);
}

void Client::put_set(std::string_view key, std::string_view value) { put(StoreOpcode::set, key, {}, value); }

void Client::put_get(std::string_view key) { put(StoreOpcode::get, key, {}, {}); }

/// Checks the store's answer to the request, and sends the proof and what waits for it.
void Client::advance_session() {
  if (!x_session || x_session->channel() || x_session_error != SessionError::none) return;
  const auto length = length_of_value();
  if (!length) return;
  const bool too_long = *length > k_most_unproven_bytes;
  if (!too_long && x_in.size() - sizeof *length < *length) return;
  const auto answer = too_long ? std::string() : x_in.substr(sizeof *length, *length);
  x_session_error = x_session->on_answer(answer);
  if (x_session_error != SessionError::none) {
    x_fault = x_session_error == SessionError::version
                  ? fmt::format("uses another version of hpcml (protocol {}, here {})",
                                x_session->server_version(), k_session_version)
                  : session_error_text(x_session_error);
    end(x_fault);
    return;
  }
  x_in.erase(0, sizeof *length + answer.size());
  put_session(StoreOpcode::set, x_session->proof());
  for (const auto& body : std::exchange(x_unsealed, {}))
    put_session(StoreOpcode::set, x_session->channel()->seal(body));
  send_some();
}

short Client::wanted() const {
  return static_cast<short>(POLLIN | (!x_connected || x_sent < x_out.size() ? POLLOUT : 0));
}

bool Client::send_some() {
  while (x_sent < x_out.size()) {
    const ssize_t count = ::send(x_fd, x_out.data() + x_sent, x_out.size() - x_sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN ? true : end(std::strerror(errno));
    x_sent += static_cast<std::size_t>(count);
  }
  x_out.clear();
  x_sent = 0;
  return true;
}

bool Client::receive_some() {
  std::array<char, 4096> bytes;
  for (;;) {
    const ssize_t count = ::recv(x_fd, bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN ? true : end(std::strerror(errno));
    if (count == 0) return end("it closed the connection");
    x_in.append(bytes.data(), static_cast<std::size_t>(count));
    const bool unproven = x_session && !x_session->is_established();
    if (x_in.size() > sizeof(std::uint64_t) + (unproven ? k_most_unproven_bytes : k_longest_answer))
      return true; // more than any answer has
  }
}

bool Client::advance() {
  if (x_fd < 0) return false;
  if (!x_connected) {
    pollfd end_of_it{x_fd, POLLOUT, 0};
    if (::poll(&end_of_it, 1, 0) <= 0) return true;
    int error = 0;
    socklen_t length = sizeof error;
    if (::getsockopt(x_fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0) error = errno;
    if (error != 0) return end(std::strerror(error));
    x_connected = true;
  }
  const bool lasts = send_some() && receive_some();
  advance_session(); // also what came before the other side closed
  return lasts && x_fd >= 0;
}

std::optional<std::uint64_t> Client::length_of_value() const {
  std::uint64_t length = 0;
  if (x_in.size() < sizeof length) return std::nullopt;
  for (std::size_t i = 0; i < sizeof length; ++i)
    length |= std::uint64_t{static_cast<unsigned char>(x_in[i])} << (8 * i);
  return length;
}

bool Client::has_value() const {
  if (x_session && !x_session->is_established()) return false;
  const auto length = length_of_value();
  return length && (*length > k_longest_answer || x_in.size() - sizeof *length >= *length);
}

std::optional<std::string> Client::take_value() {
  if (!has_value()) return std::nullopt;
  const auto length = *length_of_value();
  if (length > k_longest_answer) {
    end("its answer is not that of a rendezvous store");
    return std::nullopt;
  }
  std::string value = x_in.substr(sizeof length, length);
  x_in.erase(0, sizeof length + length);
  if (!x_session) return value;
  const auto body = x_session->channel()->open(value);
  if (body) return std::string(*body);
  x_session_error = SessionError::forged;
  end(session_error_text(x_session_error));
  return std::nullopt;
}

util::Result<std::string> Client::wait_for_value(Time deadline) {
  for (;;) {
    const bool on = advance();
    if (auto value = take_value()) return std::move(*value);
    if (!on || x_fd < 0)
      return util::Error{
          fmt::format("the rendezvous store or agent at {} does not answer: {}", x_place, x_fault),
          "check that its hpcml process still runs on that node"};
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0)
      return util::Error{fmt::format("the rendezvous store or agent at {} {} in time", x_place,
                                     x_connected ? "did not answer" : "was not reached"),
                         "check that its hpcml process runs on that node, and the network between the nodes"};
    pollfd wait{x_fd, wanted(), 0};
    ::poll(&wait, 1, static_cast<int>(std::min<long long>(left.count(), 60'000)));
  }
}

std::string place_text(const std::string& host, unsigned port) {
  const bool six = host.find(':') != std::string::npos;
  return (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

std::optional<std::pair<std::string, std::uint16_t>> parse_place(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  const auto port = util::parse_unsigned(text.substr(colon + 1));
  auto host = text.substr(0, colon);
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) host = host.substr(1, host.size() - 2);
  if (!port || *port == 0 || *port > 65535) return std::nullopt;
  if (!bracketed && host.find(':') != std::string_view::npos) return std::nullopt;
  return std::pair{std::string(host), static_cast<std::uint16_t>(*port)};
}

} // namespace hpcml::store
