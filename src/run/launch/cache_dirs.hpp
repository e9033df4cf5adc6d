// SPDX-License-Identifier: MIT
// Cache directories per node and step: whichever rank comes first makes them, the last one to go takes them
// along.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "core/model/plan.hpp"
#include "core/util/result.hpp"

namespace hpcml::launch {

/// One open cache directory. While any process holds `fd`, the directory stays.
struct CacheDir {
  std::string path;
  int fd = -1;          ///< open without close-on-exec: the program keeps it across exec
  bool created = false; ///< this process made it, so it starts the watcher
};

/// Opens the directory with mode 0700 and its subdirectories, making what is missing; safe when all ranks of
/// a node do it at once, so none waits for another. A link, a file, or another user's directory in its place
/// is an error.
util::Result<CacheDir> open_cache(const model::PlannedCache& cache, const std::string& path);

/// Starts a detached process without our descriptors. It waits for the last holder of each directory,
/// removes the directories and exits. It also removes these caches of earlier steps whose ranks have all
/// exited.
util::Status start_watcher(const std::vector<CacheDir>& caches);

/// A directory that is gone once this process is, however it ends.
struct SelfRemovingDirectory {
  CacheDir directory;
  pid_t watcher = -1; ///< a child of this process
};

/// Holds a directory that this process has made. The programs that it starts do not.
util::Result<SelfRemovingDirectory> hold_directory(const std::string& path);
/// Removes it, and ends its watcher.
void release_directory(SelfRemovingDirectory& held);

/// Releases the directory, and removes it if no other process holds it.
void release_cache(CacheDir& cache);

} // namespace hpcml::launch
