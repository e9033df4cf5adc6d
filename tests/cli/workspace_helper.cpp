// SPDX-License-Identifier: MIT
#include "cli/workspace_helper.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <stdexcept>

#include "core/util/file.hpp"

namespace hpcml::test {

namespace fs = std::filesystem;

Workspace::Workspace() {
  x_env.set("PATH", "/usr/sbin:/usr/bin:/bin");
  x_env.set("HOME", x_directory.path().string());
  x_env.set("H", HPCML_BINARY);
  if (const char* key = std::getenv("HPCML_KEY_FILE")) x_env.set("HPCML_KEY_FILE", key);
}

util::ProcessOutput Workspace::run(std::vector<std::string> words, std::chrono::seconds limit) const {
  words.insert(words.begin(), {"/usr/bin/env", "-C", x_directory.path().string()});
  const auto result = util::run_process(words, x_env, limit);
  if (!result) throw std::runtime_error(result.error().what);
  return *result;
}

util::ProcessOutput Workspace::hpcml(const std::vector<std::string>& words) const {
  std::vector<std::string> argv{HPCML_BINARY};
  argv.insert(argv.end(), words.begin(), words.end());
  return run(argv, std::chrono::seconds(300));
}

util::ProcessOutput Workspace::program(const std::vector<std::string>& words) const {
  return run(words, std::chrono::seconds(300));
}

util::ProcessOutput Workspace::emulate(const std::string& site, unsigned nodes, const std::string& script,
                                       const std::string& partition) const {
  std::vector<std::string> words = {HPCML_BINARY,         "emulate", "--quiet", "--site", site, "--nodes",
                                    std::to_string(nodes)};
  if (!partition.empty()) words.insert(words.end(), {"--partition", partition});
  words.insert(words.end(), {"--", "bash", "-c", script});
  return run(words, std::chrono::seconds(900));
}

void Workspace::put(const std::string& name, const std::string& text, unsigned mode) const {
  REQUIRE(util::write_file(x_directory / name, text, mode));
}

std::string Workspace::read(const std::string& name) const {
  return util::read_file(x_directory / name).value_or("");
}

std::size_t Workspace::files() const {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(x_directory.path()), fs::directory_iterator()));
}

} // namespace hpcml::test
