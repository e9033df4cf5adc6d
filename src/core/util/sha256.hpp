// SPDX-License-Identifier: MIT
// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), and helpers for code that handles keys.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace hpcml::util {

/// The 32 bytes of a SHA-256 hash or of an HMAC.
using Digest = std::array<unsigned char, 32>;

/// Computes a SHA-256 hash over bytes that arrive in parts.
class Sha256 {
public:
  Sha256() = default;
  /// Wipes the state: it depends on the key when an HMAC is computed.
  ~Sha256();
  Sha256(const Sha256&) = default;
  Sha256& operator=(const Sha256&) = default;

  void update(std::string_view bytes);
  /// Returns the hash of everything that was passed to `update`. To be called once.
  Digest finish();

private:
  void compress(const unsigned char* block);

  std::array<std::uint32_t, 8> x_state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                          0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> x_block{};
  std::uint64_t x_size = 0;
};

/// Returns the hash of `bytes`.
Digest sha256(std::string_view bytes);
/// Returns the HMAC of the concatenated parts. Ambiguous concatenations are the caller's to avoid.
Digest hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts);

/// The bytes of a digest, valid as long as the digest.
inline std::string_view view_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

/// True if both texts are equal. The time it takes depends only on their lengths.
bool is_equal_in_constant_time(std::string_view a, std::string_view b);
/// Overwrites memory that held a secret, in a way the compiler does not remove.
void wipe(void* memory, std::size_t size);
/// Fills `bytes` from the kernel's random number generator. Ends the process if the kernel has none.
void fill_random(std::span<unsigned char> bytes);

} // namespace hpcml::util
