// SPDX-License-Identifier: MIT
#include "core/util/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/random.h>

namespace hpcml::util {

namespace {

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<std::uint32_t, 64> k_round_constants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

constexpr std::size_t k_block = 64; ///< bytes

} // namespace

void Sha256::compress(const unsigned char* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t t = 0; t < 16; ++t)
    w[t] = std::uint32_t{block[4 * t]} << 24 | std::uint32_t{block[4 * t + 1]} << 16 |
           std::uint32_t{block[4 * t + 2]} << 8 | std::uint32_t{block[4 * t + 3]};
  for (std::size_t t = 16; t < 64; ++t) {
    const auto s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const auto s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = w[t - 16] + s0 + w[t - 7] + s1;
  }
  auto [a, b, c, d, e, f, g, h] = x_state;
  for (std::size_t t = 0; t < 64; ++t) {
    const auto s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const auto t1 = h + s1 + ((e & f) ^ (~e & g)) + k_round_constants[t] + w[t];
    const auto s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const auto t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1;
    d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> add = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < add.size(); ++i) x_state[i] += add[i];
  wipe(w.data(), sizeof w);
}

Sha256::~Sha256() {
  wipe(x_state.data(), sizeof x_state);
  wipe(x_block.data(), sizeof x_block);
}

void Sha256::update(std::string_view bytes) {
  std::size_t held = x_size % k_block;
  x_size += bytes.size();
  while (!bytes.empty()) {
    const auto count = std::min(bytes.size(), k_block - held);
    std::memcpy(x_block.data() + held, bytes.data(), count);
    bytes.remove_prefix(count);
    held += count;
    if (held < k_block) return;
    compress(x_block.data());
    held = 0;
  }
}

Digest Sha256::finish() {
  const std::uint64_t bits = x_size * 8;
  const std::size_t held = x_size % k_block;
  // A bit that is set, zeros, and the length in the last 8 bytes of a block.
  std::array<char, 2 * k_block> padding{};
  padding[0] = static_cast<char>(0x80);
  const std::size_t count = (held < k_block - 8 ? k_block : 2 * k_block) - held;
  for (std::size_t i = 0; i < 8; ++i) padding[count - 1 - i] = static_cast<char>(bits >> (8 * i));
  update({padding.data(), count});
  Digest digest;
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<unsigned char>(x_state[i / 4] >> (8 * (3 - i % 4)));
  return digest;
}

Digest sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

Digest hmac_sha256(std::string_view key, std::initializer_list<std::string_view> parts) {
  std::array<char, k_block> pad{};
  if (key.size() > k_block) {
    auto hashed = sha256(key);
    std::memcpy(pad.data(), hashed.data(), hashed.size());
    wipe(hashed.data(), hashed.size());
  } else if (!key.empty()) {
    std::memcpy(pad.data(), key.data(), key.size());
  }
  const auto flip = [&](char mask) {
    for (char& byte : pad) byte = static_cast<char>(byte ^ mask);
  };
  flip(0x36);
  Sha256 inner;
  inner.update({pad.data(), pad.size()});
  for (const auto part : parts) inner.update(part);
  const auto hash = inner.finish();
  flip(0x36 ^ 0x5c);
  Sha256 outer;
  outer.update({pad.data(), pad.size()});
  outer.update(view_of(hash));
  wipe(pad.data(), pad.size());
  return outer.finish();
}

bool is_equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference = static_cast<unsigned char>(difference | (a[i] ^ b[i]));
  return difference == 0;
}

void wipe(void* memory, std::size_t size) { ::explicit_bzero(memory, size); }

void fill_random(std::span<unsigned char> bytes) {
  while (!bytes.empty()) {
    const auto count = ::getrandom(bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) std::abort(); // a key that others can guess is worse than no run
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

} // namespace hpcml::util
