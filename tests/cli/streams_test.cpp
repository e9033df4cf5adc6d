// SPDX-License-Identifier: MIT
// What commands do where the world fails them: a full disk, several writers, programs that misbehave.
#include <catch2/catch.hpp>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "cli/workspace_helper.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "skip.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

/// The line run by a shell in the folder, for its redirections.
util::ProcessOutput shell(const Workspace& workspace, const std::string& line) {
  auto env = util::EnvSnapshot::of_process();
  env.set("HOME", (workspace / "").string());
  env.set("XDG_CONFIG_HOME", (workspace / "config").string());
  env.set("H", HPCML_BINARY);
  auto output = util::run_process({"bash", "-c", "cd \"$HOME\" && " + line}, env, std::chrono::seconds(300));
  REQUIRE(output);
  return *output;
}

} // namespace

TEST_CASE("a result that does not reach a full disk is an error of every command that prints one") {
  const Workspace workspace;
  workspace.put("job.sh", "#!/bin/bash\n#SBATCH --nodes=x\n");
  for (const std::string words :
       {"--version", "--help", "gen --help", "sites list", "sites show lumi", "sites schema", "rules",
        "rules launch/fixed-port", "affinity --site lumi", "config show; true",
        "check --fail-on never job.sh", "gen --site generic --nodes 1 --gpus-per-node 1 -- x",
        "launch --dry-run --nproc-per-node 1 -- true", "doctor"}) {
    CAPTURE(words);
    if (words == "config show; true") { // it prints nothing where nothing is remembered
      shell(workspace, "\"$H\" config set site lumi");
      const auto outcome = shell(workspace, "\"$H\" config show > /dev/full");
      CHECK(outcome.exit_code == 5);
      continue;
    }
    const auto outcome = shell(workspace, "\"$H\" " + words + " > /dev/full");
    CHECK(outcome.exit_code == 5);
    CHECK(holds(outcome.err, "cannot write to the standard output"));
  }
}

TEST_CASE("of twenty values that are remembered at once each one stays") {
  const Workspace workspace;
  REQUIRE(shell(workspace, "\"$H\" config set site generic").exit_code == 0);
  const char* const keys[] = {"account", "qos", "output", "venv", "conda"};
  std::string line;
  for (const char* site : {"lumi", "generic", "zurada", "vista"})
    for (const char* key : keys)
      line += std::string("\"$H\" config set --site ") + site + " " + key + " project_123456789 & ";
  shell(workspace, line + "wait");
  const auto remembered = shell(workspace, "\"$H\" config show");
  const auto one_by_one = [&] { // what the sites take of these values, asked alone
    const Workspace second_desk;
    REQUIRE(shell(second_desk, "\"$H\" config set site generic").exit_code == 0);
    shell(second_desk, util::replace_all(line, " & ", "; ") + "true");
    return shell(second_desk, "\"$H\" config show").out;
  }();
  CHECK(util::split(one_by_one, '\n').size() > 12);
  CHECK(remembered.out == one_by_one);
}

TEST_CASE("config says that a value is remembered once it is") {
  if (::geteuid() == 0) return test::skip("root can write to every directory");
  const Workspace workspace;
  REQUIRE(shell(workspace, "mkdir -p config/hpcml && chmod a-w config/hpcml").exit_code == 0);
  const auto outcome = shell(workspace, "\"$H\" config set site lumi");
  CHECK(outcome.exit_code == 5);
  CHECK(outcome.out.empty());
}

TEST_CASE("a folder of profiles that is not there is a mistake of the line") {
  const Workspace workspace;
  const auto outcome = workspace.hpcml({"--sites-dir", "/nonexistent", "sites", "list"});
  CHECK(outcome.exit_code == 2);
  CHECK(holds(outcome.err, "--sites-dir must be a directory, not '/nonexistent'"));
}

TEST_CASE("what sbatch says is shown, not obeyed, and has an end") {
  const Workspace workspace;
  struct Case {
    const char* sbatch;
    const char* outcome;
  };
  const Case cases[] = {
      {"printf 'sbatch: error: \\033[31mred\\007\\n' >&2; exit 1", "\\x1b[31mred\\x07"},
      {"kill -9 $$", "was killed by signal 9"},
      {"yes", "was stopped, because its output exceeds 128 MiB (limit)"},
  };
  for (const auto& [program, outcome] : cases) {
    CAPTURE(program);
    workspace.put("sbatch", std::string("#!/bin/bash\n") + program + "\n", 0755);
    const auto result =
        shell(workspace, "PATH=\"$HOME:$PATH\" \"$H\" submit --site generic --nodes 1 --gpus-per-node 1 "
                         "-- python train.py");
    CHECK(result.exit_code == 5);
    CHECK(holds(result.err, outcome));
    CHECK(result.err.find('\033') == std::string::npos);
  }
}

TEST_CASE("a job's name with a slash has a log that Slurm can make") {
  const Workspace workspace;
  const auto words = [](std::vector<std::string> more) {
    std::vector<std::string> all = {"gen", "--site", "generic", "--nodes", "1", "--gpus-per-node", "1"};
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"--", "python", "train.py"});
    return all;
  };
  const auto plain = workspace.hpcml(words({"--job-name", "exp/1%j"}));
  INFO(plain.err);
  REQUIRE(plain.exit_code == 0);
  CHECK(holds(plain.out, "#SBATCH --job-name=exp/1%j\n"));
  CHECK(holds(plain.out, "#SBATCH --output=exp_1_j-%j.out\n"));
  const auto refused = workspace.hpcml(words({"--job-name", "exp/1", "--output", "logs/%x.txt"}));
  CHECK(refused.exit_code == 2);
  CHECK(holds(refused.err, "in a directory that Slurm does not create"));
}

TEST_CASE("a lone colon among the program's words is refused: srun would end the step there") {
  const Workspace workspace;
  for (const bool lone : {true, false}) {
    const auto outcome = workspace.hpcml({"gen", "--site", "generic", "--nodes", "1", "--gpus-per-node", "1",
                                          "--", "x", lone ? ":" : "::", "y"});
    INFO(outcome.err);
    CHECK(outcome.exit_code == (lone ? 2 : 0));
    CHECK(holds(outcome.err, "argument ':'") == lone);
  }
}

TEST_CASE("a result that is to go to the file - goes to standard output") {
  const Workspace workspace;
  const auto script =
      workspace.hpcml({"gen", "--site", "lumi", "--partition", "small-g", "--gpus-per-node", "1", "--time",
                       "10", "--account", "project_1", "-o", "-", "--", "python", "x.py"});
  CHECK(script.exit_code == 0);
  CHECK(holds(script.out, "#SBATCH --partition=small-g\n"));
  const auto job = workspace.hpcml({"init", "--site", "narval", "-o", "-"});
  CHECK(job.exit_code == 0);
  CHECK(holds(job.out, "\"site\": \"narval\""));
  CHECK(job.err.empty());
  CHECK(workspace.files() == 0);
}

TEST_CASE("files that a person names are made as the umask says, and a dumb terminal gets no colours") {
  const Workspace workspace;
  const auto modes =
      shell(workspace, "umask 077; \"$H\" gen --site generic --nodes 1 --gpus-per-node 1 -o u.sh -- x; "
                       "\"$H\" config set site lumi > /dev/null; umask 022; \"$H\" gen --site generic "
                       "--nodes 1 --gpus-per-node 1 -o v.sh -- x; stat -c %a u.sh "
                       "config/hpcml/config.json v.sh");
  CHECK(modes.out == "700\n600\n755\n");
  workspace.put("job.sh", "#!/bin/bash\n#SBATCH --nodes=x\n");
  const auto on_terminal = [&](const std::string& term) {
    return shell(workspace, "env -u NO_COLOR TERM=" + term + " script -qec '\"$H\" check job.sh' /dev/null")
        .out;
  };
  CHECK(holds(on_terminal("xterm"), "\x1b["));
  CHECK_FALSE(holds(on_terminal("dumb"), "\x1b["));
}
