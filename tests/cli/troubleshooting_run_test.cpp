// SPDX-License-Identifier: MIT
// What docs/guides/troubleshooting.md and docs/guides/diagnose-jobs.md show is what hpcml prints there.
#include <catch2/catch.hpp>

#include <filesystem>

#include "cli/page_blocks.hpp"
#include "cli/workspace_helper.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
using test::holds;
using test::PageBlock;
using test::Workspace;

namespace {

/// A desk with the files of the page.
void lay_out(Workspace& workspace, const std::vector<PageBlock>& blocks) {
  workspace.set("PATH",
                (workspace / "bin").string() + ":" + HPCML_BINARY_DIR + "/bin:/usr/sbin:/usr/bin:/bin");
  std::filesystem::create_directory(workspace / "bin");
  std::filesystem::create_symlink("/usr/bin/python3", workspace / "bin/python");
  for (const auto& block : blocks)
    if (block.mark.starts_with("file ")) workspace.put(block.mark.substr(5), block.text);
}

/// Runs the block's command and holds what it prints against the lines below it.
void run_block(const Workspace& workspace, const PageBlock& block) {
  REQUIRE(block.text.starts_with("$ "));
  const auto end = block.text.find('\n');
  auto command = block.text.substr(2, end - 2);
  int exit_code = 0;
  if (block.mark.starts_with("exit code ")) exit_code = std::stoi(block.mark.substr(10));
  if (block.mark.starts_with("cluster ")) { // cluster SITE NODES [PARTITION]
    const auto words = util::split(block.mark, ' ');
    command = "hpcml emulate --quiet --site " + words[1] + " --nodes " + words[2] +
              (words.size() > 3 ? " --partition " + words[3] : "") + " -- bash -c " +
              util::shell_quote(command);
  }
  const auto result = workspace.program({"bash", "-c", "{ " + command + "; } 2>&1"});
  CAPTURE(command, result.out);
  CHECK(result.exit_code == exit_code);
  CHECK(test::missing_line(block.text.substr(end + 1), result.out) == "");
}

/// Runs those blocks of a page that need Slurm, or the others; how many they are.
unsigned run_page(const std::string& page, bool on_clusters) {
  const auto blocks = test::page_blocks(page);
  unsigned count = 0;
  for (const auto& block : blocks) {
    if (block.kind != "console" || block.mark.starts_with("cluster ") != on_clusters) continue;
    Workspace workspace;
    lay_out(workspace, blocks);
    run_block(workspace, block);
    ++count;
  }
  return count;
}

} // namespace

TEST_CASE("hpcml says at each symptom what the page shows") {
  CHECK(run_page("guides/troubleshooting.md", false) >= 10);
  CHECK(run_page("guides/diagnose-jobs.md", false) >= 1);
}

TEST_CASE("hpcml says on a cluster what the page shows of one", "[slurm]") {
  CHECK(run_page("guides/troubleshooting.md", true) >= 3);
}

TEST_CASE("each block of the page is run, a file of such a one, or says why not") {
  for (const auto& block : test::page_blocks("guides/troubleshooting.md")) {
    CAPTURE(block.kind, block.mark, block.text);
    CHECK(
        (block.kind == "console" || block.mark.starts_with("file ") || block.mark.starts_with("not run: ")));
  }
}
