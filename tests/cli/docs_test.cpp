// SPDX-License-Identifier: MIT
// The pages of sites compare the sites' examples with generated scripts: each of their commands runs.
#include <catch2/catch.hpp>

#include <filesystem>

#include "cli/page_blocks.hpp"
#include "cli/workspace_helper.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

TEST_CASE("commands of the pages of sites give no warning") {
  const Workspace workspace;
  unsigned pages = 0, commands = 0;
  for (const auto& file : std::filesystem::directory_iterator(HPCML_SOURCE_DIR "/docs/reference/sites")) {
    const auto name = file.path().filename().string();
    for (const auto& block : test::page_blocks("reference/sites/" + name))
      for (const auto& line : util::split(block.text, '\n')) {
        if (!line.starts_with("hpcml gen ") && !line.starts_with("hpcml env ")) continue;
        const auto result = workspace.program({"bash", "-c", HPCML_BINARY_DIR "/bin/" + line});
        CAPTURE(name, line, result.err);
        CHECK(result.exit_code == 0);
        CHECK_FALSE(holds(result.err, "warning"));
        ++commands;
      }
    ++pages;
  }
  CHECK(pages >= 20);
  CHECK(commands >= 40);
}
