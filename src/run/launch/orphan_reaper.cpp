// SPDX-License-Identifier: MIT
#include "run/launch/orphan_reaper.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/resolve/launch_request.hpp"

namespace hpcml::launch {

namespace {

bool has_mark(pid_t pid, const std::string& entry) {
  const auto text = util::read_file("/proc/" + std::to_string(pid) + "/environ");
  if (!text) return false;
  for (std::size_t at = text->find(entry); at != std::string::npos; at = text->find(entry, at + 1)) {
    const std::size_t end = at + entry.size();
    if ((at == 0 || (*text)[at - 1] == '\0') && (end == text->size() || (*text)[end] == '\0')) return true;
  }
  return false;
}

/// Kills what carries the mark; false if there was nothing left.
bool kill_marked(const std::string& mark) {
  bool found = false;
  DIR* proc = ::opendir("/proc");
  if (proc == nullptr) return false;
  while (const dirent* entry = ::readdir(proc)) {
    const auto pid = util::parse_unsigned(entry->d_name);
    if (!pid || static_cast<pid_t>(*pid) == ::getpid()) continue;
    if (!has_mark(static_cast<pid_t>(*pid), mark)) continue;
    found = ::kill(static_cast<pid_t>(*pid), SIGKILL) == 0 || found;
  }
  ::closedir(proc);
  return found;
}

/// Body of the process: holds nothing of launch's but the line that ends with it.
int watch(int line, const volatile pid_t* groups, std::size_t count, const std::string& mark,
          const std::string& directory) {
  ::dup2(line, 0);
  util::close_descriptors(1);
  char word = 0;
  ssize_t got;
  do got = ::read(0, &word, 1);
  while (got < 0 && errno == EINTR);
  if (got != 0) return 0;
  // More may be started while these die.
  for (int round = 0; round < 100; ++round) {
    for (std::size_t i = 0; i < count; ++i)
      if (const pid_t group = groups[i]; group > 1) ::kill(-group, SIGKILL);
    if (!kill_marked(mark)) break;
    ::usleep(2000);
  }
  std::error_code ignored;
  if (!directory.empty()) std::filesystem::remove_all(directory, ignored);
  return 0;
}

} // namespace

OrphanReaper::OrphanReaper(System& system, std::size_t count) : x_system(system), x_count(count) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  x_mark = std::to_string(x_system.getpid()) + "." +
           std::to_string(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

util::Status OrphanReaper::start() {
  const auto failed = [] {
    return util::Error{
        fmt::format("cannot start the process that cleans up after the ranks: {}", std::strerror(errno)),
        "check the limits of open files (ulimit -n) and processes (ulimit -u) on this node"};
  };
  void* shared =
      ::mmap(nullptr, x_count * sizeof(pid_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return failed();
  x_groups = static_cast<volatile pid_t*>(shared);
  int ends[2];
  if (x_system.pipe(ends) != 0) return failed();
  x_line = ends[1];
  const std::string entry = std::string(k_launch_variable) + "=" + x_mark;
  util::ChildOptions options;
  options.group = util::ChildOptions::Group::session;
  options.ignored_signals = util::signals_except({});
  options.directory = "/";
  x_pid = x_system.fork(options, [&] {
    ::close(ends[1]);
    return watch(ends[0], x_groups, x_count, entry, x_directory);
  });
  x_system.close(ends[0]);
  if (x_pid < 0) return failed();
  return util::Success{};
}

void OrphanReaper::set_group(std::size_t index, pid_t group) {
  if (x_groups != nullptr) x_groups[index] = group;
}

OrphanReaper::~OrphanReaper() {
  if (x_line >= 0) {
    const char word = 'e';
    while (x_system.write(x_line, &word, 1) < 0 && errno == EINTR) {
    }
    x_system.close(x_line);
  }
  if (x_pid > 0)
    while (x_system.waitpid(x_pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  if (x_groups != nullptr) ::munmap(const_cast<pid_t*>(x_groups), x_count * sizeof(pid_t));
}

} // namespace hpcml::launch
