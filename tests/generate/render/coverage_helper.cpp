// SPDX-License-Identifier: MIT
#include "generate/render/coverage_helper.hpp"

#include <vector>

#include "core/util/text_table.hpp"

namespace hpcml::test {

unsigned Coverage::count(const std::string& kind, const std::string& site) const {
  const auto found = x_kinds.find(kind);
  if (found == x_kinds.end()) return 0;
  const auto cell = found->second.find(site);
  return cell == found->second.end() ? 0 : cell->second.tried;
}

unsigned Coverage::count(const std::string& kind) const {
  unsigned sum = 0;
  if (const auto found = x_kinds.find(kind); found != x_kinds.end())
    for (const auto& [site, cell] : found->second) sum += cell.tried;
  return sum;
}

unsigned Coverage::sites(const std::string& kind) const {
  unsigned sum = 0;
  if (const auto found = x_kinds.find(kind); found != x_kinds.end())
    for (const auto& [site, cell] : found->second) sum += cell.tried > 0 ? 1 : 0;
  return sum;
}

std::string Coverage::render(const std::set<std::string>& sites) const {
  std::vector<std::vector<std::string>> rows(1, {"SITE"});
  std::string kinds;
  char letter = 'A';
  for (const auto& [kind, cells] : x_kinds) {
    rows[0].push_back(std::string(1, letter));
    kinds += std::string("  ") + letter++ + " " + kind + "\n";
  }
  rows[0].push_back("ALL");
  const auto add_sum = [&](const std::string& name, auto number) {
    rows.push_back({name});
    for (const auto& [kind, cells] : x_kinds) rows.back().push_back(std::to_string(number(kind)));
  };
  for (const auto& site : sites) {
    rows.push_back({site});
    unsigned all = 0;
    for (const auto& [kind, cells] : x_kinds) {
      const auto found = cells.find(site);
      const Cell cell = found == cells.end() ? Cell{} : found->second;
      all += cell.tried;
      rows.back().push_back(cell.tried > 0    ? std::to_string(cell.tried) + (cell.missed > 0 ? "?" : "")
                            : cell.missed > 0 ? "?"
                                              : ".");
    }
    rows.back().push_back(all > 0 ? std::to_string(all) : "untested");
  }
  add_sum("cases", [&](const std::string& kind) { return count(kind); });
  add_sum("sites tested", [&](const std::string& kind) { return this->sites(kind); });
  add_sum("sites untested", [&](const std::string& kind) { return sites.size() - this->sites(kind); });
  return util::render_columns(rows) +
         "Numbers are cases; . no such limit in the profile, ? one that is not known or that another rule "
         "hides: both count as untested.\n" +
         kinds;
}

} // namespace hpcml::test
