// SPDX-License-Identifier: MIT
#include "core/config/text_file.hpp"

#include "core/util/input_file.hpp"

namespace hpcml::config {

util::Result<std::string> load_text_file(const std::string& path, const char* owner_hint) {
  return util::read_input(path, {1 << 20, true, owner_hint});
}

std::string config_directory(const util::EnvSnapshot& env) {
  const auto home = env.get_or("HOME", "");
  const auto directory = env.get_or("XDG_CONFIG_HOME", home.empty() ? "" : home + "/.config");
  return directory.empty() ? "" : directory + "/hpcml";
}

} // namespace hpcml::config
