// SPDX-License-Identifier: MIT
#include "spec/text_file.hpp"

#include <filesystem>
#include <fmt/format.h>

#include "util/file.hpp"

namespace hpcml::spec {

namespace fs = std::filesystem;

util::Result<std::string> load_text_file(const std::string& path, const std::string& what) {
  constexpr std::uintmax_t k_most_bytes = 1 << 20;
  std::error_code error;
  const auto status = fs::status(path, error);
  if (error || !fs::exists(status)) return util::Error{fmt::format("there is no file {}", path)};
  if (!fs::is_regular_file(status)) return util::Error{fmt::format("{} is not a regular file", path)};
  if (fs::file_size(path, error) > k_most_bytes)
    return util::Error{fmt::format("{} is larger than 1 MiB, which {} never is", path, what)};
  return util::read_file(path);
}

std::string config_folder(const util::EnvSnapshot& env) {
  const auto home = env.get_or("HOME", "");
  const auto folder = env.get_or("XDG_CONFIG_HOME", home.empty() ? "" : home + "/.config");
  return folder.empty() ? "" : folder + "/hpcml";
}

} // namespace hpcml::spec
