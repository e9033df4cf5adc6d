// SPDX-License-Identifier: MIT
// Each file in invalid/ is a wrong profile; NAME.expected holds texts that its messages must contain, one a
// line.
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <vector>

#include "spec/json_tree.hpp"
#include "spec/load_text.hpp"
#include "spec/schema_check.hpp"
#include "spec/site_store.hpp"
#include "spec/temp_dir.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

const fs::path k_folder = fs::path(HPCML_SOURCE_DIR) / "tests/spec/invalid";

std::vector<fs::path> corpus() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(k_folder)) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Loads a wrong profile; its messages must contain each line of `expected`.
void check_rejected(const fs::path& file, const std::string& expected) {
  const auto load = spec::load_site_file(file.string(), {k_folder.string()});
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
  check_rejected(file, "nested deeper than 64");
}

TEST_CASE("A wrong profile says where it is wrong with a caret under the value", "[spec]") {
  const auto text = testing::all_text(spec::load_site_file((k_folder / "bad_pattern.json").string(), {}));
  CHECK_THAT(text,
             Catch::Contains(std::string("\"flags\": {\"account\": {\"pattern\": \"project_[0-9\"}}\n") +
                             std::string(37, ' ') + "^^^^^^^^^^^^^^\n"));
}

TEST_CASE("What only the schema sees is said once, at the innermost value", "[spec]") {
  const std::string text = "{\n  \"id\": \"x\",\n  \"node_types\": [{\"id\": \"n\", \"cpu\": {\"cores\": "
                           "{\"value\": 4, \"checked\": \"soon\"}}}]\n}\n";
  const auto parsed = spec::parse_json(text, "x.json", "site");
  REQUIRE(parsed.root.has_value());
  const auto findings = spec::check_schema(*parsed.root, text);
  for (const auto& finding : findings) UNSCOPED_INFO(diag::render_text(finding, text, false));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].span.line == 3);
  CHECK(findings[0].span.column == text.find("\"soon\"") - text.find("  \"node_types\"") + 1);
}

TEST_CASE("The schema is asked where scripts are written, not in each rank of a job", "[spec]") {
  const hpcml::testing::TempDir folder;
  folder.write(
      "x.json",
      R"({"id": "x", "node_types": [{"id": "n", "cpu": {"cores": {"value": 4, "checked": "soon"}}}]})");
  const auto checked = spec::load_site("x", {folder.path()});
  CHECK_FALSE(checked.site.has_value());
  REQUIRE(checked.diagnostics.size() == 1);
  CHECK(checked.diagnostics[0].code == "site/schema");
  const auto unchecked = spec::load_site("x", {folder.path()}, spec::ProfileCheck::none);
  REQUIRE(unchecked.site.has_value());
  CHECK(unchecked.site->node_types.size() == 1);
}

TEST_CASE("A profile that cannot be read says so", "[spec]") {
  for (const auto& path : {std::string("/dev/zero"), std::string("/"), std::string("/nonexistent/x.json")}) {
    const auto load = spec::load_site_file(path, {});
    CHECK_FALSE(load.site.has_value());
    REQUIRE(load.diagnostics.size() == 1);
    CHECK(load.diagnostics[0].code == "site/unreadable");
    CHECK_FALSE(load.not_found);
  }
}
