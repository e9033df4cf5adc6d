// SPDX-License-Identifier: MIT
// Directories and files in directories that other users may write in.
#include <catch2/catch.hpp>

#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/own_directory.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

constexpr uid_t k_other_user = 65534;

unsigned mode_of(const fs::path& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 ? found.st_mode & 07777U : 0U;
}

std::string error_of(const util::Status& status) { return status ? "" : status.error().what; }

std::string append_error(const fs::path& path) {
  const auto opened = util::append_own_file(path);
  if (opened) ::close(*opened);
  return opened ? "" : opened.error().what;
}

} // namespace

TEST_CASE("make_own_directory creates directories for the caller alone") {
  const test::TempDirectory directory;
  CHECK(util::make_own_directory(directory / "a/b/own"));
  CHECK(mode_of(directory / "a/b/own") == 0700);
  fs::permissions(directory / "a/b/own", fs::perms(0750));
  CHECK(util::make_own_directory(directory / "a/b/own"));
  CHECK(mode_of(directory / "a/b/own") == 0750); // an existing one keeps its mode
}

TEST_CASE("make_own_directory rejects links, files and loops with a sentence") {
  const test::TempDirectory directory;
  fs::create_directory(directory / "target");
  fs::create_symlink("target", directory / "link");
  fs::create_symlink("loop", directory / "loop");
  REQUIRE(util::write_file(directory / "file", ""));
  const auto path = [&](const std::string& name) { return (directory / name).string(); };
  CHECK(error_of(util::make_own_directory(directory / "link")) ==
        "cannot use " + path("link") + ": it is a symbolic link, not a directory");
  CHECK(util::make_own_directory(directory / "link/below")); // the parents may be links
  CHECK(error_of(util::make_own_directory(directory / "loop/below")) ==
        "cannot create directory " + path("loop/below") + ": Too many levels of symbolic links");
  CHECK(error_of(util::make_own_directory(directory / "file")) ==
        "cannot open directory " + path("file") + ": Not a directory");
  CHECK(error_of(util::make_own_directory(directory / "file/below")) ==
        "cannot create directory " + path("file/below") + ": Not a directory");
  const auto longest = std::string(300, 'x');
  CHECK(error_of(util::make_own_directory(directory / longest)) ==
        "cannot create directory " + path(longest) + ": File name too long");
  CHECK(error_of(util::make_own_directory(directory / longest / "below")).ends_with("File name too long"));
}

TEST_CASE("make_own_directory rejects a directory of another user") {
  if (::geteuid() != 0) return test::skip("only root can give a directory away");
  const test::TempDirectory directory;
  fs::create_directory(directory / "theirs");
  REQUIRE(::chown((directory / "theirs").c_str(), k_other_user, k_other_user) == 0);
  const auto what =
      "cannot use directory " + (directory / "theirs").string() + ": it belongs to another user (uid 65534)";
  CHECK(error_of(util::make_own_directory(directory / "theirs")) == what);
  CHECK(append_error(directory / "theirs/file") == what);
}

TEST_CASE("append_own_file does not follow links") {
  const test::TempDirectory directory;
  REQUIRE(util::write_file(directory / "precious", "text"));
  fs::create_symlink("precious", directory / "link");
  fs::create_directory(directory / "real");
  fs::create_symlink("real", directory / "alias");
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  CHECK(append_error(directory / "link") ==
        "cannot write to " + (directory / "link").string() + ": it is a symbolic link");
  CHECK(append_error(directory / "alias/file").ends_with("is a symbolic link, not a directory"));
  CHECK(append_error(directory / "pipe").ends_with("No such device or address"));
  CHECK(append_error(directory / "new").empty());
  CHECK(fs::exists(directory / "new"));
  CHECK(util::read_file(directory / "precious").value_or("") == "text");
}
