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
  const test::TempDirectory folder;
  CHECK(util::make_own_directory(folder / "a/b/own"));
  CHECK(mode_of(folder / "a/b/own") == 0700);
  fs::permissions(folder / "a/b/own", fs::perms(0750));
  CHECK(util::make_own_directory(folder / "a/b/own"));
  CHECK(mode_of(folder / "a/b/own") == 0750); // an existing one keeps its mode
}

TEST_CASE("make_own_directory rejects links, files and loops with a sentence") {
  const test::TempDirectory folder;
  fs::create_directory(folder / "target");
  fs::create_symlink("target", folder / "link");
  fs::create_symlink("loop", folder / "loop");
  REQUIRE(util::write_file(folder / "file", ""));
  const auto path = [&](const std::string& name) { return (folder / name).string(); };
  CHECK(error_of(util::make_own_directory(folder / "link")) ==
        "cannot use " + path("link") + ": it is a symbolic link, not a directory");
  CHECK(util::make_own_directory(folder / "link/below")); // the parents may be links
  CHECK(error_of(util::make_own_directory(folder / "loop/below")) ==
        "cannot create directory " + path("loop/below") + ": Too many levels of symbolic links");
  CHECK(error_of(util::make_own_directory(folder / "file")) ==
        "cannot open directory " + path("file") + ": Not a directory");
  CHECK(error_of(util::make_own_directory(folder / "file/below")) ==
        "cannot create directory " + path("file/below") + ": Not a directory");
  const auto longest = std::string(300, 'x');
  CHECK(error_of(util::make_own_directory(folder / longest)) ==
        "cannot create directory " + path(longest) + ": File name too long");
  CHECK(error_of(util::make_own_directory(folder / longest / "below")).ends_with("File name too long"));
}

TEST_CASE("make_own_directory rejects a directory of another user") {
  if (::geteuid() != 0) return test::skip("only root can give a directory away");
  const test::TempDirectory folder;
  fs::create_directory(folder / "theirs");
  REQUIRE(::chown((folder / "theirs").c_str(), k_other_user, k_other_user) == 0);
  const auto what =
      "cannot use directory " + (folder / "theirs").string() + ": it belongs to another user (uid 65534)";
  CHECK(error_of(util::make_own_directory(folder / "theirs")) == what);
  CHECK(append_error(folder / "theirs/file") == what);
}

TEST_CASE("append_own_file does not follow links") {
  const test::TempDirectory folder;
  REQUIRE(util::write_file(folder / "precious", "text"));
  fs::create_symlink("precious", folder / "link");
  fs::create_directory(folder / "real");
  fs::create_symlink("real", folder / "alias");
  REQUIRE(::mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(append_error(folder / "link") ==
        "cannot write to " + (folder / "link").string() + ": it is a symbolic link");
  CHECK(append_error(folder / "alias/file").ends_with("is a symbolic link, not a directory"));
  CHECK(append_error(folder / "pipe").ends_with("No such device or address"));
  CHECK(append_error(folder / "new").empty());
  CHECK(fs::exists(folder / "new"));
  CHECK(util::read_file(folder / "precious").value_or("") == "text");
}
