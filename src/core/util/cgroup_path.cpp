// SPDX-License-Identifier: MIT
#include "core/util/cgroup_path.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::util {

namespace {

/// mountinfo writes spaces, tabs, newlines and backslashes of names as "\040".
std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      return at < text.size() && text[at] >= '0' && text[at] <= '7' ? text[at] - '0' : -1;
    };
    if (text[i] == '\\' && digit(i + 1) >= 0 && digit(i + 2) >= 0 && digit(i + 3) >= 0) {
      plain += static_cast<char>(digit(i + 1) * 64 + digit(i + 2) * 8 + digit(i + 3));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

struct Mount {
  std::string root, point;
};

/// Where this kind of groups is mounted; the option is the controller of v1, empty for v2.
std::optional<Mount> find_mount(std::string_view mountinfo, std::string_view kind, std::string_view option) {
  for (const auto& line : split(mountinfo, '\n')) {
    const auto words = split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4 || dash[1] != kind) continue;
    if (!option.empty() && !contains(split(dash[3], ','), option)) continue;
    return Mount{unescaped(words[3]), unescaped(words[4])};
  }
  return std::nullopt;
}

/// The group's path below what is mounted. In a container only a part of the tree may be, or a part whose own
/// top is called "/".
std::string path_below(const std::string& path, const std::string& root) {
  if (root == "/" || root.empty()) return path;
  if (path == root) return "/";
  return path.starts_with(root + "/") ? path.substr(root.size()) : "/";
}

} // namespace

std::optional<CgroupPath> parse_memory_place(std::string_view cgroup, std::string_view mountinfo) {
  return parse_group_place("memory", cgroup, mountinfo);
}

std::optional<CgroupPath> parse_group_place(std::string_view controller, std::string_view cgroup,
                                            std::string_view mountinfo) {
  CgroupPath place;
  std::optional<std::string> path, unified;
  for (const auto& line : split(cgroup, '\n')) {
    const auto first = line.find(':');
    const auto second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const auto controllers = line.substr(first + 1, second - first - 1);
    if (contains(split(controllers, ','), controller)) path = line.substr(second + 1);
    if (line.starts_with("0::")) unified = line.substr(second + 1);
  }
  // Where both are mounted, the first has it: a controller is in one tree only.
  place.unified = !path;
  const auto mount =
      path ? find_mount(mountinfo, "cgroup", controller) : find_mount(mountinfo, "cgroup2", "");
  if (!path) path = unified;
  if (!mount || !path) return std::nullopt;
  place.top = mount->point;
  place.path = path_below(*path, mount->root);
  return place;
}

} // namespace hpcml::util
