// SPDX-License-Identifier: MIT
// Which torch a command will import, read from files: no Python is started.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"

namespace hpcml::find_torch {

/// The view of the file system that the search uses.
class FileSystemView {
public:
  virtual ~FileSystemView() = default;
  /// True if the path exists, with links followed.
  virtual bool exists(const std::string& path) const = 0;
  /// True if the path is an executable file.
  virtual bool runs(const std::string& path) const = 0;
  /// Returns up to `most` bytes from `offset`; nothing if the file cannot be read.
  virtual std::optional<std::string> read(const std::string& path, std::size_t most,
                                          std::size_t offset = 0) const = 0;
  /// Returns the target of a link; nothing if the path is not a link.
  virtual std::optional<std::string> link(const std::string& path) const = 0;
  /// Returns the sorted names in a directory; none if it cannot be read.
  virtual std::vector<std::string> names(const std::string& directory) const = 0;
};

/// This machine's files.
const FileSystemView& live_files();

/// A release of torch.
struct TorchVersion {
  unsigned major = 0, minor = 0;
  bool pre_release = false; ///< "2.7.0a0+…", as distributions and vendors build it: somewhere before 2.7
};

/// Parses "2.13.0+cpu", "1.13.0a0" or "2.7.0.dev20250301"; returns nothing for other texts. Pure.
std::optional<TorchVersion> parse_torch_version(const std::string& text);

/// The torch of a command.
struct TorchLookupResult {
  enum class Kind {
    found,
    none,   ///< a program without torch: a Python without it, or a program that is not linked with it
    unknown ///< the program that will run is unknown
  };
  Kind kind = Kind::unknown;
  TorchVersion version; ///< where found
  std::string text;     ///< the version as written: "2.13.0+cpu"
  std::string place;    ///< the file that contains it
  std::string why;      ///< if not found: a clause, "bash is a shell script …"
};

/// Returns the version of torch near one of its libraries: in the package of pip, the LibTorch archive or
/// the directories of conda.
std::optional<TorchLookupResult> torch_around(const std::string& directory, const FileSystemView& files);

/// Returns the torch that `command` imports or is linked with, in a rank's environment `env` and working
/// directory `cwd`.
TorchLookupResult find_torch(const std::vector<std::string>& command, const util::EnvSnapshot& env,
                             const std::string& cwd, const FileSystemView& files = live_files());

} // namespace hpcml::find_torch
