// SPDX-License-Identifier: MIT
// SHA-256 and HMAC against the published vectors and against Python's hmac.
#include <catch2/catch.hpp>

#include <cstdio>

#include "core/util/env_snapshot.hpp"
#include "core/util/process.hpp"
#include "core/util/sha256.hpp"
#include "random_numbers.hpp"

using namespace hpcml;

namespace {

std::string to_hex(std::string_view bytes) {
  static constexpr char c_digits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += c_digits[static_cast<unsigned char>(byte) >> 4];
    text += c_digits[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

std::string hash_of(std::string_view bytes) { return to_hex(util::view_of(util::sha256(bytes))); }

std::string hmac_of(std::string_view key, std::string_view text) {
  return to_hex(util::view_of(util::hmac_sha256(key, {text})));
}

} // namespace

TEST_CASE("SHA-256 matches the vectors of FIPS 180-4") {
  CHECK(hash_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash_of("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmno"
                "pqrsmnopqrstnopqrstu") ==
        "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  util::Sha256 million;
  for (int i = 0; i < 1000; ++i) million.update(std::string(1000, 'a'));
  CHECK(to_hex(util::view_of(million.finish())) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("HMAC-SHA-256 matches the vectors of RFC 4231") {
  const std::string aa(131, '\xaa');
  CHECK(hmac_of(std::string(20, '\x0b'), "Hi There") ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(hmac_of("Jefe", "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hmac_of(std::string(20, '\xaa'), std::string(50, '\xdd')) ==
        "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe");
  std::string counting;
  for (int i = 1; i <= 25; ++i) counting += static_cast<char>(i);
  CHECK(hmac_of(counting, std::string(50, '\xcd')) ==
        "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
  CHECK(hmac_of(std::string(20, '\x0c'), "Test With Truncation").substr(0, 32) ==
        "a3b6167473100ee06e0c796c2955552b");
  CHECK(hmac_of(aa, "Test Using Larger Than Block-Size Key - Hash Key First") ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  CHECK(hmac_of(aa,
                "This is a test using a larger than block-size key and a larger than block-size data. The "
                "key needs to be hashed before being used by the HMAC algorithm.") ==
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST_CASE("HMAC-SHA-256 agrees with Python for 10,000 random messages") {
  const char* const program = "import hmac, sys\n"
                              "for line in sys.stdin:\n"
                              "  key, text = (bytes.fromhex(word) for word in line[:-1].split(','))\n"
                              "  print(hmac.new(key, text, 'sha256').hexdigest())\n";
  std::string questions, answers;
  std::mt19937 random(34);
  const auto bytes = [&](unsigned most) {
    std::string text(test::pick(random, 0, most), '\0');
    for (char& byte : text) byte = static_cast<char>(random());
    return text;
  };
  for (int i = 0; i < 10'000; ++i) {
    const auto key = bytes(i % 4 == 0 ? 200 : 64), text = bytes(i % 8 == 0 ? 1000 : 150);
    questions += to_hex(key) + "," + to_hex(text) + "\n";
    const auto half = text.size() / 2;
    const std::string_view all = text;
    const auto mac = util::hmac_sha256(key, {all.substr(0, half), all.substr(half)});
    answers += to_hex(util::view_of(mac)) + "\n";
  }
  const auto output =
      util::run_process({"python3", "-c", program}, util::EnvSnapshot::of_process(), {}, questions);
  REQUIRE(output);
  INFO(output->err);
  CHECK((output->out == answers));
}

TEST_CASE("comparison in constant time compares all bytes") {
  CHECK(util::is_equal_in_constant_time("", ""));
  CHECK(util::is_equal_in_constant_time("abc", "abc"));
  for (const char* different : {"abd", "bbc", "ab", "abcd", "", "aBc"})
    CHECK_FALSE(util::is_equal_in_constant_time("abc", different));
}

TEST_CASE("random bytes differ between calls") {
  std::array<unsigned char, 32> a{}, b{};
  util::fill_random(a);
  util::fill_random(b);
  CHECK(a != b);
  CHECK(a != decltype(a){});
}
