// SPDX-License-Identifier: MIT
// The commands that the pages about sites and environments show: each of them runs.
#include <catch2/catch.hpp>

#include "cli/desk_helper.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

using namespace hpcml;
using test::Desk;
using test::holds;

namespace {

/// The lines of a page's blocks of this kind ("" for plain ones).
std::vector<std::string> block_lines(const std::string& page, const std::string& kind) {
  const auto text = util::read_file(std::string(HPCML_SOURCE_DIR) + "/docs/" + page);
  REQUIRE(text);
  std::vector<std::string> lines;
  bool inside = false, wanted = false;
  for (const auto& line : util::split(*text, '\n')) {
    if (util::starts_with(line, "```")) {
      inside = !inside;
      wanted = inside && line == "```" + kind;
    } else if (wanted) {
      lines.push_back(line);
    }
  }
  return lines;
}

/// The words of a command line as bash takes them, without a comment at its end.
std::vector<std::string> shell_words(const std::string& line) {
  const auto result = util::run_process({"bash", "-c", "words=(" + line + "\n); printf '%s\\0' \"${words[@]}\""}, util::EnvSnapshot::of_process());
  REQUIRE(result);
  auto words = util::split(result->out, '\0');
  words.pop_back();
  return words;
}

/// A desk with the profiles that the pages speak of: "mine", and "example" of the guide.
void put_profiles(const Desk& desk) {
  desk.put("example.json", util::join(block_lines("adding-a-site.md", "json"), "\n"));
  desk.put("mine.json", R"({"id": "mine", "extends": ["generic"], "node_types": [{"id": "a", "cpu": {"cores": 8}, "gpu": {"per_node": 1, "vendor": "nvidia"}}],
    "partitions": [{"name": "p", "node_types": ["a"], "default": true}]})");
  std::filesystem::create_directory(desk / "sites");
  std::filesystem::copy(desk / "mine.json", desk / "sites/mine.json");
}

} // namespace

TEST_CASE("the commands of the pages about sites and environments run") {
  Desk desk;
  put_profiles(desk);
  desk.set("HPCML_SITES_PATH", (desk / "sites").string());
  for (const auto* page : {"adding-a-site.md", "sites.md", "environments.md"}) {
    unsigned commands = 0;
    for (const auto& line : block_lines(page, "")) {
      if (!util::starts_with(line, "hpcml gen ") && !util::starts_with(line, "hpcml sites ")) continue;
      auto words = shell_words(line);
      words.erase(words.begin());
      const auto result = desk.hpcml(words);
      CAPTURE(page, line, result.err);
      CHECK(result.exit_code == 0);
      CHECK_FALSE(holds(result.err, "warning"));
      ++commands;
    }
    CHECK(commands >= 3);
  }
}

TEST_CASE("the guide's first profile stands the guide's own tests on a real Slurm", "[slurm]") {
  Desk desk;
  put_profiles(desk);
  unsigned asked = 0;
  for (const auto& line : block_lines("adding-a-site.md", "")) {
    if (!util::starts_with(line, "hpcml gen ") && !util::starts_with(line, "hpcml emulate ")) continue;
    auto words = shell_words(line);
    words.erase(words.begin());
    const auto result = desk.hpcml(words);
    CAPTURE(line, result.out, result.err);
    CHECK(result.exit_code == 0);
    if (words.front() != "emulate") continue;
    CHECK(holds(result.err, "to start at"));
    ++asked;
  }
  CHECK(asked == 1);
  // What the guide says must fail.
  for (const auto& over : std::vector<std::vector<std::string>>{{"--nodes", "9", "--time", "1h"}, {"--nodes", "2", "--time", "49h"}}) {
    std::vector<std::string> words = {"gen", "--sites-dir", ".", "--site", "example", "--partition", "gpu"};
    words.insert(words.end(), over.begin(), over.end());
    words.insert(words.end(), {"--", "python", "train.py"});
    CHECK(desk.hpcml(words).exit_code == 4);
  }
}
