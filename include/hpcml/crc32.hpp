// SPDX-License-Identifier: MIT
// CRC-32 as in zlib and in zip archives. C++17, header-only, no dependency: the core and the LibTorch side
// share it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace hpcml {

/// Computes a checksum over data that comes in pieces.
class Crc32 {
public:
  void add(std::string_view bytes) {
    const auto& table = tables();
    std::size_t i = 0;
    const auto byte = [&](std::size_t at) {
      return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at]));
    };
    // Eight bytes at a time, each through its own table: several times as fast as one by one.
    for (; i + 8 <= bytes.size(); i += 8) {
      const std::uint32_t low =
          x_state ^ (byte(i) | byte(i + 1) << 8U | byte(i + 2) << 16U | byte(i + 3) << 24U);
      x_state = table[7][low & 0xFFU] ^ table[6][(low >> 8U) & 0xFFU] ^ table[5][(low >> 16U) & 0xFFU] ^
                table[4][low >> 24U] ^ table[3][byte(i + 4)] ^ table[2][byte(i + 5)] ^ table[1][byte(i + 6)] ^
                table[0][byte(i + 7)];
    }
    for (; i < bytes.size(); ++i) x_state = (x_state >> 8U) ^ table[0][(x_state ^ byte(i)) & 0xFFU];
  }
  std::uint32_t value() const { return x_state ^ 0xFFFFFFFFU; }

private:
  using Table = std::array<std::uint32_t, 256>;

  static const std::array<Table, 8>& tables() {
    static const auto tables = [] {
      std::array<Table, 8> made{};
      for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) value = (value >> 1U) ^ ((value & 1U) != 0 ? 0xEDB88320U : 0U);
        made[0][i] = value;
      }
      for (std::size_t table = 1; table < made.size(); ++table)
        for (std::size_t i = 0; i < 256; ++i) {
          const auto before = made[table - 1][i];
          made[table][i] = (before >> 8U) ^ made[0][before & 0xFFU];
        }
      return made;
    }();
    return tables;
  }

  std::uint32_t x_state = 0xFFFFFFFFU;
};

} // namespace hpcml
