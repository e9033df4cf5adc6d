// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "ddp/format_message.hpp"

using hpcml::ddp::format_message;

TEST_CASE("format_message replaces places by values in order") {
  const std::string host = "n1";
  CHECK(format_message("rank {} ({}): {} s", 3, host, 2.5) == "rank 3 (n1): 2.5 s");
  CHECK(format_message("{}{}", "a", "{}") == "a{}");
  CHECK(format_message("no place", 1) == "no place");
  CHECK(format_message("{} and {}", 1) == "1 and ");
}
