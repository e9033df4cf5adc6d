// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include <string>

#include "hpcml/crc32.hpp"

using hpcml::Crc32;

TEST_CASE("CRC-32 is that of zlib, for any pieces") {
  const auto of = [](std::string_view bytes) {
    Crc32 crc;
    crc.add(bytes);
    return crc.value();
  };
  CHECK(of("") == 0);
  CHECK(of("123456789") == 0xCBF43926U);
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += static_cast<char>(i * 7 % 256);
  // python3 -c 'import zlib; print(hex(zlib.crc32(bytes(i * 7 % 256 for i in range(1000)))))'
  constexpr std::uint32_t k_expected = 0x114AD5FFU;
  CHECK(of(bytes) == k_expected);
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    Crc32 crc;
    crc.add(std::string_view(bytes).substr(0, cut));
    crc.add(std::string_view(bytes).substr(cut));
    CHECK(crc.value() == k_expected);
  }
}
