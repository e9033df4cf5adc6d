// SPDX-License-Identifier: MIT
// Every rule's own examples, and what a check says over versions.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "check/check_script.hpp"
#include "check/fix.hpp"
#include "check/rule.hpp"
#include "check/rule_examples.hpp"
#include "core/site_rules/site_rule_table.hpp"

using namespace hpcml;

namespace {

using test::target_of;

/// The built-in profile, read once.
const model::Site* site_called(const std::string& id) { return test::example_site(id); }

bool finds(std::string_view script, std::string_view code, const check::TargetCluster& target) {
  const auto list = check::check_script("x.sh", script, target);
  return std::any_of(list.begin(), list.end(),
                     [&](const check::Finding& finding) { return finding.what.code == code; });
}

diag::Diagnostics diagnostics(std::string_view script, std::optional<slurm::Version> version) {
  diag::Diagnostics list;
  for (const auto& finding : check::check_script("x.sh", script, {version, nullptr}))
    list.push_back(finding.what);
  return list;
}

} // namespace

TEST_CASE("Every rule finds its bad examples, leaves its good ones alone, and has at least three of each") {
  std::set<std::string_view> ids;
  for (const auto& rule : check::all_rules()) {
    INFO(rule.id);
    CHECK(ids.insert(rule.id).second);
    CHECK(check::find_rule(rule.id) == &rule);
    static const std::set<std::string_view> k_groups = {"slurm", "site", "launch", "safety", "check"};
    CHECK(k_groups.count(rule.group()) == 1);
    CHECK_FALSE(rule.title.empty());
    CHECK_FALSE(rule.why.empty());
    CHECK(rule.link.starts_with("https://"));
    if (rule.id == "slurm/script-size") continue; // megabytes: limits_test makes them
    const auto found = test::rule_examples().find(rule.id);
    REQUIRE(found != test::rule_examples().end());
    const auto& examples = found->second;
    const auto bad = std::count_if(examples.begin(), examples.end(), [](const auto& e) { return e.bad; });
    CHECK(bad >= 3);
    CHECK(static_cast<std::ptrdiff_t>(examples.size()) - bad >= 3);
    CHECK((examples.front().name == "page" && examples.front().bad));
    CHECK((examples.at(1).name == "page" && !examples.at(1).bad));
  }
  for (const auto& [id, examples] : test::rule_examples()) {
    INFO(id);
    CHECK(ids.count(id) == 1);
    for (const auto& example : examples) {
      INFO(example.name);
      INFO(example.script);
      CHECK(finds(example.script, id, target_of(example)) == example.bad);
    }
  }
}

TEST_CASE("every site rule has a page") {
  for (unsigned number = 0; number < static_cast<unsigned>(site_rules::SiteRule::count); ++number) {
    const auto& row = site_rules::row_of(static_cast<site_rules::SiteRule>(number));
    CAPTURE(number, row.check_id);
    CHECK(static_cast<unsigned>(row.rule) == number);
    CHECK(check::find_rule(row.check_id) != nullptr);
    CHECK_FALSE(row.request_code.empty());
  }
}

TEST_CASE("A mend takes its finding away and brings no other") {
  for (const auto& [id, examples] : test::rule_examples())
    for (const auto& example : examples) {
      if (!example.bad) continue;
      INFO(id);
      INFO(example.name);
      INFO(example.script);
      const auto target = target_of(example);
      std::map<std::string, int> before;
      bool fixes = false;
      for (const auto& finding : check::check_script("x.sh", example.script, target)) {
        ++before[finding.what.code];
        fixes = fixes || (finding.what.code == id && !finding.fix.empty());
      }
      if (!fixes) continue;
      const auto fixed = check::fix_script(example.script, target).text;
      INFO(fixed);
      CHECK(fixed != example.script);
      CHECK_FALSE(finds(fixed, id, target));
      std::map<std::string, int> after;
      for (const auto& finding : check::check_script("x.sh", fixed, target)) ++after[finding.what.code];
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
  const std::string separate = "#!/bin/bash\n#SBATCH --gpus=1 -t 10\n#SBATCH --gpu-bind none\nsrun true\n";
  CHECK(check::fix_script(separate, {}).text == separate); // with "=" 20.11 refuses it, too
  // A site whose Slurm nobody knows has a newer one.
  CHECK(check::check_script("x.sh", separate, {std::nullopt, site_called("generic")}).empty());
}

TEST_CASE("Of GPUs asked for twice the form stays that the site takes") {
  const std::string twice =
      "#!/bin/bash\n#SBATCH --gres=gpu:2\n#SBATCH --gpus-per-node=2\n#SBATCH -t 10\nsrun a\n";
  const auto with = [&](const char* at) {
    return check::fix_script(twice, {slurm::Version::v26_05, site_called(at)}).text;
  };
  CHECK(with("mila").find("--gres=gpu:2") != std::string::npos);
  CHECK(with("mila").find("--gpus-per-node") == std::string::npos);
  CHECK(with("").find("--gres") == std::string::npos);
  CHECK(with("").find("--gpus-per-node=2") != std::string::npos);
}

TEST_CASE("One cause has one finding") {
  const auto count = [](const std::string& lines, const char* at = "") {
    std::map<std::string, int> codes;
    const auto script = "#!/bin/bash\n" + lines;
    for (const auto& listed : check::check_script("x.sh", script, {slurm::Version::v23_11, site_called(at)}))
      ++codes[listed.what.code];
    return codes;
  };
  using Codes = std::map<std::string, int>;
  CHECK(count("srun --cpu_bind=none python train.py\n") == Codes{{"launch/old-srun-option", 1}});
  CHECK(count("#SBATCH --nodes={nodes}\nsrun a\n") == Codes{{"slurm/value", 1}});
  CHECK(count("#SBATCH --account=<project code>\nsrun a\n") == Codes{{"slurm/unexpected-argument", 1}});
  CHECK(count("#SBATCH <SLURM OPTIONS> here --nodes=2 x\nsrun a\n") ==
        Codes{{"slurm/unexpected-argument", 2}});
  CHECK(count("#SBATCH --account=<account>\nsrun a\n") == Codes{{"safety/placeholder", 1}});
  CHECK(count("#SBATCH -N {1.number of nodes}\nsrun a\n") == Codes{{"slurm/value", 1}});
  CHECK(count("#SBATCH --time=#T#\nsrun a\n") == Codes{{"slurm/time", 1}});
  CHECK(count("#SBATCH --nodes={{ n }}\n#SBATCH --time={{ t }}\nsrun {{ x }}\n") ==
        Codes{{"safety/placeholder", 1}});
  CHECK(count("#SBATCH --mem=$MEM\nsrun a\n") == Codes{{"slurm/memory", 1}});
  CHECK(count("#PBS -t ${TIME}\nsrun a\n") == Codes{{"slurm/array", 1}});
  CHECK(count("#SBATCH --array=0-9 -o a_${SLURM_ARRAY_TASK_ID}.out\nsrun a\n") ==
        Codes{{"slurm/variable-in-directive", 1}});
  CHECK(count("#SBATCH --array=0-9 -o $USER.out\nsrun a\n") ==
        Codes{{"slurm/variable-in-directive", 1}, {"slurm/array-log", 1}});
  CHECK(count("#SBATCH -o $X.log --nodes=x\nsrun a\n") ==
        Codes{{"slurm/value", 1}, {"slurm/variable-in-directive", 1}});
  CHECK(count("#SLURM_JOB=x\nsrun a\n") == Codes{{"slurm/unexpected-argument", 1}});
  CHECK(count("#SBATCH -n 2\n#SBATCh --time=10\nsrun a\n") == Codes{{"slurm/disabled-directive", 1}});
  CHECK(count("#SBATCH --nodes=2 -n 2\nsrun torchrun --nnodes 2 --nproc_per_node 1 \\  # per "
              "task\n  --rdzv_backend c10d\n")["launch/master-address"] == 0);
  CHECK(count("#SBATCH -A <account>\n#SBATCH -t 10 -p small-g --gpus-per-node=1\nsrun a\n", "lumi") ==
        Codes{{"safety/placeholder", 1}});
  auto het =
      count("#SBATCH -A project_462000001 -p small-g --gpus-per-node=1\n#SBATCH hetjob\n#SBATCH -p small-g "
            "--gpus-per-node=1\nsrun a\n",
            "lumi");
  CHECK(het["site/option-missing"] <= 2); // the time once, the account of the second part once
}

TEST_CASE("An option that no profile lists is a warning with a site named, too; a slip stays an error") {
  const auto list = [](const char* line) {
    return check::check_script("x.sh",
                               "#!/bin/bash\n#SBATCH -A a -t 10\n#SBATCH " + std::string(line) + "\nsrun a\n",
                               {std::nullopt, site_called("mila")});
  };
  const auto severity = [&](const char* line) {
    for (const auto& listed : list(line))
      if (listed.what.code == "slurm/option-unknown") return std::optional(listed.what.severity);
    return std::optional<diag::Severity>();
  };
  CHECK(severity("--argos=yes") == diag::Severity::warning);
  CHECK(severity("--container-image=/x/y.sqsh") == diag::Severity::warning);
  CHECK(severity("--container-mounts /a:/a") == diag::Severity::warning);
  CHECK(severity("--acount=x") == diag::Severity::error);
  CHECK(severity("--cpu-bind=cores") == diag::Severity::error);
  CHECK(diagnostics("#!/bin/bash\n#SBATCH --container-image=/x/y.sqsh\n", slurm::Version::v23_11)
            .at(0)
            .severity == diag::Severity::note);
}

TEST_CASE("A partition that the profile does not list is a note, a slip of one that it lists a warning") {
  const auto finding = [](const char* at, const std::string& partition) {
    const auto list = check::check_script("x.sh",
                                          "#!/bin/bash\n#SBATCH -A project_462000001 -t 10 -p " + partition +
                                              " --gpus-per-node=1\nsrun true\n",
                                          {std::nullopt, site_called(at)});
    const auto found = std::find_if(list.begin(), list.end(), [](const check::Finding& listed) {
      return listed.what.code == "site/partition-unknown";
    });
    REQUIRE(found != list.end());
    CHECK(found->what.message.starts_with("the profile of")); // it may be there all the same
    return *found;
  };
  for (const char* at : {"lumi", "leonardo", "snellius", "juwels_booster"}) {
    CAPTURE(at);
    CHECK(finding(at, "ju-standard").what.severity == diag::Severity::note);
    CHECK(finding(at, "ju-standard").fix.empty());
  }
  for (const auto& [at, typo] : {std::pair("lumi", "standrad-g"), std::pair("leonardo", "boost_usr_prdo"),
                                 std::pair("snellius", "GPU_a100"), std::pair("juwels_booster", "boster")}) {
    CAPTURE(at);
    CHECK(finding(at, typo).what.severity == diag::Severity::warning);
    CHECK(finding(at, typo).fix.size() == 1);
  }
}

TEST_CASE("What one node only is seen to run of several is a warning where nothing else can start it") {
  const auto severity = [](const std::string& line) {
    const auto list = check::check_script(
        "x.sh", "#!/bin/bash\n#SBATCH --nodes=4 --gpus-per-node=4 --time=10\n" + line + "\n", {});
    for (const auto& finding : list)
      if (finding.what.code == "launch/missing-srun") return finding.what.severity;
    FAIL("not found");
    return diag::Severity::error;
  };
  CHECK(severity("torchrun --nnodes=4 --rdzv_endpoint=$H:1 train.py") == diag::Severity::warning);
  CHECK(severity("accelerate launch --num_machines 4 train.py") == diag::Severity::warning);
  CHECK(severity("accelerate launch --config_file four.yaml train.py") == diag::Severity::note);
  CHECK(severity("python train.py --epochs 3") == diag::Severity::note);
  CHECK(severity("apptainer exec --nv a.sif python train.py") == diag::Severity::note);
}

TEST_CASE("A partition that the site asks not to name is a warning") {
  const auto severity = [](const char* at) {
    const auto list = check::check_script(
        "x.sh",
        "#!/bin/bash\n#SBATCH -A def-me -t 1:0:0 -p gpubase_bygpu_b1 --gpus-per-node=h100:1\nsrun true\n",
        {std::nullopt, site_called(at)});
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
  CHECK(list[0].location.line == 2);
  CHECK(list[0].location.column == 13);
  CHECK(list[0].location.length == 9);
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
    CHECK(list[0].location.line == line);
  }
}

TEST_CASE("All findings come at once, in the order of the lines") {
  const auto list = diagnostics(
      "#!/bin/bash\n#SBATCH --nodes=x\n#SBATCH --bogus\n#SBATCH --mem=1.5G extra\nsrun true\n#SBATCH -n4\n",
      slurm::Version::v24_05);
  std::vector<std::string> codes;
  for (const auto& finding : list) codes.push_back(finding.code);
  CHECK(codes == std::vector<std::string>{"slurm/value", "slurm/option-unknown", "slurm/memory",
                                          "slurm/unexpected-argument", "slurm/after-command"});
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
    CHECK(finding.severity == (finding.location.line == 4
                                   ? diag::Severity::warning
                                   : diag::Severity::note)); // the others are Shifter's and uenv's
  }
  for (const auto* script : {"#!/bin/bash\n#SBATCH --acount=x\n", "#!/bin/bash\n#SBATCH --tiem=10\n",
                             "#!/bin/bash\n#SBATCH --cpu-bind=cores\n", "#!/bin/bash\n#SBATCH --stepmgr\n",
                             "#!/bin/bash\n#SBATCH --workdir /x\n", "#!/bin/bash\n#SBATCH --share\n",
                             "#!/bin/bash\n#SBATCH --gres:gpu=1\n"}) {
    INFO(script);
    const auto typo = diagnostics(script, slurm::Version::v23_11);
    REQUIRE(typo.size() == 1);
    CHECK(typo[0].severity == diag::Severity::error);
  }
}
