// SPDX-License-Identifier: MIT
// hpcml check as people and services run it: exit codes, formats, folders, fixes.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include "check/check_script.hpp"
#include "cli/create/check_files.hpp"
#include "cli/workspace_helper.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "python_packages.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;
using Json = nlohmann::json;

namespace {

const char* const k_clean = "#!/bin/bash\n#SBATCH --nodes=2 --time=10\nsrun true\n";
const char* const k_wrong = "#!/bin/bash\n#SBATCH --nodes=x\nsrun true\n";
const char* const k_doubtful = "#!/bin/bash\n#SBATCH --time=10\ntrue\n#SBATCH --nodes=2\n";

/// A script that needs no site and that --fix changes, for this version.
std::string fixable() {
  for (const auto& rule : check::all_rules())
    if (const auto& [script, site, version] = rule.bad;
        site.empty() && version.empty() && check::fix_script(script, {slurm::Version::v23_11}).findings > 0)
      return std::string(script);
  FAIL("no rule has a mend");
  return {};
}

util::ProcessOutput run(const std::vector<std::string>& words, const std::string& input = {}) {
  const auto result =
      util::run_process(words, util::EnvSnapshot::of_process(), std::chrono::seconds(300), input);
  REQUIRE(result);
  return *result;
}

} // namespace

TEST_CASE("The exit code of a check says what was found") {
  Workspace workspace;
  workspace.put("clean.sh", k_clean);
  workspace.put("wrong.sh", k_wrong);
  workspace.put("doubtful.sh", k_doubtful);
  workspace.put("job.json", R"({"site": "lumi", "nodes": "many"})");
  struct Case {
    std::vector<std::string> words;
    int code;
    const char* err;
  };
  for (const auto& [words, code, err] : std::vector<Case>{
           {{"clean.sh"}, 0, "no findings in 1 file"},
           {{"wrong.sh"}, 1, "1 error in 1 of 1 file"},
           {{"clean.sh", "wrong.sh", "doubtful.sh"}, 1, "1 error, 1 warning in 2 of 3 files"},
           {{"--fail-on", "never", "wrong.sh"}, 0, "1 error"},
           {{"doubtful.sh"}, 0, "1 warning"},
           {{"--fail-on", "warning", "doubtful.sh"}, 1, "1 warning"},
           {{"--slurm-version", "19", "clean.sh"}, 2, "unknown version of Slurm '19'"},
           {{"--site", "lumy", "clean.sh"}, 2, "use 'lumi', or add a profile: "},
           {{"--site", "local", "clean.sh"}, 4, "no Slurm"},
           {{"--fix", "-"}, 2, "--diff"},
           {{"--fix", "--diff", "clean.sh"}, 2, ""},
           {{"clean.sh", "gone.sh"}, 3, "gone.sh"},
           {{"job.json"}, 3, "1 error"},
           {{"--all-sites", "clean.sh", "wrong.sh"}, 2, "one batch script"},
       }) {
    std::vector<std::string> all = {"check"};
    all.insert(all.end(), words.begin(), words.end());
    const auto result = workspace.hpcml(all);
    CAPTURE(words, result.out, result.err);
    CHECK(result.exit_code == code);
    CHECK(holds(result.err, err));
    CHECK_FALSE(holds(result.out, "\033"));
  }
}

TEST_CASE("A script is read from standard input") {
  const auto result = run({HPCML_BINARY, "check", "-"}, k_wrong);
  CHECK(result.exit_code == 1);
  CHECK(result.out.starts_with("-:2:9: error: "));
}

TEST_CASE("Below a folder the job scripts are found, and nothing else") {
  Workspace workspace;
  workspace.put("a.sh", k_wrong);
  workspace.put("notes.md", "# How to\n\n#SBATCH --nodes=x\n");
  workspace.put("library.sh", "#!/bin/bash\necho '#SBATCH is what sbatch reads'\n");
  workspace.put("binary", std::string("#!/bin/bash\n#SBATCH --nodes=x\n\0\1", 32));
  workspace.put("job.py", "#!/usr/bin/env python3\n#SBATCH --nodes=x\n");
  workspace.put("late", "#!/bin/bash\n" + std::string(120, '\n') + "#SBATCH --nodes=x\n");
  std::filesystem::create_directories(workspace / "sub/.git");
  workspace.put("sub/b.slurm", k_wrong);
  workspace.put("sub/.git/c.sh", k_wrong);
  std::filesystem::create_directory_symlink(workspace / "sub", workspace / "sub/again");
  std::filesystem::create_symlink(workspace / "a.sh", workspace / "link.sh");
  const auto found = workspace.hpcml({"check", "."});
  CAPTURE(found.out, found.err);
  CHECK(found.exit_code == 1);
  CHECK(holds(found.err, "3 errors in 3 of 3 files"));
  CHECK(found.out.starts_with("./a.sh:2:9: error"));
  CHECK(holds(found.out, "\n./job.py:2:9"));
  CHECK(holds(found.out, "\n./sub/b.slurm:2:9"));
  const auto named = workspace.hpcml({"check", "--job-scripts-only", "library.sh", "notes.md", "a.sh"});
  CHECK(holds(named.err, "1 error in 1 of 1 file"));
  std::filesystem::create_directory(workspace / "empty");
  CHECK(workspace.hpcml({"check", "empty"}).exit_code == 0);
}

TEST_CASE("JSON has every finding of every file in one list") {
  Workspace workspace;
  workspace.put("a \"b\".sh", k_wrong);
  workspace.put("c.sh", k_doubtful);
  const auto result = workspace.hpcml({"check", "--format", "json", "a \"b\".sh", "c.sh"});
  const auto list = Json::parse(result.out);
  REQUIRE(list.size() == 2);
  CHECK(list[0]["file"] == "a \"b\".sh");
  CHECK(list[0]["severity"] == "error");
  CHECK(list[0]["line"] == 2);
  CHECK(list[0]["column"] == 9);
  CHECK(list[0]["length"] == 9);
  CHECK(list[1]["code"] == "slurm/after-command");
  CHECK(holds(list[1]["link"].get<std::string>(), "https://"));
  CHECK(
      Json::parse(workspace.hpcml({"check", "--format", "json", "--site", "lumi", "empty.sh"}).out).empty());
}

TEST_CASE("Annotations are escaped as a workflow's runner reads them") {
  Workspace workspace;
  workspace.put("a,b:100%.sh", "#!/bin/bash\n#SBATCH --job-name=𝄞é --nodes=x\n");
  const auto result = workspace.hpcml({"check", "--format", "github", "a,b:100%.sh"});
  // 𝄞 is two columns for the service: UTF-16
  CHECK(result.out.starts_with("::error file=a%2Cb%3A100%25.sh,line=2,col=24,endColumn=33,title=slurm/"));
  CHECK(holds(result.out, "::--nodes cannot be 'x'%0Ahint: "));
  CHECK(std::count(result.out.begin(), result.out.end(), '\n') == 1);
}

TEST_CASE("SARIF stands the official schema, with places in UTF-16 and mends that give the mended script") {
  const auto schema = std::filesystem::path(HPCML_SOURCE_DIR) / "build/sarif-schema-2.1.0.json";
  INFO("the schema is not here: run bash tests/sarif_schema.sh once");
  REQUIRE(std::filesystem::exists(schema));
  Workspace workspace;
  const auto script = fixable();
  workspace.put("mend.sh", script);
  workspace.put("größe 1.sh",
                "#!/bin/bash\n#SBATCH --job-name=𝄞é --nodes=x\n# hpcml: disable=slurm/after-command "
                "old\ntrue\n#SBATCH -n2\n");
  workspace.put("bytes.sh", "#!/bin/bash\n#SBATCH --comment=\xff\xfe --nodes=\xff\n");
  workspace.put("job.json",
                R"({"site": "lumi", "nodes": 2, "command": ["python", "train.py"], "partition": "nowhere"})");
  const auto result = workspace.hpcml({"check", "--slurm-version", "23.11", "--format", "sarif", "mend.sh",
                                       "größe 1.sh", "bytes.sh", "job.json"});
  workspace.put("log.sarif", result.out);
  const auto valid =
      run({test::test_python(), std::string(HPCML_SOURCE_DIR) + "/tests/check/validate_sarif.py",
           schema.string(), (workspace / "log.sarif").string()});
  CAPTURE(result.err, valid.out, valid.err);
  CHECK(valid.exit_code == 0);
  const auto log = Json::parse(result.out);
  const auto& log_run = log["runs"][0];
  CHECK(log_run["tool"]["driver"]["rules"].size() == check::all_rules().size());
  std::vector<Json> of_name, edits;
  for (const auto& entry : log_run["results"]) {
    const auto& place = entry["locations"][0]["physicalLocation"];
    if (place["artifactLocation"]["uri"] == "gr%C3%B6%C3%9Fe%201.sh") of_name.push_back(place["region"]);
    if (place["artifactLocation"]["uri"] == "mend.sh" && entry.contains("fixes"))
      for (const auto& edit : entry["fixes"][0]["artifactChanges"][0]["replacements"]) edits.push_back(edit);
  }
  REQUIRE_FALSE(of_name.empty());
  CHECK(of_name[0] == Json::parse(R"({"startLine":2,"startColumn":24,"endLine":2,"endColumn":33})"));
  REQUIRE_FALSE(edits.empty());
}

TEST_CASE("--fix changes what it mends and nothing else about the file") {
  Workspace workspace;
  const auto script = fixable();
  const auto expected = check::fix_script(script, {slurm::Version::v23_11}).text;
  workspace.put("job.sh", script, 0750);
  workspace.put("clean.sh", k_clean);
  std::filesystem::create_directory(workspace / "links");
  std::filesystem::create_symlink("../job.sh", workspace / "links/job.sh");
  REQUIRE(::chown((workspace / "job.sh").c_str(), ::getuid(), ::getgid()) == 0);
  const bool is_root = ::getuid() == 0;
  if (is_root) REQUIRE(::chown((workspace / "job.sh").c_str(), 12345, 23456) == 0);
  struct stat clean_before {};
  REQUIRE(::stat((workspace / "clean.sh").c_str(), &clean_before) == 0);

  const auto diff =
      workspace.hpcml({"check", "--slurm-version", "23.11", "--diff", "links/job.sh", "clean.sh"});
  CHECK(diff.exit_code == 1);
  CHECK(workspace.read("job.sh") == script);
  workspace.put("copy.sh", script);
  const auto patched =
      run({"/usr/bin/env", "-C", (workspace / "").string(), "patch", "-p0", "--quiet", "copy.sh"}, diff.out);
  CAPTURE(diff.out, patched.out, patched.err);
  CHECK(patched.exit_code == 0);
  CHECK(workspace.read("copy.sh") == expected);

  const auto fixed =
      workspace.hpcml({"check", "--slurm-version", "23.11", "--fix", "links/job.sh", "clean.sh"});
  CAPTURE(fixed.err);
  CHECK(holds(fixed.err, "fixed "));
  CHECK(workspace.read("job.sh") == expected);
  CHECK(std::filesystem::is_symlink(workspace / "links/job.sh"));
  struct stat after {};
  REQUIRE(::stat((workspace / "job.sh").c_str(), &after) == 0);
  CHECK((after.st_mode & 07777U) == 0750U);
  if (is_root) CHECK((after.st_uid == 12345 && after.st_gid == 23456));
  struct stat clean_after {};
  REQUIRE(::stat((workspace / "clean.sh").c_str(), &clean_after) == 0);
  CHECK(clean_after.st_ino == clean_before.st_ino);
  CHECK(workspace.hpcml({"check", "--slurm-version", "23.11", "--diff", "links/job.sh"}).exit_code == 0);
  CHECK(workspace.files() == 4); // no temporary is left
}

TEST_CASE("A mend that cannot be written is no mend") {
  Workspace workspace;
  workspace.put("job.sh", fixable());
  const auto path = (workspace / "job.sh").string();
  const auto result =
      run({"bash", "-c", "trap '' XFSZ; ulimit -f 0; \"$1\" check --fix --slurm-version 23.11 \"$2\"", "bash",
           HPCML_BINARY, path});
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 5);
  CHECK(holds(result.err, "cannot write"));
  CHECK(holds(result.err, "fixed 0 findings in 0 of 1 file"));
  CHECK_FALSE(holds(result.err, "fixed 1"));
  CHECK(workspace.read("job.sh") == fixable());
}

TEST_CASE("A file without an end is too large, and what is no file is not mended") {
  Workspace workspace;
  const auto endless = workspace.hpcml({"check", "/dev/zero"});
  CAPTURE(endless.out, endless.err);
  CHECK(endless.exit_code == 1);
  CHECK(holds(endless.out, "slurm/script-size"));
  const auto pipe = (workspace / "pipe").string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto result = run({"bash", "-c",
                           "printf '%s' \"$3\" > \"$2\" & \"$1\" check --fix --slurm-version "
                           "23.11 \"$2\"; code=$?; wait; exit $code",
                           "bash", HPCML_BINARY, pipe, fixable()});
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 5);
  CHECK(holds(result.err, "it is not a regular file"));
  CHECK(holds(result.err, "fixed 0"));
  struct stat kind {};
  REQUIRE(::stat(pipe.c_str(), &kind) == 0);
  CHECK(S_ISFIFO(kind.st_mode));
}

TEST_CASE("--all-sites says where a script runs and what stands against it elsewhere") {
  Workspace workspace;
  workspace.put("huge.sh", "#!/bin/bash\n#SBATCH --nodes=100000\n#SBATCH --gpus-per-node=64\nsrun true\n");
  workspace.put("job.sh",
                "#!/bin/bash\n#SBATCH --nodes=1 --time=10 --gpus-per-node=1 --account=project_465000001 "
                "--partition=standard-g\nsrun true\n");
  const auto table = workspace.hpcml({"check", "--all-sites", "job.sh"});
  CAPTURE(table.out, table.err);
  CHECK(table.out.starts_with("SITE "));
  CHECK(holds(table.err, " sites, and at "));
  const auto rows = Json::parse(
      workspace.hpcml({"check", "--all-sites", "--format", "json", "--fail-on", "never", "job.sh"}).out);
  CHECK(rows.size() > 40);
  std::vector<std::string> order;
  for (const auto& row : rows) {
    const auto violation = row["result"].get<std::string>();
    if (order.empty() || order.back() != violation) order.push_back(violation);
    CAPTURE(row["site"].get<std::string>());
    if (violation == "runs") CHECK(row["errors"] == 0);
    if (row["site"] == "lumi") CHECK(violation == "runs");
    if (row["site"] == "delta") CHECK(violation == "changes"); // it has no partition standard-g
    CHECK((violation == "no") == !row["obstacle"].get<std::string>().empty());
  }
  CHECK(order.size() <= 3);
}

TEST_CASE(
    "A job file is checked as it is written, as a plan on its site, and as the script that it becomes") {
  Workspace workspace;
  workspace.put(
      "hpcml.json",
      "{\n  // where\n  \"site\": \"lumi\",\n  \"account\": \"project_465000001\",\n  \"nodes\": 2,\n  "
      "\"time\": \"10\",\n  \"gpus-per-node\": 99,\n  \"command\": [\"python\", \"train.py\"]\n}\n");
  const auto result = workspace.hpcml({"check", "--format", "json", "hpcml.json"});
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  const auto list = Json::parse(result.out);
  REQUIRE_FALSE(list.empty());
  CHECK(list[0]["code"] == "request/gpus-per-node");
  CHECK(list[0]["line"] == 7);
  workspace.put("hpcml.json",
                "{\"site\": \"lumi\", \"account\": \"project_465000001\", \"nodes\": 2, \"time\": "
                "\"10\", \"gpus-per-node\": 8, \"command\": [\"python\", \"train.py\"]}\n");
  const auto clean = workspace.hpcml({"check", "."});
  CAPTURE(clean.out, clean.err);
  CHECK(clean.exit_code == 0);
  workspace.put("hpcml.json", "{\"command\": [\"true\"]}\n");
  CHECK(holds(workspace.hpcml({"check", "hpcml.json"}).out, "no site is named"));
}

TEST_CASE("hpcml rules lists every rule and prints its page") {
  Workspace workspace;
  const auto list = workspace.hpcml({"rules"});
  const auto json = Json::parse(workspace.hpcml({"rules", "--format", "json"}).out);
  CHECK(json.size() == check::all_rules().size());
  for (const auto& rule : check::all_rules()) CHECK(holds(list.out, "\n" + std::string(rule.id) + " "));
  const auto page = workspace.hpcml({"rules", "slurm/after-command"});
  CHECK(page.exit_code == 0);
  CHECK(holds(page.out, "# hpcml: disable=slurm/after-command because"));
  const auto typo = workspace.hpcml({"rules", "slurm/after-comand"});
  CHECK(typo.exit_code == 2);
  CHECK(holds(typo.err, "use 'slurm/after-command'"));
}

TEST_CASE("check reads the accelerate configuration next to a script") {
  Workspace workspace;
  workspace.put("job.sh", "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1 --time=5\n"
                          "srun accelerate launch --config_file config.yaml acc.py\n");
  const std::string machines =
      "num_machines: 2\nnum_processes: 4\nmain_process_ip: node001\nmain_process_port: 29788\n";
  const auto found = [&](const std::string& config) {
    workspace.put("config.yaml", config);
    return holds(workspace.hpcml({"check", "job.sh"}).out, "launch/cpu-worlds");
  };
  CHECK(found("distributed_type: MULTI_CPU\n" + machines));
  CHECK(found("distributed_type: 'MULTI_CPU' # two nodes\n" + machines));
  CHECK(found("distributed_type: MULTI_CPU   # two nodes\n" + machines));
  CHECK_FALSE(found("distributed_type: MULTI_GPU\n" + machines));
  CHECK_FALSE(found("distributed_type: MULTI_CPU\nmpirun_config:\n  mpirun_hostfile: hosts\n" + machines));
  std::filesystem::remove(workspace / "config.yaml");
  CHECK_FALSE(holds(workspace.hpcml({"check", "job.sh"}).out, "launch/cpu-worlds"));
}
