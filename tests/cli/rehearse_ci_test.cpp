// SPDX-License-Identifier: MIT
// A rehearsal for other projects' tests: the page about it, and the GitHub action and the GitLab job whose
// steps are taken out of docs/ci and run here.
#include <catch2/catch.hpp>

#include "cli/page_blocks.hpp"
#include "cli/workspace_helper.hpp"
#include "python_packages.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

const char* const k_page = "guides/test-slurm-tools.md";

util::ProcessOutput bash(Workspace& workspace, const std::string& script) {
  workspace.set("PATH", std::string(HPCML_BINARY_DIR) + "/bin:/usr/sbin:/usr/bin:/bin");
  workspace.set("SOURCE", HPCML_SOURCE_DIR);
  workspace.set("TEST_PYTHON", test::test_python());
  return workspace.program({"bash", "-euc", script});
}

/// The tests of the page, as somebody has them in his project.
void put_tests(const Workspace& workspace) {
  for (const auto& block : test::page_blocks(k_page))
    if (block.mark.starts_with("file ")) workspace.put(block.mark.substr(5), block.text);
}

} // namespace

TEST_CASE("what the page about other tools' tests does runs as it says", "[slurm]") {
  Workspace workspace;
  put_tests(workspace);
  std::string printed;
  bool ran = false;
  unsigned count = 0;
  for (const auto& block : test::page_blocks(k_page)) {
    CAPTURE(block.kind, block.mark, block.text, printed);
    if (block.kind == "text" && ran) CHECK(test::missing_line(block.text, printed) == "");
    if (block.kind != "text") ran = false;
    if (block.kind != "bash") continue;
    const bool known = block.mark == "slurm" || block.mark.starts_with("not run: ");
    CHECK(known);
    if (block.mark != "slurm") continue;
    const auto result = bash(workspace, block.text);
    printed = result.out + result.err;
    CHECK(result.exit_code == 0);
    ran = true;
    ++count;
  }
  CHECK(count == 2);
}

TEST_CASE("the GitHub action runs a project's tests on a cluster, and fails where they do", "[slurm]") {
  Workspace workspace;
  put_tests(workspace);
  const auto result = bash(workspace, R"sh(
    export GITHUB_ACTION_PATH=$SOURCE/docs/ci/rehearse RUNNER_TEMP=$PWD/temp GITHUB_PATH=$PWD/path
    export HPCML_CI_SITE=generic HPCML_CI_NODES=2 HPCML_CI_ACCOUNTING=false HPCML_CI_OPTIONS=$'--cpus-per-node=4\n'
    export HPCML_CI_RUN=$'python3 -m unittest test_tool.py\nsinfo -h -o %D\nfalse | true\necho not reached'
    "$TEST_PYTHON" - "$GITHUB_ACTION_PATH/action.yml" >steps.sh <<'END'
import sys, yaml
for step in yaml.safe_load(open(sys.argv[1]))["runs"]["steps"]:
    print("(" + step["run"] + ")")
END
    bash -e steps.sh)sh");
  INFO(result.err << result.out);
  CHECK(result.exit_code == 1);
  CHECK(holds(result.err, "Ran 2 tests"));
  CHECK(holds(result.err, "\nOK\n"));
  CHECK(holds(result.out, "\n2\n"));
  CHECK_FALSE(holds(result.out, "not reached"));
}

TEST_CASE("the GitLab job runs a project's tests on a cluster and keeps Slurm's logs", "[slurm]") {
  Workspace workspace;
  put_tests(workspace);
  const auto result = bash(workspace, R"sh(
    "$TEST_PYTHON" - "$SOURCE/docs/ci/gitlab-rehearse.yml" >job.bash <<'END'
import shlex, sys, yaml
gitlab = yaml.safe_load(open(sys.argv[1]))
print("set -eo pipefail")
for name, value in gitlab["variables"].items():
    print(f"export {name}={shlex.quote(str(value))}")
print("export HPCML_REHEARSE_OPTIONS='--cpus-per-node 4' HPCML_REHEARSE_RUN='python3 -m unittest test_tool.py; srun --time=5 hostname'")
print("\n".join(gitlab["hpcml-rehearse"]["script"]))
END
    bash job.bash; ls hpcml-slurm)sh");
  INFO(result.err << result.out);
  CHECK(result.exit_code == 0);
  CHECK(holds(result.err, "\nOK\n"));
  CHECK(holds(result.out, "node001\n"));
  CHECK(holds(result.out, "slurmctld.log\n"));
}
