// SPDX-License-Identifier: MIT
// The commands that the pages about sites, environments, checks and ported scripts show: each of them runs.
#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <regex>

#include "cli/workspace_helper.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

/// The lines of a page's blocks of this kind ("" for plain ones).
std::vector<std::string> block_lines(const std::string& page, const std::string& kind) {
  const auto text = util::read_file(std::string(HPCML_SOURCE_DIR) + "/docs/" + page);
  REQUIRE(text);
  std::vector<std::string> lines;
  bool inside = false, wanted = false;
  for (const auto& line : util::split(*text, '\n')) {
    if (line.starts_with("```")) {
      inside = !inside;
      wanted = inside && line == "```" + kind;
    } else if (wanted) {
      lines.push_back(line);
    }
  }
  return lines;
}

/// The commands of hpcml that the page shows, in blocks and within lines; explanations stand behind two
/// blanks.
std::vector<std::string> commands_of(const std::string& page) {
  std::vector<std::string> commands = block_lines(page, "");
  const auto text = *util::read_file(std::string(HPCML_SOURCE_DIR) + "/docs/" + page);
  const std::regex inlined("`(hpcml [^`]*)`");
  for (std::sregex_iterator it(text.begin(), text.end(), inlined), end; it != end; ++it)
    commands.push_back((*it)[1]);
  const auto is_other = [](const std::string& line) {
    return !std::regex_search(line, std::regex("^hpcml (rules\\b|check .)"));
  };
  commands.erase(std::remove_if(commands.begin(), commands.end(), is_other), commands.end());
  for (auto& command : commands) command = command.substr(0, command.find("  "));
  return commands;
}

/// The words of a command line as bash takes them, without a comment at its end.
std::vector<std::string> shell_words(const std::string& line) {
  const auto result =
      util::run_process({"bash", "-c", "words=(" + line + "\n); printf '%s\\0' \"${words[@]}\""},
                        util::EnvSnapshot::of_process());
  REQUIRE(result);
  auto words = util::split(result->out, '\0');
  words.pop_back();
  return words;
}

/// A desk with the profiles that the pages speak of: "mine", and "example" of the guide.
void put_profiles(const Workspace& workspace) {
  workspace.put("example.json", util::join(block_lines("guides/add-a-site.md", "json"), "\n"));
  workspace.put(
      "mine.json",
      R"({"id": "mine", "extends": ["generic"], "node_types": [{"id": "a", "cpu": {"cores": 8}, "gpu": {"per_node": 1, "vendor": "nvidia"}}],
    "partitions": [{"name": "p", "node_types": ["a"], "default": true}]})");
  std::filesystem::create_directory(workspace / "sites");
  std::filesystem::copy(workspace / "mine.json", workspace / "sites/mine.json");
}

} // namespace

TEST_CASE("the commands of the pages about sites and environments run") {
  Workspace workspace;
  put_profiles(workspace);
  workspace.set("HPCML_SITES_PATH", (workspace / "sites").string());
  std::map<std::string, unsigned> pages = {
      {"guides/add-a-site.md", 3}, {"guides/site-profiles.md", 3}, {"guides/python-environments.md", 3}};
  for (const auto& file : std::filesystem::directory_iterator(HPCML_SOURCE_DIR "/docs/reference/sites"))
    if (file.path().filename() != "index.md") pages["reference/sites/" + file.path().filename().string()] = 1;
  CHECK(pages.size() >= 20);
  for (const auto& [page, least] : pages) {
    unsigned commands = 0;
    for (const auto& line : block_lines(page, "")) {
      if (!line.starts_with("hpcml gen ") && !line.starts_with("hpcml sites ")) continue;
      auto words = shell_words(line);
      words.erase(words.begin());
      const auto result = workspace.hpcml(words);
      CAPTURE(page, line, result.err);
      CHECK(result.exit_code == 0);
      CHECK_FALSE(holds(result.err, "warning"));
      ++commands;
    }
    CHECK(commands >= least);
  }
}

TEST_CASE("the commands of the pages about checks run, with the exit code of a clean folder") {
  Workspace workspace;
  put_profiles(workspace);
  workspace.put("sites/here.json",
                R"({"id": "here", "extends": ["mine"], "detect": {"env": {"HERE": "yes"}}})");
  workspace.set("HPCML_SITES_PATH", (workspace / "sites").string());
  workspace.set("HERE", "yes");
  const std::string clean = "#!/bin/bash\n#SBATCH --account=project_1 --partition=small --time=10 --nodes=1 "
                            "--ntasks=1 --cpus-per-task=1 --mem=1G\nsrun true\n";
  for (const auto* name : {"job.sh", "extra.slurm", "jobs/a.sh"}) {
    std::filesystem::create_directories((workspace / name).parent_path());
    workspace.put(name, clean);
  }
  workspace.put(
      "hpcml.json",
      R"({"site": "lumi", "account": "project_1", "time": "1h", "nodes": 1, "command": ["python", "train.py"]})");
  for (const auto& [page, least] :
       {std::pair("guides/check-scripts.md", 8U), std::pair("guides/check-in-ci.md", 3U)}) {
    unsigned commands = 0;
    for (const auto& command : commands_of(page)) {
      auto words = shell_words(std::regex_replace(command, std::regex("\\bID\\b"), "launch/fixed-port"));
      words.erase(words.begin());
      std::erase(words, "-"); // standard input, which the tests of check try
      const auto result = workspace.hpcml(words);
      CAPTURE(page, command, result.out, result.err);
      CHECK(result.exit_code == 0);
      ++commands;
    }
    CHECK(commands >= least);
  }
}

TEST_CASE("the finding that the page about checks shows is the one of such a script") {
  Workspace workspace;
  workspace.put("job.sh", "#!/bin/bash\n#SBATCH --nodes=x\nsrun true\n");
  const auto shown = block_lines("guides/check-scripts.md", "console");
  REQUIRE(shown.size() > 2);
  REQUIRE(shown[0] == "$ hpcml check job.sh");
  const auto result = workspace.hpcml({"check", "job.sh"});
  CHECK(result.exit_code == 1);
  CHECK(util::trim(result.out + result.err) ==
        util::join(std::vector<std::string>(shown.begin() + 1, shown.end()), "\n"));
}

TEST_CASE("the command of the page about ported scripts says what the page shows") {
  Workspace workspace;
  workspace.put("lumi_job.sh", R"sh(#!/bin/bash
#SBATCH --job-name=train
#SBATCH --partition=standard-g
#SBATCH --account=project_465000001
#SBATCH --nodes=2
#SBATCH --gpus-per-node=8
#SBATCH --ntasks-per-node=8
#SBATCH --cpus-per-task=7
#SBATCH --mem=480G
#SBATCH --time=12:00:00

module load LUMI/24.03
# where the data lies
DATA=/scratch/data

mkdir -p logs
export NCCL_SOCKET_IFNAME=hsn0,hsn1,hsn2,hsn3
srun python train.py --data "$DATA"
)sh");
  const auto plain = block_lines("guides/import-scripts.md", "");
  REQUIRE(plain.size() >= 3);
  auto words = shell_words(plain[0]);
  words.erase(words.begin());
  const auto result = workspace.hpcml(words);
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(holds(workspace.read("narval_job.sh"), "train.py --data \"$DATA\""));
  for (const auto& line : std::vector<std::string>(plain.begin() + 1, plain.end())) {
    CAPTURE(line);
    CHECK(holds(result.err, line));
  }
}

TEST_CASE("the guide's first profile stands the guide's own tests on a real Slurm", "[slurm]") {
  Workspace workspace;
  put_profiles(workspace);
  unsigned prompts = 0;
  for (const auto& line : block_lines("guides/add-a-site.md", "")) {
    if (!line.starts_with("hpcml gen ") && !line.starts_with("hpcml emulate ")) continue;
    auto words = shell_words(line);
    words.erase(words.begin());
    const auto result = workspace.hpcml(words);
    CAPTURE(line, result.out, result.err);
    CHECK(result.exit_code == 0);
    if (words.front() != "emulate") continue;
    CHECK(holds(result.err, "to start at"));
    ++prompts;
  }
  CHECK(prompts == 1);
  // What the guide says must fail.
  for (const auto& over : std::vector<std::vector<std::string>>{{"--nodes", "9", "--time", "1h"},
                                                                {"--nodes", "2", "--time", "49h"}}) {
    std::vector<std::string> words = {"gen", "--sites-dir", ".", "--site", "example", "--partition", "gpu"};
    words.insert(words.end(), over.begin(), over.end());
    words.insert(words.end(), {"--", "python", "train.py"});
    CHECK(workspace.hpcml(words).exit_code == 4);
  }
}
