// SPDX-License-Identifier: MIT
// Comments that silence a rule: where they hold, and what is said of those that do not.
#include <catch2/catch.hpp>

#include "check/check_script.hpp"
#include "check/rule_examples.hpp"
#include "check/suppress.hpp"
#include "core/util/text.hpp"
#include "shipped_site.hpp"

using namespace hpcml;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> list;
  for (const auto& finding : check::check_script("x.sh", text, {slurm::Version::v23_11}))
    list.push_back(finding.what.code + ":" + std::to_string(finding.what.location.line));
  return list;
}

using Lines = std::vector<std::string>;

diag::Diagnostic only(const std::string& text, const std::string& code) {
  std::vector<diag::Diagnostic> found;
  for (const auto& finding : check::check_script("x.sh", text, {slurm::Version::v23_11}))
    if (finding.what.code == code) found.push_back(finding.what);
  INFO(text);
  REQUIRE(found.size() == 1);
  return found[0];
}

const std::string k_late = "slurm/after-command";

} // namespace

TEST_CASE("A comment silences its rule on its own line or the next one, and nothing else") {
  const std::string suppression = "# hpcml: disable=slurm/after-command wanted\n";
  const std::vector<std::pair<std::string, Lines>> cases = {
      {"#!/bin/bash\ntrue\n#SBATCH -N2\n", {k_late + ":3"}},
      {"#!/bin/bash\ntrue\n" + suppression + "#SBATCH -N2\n", {}},
      {"#!/bin/bash\ntrue\n" + suppression + "#SBATCH -N2\n#SBATCH -n2\n", {k_late + ":5"}},
      // comments and empty lines between it and what it is about
      {"#!/bin/bash\ntrue\n" + suppression + "\n# why\n#SBATCH -N2\n", {}},
      {"#!/bin/bash\ntrue\n  " + suppression + "#SBATCH -N2\n", {}},
      // two comments for one line, and several ids in one
      {"#!/bin/bash\n" + suppression + "# hpcml: disable=slurm/disabled-directive off\n# SBATCH -N2\n",
       {k_late, "x"}},
      {"#!/bin/bash\ntrue\n# hpcml: disable=slurm/variable-in-directive,slurm/after-command wanted\n#SBATCH "
       "-N2\n",
       {}},
      {"#!/bin/bash\n# hpcml: disable-file=slurm/after-command wanted\ntrue\n#SBATCH -N2\n#SBATCH -n2\n", {}},
      {"#!/bin/bash\ntrue\n#SBATCH -N2\n#SBATCH -n2\n# hpcml: disable-file=slurm/after-command wanted\n", {}},
      {"#!/bin/bash\r\ntrue\r\n# hpcml: disable=slurm/after-command wanted\r\n#SBATCH -N2\r\n", {"crlf"}},
      // no comment of ours
      {"#!/bin/bash\ntrue\n# hpcml: disable slurm/after-command wanted\n#SBATCH -N2\n", {k_late + ":4"}},
      {"#!/bin/bash\ntrue\n# see hpcml: disable=slurm/after-command wanted\n#SBATCH -N2\n", {k_late + ":4"}},
  };
  for (const auto& [text, left] : cases) {
    INFO(text);
    if (left == Lines{"crlf"}) { // other findings are right there, this one is silenced
      for (const auto& line : lines_of(text)) CHECK_FALSE(line.starts_with(k_late));
    } else if (left == Lines{k_late, "x"}) { // the first silences nothing, the second does
      CHECK(lines_of(text) == Lines{"check/disable:2"});
    } else {
      CHECK(lines_of(text) == left);
    }
  }
}

TEST_CASE("A line that goes on in the next ones is silenced as a whole") {
  const std::string text =
      "#!/bin/bash\n# hpcml: disable=slurm/after-command wanted\nsrun \\\n  -n 2 \\\n  true\nsrun false\n";
  for (unsigned line = 2; line <= 6; ++line) {
    check::Findings findings = {{{diag::Severity::warning, k_late, "x", {"x.sh", line, 1, 1}, {}}, {}}};
    check::apply_suppressions("x.sh", text, diag::LineTable(text), findings);
    INFO(line);
    REQUIRE(findings.size() ==
            (line >= 3 && line <= 5 ? 0U : 2U)); // outside it stays, and the comment is told to be of no use
  }
  // behind a line that goes on, a comment is about the next one
  CHECK(
      lines_of("#!/bin/bash\ntrue \\\n # hpcml: disable=slurm/after-command wanted\n#SBATCH -N2\n").empty());
}

TEST_CASE("A comment without a reason, with an unknown id or without use is told") {
  const auto bare =
      only("#!/bin/bash\ntrue\n# hpcml: disable=slurm/after-command\n#SBATCH -N2\n", "check/disable");
  CHECK(bare.severity == diag::Severity::warning);
  CHECK(bare.message.find("reason") != std::string::npos);
  CHECK(bare.location.line == 3);
  CHECK(bare.location.column == 1);
  CHECK(lines_of("#!/bin/bash\ntrue\n# hpcml: disable=slurm/after-command\n#SBATCH -N2\n") ==
        Lines{"check/disable:3", k_late + ":4"});

  const auto typo = only("#!/bin/bash\ntrue # hpcml: disable=slurm/after-comand I know\n", "check/disable");
  CHECK(typo.severity == diag::Severity::warning);
  CHECK(typo.location.column == 6);
  CHECK(typo.hint == "use 'slurm/after-command' if that is meant");
  CHECK(only("#!/bin/bash\ntrue # hpcml: disable=nothing/like-it I know\n", "check/disable").hint ==
        "run hpcml rules to list them");

  const auto unused = only(
      "#!/bin/bash\n# hpcml: disable=slurm/after-command was so once\n#SBATCH -N2\ntrue\n", "check/disable");
  CHECK(unused.severity == diag::Severity::note);
  // one id of two is not used: nothing is said, the comment has its use
  CHECK(lines_of("#!/bin/bash\ntrue\n# hpcml: disable=slurm/disabled-directive,slurm/after-command "
                 "wanted\n#SBATCH -N2\n")
            .empty());
  CHECK(
      only("#!/bin/bash\n# hpcml: disable= because\ntrue\n", "check/disable").message.find("names no rule") !=
      std::string::npos);
}

TEST_CASE("What is silenced is not mended") {
  const std::string bad = "#!/bin/bash\n#SBATCH --nodes 2\n"; // any script with a fix will do
  for (const auto& [id, examples] : test::rule_examples())
    for (const auto& example : examples) {
      if (!example.bad || !example.site.empty()) continue;
      const auto target = test::target_of(example);
      bool fixes = false;
      for (const auto& finding : check::check_script("x.sh", example.script, target))
        fixes = fixes || (finding.what.code == id && !finding.fix.empty());
      if (!fixes) continue;
      const auto text = example.script + "\n# hpcml: disable-file=" + id + " as it is\n";
      INFO(text);
      for (const auto& finding : check::check_script("x.sh", text, target)) CHECK(finding.what.code != id);
    }
  CHECK(check::fix_script(bad, {slurm::Version::v23_11}).text == bad);
}

TEST_CASE("A script that says that it is no job is held against no site's rules") {
  const auto alpine = test::shipped_site("alpine");
  const auto rules = [&](const std::string& comment) {
    return check::check_script("x.sh", "#!/bin/bash\n" + comment + "mkdir -p data\n", {{}, &alpine}).size();
  };
  CHECK(rules("") > 0);
  CHECK(rules("# hpcml: not-a-job it makes folders\n") == 0);
  CHECK(rules("# hpcml: not-a-job\n") > 0); // nobody said why
}
