// SPDX-License-Identifier: MIT
// Fixes as edits and as differences, compared with diff and patch.
#include <catch2/catch.hpp>
#include <filesystem>
#include <random>

#include "check/fix.hpp"
#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

class TestDirectory {
public:
  util::ProcessOutput run(std::vector<std::string> words, const std::string& input = {}) const {
    words.insert(words.begin(), {"/usr/bin/env", "-C", x_directory.path().string(), "LC_ALL=C"});
    const auto result =
        util::run_process(words, util::EnvSnapshot::of_process(), std::chrono::seconds(300), input);
    REQUIRE(result);
    return *result;
  }
  fs::path operator/(const std::string& name) const { return x_directory / name; }

private:
  test::TempDirectory x_directory;
};

/// Without the two lines that name the files.
std::string hunks(const std::string& diff) {
  const auto first = diff.find('\n');
  const auto second = diff.find('\n', first + 1);
  return first == std::string::npos ? diff : diff.substr(second + 1);
}

std::size_t changed_lines(const std::string& diff) {
  std::size_t count = 0;
  for (const auto& line : util::split(hunks(diff), '\n'))
    count += !line.empty() && (line[0] == '+' || line[0] == '-') ? 1 : 0;
  return count;
}

/// Lines of `count` and edits of them. With `unique` lines there is one shortest difference.
std::pair<std::string, std::string> random_texts(std::mt19937& random, bool unique) {
  const auto below = [&](unsigned n) { return std::uniform_int_distribution<unsigned>(0, n - 1)(random); };
  unsigned number = 0;
  const auto line = [&] {
    return unique ? "line " + std::to_string(number++) : std::string(1, static_cast<char>('a' + below(4)));
  };
  std::vector<std::string> before, after;
  for (unsigned i = 0, n = below(40); i < n; ++i) before.push_back(line());
  for (const auto& old : before) {
    const auto dice = below(12);
    if (dice == 0) continue;
    if (dice == 1) after.push_back(line());
    if (dice == 2) after.push_back(line());
    if (dice != 2) after.push_back(old);
  }
  const auto text = [&](const std::vector<std::string>& lines) {
    return util::join(lines, "\n") + (lines.empty() || below(4) == 0 ? "" : "\n");
  };
  return {text(before), text(after)};
}

} // namespace

TEST_CASE("A difference is what diff -u prints, and patch takes it") {
  TestDirectory directory;
  std::mt19937 random(7);
  for (int round = 0; round < 150; ++round) {
    const bool unique = round % 2 == 0;
    const auto [before, after] = random_texts(random, unique);
    const auto ours = check::unified_diff(before, after, "a.sh");
    REQUIRE(util::write_file(directory / "a.sh", before));
    REQUIRE(util::write_file(directory / "b.sh", after));
    const auto theirs = directory.run({"diff", "-u", "-d", "a.sh", "b.sh"});
    INFO(ours);
    INFO(theirs.out);
    CHECK(ours.empty() == theirs.out.empty());
    if (unique)
      CHECK(hunks(ours) == hunks(theirs.out));
    else
      CHECK(changed_lines(ours) <= changed_lines(theirs.out));
    if (ours.empty()) continue;
    const auto patched = directory.run({"patch", "-p0", "--quiet"}, ours);
    INFO(patched.out << patched.err);
    CHECK(patched.exit_code == 0);
    // patch removes a file that has become empty.
    CHECK(util::read_file(directory / "a.sh").value_or("") == after);
  }
}

TEST_CASE("patch finds files with blanks in their names") {
  TestDirectory directory;
  for (const auto* name : {"my job.sh", "a+b,c.sh", "./plain.sh"}) {
    REQUIRE(util::write_file(directory / name, "a\nb\n"));
    const auto patched =
        directory.run({"patch", "-p0", "--quiet"}, check::unified_diff("a\nb\n", "a\nc\n", name));
    INFO(name << patched.out << patched.err);
    CHECK(util::read_file(directory / name).value() == "a\nc\n");
  }
}

TEST_CASE("Edits of one finding are made together or not at all") {
  const auto finding = [](std::vector<check::Edit> edits) {
    return check::Finding{{}, {}, std::move(edits)};
  };
  const std::string text = "0123456789";
  CHECK(check::apply_fixes(text, {}).text == text);
  const auto two = check::apply_fixes(text, {finding({{1, 1, "x"}, {8, 0, "y"}}), finding({{3, 2, ""}})});
  CHECK(two.text == "0x2567y89");
  CHECK(two.findings == 2);
  const auto clash = check::apply_fixes(text, {finding({{2, 3, "x"}}), finding({{4, 1, "y"}, {8, 1, "z"}})});
  CHECK(clash.text == "01x56789");
  CHECK(clash.findings == 1);
  CHECK(check::apply_fixes(text, {finding({{9, 5, "beyond"}})}).text == text);
}
