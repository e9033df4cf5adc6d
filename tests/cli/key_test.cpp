// SPDX-License-Identifier: MIT
// The user's key file: who makes it, and the secrets that follow from it.
#include <catch2/catch.hpp>

#include <sys/stat.h>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using Catch::Contains;
using Words = std::vector<std::string>;

namespace {

/// Runs hpcml with a home directory of its own.
class Home {
public:
  Home() {
    x_env.set("PATH", "/usr/bin:/bin");
    x_env.set("HOME", x_directory.path().string());
  }
  util::EnvSnapshot& env() { return x_env; }
  std::string key() const { return (x_directory / ".config/hpcml/key").string(); }
  util::ProcessOutput run(Words words) const {
    words.insert(words.begin(), HPCML_BINARY);
    const auto output = util::run_process(words, x_env, std::chrono::seconds(60));
    REQUIRE(output);
    return *output;
  }
  bool has_key() const { return util::read_file(key()).value_or("").size() == 32; }

private:
  test::TempDirectory x_directory;
  util::EnvSnapshot x_env;
};

const Words k_gen = {"gen", "--site", "generic", "--nodes", "2", "--gpus-per-node",
                     "4",   "--",     "python",  "train.py"};

} // namespace

TEST_CASE("gen and config create the key file, jobs do not") {
  for (const Words& words : {k_gen, Words{"config", "set", "site", "lumi"}, Words{"config", "key"}}) {
    CAPTURE(words);
    Home home;
    home.env().set("SLURM_JOB_ID", "77");
    (void)home.run(words);
    CHECK_FALSE(home.has_key());
    home.env().unset("SLURM_JOB_ID");
    CHECK(home.run(words).exit_code == 0);
    REQUIRE(home.has_key());
    struct stat found {};
    REQUIRE(::stat(home.key().c_str(), &found) == 0);
    CHECK((found.st_mode & 07777) == 0600);
    const auto before = util::read_file(home.key());
    CHECK(home.run(words).exit_code == 0);
    CHECK(util::read_file(home.key()).value_or("") == before.value_or("no"));
  }
}

TEST_CASE("config key prints the path of the key file") {
  const Home home;
  const auto output = home.run({"config", "key"});
  CHECK(output.out == home.key() + "\n");
  CHECK(output.err.empty());
}

TEST_CASE("gen works without a writable home directory") {
  Home home;
  home.env().set("HOME", "/proc/nowhere");
  const auto output = home.run(k_gen);
  CHECK(output.exit_code == 0);
  CHECK(output.out.starts_with("#!"));
}

TEST_CASE("gen warns of a key file that jobs would reject") {
  const Home home;
  REQUIRE(home.run({"config", "key"}).exit_code == 0);
  REQUIRE(::chmod(home.key().c_str(), 0644) == 0);
  const auto output = home.run(k_gen);
  CHECK(output.exit_code == 0);
  CHECK_THAT(output.err, Contains("(mode 0644)") && Contains("chmod 600"));
}

TEST_CASE("a job's secret follows from key file, job and restarts") {
  Home home;
  const auto secret = [&](const char* job, const char* restart) {
    home.env().set("SLURM_JOB_ID", job);
    home.env().set("SLURM_RESTART_COUNT", restart);
    const auto output = home.run({"internal", "job-secret"});
    CHECK(output.exit_code == 0);
    CHECK(util::trim(output.out).size() == 64);
    return output.out;
  };
  CHECK(secret("77", "0") != secret("77", "0"));
  home.env().unset("SLURM_JOB_ID");
  REQUIRE(home.run({"config", "key"}).exit_code == 0);
  const auto first = secret("77", "0");
  CHECK(secret("77", "0") == first);
  home.env().set("HPCML_JOB_SECRET", std::string(64, 'a')); // of the job that submitted this one
  CHECK(secret("77", "0") == first);
  CHECK(secret("78", "0") != first);
  CHECK(secret("77", "1") != first);
  REQUIRE(::chmod(home.key().c_str(), 0640) == 0);
  const auto rejected = home.run({"internal", "job-secret"});
  CHECK(rejected.exit_code == 5);
  CHECK(rejected.out.empty());
}

TEST_CASE("store show without a key explains how to get one") {
  Home home;
  auto output = home.run({"store", "show", "127.0.0.1:9"});
  CHECK(output.exit_code == 5);
  CHECK_THAT(output.err, Contains("cannot query the store without a key") && Contains("hpcml config key"));
  output = home.run({"store", "show"});
  CHECK(output.exit_code == 2);
  CHECK_THAT(output.err, Contains("no job is named") && Contains("hpcml store show JOB"));
  REQUIRE(home.run({"config", "key"}).exit_code == 0);
  output = home.run({"store", "show", "127.0.0.1:9"});
  CHECK(output.exit_code == 5);
  CHECK_THAT(output.err,
             Contains("hpcml: error: no rendezvous store answers: 127.0.0.1:9: Connection refused\n") &&
                 Contains("hint: check the address"));
}
