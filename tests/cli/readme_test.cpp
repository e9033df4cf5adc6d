// SPDX-License-Identifier: MIT
// What the README shows comes out: its blocks run, and print what it says.
#include <algorithm>
#include <catch2/catch.hpp>

#include "cli/page_blocks.hpp"
#include "cli/workspace_helper.hpp"

using namespace hpcml;

TEST_CASE("what the README shows is what comes out, and it is short", "[slurm]") {
  const std::string page = "../README.md";
  test::Workspace workspace;
  workspace.set("PATH", std::string(HPCML_BINARY_DIR) + "/bin:/usr/sbin:/usr/bin:/bin");
  std::string printed;
  bool ran = false;
  unsigned count = 0;
  for (const auto& block : test::page_blocks(page)) {
    CAPTURE(block.kind, block.mark, block.text, printed);
    if (block.mark.starts_with("file ")) workspace.put(block.mark.substr(5), block.text);
    if (block.kind == "text" && ran) CHECK(test::missing_line(block.text, printed) == "");
    if (block.kind != "text") ran = false;
    if (block.kind != "bash" || block.mark.empty())
      continue; // those that install and build have tests of their own
    const auto result = workspace.program({"bash", "-ec", "exec 2>&1\n" + block.text});
    printed = result.out;
    CHECK(result.exit_code == (block.mark == "exit code 1" ? 1 : 0));
    ran = true;
    ++count;
  }
  CHECK(count == 3);
  const auto text = util::read_file(std::string(HPCML_SOURCE_DIR) + "/README.md").value();
  CHECK(std::count(text.begin(), text.end(), '\n') <= 120);
}
