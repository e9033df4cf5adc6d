// SPDX-License-Identifier: MIT
// What gen says beside the script: doubts of the rules, what was read, what was meant by other names.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "cli/workspace_helper.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

TEST_CASE("gen says what check would say of its own script") {
  struct Case {
    std::vector<std::string> words;
    std::string part;
  };
  const std::vector<Case> cases = {
      {{"--site", "narval", "--gpus-per-node", "1", "--mem", "400G"}, "--mem=400G"},
      {{"--site", "narval", "--gpus-per-node", "4", "--tasks-per-node", "1", "--cpus-per-task", "1"},
       "--cpus-per-task=1"},
  };
  for (const auto& example : cases) {
    CAPTURE(example.words);
    Workspace workspace;
    std::vector<std::string> words{"gen", "--time", "1h", "--account", "def-me"};
    words.insert(words.end(), example.words.begin(), example.words.end());
    words.insert(words.end(), {"--", "./train"});
    const auto result = workspace.hpcml(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out.starts_with("#!/bin/bash"));
    CHECK(holds(result.err, "[site/gpu-share]"));
    CHECK(holds(result.err, example.part));
  }
}

TEST_CASE("a plain request has nothing said of it") {
  Workspace workspace;
  const auto result = workspace.hpcml({"gen", "--site", "lumi", "--nodes", "2", "--account", "project_1",
                                       "--time", "10", "--venv", "/x/env", "--", "python", "train.py"});
  CHECK(result.exit_code == 0);
  CHECK(result.err == "");
}

TEST_CASE("options that the request does not have are named in their order, sbatch's by their names here") {
  struct Case {
    std::vector<std::string> words;
    std::string part;
  };
  const std::vector<Case> cases = {
      {{"--bogus-first", "--second-bogus"}, "'--bogus-first', '--second-bogus'"},
      {{"-p", "gpu"}, "use --partition (in place of sbatch's -p)"},
      {{"-N", "2"}, "use --nodes (in place of sbatch's -N)"},
      {{"-t", "10"}, "use --time (in place of sbatch's -t)"},
      {{"-A", "me"}, "use --account (in place of sbatch's -A)"},
      {{"-c", "4"}, "use --cpus-per-task (in place of sbatch's -c)"},
      {{"--gpus=2"}, "--gpus-per-node N"},
      {{"--gres=gpu:2"}, "--gpus-per-node N"},
      {{"--ntasks=4"}, "--tasks-per-node N"},
      {{"--ntasks-per-node=4"}, "--tasks-per-node N"},
      {{"--mail-type=END"}, "--sbatch=--mail-type=VALUE"},
      {{"--exclusive"}, "--sbatch=--exclusive"},
  };
  for (const auto& example : cases) {
    CAPTURE(example.words);
    Workspace workspace;
    std::vector<std::string> words{"gen", "--site", "lumi"};
    words.insert(words.end(), example.words.begin(), example.words.end());
    words.insert(words.end(), {"--", "x"});
    const auto result = workspace.hpcml(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == 2);
    CHECK(holds(result.err, example.part));
  }
}

TEST_CASE("a program that could not be started is said while it can be mended") {
  Workspace workspace;
  workspace.put("train.py", "print()\n");
  workspace.put("run", "#!/bin/bash\n./x\n");
  workspace.put("good.py", "#!/usr/bin/env python\n", 0755);
  const auto has_warning = [&](const std::string& program) {
    const auto result = workspace.hpcml(
        {"gen", "--site", "lumi", "--nodes", "1", "--account", "project_1", "--time", "10", "--", program});
    CHECK(result.exit_code == 0);
    return result.err;
  };
  CHECK(holds(has_warning("train.py"), "use python train.py"));
  CHECK(holds(has_warning("./train.py"), "./train.py is not executable"));
  CHECK(holds(has_warning("./run"), "bash ./run"));
  CHECK_FALSE(holds(has_warning("./good.py"), "good.py"));
  CHECK(has_warning("./elsewhere") == "");
}

TEST_CASE("a script that starts torchrun is seen before each rank starts it") {
  Workspace workspace;
  workspace.put("run.sh", "#!/bin/bash\ntorchrun --nproc_per_node=8 x.py\n", 0755);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"./run.sh"}, {"bash", "run.sh"}, {"bash", "-x", "run.sh"}}) {
    std::vector<std::string> words{"gen", "--site", "lumi", "--account", "project_1", "--time", "10", "--"};
    words.insert(words.end(), command.begin(), command.end());
    const auto result = workspace.hpcml(words);
    CAPTURE(command, result.err);
    CHECK(result.exit_code == 2);
    CHECK(holds(result.err, "once per rank, 8 times on a node"));
  }
}

TEST_CASE("the job file of the folder is named where the line has a program or a site of its own") {
  Workspace workspace;
  workspace.put("hpcml.json", R"({"site": "lumi", "time": "10", "command": ["x"]})");
  const auto second_result = workspace.hpcml({"gen", "--site", "generic", "--gpus-per-node", "1", "--", "y"});
  CHECK(holds(second_result.err, "hpcml.json in this directory is used"));
  CHECK(holds(second_result.err, "it was written for lumi"));
  workspace.put("hpcml.json", R"({"site": "lumi", "account": "project_1", "time": "10", "command": ["x"]})");
  CHECK(workspace.hpcml({"gen"}).err == "");
}

TEST_CASE("keys of a job file for another site are errors") {
  Workspace workspace;
  workspace.put("hpcml.json",
                R"({"site": "lumi", "partition": "standard-g", "account": "project_1", "time": "10"})");
  const std::vector<std::string> words = {"gen", "--site", "generic", "--gpus-per-node", "1", "--", "x"};
  const auto result = workspace.hpcml(words);
  CHECK(result.exit_code == 3);
  CHECK(holds(result.err,
              "hpcml.json: \"partition\" is \"standard-g\", a name of site lumi, but the request is for site "
              "generic"));
  CHECK(holds(result.err, "\"account\""));
  const auto replaced = workspace.hpcml(
      {"gen", "--site", "generic", "--gpus-per-node", "1", "--partition", "p", "--account", "a", "--", "x"});
  CHECK(replaced.exit_code == 0);
}

TEST_CASE("a Python job without an environment is reported") {
  Workspace workspace;
  const auto result = workspace.hpcml({"gen", "--site", "lumi", "--account", "project_1", "--nodes", "1",
                                       "--time", "10", "--", "python", "train.py"});
  CHECK(result.exit_code == 0);
  CHECK(holds(result.err, "no Python environment is requested"));
}

TEST_CASE("--venv accepts a variable of the job") {
  Workspace workspace;
  const auto script = [&](const std::string& site, const std::string& path) {
    return workspace.hpcml({"gen", "--site", site, "--nodes", "1", "--gpus-per-node", "1", "--time", "10",
                            "--venv", path, "--", "python", "x.py"});
  };
  CHECK(holds(script("vista", "$SCRATCH/env").out, "source \"$SCRATCH/env/bin/activate\"\n"));
  CHECK(holds(script("generic", "${HOME}/env").out, "source \"${HOME}/env/bin/activate\"\n"));
  const auto unknown = script("generic", "$SCRATCH/env");
  CHECK(unknown.exit_code == 2);
  CHECK(holds(unknown.err, "--venv names variable 'SCRATCH', which jobs on generic do not have"));
  CHECK(script("vista", "$SCRATCH/$(id)").exit_code == 2);
}

TEST_CASE("an interactive job needs no program, and is told what to type in its shell") {
  Workspace workspace;
  const auto bare =
      workspace.hpcml({"gen", "--site", "zurada", "--partition", "gpu2h100", "--time", "10", "--mem", "64G",
                       "--gpus-per-node", "1", "--conda", "mine", "--interactive"});
  CAPTURE(bare.err);
  CHECK(bare.exit_code == 0);
  CHECK(bare.out.starts_with("srun "));
  CHECK(holds(bare.out, "--pty bash -i\n"));
  CHECK(holds(bare.err, "module load miniforge3"));
  CHECK(holds(bare.err, "/bin/activate\" mine"));
  CHECK_FALSE(holds(bare.err, "hpcml launch"));
  const auto program =
      workspace.hpcml({"gen", "--site", "zurada", "--partition", "gpu2h100", "--time", "10", "--mem", "64G",
                       "--gpus-per-node", "2", "--interactive", "--", "python", "train.py"});
  CAPTURE(program.err);
  CHECK(holds(program.err, "launch --site zurada"));
  CHECK(holds(program.err, "python train.py"));
}

TEST_CASE("the list of sites is JSON on request, and a site whose last day is over is retired") {
  Workspace workspace;
  workspace.set("SOURCE_DATE_EPOCH", "1788264000"); // 2026-09-01
  const auto result = workspace.hpcml({"sites", "list", "--format", "json"});
  REQUIRE(result.exit_code == 0);
  const auto rows = nlohmann::json::parse(result.out);
  bool seen = false;
  for (const auto& row : rows) {
    if (row["site"] != "mahti") continue;
    seen = true;
    CHECK(row["state"] == "retired, see roihu");
    CHECK(row["gpus_per_node"] != "");
  }
  CHECK(seen);
  CHECK(holds(workspace.hpcml({"sites", "list"}).out, "retired, see roihu"));
}

TEST_CASE("partitions show their own number of nodes, and init names none where there are none to name") {
  Workspace workspace;
  const auto zurada = workspace.hpcml({"sites", "show", "zurada"}).out;
  const auto at = zurada.find("  gpudev ");
  REQUIRE(at != std::string::npos);
  const auto line = zurada.substr(at, zurada.find('\n', at) - at);
  CHECK(holds(line, " 2 "));
  CHECK_FALSE(holds(line, " 13 "));
  REQUIRE(workspace.hpcml({"init", "--site", "fir"}).exit_code == 0);
  CHECK_FALSE(holds(workspace.read("hpcml.json"), "Partitions of this site:"));
}
