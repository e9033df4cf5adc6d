// SPDX-License-Identifier: MIT
// The manual pages are what man takes, and say what the help says; the install has them and the completions.
#include <catch2/catch.hpp>

#include <filesystem>

#include "cli/workspace_helper.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "skip.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace fs = std::filesystem;

TEST_CASE("every page is roff without a warning, and shows every flag of the help") {
  if (!util::find_program("man", util::EnvSnapshot::of_process())) return test::skip_missing("man-db");
  Workspace workspace;
  CHECK(workspace.hpcml({"man", "--write-all", "."}).exit_code == 0);
  CHECK(workspace.files() >= 16);
  for (const auto& entry : fs::directory_iterator(workspace / ".")) {
    const auto name = entry.path().stem().string();
    CAPTURE(name);
    const auto checked = workspace.program({"man", "--warnings", "-l", entry.path().string()});
    CHECK(checked.exit_code == 0);
    CHECK(checked.err.empty());
    const auto text =
        workspace.program({"sh", "-c", "MANWIDTH=250 man -l \"$0\" | col -bx", entry.path().string()}).out;
    std::vector<std::string> words = {"--help"};
    if (name != "hpcml") words.insert(words.begin(), name.substr(6));
    for (const auto& line : util::split(workspace.hpcml(words).out, '\n')) {
      if (!line.starts_with("  -")) continue;
      const auto flag = line.substr(2, line.find_first_of(" ,=", 2) - 2);
      CAPTURE(flag);
      CHECK(holds(text, flag));
    }
    CHECK(holds(text, "SYNOPSIS"));
    CHECK(holds(text, "EXAMPLES"));
    // A backslash ends a line of an example that goes on.
    for (const auto& line : util::split(text, '\n'))
      CHECK((line.find('\\') == std::string::npos || line.find('\\') + 1 == line.size()));
  }
}

TEST_CASE("one page is printed, and a command that is not there is a mistake") {
  Workspace workspace;
  CHECK(holds(workspace.hpcml({"man", "gen"}).out, ".TH HPCML\\-GEN 1"));
  CHECK(holds(workspace.hpcml({"man"}).out, ".TH HPCML 1"));
  const auto wrong = workspace.hpcml({"man", "gne"});
  CHECK(wrong.exit_code == 2);
  CHECK(holds(wrong.err, "use 'gen'"));
  CHECK(workspace.hpcml({"man", "--write-all", "nowhere"}).exit_code == 5);
}

TEST_CASE("what is installed has the pages and the completions where shells and man look") {
  Workspace workspace;
  workspace.set("PATH", util::EnvSnapshot::of_process().get_or("PATH", "/usr/bin:/bin")); // cmake's
  const auto result =
      workspace.program({"cmake", "--install", HPCML_BINARY_DIR, "--prefix", (workspace / "put").string()});
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  for (const auto& [file, shell] :
       {std::pair("bash-completion/completions/hpcml", "bash"), std::pair("zsh/site-functions/_hpcml", "zsh"),
        std::pair("fish/vendor_completions.d/hpcml.fish", "fish")})
    CHECK(workspace.read("put/share/" + std::string(file)) == workspace.hpcml({"completion", shell}).out);
  CHECK(workspace.read("put/share/man/man1/hpcml-gen.1") == workspace.hpcml({"man", "gen"}).out);
}
