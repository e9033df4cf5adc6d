// SPDX-License-Identifier: MIT
// Every rule's own examples, and what a check says over versions.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "check/check_script.hpp"
#include "check/fix.hpp"
#include "check/rule.hpp"
#include "spec/site_store.hpp"

using namespace hpcml;

namespace {

/// The built-in profile, read once.
const model::Site* site(std::string_view id) {
  static std::map<std::string, model::Site, std::less<>> sites;
  if (id.empty()) return nullptr;
  auto found = sites.find(id);
  if (found == sites.end()) {
    auto load = spec::load_site(std::string(id), {});
    INFO(id);
    REQUIRE(load.site);
    found = sites.emplace(std::string(id), std::move(*load.site)).first;
  }
  return &found->second;
}

check::Target target_of(const check::Example& example) {
  check::Target target{std::nullopt, site(example.site)};
  if (!example.version.empty())
    target.version = slurm::parse_version(example.version);
  else if (!target.site || !target.site->slurm_version)
    target.version = slurm::Version::v23_11;
  return target;
}

bool finds(std::string_view script, std::string_view code, const check::Target& target) {
  const auto list = check::check_script("x.sh", script, target);
  return std::any_of(list.begin(), list.end(),
                     [&](const check::Finding& finding) { return finding.what.code == code; });
}

diag::Diagnostics diagnostics(std::string_view script, std::optional<slurm::Version> version) {
  return check::diagnostics_of(check::check_script("x.sh", script, {version, nullptr}));
}

} // namespace

TEST_CASE("Every rule finds its bad examples, leaves its good ones alone, and has at least three of each") {
  std::set<std::string_view> ids;
  for (const auto* rule : check::all_rules()) {
    INFO(rule->id);
    CHECK(ids.insert(rule->id).second);
    static const std::set<std::string_view> k_groups = {"slurm", "site", "launch", "safety", "check"};
    CHECK(k_groups.count(rule->group()) == 1);
    const bool too_large = rule->id == "slurm/script-size"; // megabytes: limits_test makes them
    CHECK((too_large || rule->bad.size() >= 3));
    CHECK((too_large || rule->good.size() >= 3));
    CHECK_FALSE(rule->title.empty());
    CHECK_FALSE(rule->why.empty());
    CHECK(rule->link.substr(0, 8) == "https://");
    for (const auto& example : rule->bad) {
      INFO(example.script);
      CHECK(finds(example.script, rule->id, target_of(example)));
    }
    for (const auto& example : rule->good) {
      INFO(example.script);
      CHECK_FALSE(finds(example.script, rule->id, target_of(example)));
    }
  }
}

TEST_CASE("A mend takes its finding away and brings no other") {
  for (const auto* rule : check::all_rules())
    for (const auto& example : rule->bad) {
      INFO(rule->id);
      INFO(example.script);
      const auto target = target_of(example);
      std::map<std::string, int> before;
      bool mends = false;
      for (const auto& finding : check::check_script("x.sh", example.script, target)) {
        ++before[finding.what.code];
        mends = mends || (finding.what.code == rule->id && !finding.fix.empty());
      }
      if (!mends) continue;
      const auto mended = check::fix_script(example.script, target).text;
      INFO(mended);
      CHECK(mended != example.script);
      CHECK_FALSE(finds(mended, rule->id, target));
      std::map<std::string, int> after;
      for (const auto& finding : check::check_script("x.sh", mended, target)) ++after[finding.what.code];
      for (const auto& [code, count] : after) {
        INFO(code);
        CHECK(count <= before[code]);
      }
    }
}

TEST_CASE("A mend leaves templates alone") {
  const std::string text = "#!/bin/bash\n#SBATCH --mem={{ (ram*1000)|int }}MB\n#SBATCH --time={{ t }} (h)\n";
  CHECK(check::fix_script(text, {}).text == text);
}

TEST_CASE("A mend that would write what stands there is none") {
  const auto list = check::check_script("x.sh", "#!/bin/bash\n#SBATCH --gpus=1 --gpu-bind=none\nsrun true\n",
                                        {}); // refused by 20.11
  REQUIRE(list.size() == 1);
  CHECK(list[0].what.code == "slurm/value");
  CHECK(list[0].what.severity == diag::Severity::note);
  CHECK(list[0].fix.empty());
}

TEST_CASE("A partition that the site asks not to name is a warning") {
  const auto severity = [](const char* at) {
    const auto list = check::check_script(
        "x.sh",
        "#!/bin/bash\n#SBATCH -A def-me -t 1:0:0 -p gpubase_bygpu_b1 --gpus-per-node=h100:1\nsrun true\n",
        {std::nullopt, site(at)});
    for (const auto& finding : list) {
      CHECK(finding.what.code != "site/partition-unknown");
      if (finding.what.code == "site/partition-named") return finding.what.severity;
    }
    FAIL("not found");
    return diag::Severity::note;
  };
  CHECK(severity("fir") == diag::Severity::warning);
}

TEST_CASE("A finding points at the words that are wrong") {
  const auto list = diagnostics("#!/bin/bash\n#SBATCH -N2 --time 1h\n", slurm::Version::v22_05);
  REQUIRE(list.size() == 1);
  CHECK(list[0].code == "slurm/time");
  CHECK(list[0].span.line == 2);
  CHECK(list[0].span.column == 13);
  CHECK(list[0].span.length == 9);
}

TEST_CASE("A syntax error is found on the line that bash names, or where what is never closed begins") {
  const std::pair<const char*, unsigned> k_cases[] = {
      {"#!/bin/bash\nA=(\n  a\n  b | c\n)\n", 4},
      {"#!/bin/bash\nif true; then\n  srun a\n  done\nfi\n", 4},
      {"#!/bin/bash\nsrun a \\\n  --in <path> \\\n  --out x\nsrun --in <path>\nsrun b\n", 5},
      {"#!/bin/bash\nif true; then\n  echo \"a\n  srun b \"c\" d\nfi\necho \"x\"\n", 6},
      {"#!/bin/bash\nsrun a\nexport A=<path>\n", 3},
      {"#!/bin/bash\nsrun a\nif true; then\n  srun b\n", 3}};
  for (const auto& [script, line] : k_cases) {
    INFO(script);
    const auto list = diagnostics(script, slurm::Version::v23_11);
    REQUIRE(list.size() == 1);
    CHECK(list[0].code == "safety/syntax");
    CHECK(list[0].span.line == line);
  }
}

TEST_CASE("All findings come at once, in the order of the lines") {
  const auto list = diagnostics(
      "#!/bin/bash\n#SBATCH --nodes=x\n#SBATCH --bogus\n#SBATCH --mem=1.5G extra\nsrun true\n#SBATCH -n4\n",
      slurm::Version::v24_05);
  std::vector<std::string> codes;
  for (const auto& finding : list) codes.push_back(finding.code);
  CHECK(codes == std::vector<std::string>{"slurm/value", "slurm/option-unknown", "slurm/memory",
                                          "slurm/operand", "slurm/after-command"});
}

TEST_CASE(
    "Without a version a refusal of some versions is a warning that names them, one of all is an error") {
  const auto some = diagnostics("#!/bin/bash\n#SBATCH --stepmgr\n", std::nullopt);
  REQUIRE(some.size() == 1);
  CHECK(some[0].severity == diag::Severity::warning);
  CHECK(some[0].message.find("(Slurm 20.11 to 23.11)") != std::string::npos);
  const auto all = diagnostics("#!/bin/bash\n#SBATCH --cpu-bind=cores\n", std::nullopt);
  REQUIRE(all.size() == 1);
  CHECK(all[0].severity == diag::Severity::error);
  CHECK(all[0].hint.find("srun") != std::string::npos);
}

TEST_CASE("Where no site is named, an option that may be a plugin's is a warning, a slip is an error") {
  const auto plugin = diagnostics("#!/bin/bash\n#SBATCH --image nersc/pytorch:25.06\n#SBATCH "
                                  "--uenv=prgenv:v1\n#SBATCH --bee-gfs=x\nsrun true\n",
                                  slurm::Version::v23_11);
  REQUIRE(plugin.size() == 3);
  for (const auto& finding : plugin) {
    CHECK(finding.code == "slurm/option-unknown");
    CHECK(finding.severity == (finding.span.line == 4
                                   ? diag::Severity::warning
                                   : diag::Severity::note)); // the others are Shifter's and uenv's
  }
  for (const auto* script : {"#!/bin/bash\n#SBATCH --acount=x\n", "#!/bin/bash\n#SBATCH --tiem=10\n",
                             "#!/bin/bash\n#SBATCH --cpu-bind=cores\n", "#!/bin/bash\n#SBATCH --stepmgr\n",
                             "#!/bin/bash\n#SBATCH --workdir /x\n", "#!/bin/bash\n#SBATCH --share\n",
                             "#!/bin/bash\n#SBATCH --gres:gpu=1\n"}) {
    INFO(script);
    const auto slip = diagnostics(script, slurm::Version::v23_11);
    REQUIRE(slip.size() == 1);
    CHECK(slip[0].severity == diag::Severity::error);
  }
}
