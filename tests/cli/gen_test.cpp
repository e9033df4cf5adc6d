// SPDX-License-Identifier: MIT
// hpcml gen as a person runs it: results, messages, exit codes, and that nothing is written on a mistake.
#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/workspace_helper.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
namespace fs = std::filesystem;
using test::holds;
using test::Workspace;

namespace {

std::vector<std::string> lumi(std::vector<std::string> more = {}) {
  std::vector<std::string> words{"gen",       "--site",    "lumi",   "--nodes", "2",
                                 "--account", "project_1", "--time", "10"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

} // namespace

TEST_CASE("the main request prints the documented script") {
  Workspace workspace;
  const auto result = workspace.hpcml(lumi({"--gpus-per-node", "8", "--", "train_ddp"}));
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(result.out.starts_with("#!/bin/bash\n#SBATCH --job-name=train_ddp\n"));
  CHECK(holds(result.out, "#SBATCH --time=00:10:00\n"));
  CHECK(holds(result.out, "mask_cpu:0xfe000000000000,0xfe00000000000000,0xfe0000,0xfe000000,0xfe,0xfe00,"
                          "0xfe00000000,0xfe0000000000"));
  CHECK(holds(result.out, std::string("HPCML=") + HPCML_BINARY + "\n"));
}

TEST_CASE("a mistake has one clear message, its exit code, and writes nothing") {
  struct Case {
    std::vector<std::string> words;
    int exit_code;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{"gen", "--site", "lmui", "--", "x"}, 2, "lumi"},
      {{"gen", "--", "x"}, 2, "--site"},
      {{"genn", "--", "x"}, 2, "use 'gen'"},
      {lumi({"--acount", "x", "--", "x"}), 2, "use --account"},
      {lumi({"train.py"}), 2, "add -- before the program"},
      {lumi({"--partition", "standrd-g", "--", "x"}), 4, "standard-g"},
      {lumi({"--gpus-per-node", "9", "--", "x"}), 4, "9 GPUs per node"},
      {lumi({"--time", "50h", "--", "x"}), 4, "exceeds the maximum of partition standard-g"},
      {lumi({"--time", "soon", "--", "x"}), 2, "--time"},
      {lumi({"--nodes", "two", "--", "x"}), 2, "--nodes"},
      {lumi({"--mem", "1.5G", "--", "x"}), 2, "--mem"},
      {lumi({"--env", "novalue", "--", "x"}), 2, "NAME=VALUE"},
      {lumi({"--job-name", "a\nb", "--", "x"}), 2, "job-name"},
      {lumi({"--format", "xml", "--", "x"}), 2, "--format"},
      {lumi({"--job", "no.json", "--", "x"}), 3, "no.json"},
      {{"gen", "--site", "lumi", "--time", "10", "--", "x"}, 2, "--account"},
      {{"gen", "--site", "cedar", "--account", "def-x", "--time", "10", "--", "x"}, 4, "fir"},
      {lumi({"--"}), 2, "command"},
      {{"gen", "--site", "local", "--gpus-per-node", "2", "--", "./x"},
       4,
       "hpcml launch --nproc-per-node 2 -- ./x"},
      {{"gen", "--sites-dir", "~bob/sites", "--site", "lumi", "--", "x"}, 2, "~bob/sites"},
      {lumi({"--srun=-n4", "--", "x"}), 2, "--tasks-per-node"},
      {lumi({"--sbatch=--wrap=hostname", "--", "x"}), 2, "use -- PROGRAM ARGUMENTS"},
  };
  for (const auto& example : cases) {
    CAPTURE(example.words);
    Workspace workspace;
    auto words = example.words;
    if (words[0] == "gen") words.insert(words.begin() + 1, {"-o", "job.sh"});
    const auto result = workspace.hpcml(words);
    CAPTURE(result.err);
    CHECK(result.exit_code == example.exit_code);
    CHECK(holds(result.err, example.message));
    CHECK(result.out == "");
    CHECK(workspace.files() == 0);
  }
}

TEST_CASE("a broken profile stops gen with the place of the mistake") {
  Workspace workspace;
  fs::create_directory(workspace / "sites");
  workspace.put("sites/mine.json", "{\n  \"schema\": 1,\n  \"id\": \"mine\"\n  \"oops\": 1\n}\n");
  const auto result =
      workspace.hpcml({"gen", "--sites-dir", "sites", "--site", "mine", "-o", "job.sh", "--", "x"});
  CAPTURE(result.err);
  CHECK(result.exit_code == 3);
  CHECK(holds(result.err, "mine.json:4:"));
  CHECK_FALSE(fs::exists(workspace / "job.sh"));
}

TEST_CASE("flags beat variables, variables beat the job file, the job file beats the site") {
  Workspace workspace;
  workspace.put(
      "hpcml.json",
      R"({"site": "lumi", "account": "project_1", "time": "10", "nodes": 2, "mem": "100G", "qos": "low", "command": ["from_file"]})");
  auto result = workspace.hpcml({"gen"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(holds(result.out, "--account=project_1\n"));
  CHECK(holds(result.out, "\n  from_file\n"));
  CHECK(holds(result.out, "--mem=100G\n"));
  workspace.set("HPCML_ACCOUNT", "project_2");
  workspace.set("HPCML_NODES", "3");
  result = workspace.hpcml({"gen", "--nodes", "4", "--", "typed"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(holds(result.out, "--account=project_2\n"));
  CHECK(holds(result.out, "--nodes=4\n"));
  CHECK(holds(result.out, "\n  typed\n"));
  CHECK(holds(workspace.hpcml({"gen", "--explain", "--nodes", "4"}).out,
              "#SBATCH --nodes=4\n    <- flag --nodes\n"));
}

TEST_CASE("-o writes the printed script with a checksum") {
  Workspace workspace;
  const auto printed = workspace.hpcml(lumi({"--", "x"}));
  const auto written = workspace.hpcml(lumi({"-o", "job.sh", "--", "x"}));
  REQUIRE(written.exit_code == 0);
  CHECK(written.out == "");
  const auto without_request = [](const std::string& text) {
    std::string kept;
    for (const auto& line : util::split(text, '\n'))
      if (!line.starts_with("# Written by") && !line.starts_with("#      ") &&
          !line.starts_with("# Checksum "))
        kept += line + "\n";
    return kept;
  };
  CHECK(without_request(*util::read_file(workspace / "job.sh")) == without_request(printed.out));
}

TEST_CASE("gen keeps a script that was edited") {
  Workspace workspace;
  const auto gen = [&](const std::string& time) {
    const auto result = workspace.hpcml({"gen", "--site", "lumi", "--account", "project_1", "--time", time,
                                         "-o", "job.sh", "--", "python", "train.py"});
    CHECK(result.exit_code == 0);
    return result.err;
  };
  CHECK_FALSE(holds(gen("10"), "job.sh is replaced"));
  CHECK(holds(workspace.read("job.sh"), "\n# Checksum "));
  CHECK_FALSE(holds(gen("20"), "job.sh is replaced"));
  CHECK(workspace.read("job.sh.old").empty());
  const auto edited = workspace.read("job.sh") + "echo mine\n";
  workspace.put("job.sh", edited);
  CHECK(holds(gen("20"), "is kept as job.sh.old\n"));
  CHECK(workspace.read("job.sh.old") == edited);
  CHECK_FALSE(holds(workspace.read("job.sh"), "echo mine"));
  workspace.put("job.sh", "#!/bin/bash\necho other\n");
  CHECK(holds(gen("20"), "is kept as job.sh.old2\n"));
  CHECK(workspace.read("job.sh.old") == edited);
  workspace.put("job.sh", "");
  CHECK_FALSE(holds(gen("20"), "job.sh is replaced"));
}

TEST_CASE("--format json is JSON with origins, also for names that are no UTF-8") {
  Workspace workspace;
  const auto result = workspace.hpcml(lumi({"--job-name", "\xff", "--format", "json", "--", "x", "a\"b"}));
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto json = nlohmann::json::parse(result.out);
  CHECK(json["command"][1] == "a\"b");
  CHECK(json["layout"]["world_size"] == 16);
  CHECK(json["binding"]["ranks"][0]["mask"] == "0xfe000000000000");
  CHECK(json["directives"][1]["origin"]["by"] == "--account");
}

TEST_CASE("JSON carries the explained script and the interactive line, whatever else is asked for") {
  Workspace workspace;
  for (const auto* flag : {"--explain", "--interactive"}) {
    const auto result = workspace.hpcml(lumi({"--format", "json", flag, "--", "x"}));
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const auto json = nlohmann::json::parse(result.out);
    CHECK(json["interactive"].get<std::string>().starts_with("salloc --job-name=x --account=project_1"));
    CHECK(json["script"][2]["text"] == "#SBATCH --account=project_1");
    CHECK(json["script"][2]["reasons"][0]["origin"]["by"] == "--account");
  }
}

TEST_CASE("an interactive line says what it cannot carry") {
  Workspace workspace;
  const auto idev = workspace.hpcml(
      {"gen", "--site", "vista", "--time", "10", "--qos", "high", "--interactive", "--", "x"});
  CHECK(idev.exit_code == 4);
  CHECK(holds(idev.err, "idev has no option for --qos=high"));
  CHECK(idev.out == "");
  const auto salloc = workspace.hpcml(lumi({"--array", "0-3", "--interactive", "--", "x"}));
  CHECK(salloc.exit_code == 0);
  CHECK(holds(salloc.err, "--array=0-3 has no effect"));
  const auto image = workspace.hpcml(lumi({"--container", "/x/a.sif", "--interactive"}));
  CHECK(image.exit_code == 0);
  CHECK(holds(image.err, "not in the image /x/a.sif"));
  const auto started = workspace.hpcml(lumi({"--container", "/x/a.sif", "--interactive", "--", "x"}));
  CHECK_FALSE(holds(started.err, "not in the image"));
  CHECK(holds(started.err, "exec"));
}

TEST_CASE("no ~ and no relative path of the request reaches the script") {
  Workspace workspace;
  const auto home = (workspace / "").parent_path().string();
  auto result = workspace.hpcml(lumi(
      {"--venv",    "~/env",        "--bind",     "~/env",         "--hpcml-path", "bin/hpcml", "--container",
       "image.sif", "--bind",       "data:/data", "--bind",        "~/code:/code", "--output",  "~/logs/%j",
       "--env",     "HF_HOME=~/hf", "--module",   "use:~/modules", "--",           "x",         "~/y"}));
  INFO(result.err << result.out);
  REQUIRE(result.exit_code == 0);
  const auto script = result.out.substr(result.out.find("set -e"));
  for (const auto& part :
       {home + "/env/bin/activate", home + "/bin/hpcml", home + "/image.sif", home + "/data:/data",
        home + "/code:/code", "HF_HOME=" + home + "/hf", "module use " + home + "/modules"})
    CHECK_THAT(script, Catch::Contains(part));
  CHECK_THAT(result.out, Catch::Contains("#SBATCH --output=" + home + "/logs/%j\n"));
  CHECK_THAT(script, Catch::Contains("'~/y'") || Catch::Contains("\\~/y")); // the program's words are its own
  result = workspace.hpcml(lumi({"--conda", "pytorch", "--container", "docker://a/b", "--", "x"}));
  CHECK_THAT(result.out, Catch::Contains("conda activate pytorch ") && Catch::Contains("docker://a/b"));
  result = workspace.hpcml({"gen", "--site", "zurada", "--partition", "gpu2h100", "--time", "10", "--mem",
                            "8G", "--conda", "env.tar.gz", "--", "x"});
  CHECK(result.exit_code == 0);
  CHECK_THAT(result.out, Catch::Contains((workspace / "env.tar.gz").string()));
  result = workspace.hpcml({"gen", "--site", "narval", "--account", "def-me", "--time", "10", "--mem", "4G",
                            "--wheelhouse", " reqs.txt", "--", "x"});
  INFO(result.err << result.out);
  CHECK_THAT(result.out, Catch::Contains("--requirements " + home + "/reqs.txt"));
  // What a site calls an image is no path of this machine.
  result = workspace.hpcml({"gen", "--site", "perlmutter", "--account", "m1", "--time", "10", "--container",
                            "nersc/pytorch:25.06.01", "--", "x"});
  INFO(result.err << result.out);
  CHECK_THAT(result.out, Catch::Contains("--image=nersc/pytorch:25.06.01\n"));
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"--venv", "~root/env"}, {"--conda", "~bob"}, {"--bind", "~bob/x:/x"}}) {
    result = workspace.hpcml(lumi({words[0], words[1], "--container", "i.sif", "--", "x"}));
    CAPTURE(words, result.err);
    CHECK(result.exit_code == 2);
    CHECK(holds(result.err, "use the whole path"));
  }
}

TEST_CASE("folders of profiles are found from home and from here, and named whole in the script") {
  Workspace workspace;
  const auto home = (workspace / "").parent_path().string();
  fs::create_directory(workspace / "sites");
  workspace.put("sites/mine.json", R"({"schema": 1, "id": "mine", "sources": {}})");
  for (const auto* directory : {"sites", "./sites", "~/sites"}) {
    const auto result = workspace.hpcml(
        {"gen", "--sites-dir", directory, "--site", "mine", "--gpus-per-node", "0", "--", "x"});
    CAPTURE(directory, result.err);
    REQUIRE(result.exit_code == 0);
    CHECK_THAT(result.out, Catch::Contains("--sites-dir " + home + "/sites"));
  }
  workspace.set("HPCML_SITES_PATH", "/nowhere:~/sites");
  // A job need not inherit the variable (sbatch --export=NONE): the script names the directory itself.
  const auto by_variable = workspace.hpcml({"gen", "--site", "mine", "--gpus-per-node", "0", "--", "x"});
  CHECK(by_variable.exit_code == 0);
  CHECK_THAT(by_variable.out, Catch::Contains("--sites-dir " + home + "/sites"));
  const auto built_in =
      workspace.hpcml({"gen", "--site", "lumi", "--account", "a", "--time", "10", "--", "x"});
  CHECK_THAT(built_in.out, !Catch::Contains("--sites-dir"));
}

TEST_CASE("help and version need nothing") {
  Workspace workspace;
  CHECK(workspace.hpcml({"--version"}).out.starts_with("hpcml "));
  for (const auto& words : std::vector<std::vector<std::string>>{{"--help"}, {"gen", "--help"}}) {
    const auto result = workspace.hpcml(words);
    CHECK(result.exit_code == 0);
    CHECK(holds(result.out, "Examples:"));
  }
  CHECK(workspace.hpcml({"--verbose"}).exit_code == 2); // without any word it prints the first steps
}
