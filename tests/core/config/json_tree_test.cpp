// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "core/config/json_tree.hpp"
#include "core/config/object_reader.hpp"

using namespace hpcml;

TEST_CASE("Each value knows its line, column and length", "[spec]") {
  const std::string text =
      "{\n  \"a\": [1, -20,\n\t\"t\\u00e9\"],\"b\" :  true ,\n \"c\":{\"d\":null}, \"e\":1.5e3 }\n";
  const auto parsed = config::parse_json(text, "f.json", "site");
  REQUIRE(parsed.root.has_value());
  const auto place = [](const config::JsonSourceLocation& p) {
    return std::vector<unsigned>{p.line, p.column, p.length};
  };
  const auto& root = *parsed.root;
  CHECK(place(root.place) == std::vector<unsigned>{1, 1, 1});
  CHECK(place(root.members[0].place) == std::vector<unsigned>{2, 3, 3});
  CHECK(place(root.find("a")->place) == std::vector<unsigned>{2, 8, 1});
  CHECK(place(root.find("a")->items[0].place) == std::vector<unsigned>{2, 9, 1});
  CHECK(place(root.find("a")->items[1].place) == std::vector<unsigned>{2, 12, 3});
  CHECK(place(root.find("a")->items[2].place) == std::vector<unsigned>{3, 2, 9});
  CHECK(root.find("a")->items[2].text == "t\xc3\xa9");
  CHECK(place(root.members[1].place) == std::vector<unsigned>{3, 13, 3});
  CHECK(place(root.find("b")->place) == std::vector<unsigned>{3, 20, 4});
  CHECK(place(root.find("c")->find("d")->place) == std::vector<unsigned>{4, 11, 4});
  CHECK(place(root.find("e")->place) == std::vector<unsigned>{4, 22, 5});
  CHECK(*root.place.file == "f.json");
}

TEST_CASE("The canonical form sorts keys and drops blanks", "[spec]") {
  const auto parsed = config::parse_json(R"({"b": [1, {"z": null, "a": false}], "a": "q\"\n"})", "f", "site");
  REQUIRE(parsed.root.has_value());
  CHECK(config::render_canonical(*parsed.root) == R"({"a":"q\"\u000a","b":[1,{"a":false,"z":null}]})");
}
