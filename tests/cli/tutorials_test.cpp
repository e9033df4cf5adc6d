// SPDX-License-Identifier: MIT
// The tutorials, from their first line to a resumed training: each block runs in its order, and prints what
// the page says, or its mark says why it cannot.
#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

#include "cli/page_blocks.hpp"
#include "cli/workspace_helper.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
using test::PageBlock;
using test::Workspace;

namespace {

/// A page and the site that it is about.
struct Tutorial {
  std::string page, site;
};
const Tutorial k_tutorials[] = {{"tutorials/lumi.md", "lumi"},
                                {"tutorials/alliance.md", "narval"},
                                {"tutorials/vista.md", "vista"},
                                {"tutorials/gh200.md", "alps_daint"}};

bool needs_slurm(const PageBlock& block) {
  return block.mark == "slurm" || block.mark.starts_with("cluster ");
}

void lay_out(Workspace& workspace) {
  workspace.set("PATH",
                (workspace / "bin").string() + ":" + HPCML_BINARY_DIR + "/bin:/usr/sbin:/usr/bin:/bin");
  std::filesystem::copy(HPCML_SOURCE_DIR "/docs/tutorials/train.py", workspace / "train.py");
  std::filesystem::create_directory(workspace / "bin");
  std::filesystem::create_symlink("/usr/bin/python3", workspace / "bin/python");
}

/// The block's lines, there where its mark says: at the desk, or on the login node of a cluster.
util::ProcessOutput run_block(const Workspace& workspace, const PageBlock& block, const std::string& site) {
  // The environment that the page's own set-up script would have made there.
  const std::string made = "python3 -m venv --without-pip \"$SCRATCH/python-envs/torch\"\n";
  const auto script =
      "set -e\n" +
      (test::holds(block.text, "hpcml submit") && test::holds(block.text, "$SCRATCH") ? made : "") +
      block.text;
  if (!block.mark.starts_with("cluster ")) return workspace.program({"bash", "-c", script});
  const auto words = util::split(block.mark, ' '); // cluster NODES [PARTITION]
  std::string line = "hpcml emulate --quiet --site " + site + " --nodes " + words[1];
  if (words.size() > 2) line += " --partition " + words[2];
  return workspace.program({"bash", "-c", line + " -- bash -c " + util::shell_quote(script)});
}

/// Runs the page's blocks; what a "text" block says is held against what the block before it printed.
unsigned run_page(const Tutorial& tutorial, bool with_slurm) {
  Workspace workspace;
  lay_out(workspace);
  unsigned count = 0;
  std::string printed;
  bool ran = false;
  for (const auto& block : test::page_blocks(tutorial.page)) {
    CAPTURE(tutorial.page, block.kind, block.mark, block.text);
    if (block.kind == "text") {
      if (ran) CHECK(test::missing_line(block.text, printed) == "");
      continue;
    }
    REQUIRE(block.kind == "bash");
    ran = !block.mark.starts_with("not run: ") && (with_slurm || !needs_slurm(block));
    if (!ran) continue;
    const auto result = run_block(workspace, block, tutorial.site);
    printed = result.out + result.err;
    CAPTURE(printed);
    CHECK(result.exit_code == (block.mark == "exit code 1" ? 1 : 0));
    ++count;
  }
  return count;
}

} // namespace

TEST_CASE("what a tutorial does on the reader's own machine works as it stands there") {
  for (const auto& tutorial : k_tutorials) CHECK(run_page(tutorial, false) >= 2);
}

TEST_CASE("a tutorial goes from the account to a resumed training, on its cluster", "[slurm]") {
  for (const auto& tutorial : k_tutorials) CHECK(run_page(tutorial, true) >= 5);
}

TEST_CASE("each block of a tutorial is run, or says why not") {
  for (const auto& tutorial : k_tutorials)
    for (const auto& block : test::page_blocks(tutorial.page)) {
      CAPTURE(tutorial.page, block.text, block.mark);
      const bool known = block.mark.empty() || needs_slurm(block) || block.mark == "exit code 1" ||
                         (block.mark.starts_with("not run: ") && block.mark.size() > 20);
      CHECK(known);
    }
}
