// SPDX-License-Identifier: MIT
// hpcml sites and the recognition of the site as a person meets them.
#include <catch2/catch.hpp>

#include "cli/workspace_helper.hpp"
#include "core/util/text.hpp"
#include "python_packages.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

std::string line_with(const std::string& text, const std::string& start) {
  for (const auto& line : util::split(text, '\n'))
    if (line.starts_with(start)) return line;
  return {};
}

const std::string k_recorded = std::string(HPCML_SOURCE_DIR) + "/tests/generate/discover/recorded/";
const std::vector<std::string> k_gen = {"gen",    "--time", "10",   "--gpus-per-node", "4", "--account",
                                        "def-me", "--",     "train"};

} // namespace

TEST_CASE("the list shows GPUs, nodes, limits and the day of the newest source") {
  Workspace workspace;
  const auto result = workspace.hpcml({"sites", "list"});
  REQUIRE(result.exit_code == 0);
  CHECK(holds(line_with(result.out, "SITE"), "GPUS PER NODE"));
  const auto lumi = line_with(result.out, "lumi ");
  for (const char* cell : {" 8 x MI250X (GCD) ", " 2978 ", " standard-g ", " 2d ", " 1024 ", "2026-11-28"})
    CHECK(holds(lumi, cell));
  CHECK(holds(line_with(result.out, "narval "), " 4 x A100  "));
  CHECK(holds(line_with(result.out, "narval "), " (not named) "));
  CHECK(line_with(result.out, "SITE").find("NAME") <
        150); // sites with many kinds of GPUs do not push the rest away
  CHECK(holds(line_with(result.out, "mahti "), " 36h ")); // not its partition for tests, 15 minutes
  CHECK(holds(line_with(result.out, "cedar "), "retired, see fir"));
  CHECK(holds(line_with(result.out, "mahti "), "retired, see roihu")); // since 2026-08-31
}

TEST_CASE(
    "the rows that were worked out when the program was built are those that reading the profiles gives") {
  Workspace workspace;
  const auto built = workspace.hpcml({"sites", "list"});
  workspace.set("HPCML_SITES_PATH",
                std::string(HPCML_SOURCE_DIR) + "/sites"); // all of them a person's own now
  const auto read = workspace.hpcml({"sites", "list"});
  REQUIRE(built.exit_code == 0);
  REQUIRE(read.exit_code == 0);
  CHECK(built.out == read.out);
}

TEST_CASE("a person's profile is in the list, and what it changes of others is seen there") {
  Workspace workspace;
  std::filesystem::create_directory(workspace / "sites");
  workspace.put("sites/mine.json", R"({"id": "mine", "name": "My cluster"})");
  workspace.put("sites/lumi.json", R"({"extends": ["lumi"], "id": "lumi", "name": "LUMI as I see it"})");
  workspace.put(
      "sites/alliance.json",
      R"({"extends": ["alliance"], "id": "alliance", "abstract": true, "sources": {"mine": {"url": "https://example.org", "checked": "2026-12-31"}}})");
  workspace.set("HPCML_SITES_PATH", "sites");
  const auto result = workspace.hpcml({"sites", "list"});
  REQUIRE(result.exit_code == 0);
  CHECK(holds(line_with(result.out, "mine "), "My cluster"));
  CHECK(holds(line_with(result.out, "lumi "), "LUMI as I see it"));
  CHECK(holds(line_with(result.out, "narval "), "2026-12-31"));
  CHECK_FALSE(holds(line_with(result.out, "vista "), "2026-12-31"));
}

TEST_CASE("one site is shown with its partitions, sources and what is unknown") {
  Workspace workspace;
  const auto result = workspace.hpcml({"sites", "show", "lumi"});
  REQUIRE(result.exit_code == 0);
  const auto partition = line_with(result.out, "  small-g ");
  for (const char* cell : {" 64 ", " 480G ", " 3d ", " ? ", " 4 ", " no"}) CHECK(holds(partition, cell));
  CHECK(holds(result.out, "\nSources (with the day on which they were read)\n"));
  CHECK(holds(result.out, "\nUnknown (not in any source)\n"));
  CHECK_FALSE(holds(result.out, "\nQoS "));
  const auto shown = workspace.hpcml({"sites", "show", "perlmutter"}).out;
  for (const char* cell : {" gpu_ss11 ", " 30m ", " 8 ", " ? ", " 5"})
    CHECK(holds(line_with(shown, "  debug* "), cell));
  for (const char* cell : {" shared_gpu_ss11 ", " 2d ", " 2 ", " 5000"})
    CHECK(holds(line_with(shown, "  shared "), cell));
}

TEST_CASE("-v says on standard error which profiles are read; without it nothing is said") {
  Workspace workspace;
  const auto result = workspace.hpcml({"-v", "sites", "show", "narval"});
  REQUIRE(result.exit_code == 0);
  CHECK(holds(result.err, "profile built in: narval.json\n"));
  CHECK(workspace.hpcml({"sites", "show", "narval"}).err.empty());
  workspace.set("HPCML_LOG", "debug");
  CHECK(holds(workspace.hpcml({"sites", "show", "narval"}).err, "profile built in: narval.json\n"));
  workspace.set("HPCML_LOG", "loud");
  CHECK(workspace.hpcml({"sites", "show", "narval"}).err ==
        "hpcml: warning: HPCML_LOG='loud' is not a log level (error, warning, info, debug or trace): "
        "using info\n");
}

TEST_CASE("without --site the site is the one that the machine's variables tell, and it is said") {
  Workspace workspace;
  workspace.set("CC_CLUSTER", "narval");
  const auto result = workspace.hpcml(k_gen);
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(holds(result.err, "hpcml: using site narval, detected by CC_CLUSTER=narval (to use another: "));
  CHECK(holds(result.out, "#SBATCH --gpus-per-node=a100:4"));
  auto named = k_gen;
  named.insert(named.begin() + 1, {"--site", "narval"});
  CHECK_FALSE(holds(workspace.hpcml(named).err, "by CC_CLUSTER"));
}

TEST_CASE("to recognise the machine no profile is read but the one of its site") {
  Workspace workspace;
  workspace.set("CC_CLUSTER", "narval");
  std::vector<std::string> words = k_gen;
  words.insert(words.begin() + 1, "-v");
  const auto result = workspace.hpcml(words);
  REQUIRE(result.exit_code == 0);
  std::vector<std::string> read;
  for (const auto& line : util::split(result.err, '\n'))
    if (const auto at = line.find("profile built in: "); at != std::string::npos)
      read.push_back(line.substr(at));
  CHECK(read == std::vector<std::string>{"profile built in: narval.json", "profile built in: alliance.json"});
}

TEST_CASE("where nothing or too much tells the site, the message says what to do") {
  Workspace workspace;
  const auto none = workspace.hpcml(k_gen);
  CHECK(none.exit_code == 2);
  CHECK(holds(none.err, "no profile recognises this machine"));
  CHECK(holds(none.err, "--site NAME"));
  CHECK(holds(none.err, "hpcml sites discover"));
  workspace.set("CC_CLUSTER", "narval");
  workspace.set("HPCML_SITES_PATH", (workspace / "x").parent_path().string());
  workspace.put("mine.json", R"({"id": "mine", "extends": ["narval"]})");
  const auto two = workspace.hpcml(k_gen);
  CHECK(two.exit_code == 2);
  CHECK(holds(two.err, "mine (by CC_CLUSTER=narval), narval (by CC_CLUSTER=narval)"));
}

TEST_CASE("a profile is discovered from what a cluster's commands printed") {
  Workspace workspace;
  const auto result =
      workspace.hpcml({"sites", "discover", "--from", k_recorded + "mixed", "-o", "new.json"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.out.empty());
  CHECK(holds(result.err, "cluster Mixed: Slurm 24.11.5, 5 partitions, 7 nodes of 4 node types"));
  CHECK(holds(result.err, "hpcml: not queried: nvidia-smi"));
  CHECK(holds(result.err, "hpcml: omitted: partition \"CPU nodes (amd)\""));
  CHECK(workspace.hpcml({"sites", "validate", "new.json"}).exit_code == 0);
  const auto script =
      workspace.hpcml({"--sites-dir", ".", "gen", "--site", "new", "--partition", "gpu", "--gpus-per-node",
                       "4", "--account", "big", "--time", "10", "--", "train"});
  INFO(script.err);
  CHECK(script.exit_code == 0);
  const auto refused =
      workspace.hpcml({"--sites-dir", ".", "gen", "--site", "new", "--partition", "gpu", "--gpus-per-node",
                       "4", "--account", "big", "--time", "3d", "--", "train"});
  CHECK(refused.exit_code == 4);
}

TEST_CASE("a topology fits one kind of node, or the command says why not") {
  Workspace workspace;
  workspace.put("smi.txt", "GPU[0]\t\t: (Topology) Numa Node: 0\nGPU[1]\t\t: (Topology) Numa Node: 1\n");
  const auto result =
      workspace.hpcml({"sites", "discover", "--from", k_recorded + "plain", "--topology", "smi.txt"});
  CHECK(result.exit_code == 3);
  CHECK(holds(result.err, "fits no node type of this cluster"));
  CHECK(holds(result.err, "gpux8 (64 cores, 8 GPUs)"));
  CHECK(workspace.hpcml({"sites", "discover", "--from", k_recorded + "plain", "--topology", "gpu=smi.txt"})
            .exit_code == 3);
}

TEST_CASE("profile and cluster that disagree are a finding, with exit code 1") {
  Workspace workspace;
  const auto same = workspace.hpcml({"sites", "diff", "lumi", "--from", k_recorded + "plain"});
  INFO(same.out);
  CHECK(same.exit_code == 0);
  CHECK(holds(same.out, "lumi and cluster lumi: 0 errors, 0 warnings, 1 note\n"));
  const auto different = workspace.hpcml({"sites", "diff", "zurada", "--from", k_recorded + "plain"});
  CHECK(different.exit_code == 1);
  CHECK(holds(different.out,
              "error: partition gpu2h100: the cluster has no partition of this name [drift/partition]"));
  const auto json =
      workspace.hpcml({"sites", "diff", "zurada", "--from", k_recorded + "plain", "--format", "json"}).out;
  CHECK(holds(json, "\"drift/partition\""));
  CHECK_FALSE(holds(json, "\n\n"));
}

TEST_CASE("a machine without Slurm is told to be none") {
  Workspace workspace;
  workspace.set("PATH", "/nowhere");
  const auto result = workspace.hpcml({"sites", "discover"});
  CHECK(result.exit_code == 5);
  CHECK(holds(result.err, "scontrol is not in PATH"));
  CHECK(holds(result.err, "login node"));
}

TEST_CASE("an option that may be repeated leaves the next word alone") {
  Workspace workspace;
  workspace.put(
      "mine.json",
      R"({"id": "mine", "name": "Mine", "sources": {"guide": {"url": "https://docs.example.org", "checked": "2026-11-01"}}})");
  CHECK(holds(workspace.hpcml({"sites", "show", "--sites-dir", ".", "mine"}).out, "mine: Mine"));
  CHECK(workspace.hpcml({"sites", "validate", "mine.json"}).out == "mine.json: ok, site mine, 1 source\n");
  CHECK(workspace
            .hpcml({"gen", "--site", "lumi", "--account", "project_1", "--time", "10", "--module", "a", "b",
                    "--", "train"})
            .exit_code == 2);
}

TEST_CASE("errors of commands below sites name their help") {
  Workspace workspace;
  CHECK(holds(workspace.hpcml({"sites", "show"}).err, "run 'hpcml sites show --help'"));
  CHECK(holds(workspace.hpcml({"config", "st"}).err, "use 'set'"));
  // These run no program, so no program can follow --.
  const auto more = workspace.hpcml({"sites", "list", "more"});
  CHECK(more.exit_code == 2);
  CHECK(holds(more.err, "run 'hpcml sites list --help'"));
}

TEST_CASE("what a profile does not say of a partition is a question mark") {
  Workspace workspace;
  workspace.put(
      "mine.json",
      R"({"id": "mine", "name": "Mine", "sources": {"guide": {"url": "https://docs.example.org", "checked": "2026-11-01"}},
    "node_types": [{"id": "h100", "gpu": {"per_node": 8, "vendor": "nvidia", "model": "NVIDIA H100"}, "source": "guide"}],
    "partitions": [{"name": "p", "node_types": ["h100"], "source": "guide"}, {"name": "q", "node_types": ["h100"], "exclusive": false, "source": "guide"}]})");
  const auto shown = workspace.hpcml({"--sites-dir", ".", "sites", "show", "mine"}).out;
  const auto cells = [&](const std::string& start) {
    std::vector<std::string> words;
    for (const auto& word : util::split(line_with(shown, start), ' '))
      if (!word.empty()) words.push_back(word);
    return words;
  };
  CHECK(cells("  p ") == std::vector<std::string>{"p", "8", "x", "H100", "?", "?", "?", "?", "?", "?", "?"});
  CHECK(cells("  q ") == std::vector<std::string>{"q", "8", "x", "H100", "?", "?", "?", "?", "?", "?", "no"});
}

TEST_CASE("a rule for an option that sbatch does not have is warned of where it looks like a slip") {
  Workspace workspace;
  const std::string head =
      R"({"id": "mine", "sources": {"guide": {"url": "https://docs.example.org", "checked": "2026-11-01"}}, "flags": {"source": "guide",
  )";
  workspace.put("slip.json", head + R"("acount": {"policy": "required"}}})");
  workspace.put(
      "plugin.json",
      head +
          R"("gpu_cmode": {"policy": "optional"}, "environment": {"policy": "srun-only"}, "account": {"policy": "required"}}})");
  const auto typo = workspace.hpcml({"sites", "validate", "slip.json"});
  CHECK(typo.exit_code == 0);
  CHECK(holds(typo.err, "slip.json:2:3: warning: sbatch has no option --acount"));
  CHECK(holds(typo.err, "use the key 'account'"));
  CHECK(workspace.hpcml({"sites", "validate", "plugin.json"}).err.empty());
}

TEST_CASE("a site whose last day is over takes no requests, the day before it does") {
  Workspace workspace;
  const std::vector<std::string> request{
      "gen",    "--site", "mahti", "--account", "project_2001234", "--partition", "gputest",
      "--time", "10",     "--",    "x"};
  workspace.set("SOURCE_DATE_EPOCH", "1788177600"); // 2026-08-31
  const auto last = workspace.hpcml(request);
  CHECK(last.exit_code == 0);
  CHECK(holds(last.err, "shuts down on 2026-08-31"));
  workspace.set("SOURCE_DATE_EPOCH", "1788264000");
  const auto after = workspace.hpcml(request);
  CHECK(after.exit_code == 4);
  CHECK(after.out.empty());
  CHECK(holds(after.err, "is retired since 2026-08-31"));
  CHECK(holds(after.err, "use its successor roihu"));
  CHECK(workspace.hpcml({"emulate", "--site", "mahti", "--", "true"}).exit_code == 4);
}

TEST_CASE("what config has learned is the site of every command that is told none") {
  Workspace workspace;
  REQUIRE(workspace.hpcml({"config", "set", "site", "lumi"}).exit_code == 0);
  const auto diff = workspace.hpcml({"sites", "diff", "--from", k_recorded + "plain"});
  INFO(diff.err);
  CHECK(diff.exit_code == 0);
  CHECK(holds(diff.err, "hpcml: using site lumi, which hpcml config saved"));
  CHECK(holds(diff.out, "lumi and cluster lumi"));
}

TEST_CASE("a profile on the workspace is validated with its layers beside it") {
  const Workspace workspace;
  workspace.put("centre.json", R"({"id": "centre", "name": "Centre", "abstract": true})");
  workspace.put("a.json", R"({"id": "a", "name": "A", "extends": ["centre"]})");
  const auto result = workspace.hpcml({"sites", "validate", "./a.json", "a.json"});
  INFO(result.err);
  CHECK(result.exit_code == 0);
}

TEST_CASE("The profiles match the JSON Schema and hpcml rejects what it rejects") {
  REQUIRE(test::module_version(test::test_python(), "jsonschema"));
  const Workspace workspace;
  const auto output = workspace.program({test::test_python(),
                                         std::string(HPCML_SOURCE_DIR) + "/tests/core/config/schema_test.py",
                                         HPCML_BINARY, HPCML_SOURCE_DIR});
  CAPTURE(output.out, output.err);
  CHECK(output.exit_code == 0);
}
