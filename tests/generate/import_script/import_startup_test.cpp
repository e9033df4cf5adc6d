// SPDX-License-Identifier: MIT
// Startup files that old scripts source, next to the environment of the request.
#include "generate/import_script/import_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {
const std::string k_two = "-N 2 --ntasks-per-node=1 --gres=gpu:4";
} // namespace

TEST_CASE("Startup files leave the new environment's programs first") {
  import_script::RequestOverrides chosen;
  chosen.environment = "--venv";
  const std::string python = "srun python x.py", activation = "source ~/e/bin/activate\n";
  const auto body = [&](const std::string& lines) {
    const auto result = ported(job(k_two, lines + python), "narval", chosen);
    REQUIRE(result.job.body);
    return result.job.body->pieces.front().text;
  };
  const std::string restored = "PATH=$environment_path:$PATH";
  for (const std::string line : {"source /etc/profile", ". ~/.bashrc", "source \"$HOME/.bash_profile\"",
                                 "source /etc/profile.d/modules.sh", "[ -f ~/.bashrc ] && source ~/.bashrc",
                                 "if true; then\n  . /etc/profile\nfi", "source ~/.bashrc # mine"}) {
    INFO(line);
    for (const std::string& own : {activation, std::string()})
      CHECK(has(body(line + "\nset -e\n" + own), "environment_path=$PATH\n" + line + "\n" + restored));
  }
  const std::string both = "source /etc/profile\nsource ~/.bashrc\nexport PATH=/usr/bin:/bin\n";
  CHECK(has(body(both + "module load x\n" + activation), "environment_path=$PATH\n" + both + restored));
  for (const std::string& line :
       {"export PATH=/x:$PATH\n" + activation, std::string("export PATH=/usr/bin\n"),
        activation + "source ~/.bashrc\n", std::string("source ./settings.sh\n"),
        std::string("f() { source ~/.bashrc; }\n")}) {
    INFO(line);
    CHECK_FALSE(has(body(line), restored));
  }
  const auto kept = ported(job(k_two, "source ~/.bashrc\n" + activation + python));
  CHECK_FALSE(has(kept.job.body->pieces.front().text, restored));
}

TEST_CASE("conda set-up goes with the old environment") {
  import_script::RequestOverrides chosen;
  chosen.environment = "--venv";
  const auto body = [&](const std::string& lines) {
    const auto result = ported(job(k_two, lines + "srun python x.py"), "narval", chosen);
    REQUIRE(result.job.body);
    return result.job.body->pieces.front().text;
  };
  for (const std::string line :
       {"source \"$(conda info --base)/etc/profile.d/conda.sh\"",
        "source ~/miniconda3/etc/profile.d/conda.sh", "eval \"$(conda shell.bash hook)\"",
        "eval \"$(micromamba shell hook --shell bash)\"",
        "B=$(conda info --base)\n. $B/etc/profile.d/conda.sh", "conda deactivate"}) {
    INFO(line);
    CHECK_FALSE(has(body(line + "\nconda activate e\n"), "conda"));
    CHECK(has(body(line + "\nconda activate e\nconda list\n"), line + "\n"));
    CHECK(has(body(line + "\nif true; then conda activate e; fi\n"), line + "\n"));
  }
  const auto kept = ported(job(k_two, "source /c/conda.sh\nconda activate e\nsrun python x.py"));
  CHECK(has(kept.job.body->pieces.front().text, "source /c/conda.sh\nconda activate e\n"));
}
