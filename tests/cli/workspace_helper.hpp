// SPDX-License-Identifier: MIT
// A folder to work in, with its own home, so that no profile, job file or configuration of the machine is
// seen.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/util/env_snapshot.hpp"
#include "core/util/process.hpp"
#include "holds.hpp"
#include "temp_directory.hpp"

namespace hpcml::test {

class Workspace {
public:
  Workspace();

  /// `hpcml WORDS` in the folder.
  util::ProcessOutput hpcml(const std::vector<std::string>& words) const;
  /// Another program in the folder, to its end.
  util::ProcessOutput program(const std::vector<std::string>& words) const;
  /// A bash script in the folder, on an emulated cluster of the site; $H is hpcml.
  util::ProcessOutput emulate(const std::string& site, unsigned nodes, const std::string& script,
                              const std::string& partition = {}) const;
  void set(const std::string& name, const std::string& value) { x_env.set(name, value); }
  void put(const std::string& name, const std::string& text, unsigned mode = 0644) const;
  /// The file's text, or nothing.
  std::string read(const std::string& name) const;
  std::size_t files() const;
  std::filesystem::path operator/(const std::string& name) const { return x_directory / name; }

private:
  util::ProcessOutput run(std::vector<std::string> words, std::chrono::seconds limit) const;
  TempDirectory x_directory;
  util::EnvSnapshot x_env;
};

} // namespace hpcml::test
