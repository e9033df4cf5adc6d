// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "torch/helper/json_line.hpp"

using hpcml::JsonLine;

TEST_CASE("a line of the helper is JSON whatever a library's message holds") {
  const std::string text = "Öl \"\\\n\x01\xff\xc3(";
  const auto line = nlohmann::json::parse(
      JsonLine().add("what", text).add("hosts", std::vector<std::string>{text, "b"}).text(), nullptr, false);
  REQUIRE(line.is_object());
  CHECK(line["what"] == "Öl \"\\\n\x01\xef\xbf\xbd\xef\xbf\xbd(");
  CHECK(line["hosts"][1] == "b");
}
