// SPDX-License-Identifier: MIT
// Every rule's own examples, and what a check says over versions.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "check/check_script.hpp"
#include "check/rule.hpp"

using namespace hpcml;

namespace {

bool finds(std::string_view script, std::string_view code, std::optional<slurm::Version> version = slurm::Version::v23_11) {
  const auto list = check::check_script("x.sh", script, version);
  return std::any_of(list.begin(), list.end(), [&](const diag::Diagnostic& d) { return d.code == code; });
}

} // namespace

TEST_CASE("Every rule finds its bad examples, leaves its good ones alone, and has at least three of each") {
  std::set<std::string_view> ids;
  for (const auto* rule : check::all_rules()) {
    INFO(rule->id);
    CHECK(ids.insert(rule->id).second);
    CHECK(rule->bad.size() >= 3);
    CHECK(rule->good.size() >= 3);
    CHECK_FALSE(rule->why.empty());
    CHECK(rule->link.substr(0, 8) == "https://");
    for (const auto script : rule->bad) {
      INFO(script);
      CHECK(finds(script, rule->id));
    }
    for (const auto script : rule->good) {
      INFO(script);
      CHECK_FALSE(finds(script, rule->id));
    }
  }
}

TEST_CASE("A finding points at the words that are wrong") {
  const auto list = check::check_script("x.sh", "#!/bin/bash\n#SBATCH -N2 --time 1h\n", slurm::Version::v22_05);
  REQUIRE(list.size() == 1);
  CHECK(list[0].code == "slurm/value");
  CHECK(list[0].span.line == 2);
  CHECK(list[0].span.column == 13);
  CHECK(list[0].span.length == 9);
}

TEST_CASE("All findings come at once, in the order of the lines") {
  const auto list = check::check_script("x.sh", "#!/bin/bash\n#SBATCH --nodes=x\n#SBATCH --bogus\n#SBATCH --mem=1.5G extra\nsrun true\n#SBATCH -n4\n",
                                        slurm::Version::v24_05);
  std::vector<std::string> codes;
  for (const auto& finding : list) codes.push_back(finding.code);
  CHECK(codes == std::vector<std::string>{"slurm/value", "slurm/option-unknown", "slurm/value", "slurm/operand", "directive/after-command"});
}

TEST_CASE("Without a version a refusal of some versions is a warning that names them, one of all is an error") {
  const auto some = check::check_script("x.sh", "#!/bin/bash\n#SBATCH --stepmgr\n", std::nullopt);
  REQUIRE(some.size() == 1);
  CHECK(some[0].severity == diag::Severity::warning);
  CHECK(some[0].message.find("(Slurm 20.11 to 23.11)") != std::string::npos);
  const auto all = check::check_script("x.sh", "#!/bin/bash\n#SBATCH --cpu-bind=cores\n", std::nullopt);
  REQUIRE(all.size() == 1);
  CHECK(all[0].severity == diag::Severity::error);
  CHECK(all[0].hint.find("srun") != std::string::npos);
}
