// SPDX-License-Identifier: MIT
// Profiles as the build merged them: the same as merged anew, and only where no file of a person's has a part
// in them.
#include <algorithm>
#include <catch2/catch.hpp>
#include <tuple>

#include "core/config/merged_profile.hpp"
#include "core/config/profile_layers.hpp"
#include "core/config/site_reader.hpp"
#include "core/util/embedded.hpp"
#include "core/util/text.hpp"
#include "temp_dir.hpp"

using namespace hpcml;
using testing::TempDir;

namespace {

config::JsonNode merged_anew(const std::string& text, const std::string& base) {
  const config::FindProfile find = [&](const std::string& id, std::size_t) {
    return config::ProfileFile{id + ".json", base, false, 1, id};
  };
  auto layers = config::load_layers({"own.json", text, false, 0, "own"}, find);
  REQUIRE(layers.root.has_value());
  return std::move(*layers.root);
}

/// Everything but lines and columns.
void check_same(const config::JsonNode& a, const config::JsonNode& b) {
  CHECK(a.kind == b.kind);
  CHECK(std::tie(a.boolean, a.integer, a.real, a.text, a.source, a.checked) ==
        std::tie(b.boolean, b.integer, b.real, b.text, b.source, b.checked));
  REQUIRE((a.place.file && b.place.file));
  CHECK(*a.place.file == *b.place.file);
  REQUIRE(a.items.size() == b.items.size());
  REQUIRE(a.members.size() == b.members.size());
  for (std::size_t i = 0; i < a.items.size(); ++i) check_same(a.items[i], b.items[i]);
  for (std::size_t i = 0; i < a.members.size(); ++i) {
    CHECK(a.members[i].key == b.members[i].key);
    check_same(a.members[i].value, b.members[i].value);
  }
}

const std::string k_base =
    R"({"id": "base", "source": "wiki", "checked": "2026-01-02", "name": "Base", "network": {"fabric": "f"}})";
const std::string k_own =
    R"({"id": "own", "extends": ["base"], "none": [], "numbers": [0, -7, 9007199254740993, 0.25, 1e300], "yes": true, "no": false,
  "texts": ["", "\u00e9\"\u0001", {"value": "x", "source": "mail", "checked": "2025-12-31"}], "network": {"suffix": "i"}})";

} // namespace

TEST_CASE("A merged profile is read back with every value, file, source and date", "[spec]") {
  const auto root = merged_anew(k_own, k_base);
  const auto read = config::parse_merged(config::render_merged({"0123456789abcdef", root}));
  REQUIRE(read.has_value());
  CHECK(read->hash == "0123456789abcdef");
  check_same(read->root, root);
}

TEST_CASE("A merged profile that is cut off or goes on is none", "[spec]") {
  const auto text = config::render_merged({"0123456789abcdef", merged_anew(k_own, k_base)});
  for (std::size_t size = 0; size < text.size(); ++size)
    CHECK_FALSE(config::parse_merged(text.substr(0, size)).has_value());
  CHECK_FALSE(config::parse_merged(text + "x").has_value());
}

TEST_CASE("Every site is among the merged profiles, and the same as merged anew", "[spec]") {
  const auto merged = embedded::merged_sites();
  const config::FindProfile find = [](const std::string& id, std::size_t) {
    return config::find_built_in(id);
  };
  for (const auto& id : config::list_sites({})) {
    INFO(id);
    const auto found = std::find_if(merged.begin(), merged.end(), [&](const auto& file) {
      return util::split(file.name, ',').front() == id;
    });
    REQUIRE(found != merged.end());
    const auto read = config::parse_merged(found->text);
    const auto anew = config::load_layers(*config::find_built_in(id), find);
    REQUIRE((read && anew.root));
    check_same(read->root, *anew.root);
    CHECK(read->hash == config::hash_of(*anew.root));
    const auto load = config::load_site(id, {}, merged);
    REQUIRE(load.site.has_value());
    CHECK(load.layers == config::load_site(id, {}).layers);
  }
}

TEST_CASE("A merged profile is taken only where none of its layers lies in a directory", "[spec]") {
  const auto text = config::render_merged(
      {"0123456789abcdef", merged_anew(R"({"id": "narval", "name": "as merged"})", "{}")});
  const embedded::EmbeddedFile merged[] = {{"narval,alliance", text}};
  const auto name_in = [&](const TempDir& directory) {
    const auto load = config::load_site("narval", {directory.path()}, merged);
    REQUIRE(load.site.has_value());
    return load.site->name;
  };
  const TempDir nothing, own, layer;
  nothing.write("lumi.json", "{");
  own.write("narval.json", R"({"id": "narval", "name": "mine"})");
  layer.write("alliance.json",
              R"({"id": "alliance", "extends": ["alliance"], "openmp": {"OMP_PLACES": "threads"}})");
  CHECK(name_in(nothing) == "as merged");
  CHECK(name_in(own) == "mine");
  CHECK(name_in(layer) == config::load_site("narval", {}).site->name);
}
