// SPDX-License-Identifier: MIT
// Closing the descriptors that a child inherits.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <unistd.h>

#include "util/process.hpp"

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
