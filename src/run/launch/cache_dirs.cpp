// SPDX-License-Identifier: MIT
#include "run/launch/cache_dirs.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/child.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/resolve/cache_paths.hpp"

namespace hpcml::launch {

using util::Error;
using util::Result;

namespace {

constexpr int k_open_dir = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;

Error cache_error(const std::string& path, const std::string& why) {
  return Error{fmt::format("cannot use the cache directory '{}' of the site profile: {}", path, why),
               "remove this directory, or set another base in your own site profile (caches[].base)"};
}

bool lock(int fd, int how) {
  int result;
  do result = ::flock(fd, how);
  while (result != 0 && errno == EINTR);
  return result == 0;
}

/// Removes everything below an open directory without following a link; takes the descriptor.
void remove_below(int fd) {
  DIR* dir = ::fdopendir(fd);
  if (dir == nullptr) {
    ::close(fd);
    return;
  }
  while (const dirent* entry = ::readdir(dir)) {
    const std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (::unlinkat(::dirfd(dir), name.c_str(), 0) == 0) continue;
    const int below = ::openat(::dirfd(dir), name.c_str(), k_open_dir | O_CLOEXEC);
    if (below >= 0) remove_below(below);
    ::unlinkat(::dirfd(dir), name.c_str(), AT_REMOVEDIR);
  }
  ::closedir(dir);
}

/// Removes the directory that `fd` holds, if `path` still names it.
void remove_held(int fd, const std::string& path) {
  struct stat held {
  }, named{};
  if (::fstat(fd, &held) != 0 || ::lstat(path.c_str(), &named) != 0) return;
  if (held.st_ino != named.st_ino || held.st_dev != named.st_dev) return;
  const int walk = ::openat(fd, ".", k_open_dir | O_CLOEXEC);
  if (walk >= 0) remove_below(walk);
  ::rmdir(path.c_str());
}

/// Opens `path` shared and locked; -1 with errno, or ESTALE if it was removed meanwhile.
int open_locked(const std::string& path) {
  const int fd = ::open(path.c_str(), k_open_dir);
  if (fd < 0) return -1;
  struct stat now {};
  // Its remover may have been faster: a directory without links is gone, however open it is.
  if (lock(fd, LOCK_SH) && ::fstat(fd, &now) == 0 && now.st_nlink > 0) return fd;
  const int code = errno == ENOLCK || errno == EOPNOTSUPP ? errno : ESTALE;
  ::close(fd);
  errno = code;
  return -1;
}

util::Status make_below(const CacheDir& cache, const std::string& below) {
  if (below.starts_with("/") || below == ".." || below.starts_with("../") ||
      below.find("/../") != std::string::npos)
    return cache_error(cache.path, fmt::format("'{}' is outside of it", below));
  std::string relative;
  for (const auto& part : path_parts(below)) {
    relative += (relative.empty() ? "" : "/") + part;
    if (::mkdirat(cache.fd, relative.c_str(), 0700) != 0 && errno != EEXIST)
      return cache_error(cache.path + "/" + relative, std::strerror(errno));
  }
  return util::Success{};
}

/// Removes caches of steps whose watcher was killed, for example by the node's cleanup. They have the same
/// name and owner, and no process holds them.
void remove_stale(const CacheDir& cache) {
  const auto slash = cache.path.rfind('/');
  const std::string base = cache.path.substr(0, slash), own = cache.path.substr(slash + 1);
  const auto job = own.rfind("-job"); // the base may contain "-job" as well
  if (job == std::string::npos) return;
  const std::string prefix = own.substr(0, job + 4);
  DIR* dir = ::opendir(base.empty() ? "/" : base.c_str());
  if (dir == nullptr) return;
  while (const dirent* entry = ::readdir(dir)) {
    if (!std::string_view(entry->d_name).starts_with(prefix) || own == entry->d_name) continue;
    const std::string path = base + "/" + entry->d_name;
    const int fd = ::open(path.c_str(), k_open_dir | O_CLOEXEC);
    if (fd < 0) continue;
    struct stat found {};
    if (::fstat(fd, &found) == 0 && found.st_uid == ::geteuid() && lock(fd, LOCK_EX | LOCK_NB))
      remove_held(fd, path);
    ::close(fd);
  }
  ::closedir(dir);
}

/// Body of the watcher: nothing here may touch what the launcher's process shares with its children.
int watch(const std::vector<CacheDir>& caches) {
  // Inherited ends of pipes would keep a reader of the program's output waiting, inherited locks keep the
  // directory.
  util::close_descriptors(0);
  std::vector<int> own;
  for (const auto& cache : caches) own.push_back(::open(cache.path.c_str(), k_open_dir | O_CLOEXEC));
  for (const auto& cache : caches) remove_stale(cache);
  for (std::size_t i = 0; i < caches.size(); ++i)
    if (own[i] >= 0 && lock(own[i], LOCK_EX)) remove_held(own[i], caches[i].path);
  return 0;
}

util::ChildOptions watcher_options() {
  util::ChildOptions options;
  options.group = util::ChildOptions::Group::session;
  options.ignored_signals = {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGPIPE, SIGCONT};
  options.directory = "/";
  return options;
}

} // namespace

Result<CacheDir> open_cache(const model::PlannedCache& cache, const std::string& path) {
  CacheDir dir{path, -1, false};
  for (int attempt = 0; dir.fd < 0 && attempt < 100; ++attempt) {
    dir.created = ::mkdir(path.c_str(), 0700) == 0;
    if (!dir.created && errno != EEXIST) return cache_error(path, std::strerror(errno));
    dir.fd = open_locked(path);
    if (dir.fd < 0 && errno != ENOENT && errno != ESTALE)
      return cache_error(path, errno == ENOTDIR || errno == ELOOP ? "it is a link or a file"
                                                                  : std::strerror(errno));
  }
  if (dir.fd < 0) return cache_error(path, "another process keeps removing it");
  struct stat found {};
  std::string wrong;
  if (::fstat(dir.fd, &found) != 0)
    wrong = std::strerror(errno);
  else if (found.st_uid != ::geteuid())
    wrong = fmt::format("it belongs to user {}", found.st_uid);
  else if ((found.st_mode & 077) != 0 && ::fchmod(dir.fd, 0700) != 0)
    wrong = std::strerror(errno);
  for (const auto& entry : cache.variables) {
    if (!wrong.empty()) break;
    const auto made = make_below(dir, entry.second);
    if (!made) {
      ::close(dir.fd);
      return made.error();
    }
  }
  if (wrong.empty()) return dir;
  ::close(dir.fd);
  return cache_error(path, wrong);
}

util::Status start_watcher(const std::vector<CacheDir>& caches) {
  std::vector<CacheDir> made;
  for (const auto& cache : caches)
    if (cache.created) made.push_back(cache);
  if (made.empty()) return util::Success{};
  // The program must not find a child that it never started.
  auto left = util::leave_process(watcher_options(), [&] { return watch(made); });
  if (left) return left;
  return util::with_context(left.error(), "cannot start the process that removes the caches");
}

Result<SelfRemovingDirectory> hold_directory(const std::string& path) {
  SelfRemovingDirectory held{{path, open_locked(path), true}, -1};
  if (held.directory.fd < 0)
    return Error{fmt::format("cannot lock the temporary directory '{}': {}", path, std::strerror(errno)),
                 "set TMPDIR to a directory on the local disk of this node"};
  ::fcntl(held.directory.fd, F_SETFD, FD_CLOEXEC);
  auto watcher = util::ChildProcess::fork(watcher_options(), [&] { return watch({held.directory}); });
  if (!watcher) {
    ::close(held.directory.fd);
    return util::with_context(watcher.error(),
                              fmt::format("cannot start the process that removes '{}'", path));
  }
  held.watcher = watcher->release();
  return held;
}

void release_directory(SelfRemovingDirectory& held) {
  // Of one that was waited for already the number may be another's.
  if (held.watcher > 0 && ::waitpid(held.watcher, nullptr, WNOHANG) == 0) {
    ::kill(held.watcher, SIGKILL);
    ::waitpid(held.watcher, nullptr, 0);
  }
  held.watcher = -1;
  release_cache(held.directory);
}

void release_cache(CacheDir& cache) {
  if (cache.fd < 0) return;
  if (lock(cache.fd, LOCK_EX | LOCK_NB)) remove_held(cache.fd, cache.path);
  ::close(cache.fd);
  cache.fd = -1;
}

} // namespace hpcml::launch
