// SPDX-License-Identifier: MIT
// Checkpoints are whole or not there.
#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>

#include "ddp/checkpoint_folder.hpp"
#include "hpcml/ddp/latest_checkpoint.hpp"
#include "temp_folder.hpp"
#include "util/file.hpp"

using namespace hpcml;
using namespace hpcml::ddp;
namespace fs = std::filesystem;
using Catch::Contains;

namespace {

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& item : fs::directory_iterator(folder)) names.push_back(item.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace

TEST_CASE("checksums are those of zlib") {
  CHECK(crc32("") == 0);
  CHECK(crc32("123456789") == 0xCBF43926U);
}

TEST_CASE("the newest two stay, and what was left half goes") {
  const test::TempFolder folder;
  fs::create_directories(folder / ".step-7.part");
  REQUIRE(util::write_file(folder / ".step-7.part/state.pt", "half"));
  for (const int step : {3, 20, 100})
    write_checkpoint(folder.path(), step, {{"state.pt", "bytes"}, {"more", ""}});
  CHECK(names_in(folder.path()) == std::vector<std::string>{"step-100", "step-20"});
  CHECK(find_latest_checkpoint(folder.path()) == 100);
  CHECK(read_checkpoint_file(folder.path(), 20, "state.pt") == "bytes");
  CHECK(read_checkpoint_file(folder.path(), 100, "more").empty());
  write_checkpoint(folder.path(), 100, {{"state.pt", "other"}});
  CHECK(read_checkpoint_file(folder.path(), 100, "state.pt") == "other");
}

TEST_CASE("a checkpoint that lost a byte, a file or its list is not taken; one with other bytes is refused") {
  const test::TempFolder folder;
  CHECK(find_latest_checkpoint(folder.path()) == -1);
  CHECK(find_latest_checkpoint(folder / "nowhere") == -1);
  write_checkpoint(folder.path(), 1, {{"state.pt", "first"}});
  write_checkpoint(folder.path(), 2, {{"state.pt", "second"}});
  REQUIRE(util::write_file(folder / "step-2/state.pt", "secon"));
  CHECK(find_latest_checkpoint(folder.path()) == 1);
  REQUIRE(util::write_file(folder / "step-2/state.pt", "sEcond"));
  CHECK(find_latest_checkpoint(folder.path()) == 2);
  CHECK_THROWS_WITH(read_checkpoint_file(folder.path(), 2, "state.pt"), Contains("is not what was written"));
  fs::remove(folder / "step-2/complete");
  CHECK(find_latest_checkpoint(folder.path()) == 1);
  for (const char* list : {"", "x", "hpcml-checkpoint 1\n", "hpcml-checkpoint 1\nfive 1 state.pt\n",
                           "hpcml-checkpoint 2\n5 1 state.pt\n"}) {
    REQUIRE(util::write_file(folder / "step-1/complete", list));
    CHECK(find_latest_checkpoint(folder.path()) == -1);
  }
}

TEST_CASE("names that are no steps are none") {
  const test::TempFolder folder;
  write_checkpoint(folder.path(), 5, {{"state.pt", "x"}});
  for (const char* name : {"step-", "step-x", "step--6", "step-6x", "step-99999999999999999999", "other-9"})
    fs::copy(folder / "step-5", folder / name, fs::copy_options::recursive);
  CHECK(find_latest_checkpoint(folder.path()) == 5);
}

TEST_CASE("a checkpoint that cannot be written says why, and leaves the last one and nothing half") {
  const test::TempFolder folder;
  write_checkpoint(folder.path(), 1, {{"state.pt", "x"}});
  CHECK_THROWS_WITH(write_checkpoint(folder.path(), 2, {{"no/such/folder", "x"}}), Contains("No such file"));
  CHECK(names_in(folder.path()) == std::vector<std::string>{"step-1"});
  REQUIRE(util::write_file(folder / "file", ""));
  CHECK_THROWS_WITH(write_checkpoint(folder / "file", 2, {{"state.pt", "x"}}), Contains("cannot make"));
}
