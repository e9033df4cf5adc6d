// SPDX-License-Identifier: MIT
// The script's first lines, run by real bash: which hpcml they take on which architecture, and what they say
// where none runs.
#include <catch2/catch.hpp>

#include <elf.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"
#include "run/launch/preflight_check.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

/// An hpcml that leaves its name behind.
void put_hpcml(const fs::path& path) {
  REQUIRE(util::write_file(
      path,
      std::string("#!/bin/bash\n") + test::k_batch_stand_in +
          "echo \"${0##*/}\" >> used\nwhile [[ $1 != -- ]]; do shift; done\nshift\nexec \"$@\"\n",
      0755));
}

/// A program that the kernel of this machine refuses: another machine's number in its head.
void put_foreign_binary(const fs::path& path) {
  auto bytes = util::read_file("/bin/true");
  REQUIRE(bytes);
  REQUIRE(bytes->size() > sizeof(Elf64_Ehdr));
  (*bytes)[offsetof(Elf64_Ehdr, e_machine)] = static_cast<char>(EM_S390);
  (*bytes)[offsetof(Elf64_Ehdr, e_machine) + 1] = 0;
  REQUIRE(util::write_file(path, *bytes, 0755));
}

struct Node {
  const char* machine; ///< what `uname -m` says
  std::vector<std::string> programs;
  std::vector<std::string> foreign;
  const char* used; ///< empty: the script stops
  int code = 0;
  const char* expected = "";
};

} // namespace

TEST_CASE("each build has its own helper") {
  test::TempDirectory directory;
  fs::create_directories(directory / "bin");
  fs::create_directories(directory / "libexec/hpcml");
  const auto program = (directory / "bin/hpcml").string();
  const auto helper = (directory / "bin").string() + "/../libexec/hpcml/hpcml-torch";
  put_hpcml(helper);
  CHECK(launch::find_torch_helper(program) == helper);
  CHECK_FALSE(launch::find_torch_helper(program + "-aarch64"));
  put_hpcml(helper + "-aarch64");
  CHECK(launch::find_torch_helper(program + "-aarch64") == helper + "-aarch64");
}

TEST_CASE("a script takes the hpcml of the node's architecture, or says where to put one") {
  const std::vector<Node> nodes = {
      {"x86_64", {"hpcml"}, {}, "hpcml"},
      {"x86_64", {"hpcml", "hpcml-aarch64"}, {}, "hpcml"},
      {"aarch64", {"hpcml", "hpcml-aarch64"}, {}, "hpcml-aarch64"},
      {"aarch64", {"hpcml-aarch64"}, {"hpcml"}, "hpcml-aarch64"},
      {"aarch64", {}, {"hpcml"}, "", 0, " (aarch64): use --hpcml-path"},
      {"aarch64", {}, {"hpcml"}, "", 0, "/my tools/hpcml: cannot execute binary file"},
      {"aarch64", {"hpcml"}, {"hpcml-aarch64"}, "", 0, "/my tools/hpcml-aarch64: cannot execute"},
      {"x86_64", {}, {}, "", 127, "/my tools/hpcml: No such file"},
      {"x86_64", {}, {}, "", 127, " (x86_64): use --hpcml-path"},
      {"x86_64", {"hpcml-aarch64"}, {}, "", 127, "No such file"}};
  for (const auto& node : nodes) {
    CAPTURE(node.machine, node.programs, node.foreign);
    test::TempDirectory directory;
    test::put_program(directory, "uname",
                      std::string("[[ $1 == -m ]] && echo ") + node.machine + " || echo c123-456\n");
    fs::create_directory(directory / "my tools");
    for (const auto& name : node.programs) put_hpcml(directory / "my tools" / name);
    for (const auto& name : node.foreign) put_foreign_binary(directory / "my tools" / name);
    auto plan = test::make_whole_node_plan();
    plan.hpcml_path.value = (directory / "my tools" / "hpcml").string();
    plan.command = {test::word_writer(directory)};
    const auto script = render::render_script(plan);
    CHECK(test::script_faults(script) == "");
    const auto result = test::run_script(script, directory);
    CAPTURE(result.err);
    const auto used = util::read_file(directory / "used");
    if (node.used[0] != '\0') {
      CHECK(result.exit_code == 0);
      REQUIRE(used);
      CHECK(*used == std::string(node.used) + "\n");
      continue;
    }
    // What bash returns for a program of another machine depends on its version.
    CHECK((node.code == 0 ? result.exit_code != 0 : result.exit_code == node.code));
    CHECK_FALSE(fs::exists(directory / "used"));
    CHECK_FALSE(fs::exists(directory / "words"));
    CHECK(result.err.find(node.expected) != std::string::npos);
  }
}
