// SPDX-License-Identifier: MIT
#include "run/store/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

namespace hpcml::store {

namespace {

constexpr std::size_t k_chunk = 64 << 10;
/// A value of this length is sent without a copy; shorter ones are copied after their length.
constexpr std::size_t k_copied = 4 << 10;
/// Buffers that once held more are given back when they are empty: thousands of clients have one.
constexpr std::size_t k_kept = 4 << 10;

} // namespace

Connection::~Connection() { ::close(x_fd); }

std::size_t Connection::memory() const {
  std::size_t bytes = x_in.capacity();
  for (const Piece& piece : x_out) bytes += piece.own.capacity();
  return bytes;
}

Connection::Io Connection::receive(std::size_t most) {
  // Every connection would hold a chunk else: most of them hold nothing most of the time.
  // Made when a first connection reads: a thread-local array would be zeroed at the start of every command.
  static thread_local std::vector<char> scratch(k_chunk);
  const std::size_t held = x_in.size() - x_in_at;
  const bool long_message = x_expected > held + k_chunk;
  ssize_t count = 0;
  if (long_message) {
    if (x_in_at != 0) x_in.erase(0, x_in_at);
    x_in_at = 0;
    // As much again as has come: a length that is never followed by its bytes costs nothing.
    const std::size_t more = std::min({x_expected - held, std::max(k_chunk, held), most});
    x_in.resize(held + more);
    count = ::recv(x_fd, x_in.data() + held, more, 0);
    x_in.resize(held + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  } else {
    count = ::recv(x_fd, scratch.data(), std::min(scratch.size(), most), 0);
    if (count > 0) x_in.append(scratch.data(), static_cast<std::size_t>(count));
  }
  if (count > 0) return Io::done;
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Io::again;
  return Io::closed;
}

void Connection::drop(std::size_t count) {
  x_in_at += count;
  if (x_in_at < x_in.size()) {
    if (x_in_at < k_chunk) return;
    x_in.erase(0, x_in_at);
    x_in_at = 0;
    return;
  }
  x_in_at = 0;
  if (x_in.capacity() > k_kept)
    std::string().swap(x_in); // an assignment of an empty string would keep the memory
  else
    x_in.clear();
}

void Connection::put(std::string_view bytes) {
  if (x_out.empty() || x_out.back().shared) x_out.emplace_back();
  x_out.back().own.append(bytes);
  x_pending += bytes.size();
}

void Connection::put(const SharedValue& value) {
  if (value->size() < k_copied) return put(*value);
  x_out.push_back({{}, value});
  x_pending += value->size();
}

Connection::Io Connection::flush() {
  while (x_pending != 0) {
    std::array<iovec, 16> parts;
    std::size_t count = 0, skip = x_out_at;
    for (const Piece& piece : x_out) {
      if (count == parts.size()) break;
      const std::string_view view = piece.view().substr(skip);
      skip = 0;
      parts[count++] = {const_cast<char*>(view.data()), view.size()};
    }
    msghdr message{};
    message.msg_iov = parts.data();
    message.msg_iovlen = count;
    const ssize_t sent = ::sendmsg(x_fd, &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return errno == EAGAIN ? Io::again : Io::closed;
    x_pending -= static_cast<std::size_t>(sent);
    x_out_at += static_cast<std::size_t>(sent);
    while (!x_out.empty() && x_out_at >= x_out.front().view().size()) {
      x_out_at -= x_out.front().view().size();
      if (x_out.size() == 1 && !x_out.front().shared && x_out.front().own.capacity() <= k_kept) {
        x_out.front().own.clear(); // kept for the next answer
        break;
      }
      x_out.pop_front();
    }
  }
  return Io::done;
}

} // namespace hpcml::store
