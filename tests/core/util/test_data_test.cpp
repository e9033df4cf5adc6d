// SPDX-License-Identifier: MIT
// The helper that reads compressed test data.
#include <catch2/catch.hpp>

#include <fstream>
#include <iterator>

#include "core/util/file.hpp"
#include "test_data.hpp"

using namespace hpcml;

namespace {

const std::filesystem::path k_cases = HPCML_SOURCE_DIR "/tests/affinity/cases.json";

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

TEST_CASE("read_test_data decompresses NAME.gz, named with or without .gz") {
  const auto text = test::read_test_data(k_cases);
  REQUIRE(text);
  CHECK(text->size() > 100000);
  CHECK(test::read_test_data(k_cases.string() + ".gz").value() == *text);
  // gzip's own account of the length is in the last four bytes.
  const auto packed = bytes_of(k_cases.string() + ".gz");
  std::size_t length = 0;
  for (int i = 1; i <= 4; ++i)
    length = length << 8 | static_cast<unsigned char>(packed[packed.size() - static_cast<std::size_t>(i)]);
  CHECK(text->size() == length);
}

TEST_CASE("read_test_data returns plain files unchanged") {
  const test::TempDirectory directory;
  for (const auto& text : {std::string(), std::string("a\0b\n", 4), std::string(200000, 'x')}) {
    std::ofstream(directory / "plain", std::ios::binary) << text;
    CHECK(test::read_test_data(directory / "plain").value() == text);
  }
}

TEST_CASE("read_test_data returns an error for missing, damaged and truncated files") {
  const test::TempDirectory directory;
  const auto missing = test::read_test_data(directory / "none.json");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().what.find("none.json: No such file or directory") != std::string::npos);
  CHECK_FALSE(test::read_test_data(directory.path()));
  const auto packed = bytes_of(k_cases.string() + ".gz");
  for (const std::size_t size : {packed.size() / 2, packed.size() - 4}) {
    INFO(size);
    std::ofstream(directory / "cut.gz", std::ios::binary) << packed.substr(0, size);
    CHECK_FALSE(test::read_test_data(directory / "cut.gz"));
  }
  auto damaged = packed;
  damaged[damaged.size() - 6] ^= 1; // of the checksum
  std::ofstream(directory / "bad.gz", std::ios::binary) << damaged;
  CHECK_FALSE(test::read_test_data(directory / "bad.gz"));
}

TEST_CASE("UnpackedData has every file of a directory, without .gz") {
  const auto& topologies = test::unpacked_topologies();
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(topologies)) {
    ++count;
    CHECK(entry.path().extension() != ".gz");
  }
  CHECK(count == 10);
  CHECK(bytes_of(topologies / "eas-tioga.xml").size() == 137468);
  CHECK(bytes_of(topologies / "azure-ndv4-topo.xml").size() == 2339);
}
