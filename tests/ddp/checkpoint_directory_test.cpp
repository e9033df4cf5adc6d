// SPDX-License-Identifier: MIT
// Checkpoints are whole or not there.
#include <catch2/catch.hpp>

#include <algorithm>
#include <sys/stat.h>

#include "core/util/file.hpp"
#include "ddp/checkpoint_directory.hpp"
#include "hpcml/ddp/latest_checkpoint.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::ddp;
namespace fs = std::filesystem;
using Catch::Contains;

namespace {

std::vector<std::string> names_in(const fs::path& directory) {
  std::vector<std::string> names;
  for (const auto& item : fs::directory_iterator(directory)) names.push_back(item.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace

TEST_CASE("the newest two stay, and what was left half goes") {
  const test::TempDirectory directory;
  fs::create_directories(directory / ".step-7.part");
  REQUIRE(util::write_file(directory / ".step-7.part/state.pt", "half"));
  for (const int step : {3, 20, 100})
    write_checkpoint(directory.path(), step, {{"state.pt", "bytes"}, {"more", ""}});
  CHECK(names_in(directory.path()) == std::vector<std::string>{"step-100", "step-20"});
  CHECK(find_latest_checkpoint(directory.path()) == 100);
  CHECK(read_checkpoint_file(directory.path(), 20, "state.pt") == "bytes");
  CHECK(read_checkpoint_file(directory.path(), 100, "more").empty());
  write_checkpoint(directory.path(), 100, {{"state.pt", "other"}});
  CHECK(read_checkpoint_file(directory.path(), 100, "state.pt") == "other");
}

TEST_CASE("incomplete checkpoints are not used") {
  const test::TempDirectory directory;
  CHECK(find_latest_checkpoint(directory.path()) == -1);
  CHECK(find_latest_checkpoint(directory / "nowhere") == -1);
  write_checkpoint(directory.path(), 1, {{"state.pt", "first"}});
  write_checkpoint(directory.path(), 2, {{"state.pt", "second"}});
  REQUIRE(util::write_file(directory / "step-2/state.pt", "secon"));
  CHECK(find_latest_checkpoint(directory.path()) == 1);
  REQUIRE(util::write_file(directory / "step-2/state.pt", "sEcond"));
  CHECK(find_latest_checkpoint(directory.path()) == 2);
  CHECK_THROWS_WITH(read_checkpoint_file(directory.path(), 2, "state.pt"),
                    Contains("step-2/state.pt: the file's CRC-32 is "));
  fs::remove(directory / "step-2/complete");
  CHECK(find_latest_checkpoint(directory.path()) == 1);
  for (const char* list : {"", "x", "hpcml-checkpoint 1\n", "hpcml-checkpoint 1\nfive 1 state.pt\n",
                           "hpcml-checkpoint 2\n5 1 state.pt\n"}) {
    REQUIRE(util::write_file(directory / "step-1/complete", list));
    CHECK(find_latest_checkpoint(directory.path()) == -1);
  }
}

TEST_CASE("wrong lists of files are reported with their line") {
  const test::TempDirectory directory;
  fs::create_directories(directory / "step-1");
  REQUIRE(util::write_file(directory / "outside", "bytes"));
  const std::string crc = "b19943ce"; // of "bytes", by Python's zlib.crc32
  REQUIRE(util::write_file(directory / "step-1/state.pt", "bytes"));
  const auto problem = [&](const std::string& lines) {
    REQUIRE(util::write_file(directory / "step-1/complete", "hpcml-checkpoint 1\n" + lines));
    return find_checkpoint_problem(directory / "step-1", CheckpointCheck::checksums).text;
  };
  CHECK(problem("5 " + crc + " state.pt\n").empty());
  CHECK(problem("5 0" + crc.substr(1) + " state.pt\n") ==
        (directory / "step-1/state.pt").string() + ": the file's CRC-32 is " + crc +
            ", expected 19943ce (damaged: restore this file, or use an older checkpoint)");
  for (const std::string entry :
       {"-1 0 gone", "+5 b19943ce state.pt", "5 B19943CE state.pt", "5 0x7 state.pt", "5 b19943ce",
        "5  b19943ce state.pt", " 5 b19943ce state.pt", "", "99999999999999999999 b19943ce state.pt",
        "5 1b19943ce state.pt"})
    CHECK_THAT(problem(entry + "\n"), Contains("complete: line 2: expected 'SIZE CRC32 NAME'"));
  for (const std::string name : {"../outside", "/etc/passwd", "a/../../outside", ".."})
    CHECK_THAT(problem("5 b19943ce " + name + "\n"),
               Contains("line 2: a listed name is outside the checkpoint"));
  CHECK_THAT(problem("5 b19943ce state.pt\n5 b19943ce state.pt\n"),
             Contains("line 3: a name is listed twice"));
  CHECK_THAT(problem("5 b19943ce state.pt"), Contains("does not end with a newline"));
  CHECK_THAT(problem("6 b19943ce state.pt\n"),
             Contains("state.pt: the checkpoint file has 5 bytes, expected 6"));
  CHECK_THAT(problem("0 0 .\n"), Contains("not a regular file"));
}

TEST_CASE("a FIFO is reported, and not waited for") {
  const test::TempDirectory directory;
  write_checkpoint(directory.path(), 1, {{"state.pt", "x"}});
  write_checkpoint(directory.path(), 2, {{"state.pt", ""}});
  fs::remove(directory / "step-2/state.pt");
  REQUIRE(::mkfifo((directory / "step-2/state.pt").c_str(), 0600) == 0);
  fs::create_directories(directory / "step-3");
  REQUIRE(::mkfifo((directory / "step-3/complete").c_str(), 0600) == 0);
  REQUIRE(::mkfifo((directory / "step-4").c_str(), 0600) == 0);
  const auto found = find_usable_checkpoint(directory.path(), "state.pt");
  CHECK(found.step == 1);
  REQUIRE(found.skipped.size() == 3);
  CHECK_THAT(found.skipped[0], Contains("step-4/complete: Not a directory"));
  CHECK_THAT(found.skipped[1], Contains("step-3/complete: not a regular file"));
  CHECK_THAT(found.skipped[2], Contains("step-2/state.pt: not a regular file"));
  CHECK(find_latest_checkpoint(directory.path()) == 1);
}

TEST_CASE("links are followed, broken links reported") {
  const test::TempDirectory directory, target;
  write_checkpoint(target.path(), 7, {{"state.pt", "x"}});
  fs::create_directory_symlink(target / "step-7", directory / "step-7");
  fs::create_symlink("nothing", directory / "step-8");
  fs::create_symlink("step-9", directory / "step-9");
  const auto found = find_usable_checkpoint(directory.path(), "state.pt");
  CHECK(found.step == 7);
  REQUIRE(found.skipped.size() == 2);
  CHECK_THAT(found.skipped[0], Contains("step-9/complete: Too many levels of symbolic links"));
  CHECK_THAT(found.skipped[1], Contains("step-8/complete: No such file or directory"));
}

TEST_CASE("the older checkpoint is used if any byte is damaged") {
  const test::TempDirectory directory;
  const std::string bytes = "header: index, data and tail of a file\n";
  write_checkpoint(directory.path(), 1, {{"state.pt", "older"}});
  write_checkpoint(directory.path(), 2, {{"state.pt", bytes}, {"tokens.txt", "1 2 3"}});
  const auto is_older = [&](const std::string& file) {
    const auto found = find_usable_checkpoint(directory.path(), "state.pt");
    return found.step == 1 && found.bytes == "older" && found.damaged && found.skipped.size() == 1 &&
           found.skipped[0].rfind((directory / "step-2" / file).string(), 0) == 0;
  };
  for (const std::string file : {"complete", "state.pt"}) {
    const auto path = directory / "step-2" / file;
    const auto intact = *util::read_file(path);
    for (std::size_t at = 0; at < intact.size(); ++at)
      for (const int mask : {0x01, 0x20, 0x80, 0xFF}) {
        auto damaged = intact;
        damaged[at] = static_cast<char>(damaged[at] ^ mask);
        REQUIRE(util::write_file(path, damaged));
        INFO(file << ", byte " << at << " ^ " << mask);
        // A damaged list may name another file, or the listed file that no longer agrees with it.
        CHECK(is_older(file == "complete" ? "" : file));
      }
    for (std::size_t length = 0; length < intact.size(); ++length) {
      // A list that ends after a line is a shorter list: the first line names what was asked for.
      if (file == "complete" && length > 19 && intact[length - 1] == '\n') continue;
      REQUIRE(util::write_file(path, intact.substr(0, length)));
      INFO(file << ", " << length << " bytes");
      CHECK(is_older(file));
    }
    REQUIRE(util::write_file(path, intact));
    CHECK(find_usable_checkpoint(directory.path(), "state.pt").step == 2);
  }
  fs::remove(directory / "step-2/complete");
  const auto unfinished = find_usable_checkpoint(directory.path(), "state.pt");
  CHECK(unfinished.step == 1);
  CHECK_FALSE(unfinished.damaged);
}

TEST_CASE("names that are no steps are none") {
  const test::TempDirectory directory;
  write_checkpoint(directory.path(), 5, {{"state.pt", "x"}});
  for (const char* name : {"step-", "step-x", "step--6", "step-6x", "step-99999999999999999999", "other-9",
                           "step-020", "step-00"})
    fs::copy(directory / "step-5", directory / name, fs::copy_options::recursive);
  CHECK(find_latest_checkpoint(directory.path()) == 5);
}

TEST_CASE("a checkpoint that cannot be written says why, and leaves the last one and nothing half") {
  const test::TempDirectory directory;
  write_checkpoint(directory.path(), 1, {{"state.pt", "x"}});
  CHECK_THROWS_WITH(write_checkpoint(directory.path(), 2, {{"no/such/folder", "x"}}),
                    Contains("No such file"));
  CHECK(names_in(directory.path()) == std::vector<std::string>{"step-1"});
  REQUIRE(util::write_file(directory / "file", ""));
  CHECK_THROWS_WITH(write_checkpoint(directory / "file", 2, {{"state.pt", "x"}}), Contains("cannot create"));
}
