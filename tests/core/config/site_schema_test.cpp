// SPDX-License-Identifier: MIT
// What the rows of a profile's form make is what the files say, and takes what the reader takes.
#include <catch2/catch.hpp>
#include <random>
#include <regex>

#include "core/config/site_schema.hpp"
#include "core/config/text_rule.hpp"
#include "core/util/file.hpp"

using namespace hpcml;

namespace {

bool is_file(const std::string& name, const std::string& text) {
  return util::read_file(std::string(HPCML_SOURCE_DIR) + "/" + name).value_or("") == text;
}

} // namespace

TEST_CASE("sites/schema.json is what hpcml sites schema prints", "[spec]") {
  CHECK(is_file("sites/schema.json", config::render_site_schema()));
}

TEST_CASE("Every text that a rule allows matches the rule's pattern", "[spec]") {
  const std::vector<std::string> pieces = {
      "-",        "--",       "a",       "B",      "_",   "1",     "none",  "=",           ":",
      "/",        ".",        ",",       "@",      "%",   "+",     "&",     "|",           "[",
      "]",        "*",        "^",       " ",      "$",   "${",    "}",     "{tasks}",     "{gib}",
      "$HOME",    "${TMP_1}", "source ", "/opt/x", "x:y", "torch", ">=1.0", "~=2",         "!=3",
      "cpu-bind", "NCCL",     "\"",      "\\",     "é",   "i",     "-ib0",  "#!/bin/bash", " -l"};
  std::mt19937 random(20261123);
  std::size_t allowed = 0, refused_by_both = 0;
  for (const auto rule : config::all_text_rules()) {
    const std::string pattern(config::text_pattern(rule));
    const std::regex regex(pattern.empty() ? ".*" : pattern);
    for (int i = 0; i < 3000; ++i) {
      std::string text;
      for (unsigned n = random() % 5; n > 0; --n) text += pieces[random() % pieces.size()];
      const bool takes = config::text_fault(text, rule).empty();
      const bool matches = std::regex_search(text, regex);
      INFO(config::text_name(rule) << ": " << text);
      if (takes) CHECK(matches);
      allowed += takes ? 1 : 0;
      refused_by_both += !takes && !matches ? 1 : 0;
    }
  }
  CHECK(allowed > 3000);
  CHECK(refused_by_both > 3000);
}
