// SPDX-License-Identifier: MIT
// Paths as people write them, whole.
#include <catch2/catch.hpp>

#include "core/util/user_path.hpp"

using namespace hpcml;

namespace {

util::EnvSnapshot snapshot(const std::string& directory) {
  util::EnvSnapshot env;
  env.set("PWD", directory);
  return env;
}

} // namespace

TEST_CASE("a person's path becomes whole, from their home or their folder") {
  const util::PathBaseDirectories places{"/users/me", "/scratch/p1"};
  const std::vector<std::pair<const char*, const char*>> rows = {
      {"~", "/users/me"},         {"~/env", "/users/me/env"},    {"~/../x", "/users/x"},
      {"env", "/scratch/p1/env"}, {"./env/", "/scratch/p1/env"}, {"../env", "/scratch/env"},
      {"/a/../b", "/a/../b"},     {"a b", "/scratch/p1/a b"},    {"./~x", "/scratch/p1/~x"},
      {".", "/scratch/p1"}};
  for (const auto& [text, whole] : rows) {
    CAPTURE(text);
    const auto path = util::absolute_path(text, places);
    REQUIRE(path);
    CHECK(*path == whole);
  }
  CHECK_FALSE(util::absolute_path("", places));
  CHECK_FALSE(util::absolute_path("~root/x", places));
  CHECK_FALSE(util::absolute_path("~/x", {"", "/scratch"}));
  // Nobody expands it: a folder of that name would be looked for below the working folder.
  for (const char* text : {"$SCRATCH", "$SCRATCH/env", "${WORK}/env"})
    CHECK_FALSE(util::absolute_path(text, places));
  CHECK(util::absolute_path("./$SCRATCH", places).value_or("") == "/scratch/p1/$SCRATCH");
}

TEST_CASE("the working folder has the shell's name as long as that is the same folder") {
  const auto start_directory = std::filesystem::current_path();
  CHECK(util::user_places(snapshot("/")).directory == start_directory);
  CHECK(util::user_places(snapshot(start_directory.string() + "/.")).directory == start_directory / ".");
  CHECK(util::user_places(snapshot("relative")).directory == start_directory);
}

TEST_CASE("what is kept for later lies in the person's cache, by kind") {
  struct Case {
    const char *cache, *home, *directory;
  };
  const Case cases[] = {
      {"/caches", "/home/me", "/caches/hpcml/torch"},
      {"", "/home/me", "/home/me/.cache/hpcml/torch"},
      {"relative", "/home/me", "/home/me/.cache/hpcml/torch"}, // the XDG rules: not set, then
      {"", "", ""},
      {"relative", "home", ""}};
  for (const auto& test_case : cases) {
    util::EnvSnapshot env;
    env.set("XDG_CACHE_HOME", test_case.cache);
    env.set("HOME", test_case.home);
    const auto directory = util::cache_directory(env, "torch");
    INFO(test_case.cache << " " << test_case.home);
    CHECK(directory.value_or("") == test_case.directory);
    if (!directory) CHECK_FALSE(directory.error().hint.empty());
  }
}
