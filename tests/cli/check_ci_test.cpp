// SPDX-License-Identifier: MIT
// What docs/ci ships for GitHub, GitLab and pre-commit: it parses, and the hook works in a real repository.
#include <catch2/catch.hpp>

#include "cli/workspace_helper.hpp"
#include "core/util/file.hpp"
#include "python_packages.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

util::ProcessOutput bash(const Workspace& workspace, const std::string& script) {
  auto env = util::EnvSnapshot::of_process();
  env.set("HOME", (workspace / "").string());
  env.set("PRE_COMMIT_HOME", (workspace / "pre-commit-cache").string());
  env.set("PATH", std::filesystem::path(HPCML_BINARY).parent_path().string() + ":/usr/sbin:/usr/bin:/bin");
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "HPCML_SITE"}) env.unset(name);
  env.set("SOURCE", HPCML_SOURCE_DIR);
  env.set("TEST_PYTHON", test::test_python());
  const auto result =
      util::run_process({"/usr/bin/env", "-C", (workspace / "").string(), "bash", "-euc", script}, env,
                        std::chrono::seconds(600));
  REQUIRE(result);
  return *result;
}

} // namespace

TEST_CASE("The files for CI services are well formed and their scripts pass shellcheck") {
  Workspace workspace;
  const auto result = bash(workspace, "\"$TEST_PYTHON\" \"$SOURCE/tests/cli/ci_files.py\" \"$SOURCE\"");
  CAPTURE(result.err);
  CHECK(result.out == "\n");
  CHECK(result.exit_code == 0);
}

TEST_CASE("The scripts of the GitHub action check a repository") {
  Workspace workspace;
  workspace.put("job.sh", "#!/bin/bash\n#SBATCH --nodes=x\nsrun true\n");
  const auto result = bash(workspace, R"sh(
    export GITHUB_ACTION_PATH=$SOURCE/docs/ci/github RUNNER_TEMP=$PWD/temp GITHUB_PATH=$PWD/path
    export HPCML_CI_PATHS=$'job.sh\n' HPCML_CI_SITE= HPCML_CI_VERSION=23.11 HPCML_CI_FAIL_ON=error HPCML_CI_SARIF=out.sarif
    "$TEST_PYTHON" - "$GITHUB_ACTION_PATH/action.yml" >steps.sh <<'END'
import sys, yaml
for step in yaml.safe_load(open(sys.argv[1]))["runs"]["steps"]:
    print("(" + step["run"] + ")")
END
    bash -e steps.sh)sh");
  CAPTURE(result.err);
  CHECK(result.exit_code == 1);
  CHECK(holds(result.out, "::error file=job.sh,line=2,"));
  CHECK(holds(workspace.read("out.sarif"), "\"uri\":\"job.sh\""));
}

TEST_CASE("The script of the GitLab job checks a repository and keeps SARIF") {
  Workspace workspace;
  workspace.put("job.sh", "#!/bin/bash\n#SBATCH --nodes=x\nsrun true\n");
  // As GitLab does it: the job's variables, then its lines one after the other until one fails.
  const auto result = bash(workspace, R"sh(
    "$TEST_PYTHON" - "$SOURCE/docs/ci/gitlab.yml" >job.bash <<'END'
import shlex, sys, yaml
gitlab = yaml.safe_load(open(sys.argv[1]))
job = gitlab["hpcml-check"]
print("set -eo pipefail")
for name, value in gitlab["variables"].items():
    print(f"export {name}={shlex.quote(str(value))}")
print("export HPCML_CHECK_OPTIONS='--slurm-version 23.11'")
print("\n".join(job["script"]))
END
    mkdir repo && cp job.sh repo && cd repo && bash ../job.bash)sh");
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  CHECK(holds(result.out, "job.sh:2:9: error"));
  CHECK(holds(workspace.read("repo/hpcml.sarif"), "\"uri\":\"job.sh\""));
}

TEST_CASE("pre-commit runs the hook on the job scripts of a repository") {
  Workspace workspace;
  const auto result = bash(workspace, R"sh(
    commit() { git -c user.name=a -c user.email=a@b -c commit.gpgsign=false commit -qm x; }
    mkdir hooks repo && cp "$SOURCE/.pre-commit-hooks.yaml" hooks && cd hooks && git init -q && git add . && commit
    rev=$(git rev-parse HEAD) && cd ../repo && git init -q
    printf 'repos:\n- repo: %s\n  rev: %s\n  hooks:\n  - id: hpcml-check\n' "$PWD/../hooks" "$rev" >.pre-commit-config.yaml
    printf '#!/bin/bash\n#SBATCH --nodes=x\nsrun true\n' >job.sh
    printf '#!/bin/bash\n# no job script\ncat --bogus\n' >tool.sh
    git add . && commit
    pre-commit run --all-files hpcml-check || echo "refused: $?"
    printf '#!/bin/bash\n#SBATCH --nodes=2 --time=10\nsrun true\n' >job.sh
    git add . && pre-commit run --all-files hpcml-check)sh");
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 0);
  CHECK(holds(result.out, "job.sh:2:9: error"));
  CHECK(holds(result.out, "in 1 of 1 file"));
  CHECK(holds(result.out, "refused: 1"));
  CHECK(holds(result.out, "Passed"));
}
