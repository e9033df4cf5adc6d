// SPDX-License-Identifier: MIT
// The pages of docs/getting-started, docs/guides and docs/concepts: their commands run in the order of the
// page, and print what the page shows.
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

bool is_commands(const PageBlock& block) { return block.kind == "bash" || block.kind == "console"; }
bool is_file(const PageBlock& block) { return block.mark.starts_with("file "); }
bool is_not_run(const PageBlock& block) { return block.mark.starts_with("not run: "); }
bool is_on_cluster(const PageBlock& block) { return block.mark.starts_with("cluster "); }
bool needs_slurm(const PageBlock& block) { return is_on_cluster(block) || block.mark == "slurm"; }
bool has_fault(const PageBlock& block) { return test::holds(block.text, "--fault "); }

/// The pages whose blocks are run here, below docs/. The guide to tests of Slurm tools has its own test.
std::vector<std::string> pages() {
  std::vector<std::string> names;
  const std::filesystem::path docs = HPCML_SOURCE_DIR "/docs";
  for (const auto* directory : {"getting-started", "guides", "concepts"})
    for (const auto& entry : std::filesystem::directory_iterator(docs / directory))
      if (entry.path().extension() == ".md") names.push_back(relative(entry.path(), docs).string());
  std::erase(names, "guides/test-slurm-tools.md");
  std::sort(names.begin(), names.end());
  return names;
}

int exit_code_of(const PageBlock& block) {
  return block.mark.starts_with("exit code ") ? std::stoi(block.mark.substr(10)) : 0;
}

/// The commands of a block, and what a console block shows of their output.
struct Commands {
  std::string script, shown;
};

Commands commands_of(const PageBlock& block) {
  if (block.kind == "bash") return {"set -e\n" + block.text, {}};
  Commands commands;
  for (const auto& line : util::split(block.text, '\n')) {
    const bool is_command = line.starts_with("$ ");
    (is_command ? commands.script : commands.shown) += (is_command ? line.substr(2) : line) + "\n";
  }
  return commands;
}

/// Runs the commands on the workspace, or on a cluster: "cluster SITE NODES [PARTITION]".
util::ProcessOutput run_commands(const Workspace& workspace, const PageBlock& block,
                                 const std::string& script) {
  auto line = "{ " + script + "\n} 2>&1";
  if (is_on_cluster(block)) {
    const auto words = util::split(block.mark, ' ');
    line = "hpcml emulate --quiet --site " + words[1] + " --nodes " + words[2] +
           (words.size() > 3 ? " --partition " + words[3] : "") + " -- bash -c " + util::shell_quote(line);
  }
  return workspace.program({"bash", "-c", line});
}

/// Runs the blocks of a page; those that need Slurm only if `with_slurm`. Returns how many commands ran.
unsigned run_page(const std::string& page, bool with_slurm) {
  Workspace workspace;
  workspace.set("PATH",
                (workspace / "bin").string() + ":" + HPCML_BINARY_DIR + "/bin:/usr/sbin:/usr/bin:/bin");
  std::filesystem::create_directory(workspace / "bin");
  std::filesystem::create_symlink("/usr/bin/python3", workspace / "bin/python");
  unsigned count = 0;
  std::string printed;
  bool has_output = false; // of the block before this one
  for (const auto& block : test::page_blocks(page)) {
    CAPTURE(page, block.kind, block.mark, block.text);
    if (is_file(block)) workspace.put(block.mark.substr(5), block.text);
    if (has_output && block.kind == "text" && block.mark.empty())
      CHECK(test::missing_line(block.text, printed) == "");
    has_output = false;
    if (!is_commands(block) || is_file(block) || is_not_run(block) || (needs_slurm(block) && !with_slurm))
      continue;
    const auto commands = commands_of(block);
    const auto result = run_commands(workspace, block, commands.script);
    printed = result.out;
    CAPTURE(printed);
    CHECK(result.exit_code == exit_code_of(block));
    CHECK(test::missing_line(commands.shown, printed) == "");
    has_output = block.kind == "bash";
    ++count;
  }
  return count;
}

/// The pages with blocks that need Slurm: those with faults, or the others.
std::vector<std::string> slurm_pages(bool with_faults) {
  auto names = pages();
  std::erase_if(names, [&](const std::string& page) {
    const auto blocks = test::page_blocks(page);
    return std::none_of(blocks.begin(), blocks.end(), needs_slurm) ||
           std::any_of(blocks.begin(), blocks.end(), [](const PageBlock& block) {
             return needs_slurm(block) && has_fault(block);
           }) != with_faults;
  });
  return names;
}

} // namespace

TEST_CASE("commands of the guides print what the pages show") {
  unsigned count = 0;
  for (const auto& page : pages()) count += run_page(page, false);
  CHECK(count >= 60);
}

TEST_CASE("commands of the guides run on a real Slurm", "[slurm]") {
  for (const auto& page : slurm_pages(false)) CHECK(run_page(page, true) > 0);
}

TEST_CASE("faults of the guides end as the pages show", "[slurm]") {
  const auto names = slurm_pages(true);
  CHECK(names.size() >= 3);
  for (const auto& page : names) CHECK(run_page(page, true) > 0);
}

TEST_CASE("each command of the guides is run, or its mark has the reason") {
  for (const auto& page : pages())
    for (const auto& block : test::page_blocks(page)) {
      if (!is_commands(block)) continue;
      CAPTURE(page, block.text, block.mark);
      CHECK((block.mark.empty() || is_file(block) || needs_slurm(block) ||
             block.mark.starts_with("exit code ") || (is_not_run(block) && block.mark.size() > 14)));
    }
}
