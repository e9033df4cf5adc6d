// SPDX-License-Identifier: MIT
#include "core/util/user_path.hpp"

#include <fmt/format.h>

#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

namespace hpcml::util {

PathBaseDirectories user_places(const EnvSnapshot& env) {
  std::error_code failed;
  const auto current_directory = std::filesystem::current_path(failed);
  const std::filesystem::path shells = env.get_or("PWD", "");
  // Compute nodes often know a project directory by the link, not by the place it points to.
  const bool same =
      shells.is_absolute() && std::filesystem::equivalent(shells, current_directory, failed) && !failed;
  return {env.get_or("HOME", ""), same ? shells : current_directory};
}

Result<std::string> absolute_path(std::string_view text, const PathBaseDirectories& places) {
  if (text.empty()) return Error{"an empty path ('') was given", "set a path, or remove the option"};
  if (text.front() == '/') return std::string(text);
  if (text.front() == '$')
    return Error{fmt::format("the path '{}' begins with a variable, which hpcml does not expand here", text),
                 "use the value of the variable, or put ./ before a name that begins with $"};
  std::filesystem::path path;
  if (text == "~" || text.starts_with("~/")) {
    if (places.home.empty())
      return Error{fmt::format("the path '{}' is below your home directory, but HOME is not set", text),
                   "use the whole path, or set HOME"};
    path = std::filesystem::path(places.home) / text.substr(std::min<std::size_t>(2, text.size()));
  } else if (text.front() == '~') {
    return Error{
        fmt::format("the path '{}' is in another user's home directory, which hpcml does not look up", text),
        "use the whole path, or ./ before a name that begins with ~"};
  } else {
    path = places.directory / text;
  }
  std::string result = path.lexically_normal().string();
  while (result.size() > 1 && result.back() == '/') result.pop_back();
  return result;
}

std::string leading_variable(std::string_view path) {
  if (!path.starts_with("$")) return {};
  const bool brace = path.starts_with("${");
  const std::size_t begin = brace ? 2 : 1;
  auto end = begin;
  while (end < path.size() && is_name_char(path[end])) ++end;
  std::string name(path.substr(begin, end - begin));
  if (brace && (end >= path.size() || path[end++] != '}')) return {};
  const auto rest = path.substr(end);
  const bool plain = rest.empty() || (rest.front() == '/' && rest.find_first_of("$`\"\\'\n") == rest.npos);
  return plain && is_variable_name(name) ? name : std::string();
}

Result<std::string> cache_directory(const EnvSnapshot& env, std::string_view kind) {
  const std::filesystem::path named = env.get_or("XDG_CACHE_HOME", ""), home = env.get_or("HOME", "");
  const auto caches = named.is_absolute() ? named : home.is_absolute() ? home / ".cache" : "";
  if (!caches.empty()) return (caches / "hpcml" / kind).string();
  return Error{"no directory for what hpcml builds: neither HOME nor XDG_CACHE_HOME is an absolute path",
               "set XDG_CACHE_HOME to a directory that you can write to"};
}

} // namespace hpcml::util
