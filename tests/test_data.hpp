// SPDX-License-Identifier: MIT
// Test data that the repository keeps compressed: tests/README.md.
#pragma once

#include <filesystem>
#include <string>

#include "core/util/result.hpp"
#include "temp_directory.hpp"

namespace hpcml::test {

/// Returns the content of a file, decompressed if it is gzip. If `path` does not exist, reads `path` + ".gz".
util::Result<std::string> read_test_data(const std::filesystem::path& path);

/// A temporary directory with a decompressed copy of a file, or of each file of a directory, for programs and
/// functions that need a path. The copies have the names without ".gz". Throws if a file cannot be read.
class UnpackedData {
public:
  explicit UnpackedData(const std::filesystem::path& source);
  const std::filesystem::path& path() const { return x_directory.path(); }
  std::filesystem::path operator/(const std::string& name) const { return x_directory / name; }

private:
  TempDirectory x_directory;
};

/// Returns the directory of the unpacked files of tests/affinity/topologies, which exists until the process
/// exits.
const std::filesystem::path& unpacked_topologies();

} // namespace hpcml::test
