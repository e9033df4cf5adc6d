// SPDX-License-Identifier: MIT
// Which torch a command will import, read from files: no Python is started.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"

namespace hpcml::find_torch {

/// What the search asks of the file system.
class FileView {
public:
  virtual ~FileView() = default;
  /// Whether something is there under this name, links followed.
  virtual bool exists(const std::string& path) const = 0;
  /// Whether it may be executed and is no folder.
  virtual bool runs(const std::string& path) const = 0;
  /// `most` bytes from `offset` on, fewer at the end; nothing where it cannot be read.
  virtual std::optional<std::string> read(const std::string& path, std::size_t most,
                                          std::size_t offset = 0) const = 0;
  /// What a link points to; nothing where it is none.
  virtual std::optional<std::string> link(const std::string& path) const = 0;
  /// The names in a folder, sorted; none where it cannot be read.
  virtual std::vector<std::string> names(const std::string& directory) const = 0;
};

/// This machine's files.
const FileView& live_files();

/// A release of torch.
struct TorchVersion {
  unsigned major = 0, minor = 0;
  bool pre_release = false; ///< "2.7.0a0+…", as distributions and vendors build it: somewhere before 2.7
};

/// "2.13.0+cpu", "1.13.0a0", "2.7.0.dev20250301"; nothing where it is no version. Pure.
std::optional<TorchVersion> parse_torch_version(const std::string& text);

/// The torch of a command.
struct TorchFound {
  enum class Kind {
    found,
    none, ///< a program in which no torch is seen: a Python without it, a program that is not linked with it
    unknown ///< what will run cannot be told from here
  };
  Kind kind = Kind::unknown;
  TorchVersion version; ///< where found
  std::string text;     ///< the version as it is written: "2.13.0+cpu"
  std::string place;    ///< the file that tells it
  std::string why;      ///< where not found: a clause for people, "bash is a shell script …"
};

/// torch's version beside one of its libraries: in pip's package, in LibTorch's archive, in conda's folders.
std::optional<TorchFound> torch_around(const std::string& directory, const FileView& files);

/// The torch that `command` will import or is linked with, in a rank's environment `env`, started in folder
/// `cwd`.
TorchFound find_torch(const std::vector<std::string>& command, const util::EnvSnapshot& env,
                      const std::string& cwd, const FileView& files = live_files());

} // namespace hpcml::find_torch
