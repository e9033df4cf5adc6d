// SPDX-License-Identifier: MIT
#include "core/node_health/bad_node_file.hpp"

#include <algorithm>
#include <unordered_set>

#include "core/util/text.hpp"

namespace hpcml::node_health {

std::string render_bad_node(const BadNode& bad) {
  std::string line = bad.node + " " + bad.why;
  for (auto& letter : line)
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  return line + "\n";
}

namespace {
/// True for a name that Slurm accepts: what else is in the file does not reach a terminal or Slurm.
bool is_node_name(const std::string& name) {
  const auto is_part = [](char c) { return util::is_name_char(c) || c == '-' || c == '.'; };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_part);
}
} // namespace

std::vector<BadNode> parse_bad_nodes(std::string_view text) {
  std::vector<BadNode> all;
  std::unordered_set<std::string> names;
  for (const auto& line : util::split(text, '\n')) {
    const auto words = util::trim(line);
    const auto end = std::min(words.find(' '), words.size());
    BadNode bad{std::string(words.substr(0, end)), std::string(util::trim(words.substr(end)))};
    if (is_node_name(bad.node) && names.insert(bad.node).second) all.push_back(std::move(bad));
  }
  return all;
}

} // namespace hpcml::node_health
