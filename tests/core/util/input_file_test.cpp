// SPDX-License-Identifier: MIT
// Files that a user names, of every kind.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/input_file.hpp"
#include "skip.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using util::read_input;

namespace {

constexpr std::size_t k_limit = std::size_t{1} << 20U;
constexpr uid_t k_other_user = 65534;

std::string error_of(const std::filesystem::path& path, const util::InputFileRule& rule = {k_limit}) {
  const auto read = read_input(path, rule);
  return read ? "" : read.error().what;
}

} // namespace

TEST_CASE("read_input accepts files up to the limit") {
  const test::TempDirectory directory;
  REQUIRE(util::write_file(directory / "small", "text"));
  REQUIRE(util::write_file(directory / "limit", std::string(k_limit, 'x')));
  REQUIRE(util::write_file(directory / "over", std::string(k_limit + 1, 'x')));
  CHECK(read_input(directory / "small", {k_limit}).value_or("") == "text");
  CHECK(read_input(directory / "limit", {k_limit}).value_or("").size() == k_limit);
  CHECK(error_of(directory / "over") ==
        "cannot read " + (directory / "over").string() + ": it exceeds 1 MiB (limit)");
  CHECK(util::read_input_head(directory / "over", 5).value_or("") == "xxxxx");
}

TEST_CASE("read_input rejects what has no end or no text") {
  const test::TempDirectory directory;
  REQUIRE(::mkfifo((directory / "pipe").c_str(), 0600) == 0);
  std::filesystem::create_symlink("loop", directory / "loop");
  CHECK(error_of("/dev/zero") == "cannot read /dev/zero: it exceeds 1 MiB (limit)");
  CHECK(error_of("/dev/zero", {k_limit, true}) == "cannot read /dev/zero: it is not a regular file");
  CHECK(error_of(directory / "pipe").ends_with("no process writes to this pipe"));
  CHECK(error_of(directory / "pipe", {k_limit, true}).ends_with("is not a regular file"));
  CHECK(error_of(directory / "loop").ends_with("Too many levels of symbolic links"));
  CHECK(error_of(directory / std::string(300, 'x')).ends_with("File name too long"));
  CHECK(error_of(directory.path()).ends_with("Is a directory"));
  CHECK(error_of(directory / "missing").ends_with("No such file or directory"));
}

TEST_CASE("read_input reads a pipe to its end") {
  const test::TempDirectory directory;
  const auto path = directory / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  std::thread writer([&] {
    const int fd = ::open(path.c_str(), O_WRONLY);
    for (const char* part : {"one ", "two"}) {
      if (::write(fd, part, std::char_traits<char>::length(part)) < 0) break;
      ::usleep(20000);
    }
    ::close(fd);
  });
  CHECK(read_input(path, {k_limit}).value_or("failed") == "one two");
  writer.join();
}

TEST_CASE("read_input waits for a silent writer") {
  const test::TempDirectory directory;
  const auto path = directory / "pipe";
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const int keep = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(keep >= 0);
  std::thread writer([&] {
    ::usleep(4000000); // longer than a missing writer is waited for
    CHECK(::write(keep, "late", 4) == 4);
    ::close(keep);
  });
  CHECK(read_input(path, {k_limit}).value_or("failed") == "late");
  writer.join();
}

TEST_CASE("read_input reads open descriptors by their names") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  CHECK(::write(ends[1], "text", 4) == 4);
  ::close(ends[1]);
  CHECK(read_input("/dev/fd/" + std::to_string(ends[0]), {k_limit}).value_or("failed") == "text");
  ::close(ends[0]);
  CHECK(error_of("/dev/fd/" + std::to_string(ends[0])).ends_with("Bad file descriptor"));
}

TEST_CASE("read_input rejects files of other users on request") {
  if (::geteuid() != 0) return test::skip("only root can give a file away");
  const test::TempDirectory directory;
  const util::InputFileRule rule{k_limit, true, "a hint"};
  REQUIRE(util::write_file(directory / "own", "text"));
  REQUIRE(util::write_file(directory / "theirs", "text"));
  REQUIRE(::chown((directory / "theirs").c_str(), k_other_user, k_other_user) == 0);
  std::filesystem::create_symlink("own", directory / "link");
  REQUIRE(::lchown((directory / "link").c_str(), k_other_user, k_other_user) == 0);
  CHECK(read_input(directory / "own", rule).value_or("") == "text");
  CHECK(read_input(directory / "theirs", {k_limit, true}).value_or("") == "text");
  for (const char* name : {"theirs", "link"}) {
    const auto read = read_input(directory / name, rule);
    REQUIRE_FALSE(read);
    CHECK(read.error().what == "hpcml does not read " + (directory / name).string() +
                                   ": it belongs to another user (uid 65534), not to you or root");
    CHECK(read.error().hint == "a hint");
  }
}
