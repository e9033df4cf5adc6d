// SPDX-License-Identifier: MIT
// The security page names a test for each way to start a job.
#include <catch2/catch.hpp>

#include <map>
#include <regex>
#include <set>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "sources.hpp"

using namespace hpcml;

namespace {

/// The rows of the table below a heading, by their first cell; without the header.
std::map<std::string, std::vector<std::string>> table_below(const std::string& page,
                                                            const std::string& heading) {
  std::map<std::string, std::vector<std::string>> rows;
  const auto start = page.find("\n## " + heading + "\n");
  REQUIRE(start != std::string::npos);
  const auto end = std::min(page.find("\n## ", start + 1), page.size());
  for (const auto& line : util::split(page.substr(start, end - start), '\n')) {
    if (!line.starts_with("| ")) continue;
    auto cells = util::split(line.substr(2, line.rfind('|') - 2), '|');
    for (auto& cell : cells) cell = util::trim(cell);
    rows[cells.front()] = {cells.begin() + 1, cells.end()};
  }
  rows.erase("start");
  return rows;
}

std::set<std::string> test_names() {
  std::set<std::string> names;
  const std::regex pattern(R"re(TEST_CASE\(\s*"((?:[^"\\]|\\.)*)")re");
  for (const auto& path : sources("tests")) {
    const auto text = util::read_file(path).value();
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
      names.insert((*match)[1].str());
  }
  return names;
}

} // namespace

TEST_CASE("each start on the security page has tests") {
  const auto page = util::read_file(std::string(HPCML_SOURCE_DIR) + "/docs/concepts/security.md").value();
  const auto starts = table_below(page, "How each start is authenticated");
  const auto tests = table_below(page, "Tests");
  const auto names = test_names();
  CHECK(starts.size() == 8);
  CHECK(tests.size() == starts.size());
  for (const auto& [start, cells] : starts) {
    CAPTURE(start);
    REQUIRE(tests.count(start) == 1);
    REQUIRE(cells.size() == 2);
    REQUIRE(tests.at(start).size() == 2);
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const auto& cell = tests.at(start)[i];
      std::size_t found = 0;
      const std::regex quoted("\"([^\"]+)\"");
      for (std::sregex_iterator match(cell.begin(), cell.end(), quoted), end; match != end; ++match) {
        CAPTURE((*match)[1].str());
        CHECK(names.count((*match)[1].str()) == 1);
        ++found;
      }
      CHECK((found > 0 || cells[i] == "cannot happen"));
    }
  }
}
