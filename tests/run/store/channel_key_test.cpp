// SPDX-License-Identifier: MIT
// Where the key of a job is found, and which key files are rejected.
#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "core/util/file.hpp"
#include "run/store/channel_key.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::store;
using Catch::Contains;

namespace {

const std::string k_bytes = "0123456789abcdef0123456789abcdef";

std::string write_key(const std::string& path, const std::string& bytes = k_bytes, unsigned mode = 0600) {
  REQUIRE(util::write_file(path, bytes, mode));
  REQUIRE(::chmod(path.c_str(), mode) == 0);
  return path;
}

util::Result<ChannelKey> find(const util::EnvSnapshot& env, const std::string& file = {}) {
  return find_channel_key(
      env, [](const SecretKey& key) { return derive_job_key(key, "12.0.1000"); }, file);
}

} // namespace

TEST_CASE("a key is written as 64 hexadecimal digits") {
  const auto key = SecretKey::make_random();
  CHECK(key.to_hex().size() == 64);
  CHECK(SecretKey::parse(key.to_hex()) == key);
  for (const auto& text : {std::string(), std::string(63, 'a'), std::string(65, 'a'), std::string(64, 'g'),
                           std::string(64, 'A'), std::string(63, 'a') + "\n"})
    CHECK_FALSE(SecretKey::parse(text));
}

TEST_CASE("keys of other jobs, restarts and users differ") {
  const auto key = SecretKey::make_random();
  const auto job = derive_job_key(key, "12.0.1000");
  CHECK(job == derive_job_key(key, "12.0.1000"));
  for (const char* job_text : {"13.0.1000", "12.1.1000", "12.0.1001", ""})
    CHECK_FALSE(job == derive_job_key(key, job_text));
  CHECK_FALSE(job == derive_run_key(key));
  CHECK_FALSE(job == derive_job_key(SecretKey::make_random(), "12.0.1000"));
}

TEST_CASE("HPCML_JOB_SECRET comes before the key file") {
  const test::TempDirectory directory;
  const std::string home = directory.path().string();
  util::EnvSnapshot env;
  env.set("HOME", home);
  auto found = find(env);
  REQUIRE(found);
  CHECK_FALSE(found->key);
  CHECK_THAT(found->origin, Contains(home + "/.config/hpcml/key") && Contains("No such file"));
  REQUIRE(make_user_key(user_key_path(env)));
  found = find(env);
  REQUIRE(found);
  REQUIRE(found->key);
  CHECK(found->origin == "key file " + home + "/.config/hpcml/key");
  const auto secret = SecretKey::make_random();
  env.set("HPCML_JOB_SECRET", secret.to_hex());
  found = find(env);
  REQUIRE(found);
  CHECK(found->key == secret);
  CHECK(found->origin == "HPCML_JOB_SECRET");
}

TEST_CASE("an invalid HPCML_JOB_SECRET is an error and is not printed") {
  util::EnvSnapshot env;
  env.set("HPCML_JOB_SECRET", "c0ffee");
  const auto found = find(env);
  REQUIRE_FALSE(found);
  CHECK_THAT(found.error().what, Contains("HPCML_JOB_SECRET") && !Contains("c0ffee"));
}

TEST_CASE("HPCML_KEY_FILE and a named file replace the default path") {
  const test::TempDirectory directory;
  const std::string home = directory.path().string();
  const auto own = write_key(home + "/own");
  const util::EnvSnapshot env({{"HOME", "/nowhere"}, {"HPCML_KEY_FILE", own}});
  const auto found = find(env);
  REQUIRE(found);
  REQUIRE(found->key);
  util::EnvSnapshot secret = env;
  secret.set("HPCML_JOB_SECRET", SecretKey::make_random().to_hex());
  const auto named = find(secret, own);
  REQUIRE(named);
  CHECK(named->key == found->key);
  CHECK_FALSE(find(secret, home + "/missing"));
}

TEST_CASE("a key file that others could read is rejected") {
  const test::TempDirectory directory;
  const std::string home = directory.path().string();
  const auto rejected = [&](const std::string& path, const std::string& why) {
    const auto found = load_user_key(path);
    REQUIRE_FALSE(found);
    CHECK_THAT(found.error().what, Contains(path) && Contains(why));
  };
  for (const unsigned mode : {0640U, 0604U, 0620U, 0602U, 0644U, 0666U, 0610U})
    rejected(write_key(home + "/mode", k_bytes, mode), "other users may access it");
  rejected(write_key(home + "/short", k_bytes.substr(1)), "has 31 bytes");
  rejected(write_key(home + "/long", k_bytes + "0"), "has 33 bytes");
  rejected(write_key(home + "/empty", ""), "has 0 bytes");
  const auto good = write_key(home + "/good");
  CHECK(load_user_key(good)->key);
  REQUIRE(::symlink(good.c_str(), (home + "/link").c_str()) == 0);
  rejected(home + "/link", "symbolic link");
  REQUIRE(::mkfifo((home + "/fifo").c_str(), 0600) == 0);
  rejected(home + "/fifo", "not a regular file");
  rejected(home, "not a regular file");
  rejected("/dev/zero", "not a regular file");
  if (::geteuid() == 0) {
    const auto foreign = write_key(home + "/foreign");
    REQUIRE(::chown(foreign.c_str(), 12345, 12345) == 0);
    rejected(foreign, "belongs to another user (uid 12345)");
  }
}

TEST_CASE("a key file is made once, with mode 0600") {
  const test::TempDirectory directory;
  const std::string home = directory.path().string();
  const auto path = home + "/a/b/hpcml/key";
  std::vector<std::thread> makers;
  for (int i = 0; i < 8; ++i) makers.emplace_back([&] { (void)make_user_key(path); });
  for (auto& maker : makers) maker.join();
  const auto first = load_user_key(path);
  REQUIRE(first);
  REQUIRE(first->key);
  REQUIRE(make_user_key(path));
  CHECK(load_user_key(path)->key == first->key);
  struct stat found {};
  REQUIRE(::stat(path.c_str(), &found) == 0);
  CHECK((found.st_mode & 07777) == 0600);
  REQUIRE(::stat((home + "/a/b/hpcml").c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0700);
  // Nothing else is left, and a file that exists stays as it is.
  CHECK(std::distance(std::filesystem::directory_iterator(home + "/a/b/hpcml"), {}) == 1);
  const auto invalid = write_key(home + "/invalid", "x");
  CHECK(make_user_key(invalid));
  CHECK(util::read_file(invalid).value_or("") == "x");
  CHECK_FALSE(make_user_key(""));
}

TEST_CASE("without HOME the key file's path uses the user database") {
  const auto path = user_key_path(util::EnvSnapshot());
  CHECK_THAT(path, Catch::EndsWith("/.config/hpcml/key"));
  CHECK(user_key_path(util::EnvSnapshot({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/c"}})) == "/c/hpcml/key");
}
