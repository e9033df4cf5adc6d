// SPDX-License-Identifier: MIT
// Each file in invalid/ is a wrong profile; NAME.expected holds texts that its messages must contain, one a
// line.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <vector>

#include "core/config/json_tree.hpp"
#include "core/config/load_text.hpp"
#include "core/config/site_store.hpp"
#include "core/config/temp_dir.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

const fs::path k_directory = fs::path(HPCML_SOURCE_DIR) / "tests/core/config/invalid";

std::vector<fs::path> corpus() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(k_directory)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Loads a wrong profile; its messages must contain each line of `expected`.
void check_rejected(const fs::path& file, const std::string& expected) {
  const auto load = config::load_site_file(file.string(), {k_directory.string()});
  const auto text = testing::all_text(load);
  INFO(text);
  CHECK_FALSE(load.site.has_value());
  CHECK(diag::has_errors(load.diagnostics));
  for (const auto& line : util::split(expected, '\n')) {
    if (!line.empty()) CHECK_THAT(text, Catch::Contains(line));
  }
}

} // namespace

TEST_CASE("Every wrong profile is refused with the place and the reason", "[spec]") {
  const auto files = corpus();
  REQUIRE(files.size() >= 20);
  for (const auto& file : files) {
    DYNAMIC_SECTION(file.filename().string()) {
      auto path = file;
      const auto expected = util::read_file(path.replace_extension(".expected"));
      REQUIRE(expected);
      check_rejected(file, *expected);
    }
  }
}

TEST_CASE("A profile with 100,000 nested lists is rejected", "[spec]") {
  constexpr std::size_t k_depth = 100000;
  const hpcml::testing::TempDir directory;
  const auto file = directory.write("deep.json", R"({"id": "deep", "x": )" + std::string(k_depth, '[') +
                                                     std::string(k_depth, ']') + "}");
  check_rejected(file, "nested more than 64 levels deep");
}

TEST_CASE("A wrong profile says where it is wrong with a caret under the value", "[spec]") {
  const auto text =
      testing::all_text(config::load_site_file((k_directory / "bad_pattern.json").string(), {}));
  CHECK_THAT(text,
             Catch::Contains(std::string("\"flags\": {\"account\": {\"pattern\": \"project_[0-9\"}}\n") +
                             std::string(37, ' ') + "^^^^^^^^^^^^^^\n"));
}

TEST_CASE("Members that any object may have are checked", "[spec]") {
  const hpcml::testing::TempDir directory;
  const auto findings_of = [&](const std::string& about) {
    const auto text =
        "{\n\"id\": \"x\", \"node_types\": [{\"id\": \"n\", \"cpu\": {\"cores\": {\"value\": 4, " + about +
        "}}}]\n}\n";
    const auto load = config::load_site_file(directory.write("x.json", text), {});
    CHECK_FALSE(load.site.has_value());
    REQUIRE(load.diagnostics.size() == 1);
    CHECK(load.diagnostics[0].location.line == 2);
    return load.diagnostics[0].message;
  };
  CHECK(findings_of(R"("checked": "soon")") == "a date is written YYYY-MM-DD");
  CHECK(findings_of(R"("checked": "2026-02-30")") == "a date is written YYYY-MM-DD");
  CHECK(findings_of(R"("checked": 4)") == "\"checked\" of a value must be a text, not a whole number");
  CHECK(findings_of(R"("note": [])") == "\"note\" of a value must be a text, not a list");
  CHECK(findings_of(R"("source": {})") == "\"source\" of a value must be a text, not an object");
  CHECK(findings_of(R"("alternatives": "5")") == "\"alternatives\" of a value must be a list, not a text");
  CHECK(findings_of(R"("alternatives": ["5"])") == "alternatives[0] must be an object, not a text");
  CHECK(findings_of(R"("alternatives": [{"value": "5"}])") == "alternatives[0].why is missing");
  CHECK(findings_of(R"("alternatives": [{"value": 5, "why": "old"}])") ==
        "alternatives[0].value must be a text, not a whole number");
  CHECK(findings_of(R"("alternatives": [{"value": "5", "why": "old", "by": "x"}])") ==
        "the key \"by\" is unknown in alternatives[0]");
}

TEST_CASE("The kinds of members without effect are checked", "[spec]") {
  const hpcml::testing::TempDir directory;
  for (const auto* member :
       {R"("$schema": 1)", R"("abstract": "yes")", R"("schema": "1")", R"("schema": 2)"}) {
    const auto load =
        config::load_site_file(directory.write("x.json", std::string("{\"id\": \"x\", ") + member + "}"), {});
    INFO(member);
    CHECK_FALSE(load.site.has_value());
    CHECK(load.diagnostics.size() == 1);
  }
}

TEST_CASE("A profile that cannot be read says so", "[spec]") {
  for (const auto& path : {std::string("/dev/zero"), std::string("/"), std::string("/nonexistent/x.json")}) {
    const auto load = config::load_site_file(path, {});
    CHECK_FALSE(load.site.has_value());
    REQUIRE(load.diagnostics.size() == 1);
    CHECK(load.diagnostics[0].code == "site/unreadable");
    CHECK_FALSE(load.not_found);
  }
}
