// SPDX-License-Identifier: MIT
#include "run/launch/last_lines.hpp"

#include <algorithm>

namespace hpcml::launch {

void LastLines::add(std::string_view bytes) {
  if (bytes.size() >= k_bytes) {
    x_cut = x_cut || !x_bytes.empty() || bytes.size() > k_bytes;
    x_bytes.assign(bytes.substr(bytes.size() - k_bytes));
    return;
  }
  x_bytes.append(bytes);
  if (x_bytes.size() <= 2 * k_bytes) return;
  x_cut = true;
  x_bytes.erase(0, x_bytes.size() - k_bytes);
}

std::vector<std::string> LastLines::lines() const {
  std::string_view rest = x_bytes;
  bool cut = x_cut;
  if (rest.size() > k_bytes) {
    rest.remove_prefix(rest.size() - k_bytes);
    cut = true;
  }
  if (rest.ends_with('\n'))
    rest.remove_suffix(1);
  else if (rest.empty())
    return {};
  std::vector<std::string> found;
  while (found.size() < k_lines) {
    const auto end = rest.rfind('\n');
    const bool first = end == std::string_view::npos;
    std::string_view line = first ? rest : rest.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    const auto back = line.rfind('\r');
    if (back != std::string_view::npos) line.remove_prefix(back + 1);
    const bool begins_here = !first || !cut || back != std::string_view::npos;
    found.push_back((begins_here ? "" : "…") + std::string(line));
    if (first) break;
    rest = rest.substr(0, end);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

} // namespace hpcml::launch
