// SPDX-License-Identifier: MIT
#include "model/bad_nodes.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace hpcml::model {

std::string render_bad_node(const BadNode& bad) {
  std::string line = bad.node + " " + bad.why;
  for (auto& letter : line)
    if (static_cast<unsigned char>(letter) < ' ') letter = ' ';
  return line + "\n";
}

std::vector<BadNode> parse_bad_nodes(std::string_view text) {
  std::vector<BadNode> all;
  for (const auto& line : util::split(text, '\n')) {
    const auto words = util::trim(line);
    const auto end = std::min(words.find(' '), words.size());
    BadNode bad{std::string(words.substr(0, end)), std::string(util::trim(words.substr(end)))};
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const auto& other) { return other.node == bad.node; });
    if (!bad.node.empty() && !known) all.push_back(std::move(bad));
  }
  return all;
}

} // namespace hpcml::model
