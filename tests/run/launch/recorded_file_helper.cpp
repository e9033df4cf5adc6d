// SPDX-License-Identifier: MIT
// Descriptors and files of a recorded system.
#include "run/launch/recorded_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/signalfd.h>
#include <sys/stat.h>

#include "core/util/text.hpp"

namespace hpcml::testing {

int RecordedSystem::add_file(std::shared_ptr<OpenFile> file) {
  int fd = 0;
  while (current().fds.count(fd) == 1) ++fd;
  current().fds[fd] = std::move(file);
  return fd;
}

OpenFile* RecordedSystem::find_file(int fd) {
  const auto found = current().fds.find(fd);
  if (found == current().fds.end()) errno = EBADF;
  return found == current().fds.end() ? nullptr : found->second.get();
}

bool RecordedSystem::is_readable(const OpenFile& file) const {
  using Kind = OpenFile::Kind;
  switch (file.kind) {
  case Kind::pipe_reader: return !file.pipe->bytes.empty() || file.pipe->writer.expired();
  case Kind::socket: return !file.incoming->empty();
  case Kind::epoll:
    return std::any_of(file.members.begin(), file.members.end(), [&](const OpenFile::Member& member) {
      const auto open = member.file.lock();
      return open && is_readable(*open);
    });
  case Kind::signals: {
    const auto& pending = x_processes.at(x_current).pending;
    return std::any_of(pending.begin(), pending.end(),
                       [&](int signal) { return ::sigismember(&file.signals, signal) == 1; });
  }
  case Kind::null:
  case Kind::stream:
  case Kind::pipe_writer: return false;
  }
  return false;
}

short RecordedSystem::ready_events(const pollfd& end) {
  const auto* file = end.fd < 0 ? nullptr : find_file(end.fd);
  if (file == nullptr) return 0;
  const bool accepts = file->stream == nullptr || file->stream->room > 0 || file->stream->error != 0;
  short events = 0;
  if ((end.events & POLLIN) != 0 && is_readable(*file)) events |= POLLIN;
  if ((end.events & POLLOUT) != 0 && accepts) events |= POLLOUT;
  return events;
}

ssize_t RecordedSystem::read(int fd, void* bytes, std::size_t count) {
  auto* file = find_file(fd);
  if (file == nullptr) return -1;
  errno = EAGAIN;
  if (file->kind == OpenFile::Kind::signals) {
    for (const int signal : current().pending) {
      if (::sigismember(&file->signals, signal) == 0) continue;
      current().pending.erase(signal);
      signalfd_siginfo info{};
      info.ssi_signo = static_cast<std::uint32_t>(signal);
      std::memcpy(bytes, &info, sizeof info);
      return sizeof info;
    }
    return -1;
  }
  if (file->kind != OpenFile::Kind::pipe_reader) return 0;
  auto& text = file->pipe->bytes;
  if (text.empty()) return file->pipe->writer.expired() ? 0 : -1;
  const auto size = std::min(count, text.size());
  std::memcpy(bytes, text.data(), size);
  text.erase(0, size);
  return static_cast<ssize_t>(size);
}

ssize_t RecordedSystem::write(int fd, const void* bytes, std::size_t count) {
  auto* file = find_file(fd);
  if (file == nullptr) return -1;
  if (file->kind == OpenFile::Kind::pipe_writer) {
    errno = EPIPE;
    if (file->pipe->reader.expired()) return -1;
    file->pipe->bytes.append(static_cast<const char*>(bytes), count);
  }
  if (file->kind != OpenFile::Kind::stream) return static_cast<ssize_t>(count);
  auto& stream = *file->stream;
  errno = stream.error != 0 ? stream.error : EAGAIN;
  const auto accepted = std::min(count, stream.room);
  if (stream.error != 0 || accepted == 0) return -1;
  stream.text.append(static_cast<const char*>(bytes), accepted);
  if (stream.room != std::string::npos) stream.room -= accepted;
  return static_cast<ssize_t>(accepted);
}

int RecordedSystem::open(const std::string& path, int) {
  if (fails("open")) return -1;
  if (path == "/dev/null") return add_file(std::make_shared<OpenFile>());
  constexpr std::string_view k_own = "/proc/self/fd/";
  const auto number =
      path.starts_with(k_own) ? util::parse_unsigned(path.substr(k_own.size())) : std::nullopt;
  const auto found = current().fds.find(static_cast<int>(number.value_or(~0U)));
  errno = ENOENT;
  return found == current().fds.end() ? -1 : add_file(found->second);
}

int RecordedSystem::close(int fd) { return current().fds.erase(fd) == 1 ? 0 : -1; }

int RecordedSystem::pipe(int (&ends)[2]) {
  if (fails("pipe")) return -1;
  auto pipe = std::make_shared<RecordedPipe>();
  for (const bool reads : {true, false}) {
    auto file = std::make_shared<OpenFile>();
    file->kind = reads ? OpenFile::Kind::pipe_reader : OpenFile::Kind::pipe_writer;
    file->pipe = pipe;
    (reads ? pipe->reader : pipe->writer) = file;
    ends[reads ? 0 : 1] = add_file(std::move(file));
  }
  return 0;
}

int RecordedSystem::flags(int fd) { return find_file(fd) == nullptr ? -1 : O_RDWR; }

int RecordedSystem::fstat(int fd, struct stat& found) {
  const auto* file = find_file(fd);
  if (file == nullptr) return -1;
  found.st_mode = S_IFIFO;
  found.st_ino = static_cast<ino_t>(reinterpret_cast<std::uintptr_t>(file));
  return 0;
}

int RecordedSystem::unread_bytes(int fd) {
  const auto* file = find_file(fd);
  return file == nullptr || file->stream == nullptr ? -1 : file->stream->unread;
}

int RecordedSystem::epoll_create() {
  auto file = std::make_shared<OpenFile>();
  file->kind = OpenFile::Kind::epoll;
  return add_file(std::move(file));
}

int RecordedSystem::epoll_add(int set, int fd, std::uint64_t key) {
  if (fails("epoll_add")) return -1;
  find_file(set)->members.push_back({current().fds.at(fd), key});
  return 0;
}

int RecordedSystem::epoll_ready(int set, std::span<std::uint64_t> keys) {
  std::size_t count = 0;
  for (const auto& [member, key] : find_file(set)->members)
    if (const auto open = member.lock(); open && is_readable(*open) && count < keys.size())
      keys[count++] = key;
  return static_cast<int>(count);
}

int RecordedSystem::socketpair(int (&ends)[2]) {
  if (fails("socketpair")) return -1;
  const auto first = std::make_shared<std::deque<RecordedMessage>>();
  const auto second = std::make_shared<std::deque<RecordedMessage>>();
  for (const bool is_first : {true, false}) {
    auto file = std::make_shared<OpenFile>();
    file->kind = OpenFile::Kind::socket;
    file->incoming = is_first ? first : second;
    file->outgoing = is_first ? second : first;
    ends[is_first ? 0 : 1] = add_file(std::move(file));
  }
  return 0;
}

bool RecordedSystem::send_descriptors(int line, std::string_view text, std::span<const int> fds) {
  RecordedMessage message{std::string(text), {}};
  for (const int fd : fds) message.files.push_back(current().fds.at(fd));
  find_file(line)->outgoing->push_back(std::move(message));
  return true;
}

int RecordedSystem::receive_descriptors(int line, std::span<char> text, std::span<int> fds) {
  auto& incoming = *find_file(line)->incoming;
  if (incoming.empty()) return -1;
  const auto message = std::move(incoming.front());
  incoming.pop_front();
  std::copy(message.text.begin(), message.text.end(), text.begin());
  if (fails("receive_descriptors")) return 0;
  for (std::size_t i = 0; i < message.files.size(); ++i) fds[i] = add_file(message.files[i]);
  return static_cast<int>(message.files.size());
}

// Files.

int RecordedSystem::access(const std::string& path, int mode) {
  const bool exists = executables.count(path) == 1 || (mode == 0 && files.count(path) == 1);
  errno = ENOENT;
  return exists ? 0 : -1;
}

int RecordedSystem::stat(const std::string& path, struct stat& found) {
  const auto pid =
      path.starts_with("/proc/") ? util::parse_unsigned(util::split(path, '/')[2]) : std::nullopt;
  if (pid) {
    const auto process = x_processes.find(static_cast<pid_t>(*pid));
    if (process == x_processes.end()) return -1;
    found.st_ino = process->second.path.empty() || process->second.path == "/bin/hpcml" ? 1 : 2;
    return 0;
  }
  found.st_mode = S_IFREG;
  return access(path, 0);
}

util::Result<std::string> RecordedSystem::read_file(const std::string& path) {
  if (const auto found = files.find(path); found != files.end()) return found->second;
  const auto parts = util::split(path, '/');
  if (parts.size() > 3 && parts[1] == "proc") {
    const auto pid =
        parts[2] == "self" ? x_current : static_cast<pid_t>(util::parse_unsigned(parts[2]).value_or(0));
    const auto process = x_processes.find(pid);
    if (process != x_processes.end() && parts.back() == "stat") return render_stat(process->second);
    if (process != x_processes.end() && parts.back() == "status") return render_status(process->second);
    if (process != x_processes.end() && parts.back() == "environ")
      return util::join(process->second.env.to_envp(), std::string(1, '\0'));
  }
  return util::Error{"no such file: " + path};
}

std::vector<std::string> RecordedSystem::list_directory(const std::string& path) {
  std::vector<std::string> names;
  const auto parts = util::split(path, '/');
  if (parts.size() == 4 && parts[3] == "task") return {parts[2]};
  for (const auto& [pid, process] : x_processes) names.push_back(std::to_string(pid));
  return names;
}

std::string RecordedSystem::render_stat(const RecordedProcess& process) const {
  std::vector<std::string> fields(50, "0");
  fields[0] = process.ended ? "Z" : process.stopped ? "T" : "S";
  fields[1] = std::to_string(process.parent);
  fields[2] = std::to_string(process.group);
  fields[23] = std::to_string(1000 + process.image);
  fields[49] = std::to_string(process.status);
  return fmt::format("{} ({}) {}\n", process.pid, process.name, util::join(fields, " "));
}

std::string RecordedSystem::render_status(const RecordedProcess& process) const {
  unsigned long long caught = 0, blocked = 0;
  for (const auto& [signal, steps] : process.handlers)
    if (steps != "ignore") caught |= 1ULL << (signal - 1);
  for (int signal = 1; signal < 32; ++signal)
    if (::sigismember(&process.mask, signal) == 1) blocked |= 1ULL << (signal - 1);
  return fmt::format("Name:\t{}\nState:\t{}\nSigBlk:\t{:016x}\nSigCgt:\t{:016x}\nCpus_allowed_list:\t{}\n",
                     process.name, process.ended ? "Z (zombie)" : "S (sleeping)", blocked, caught,
                     process.cpus.to_list());
}

} // namespace hpcml::testing
