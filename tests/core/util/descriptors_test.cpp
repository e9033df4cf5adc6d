// SPDX-License-Identifier: MIT
// Descriptors: what a child inherits, and standard input.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"

using namespace hpcml::util;

namespace {
bool is_open(int fd) { return ::fcntl(fd, F_GETFD) >= 0; }
} // namespace

TEST_CASE("the descriptors of a range are closed, and no others") {
  constexpr int k_first = 300;
  for (int fd = k_first; fd < k_first + 4; ++fd) REQUIRE(::dup2(STDERR_FILENO, fd) == fd);
  close_descriptors(k_first + 1, k_first + 2);
  CHECK(is_open(k_first));
  CHECK_FALSE(is_open(k_first + 1));
  CHECK_FALSE(is_open(k_first + 2));
  CHECK(is_open(k_first + 3));
  close_descriptors(k_first + 1, k_first); // no range
  CHECK(is_open(k_first));
  close_descriptors(k_first);
  CHECK_FALSE(is_open(k_first + 3));
}

TEST_CASE("standard input is read where it is a socket, which cannot be opened anew") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  REQUIRE(::write(ends[1], "#!/bin/bash\n", 12) == 12);
  ::close(ends[1]);
  const int own = ::dup(STDIN_FILENO);
  ::dup2(ends[0], STDIN_FILENO);
  ::close(ends[0]);
  const auto start = read_file("/dev/stdin", 3);
  const auto rest = read_file("/dev/stdin");
  ::dup2(own, STDIN_FILENO);
  ::close(own);
  REQUIRE(start);
  CHECK(*start == "#!/");
  REQUIRE(rest);
  CHECK(*rest == "bin/bash\n");
}
