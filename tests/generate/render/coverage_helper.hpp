// SPDX-License-Identifier: MIT
// Which limits of which sites were tried: a table for people, and the numbers for the tests.
#pragma once

#include <map>
#include <set>
#include <string>

namespace hpcml::test {

class Coverage {
public:
  /// A limit of the kind was stepped over at the site, and refused.
  void tried(const std::string& kind, const std::string& site) { ++x_kinds[kind][site].tried; }
  /// A limit of the kind that was not tried there: nobody knows it, or another rule hides it.
  void missed(const std::string& kind, const std::string& site) { ++x_kinds[kind][site].missed; }
  /// The limits of the kind that were tried, at all sites or at one.
  unsigned count(const std::string& kind) const;
  unsigned count(const std::string& kind, const std::string& site) const;
  /// The sites where at least one of the kind was tried.
  unsigned sites(const std::string& kind) const;
  /// A row for each of `sites`, a column for each kind, and below them how many sites are untested.
  std::string render(const std::set<std::string>& sites) const;

private:
  struct Cell {
    unsigned tried = 0, missed = 0;
  };
  std::map<std::string, std::map<std::string, Cell>> x_kinds;
};

} // namespace hpcml::test
