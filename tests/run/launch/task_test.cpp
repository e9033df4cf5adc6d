// SPDX-License-Identifier: MIT
// A task of a step that becomes a rank: binding and caches, with real processes.
#include <catch2/catch.hpp>

#include <csignal>
#include <filesystem>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

#include "core/topo/live_node.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/cache_dirs.hpp"
#include "run/launch/process_helper.hpp"
#include "skip.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// A site whose only fact is a cache, in its own folder.
std::string site_with_cache(const std::string& directory) {
  const std::string text = R"({"schema": 1, "id": "cached", "name": "a site with a cache",
    "sources": {"here": {"url": "https://example.org", "checked": "2026-11-21"}},
    "state": {"is": "production", "source": "here"},
    "caches": [{"name": "kernels", "base": ")" +
                           directory +
                           R"(", "variables": {"KERNEL_CACHE": "a/b", "KERNEL_DB": ""}, "source": "here"}]})";
  const auto written = util::write_file(directory + "/cached.json", text);
  return written ? directory : "";
}

std::vector<std::string> words_with_site(const std::string& directory, const std::string& script) {
  return {"--sites-dir", directory, "launch", "--site", "cached", "--", "sh", "-c", script};
}

/// The CPUs of this process if they are two at least: binding shows only then.
std::optional<model::IdSet> several_cpus() {
  const auto mine = topo::read_allowed_cpus();
  REQUIRE(mine);
  if (mine->size() >= 2) return *mine;
  test::skip("the test needs two CPUs");
  return std::nullopt;
}

/// `hpcml launch WORDS` as rank 1 of 2, all of it on the first of the CPUs.
util::ProcessOutput launch_on_first(const model::IdSet& cpus, const std::vector<std::string>& words,
                                    util::EnvSnapshot env = step_environment(1, 2)) {
  std::vector<std::string> all = {"taskset", "-c", std::to_string(cpus.first()), HPCML_BINARY, "launch"};
  all.insert(all.end(), words.begin(), words.end());
  const auto output = util::run_process(all, env, std::chrono::seconds(300));
  REQUIRE(output);
  return *output;
}

} // namespace

TEST_CASE("the program's exit code and signal are the task's") {
  CHECK(run_hpcml({"launch", "--", "sh", "-c", "exit 42"}, step_environment(0, 1)).exit_code == 42);
  CHECK(run_hpcml({"launch", "--", "sh", "-c", "kill -KILL $$"}, step_environment(0, 1)).exit_code == 137);
}

TEST_CASE("binding is what the kernel shows afterwards, and never wider than before") {
  const auto mine = several_cpus();
  if (!mine) return;
  std::string seen;
  for (unsigned rank = 0; rank < 2; ++rank) {
    const auto output =
        run_hpcml({"launch", "--bind", "apply", "--", "grep", "Cpus_allowed_list", "/proc/self/status"},
                  step_environment(rank, 2));
    REQUIRE(output.exit_code == 0);
    const auto cpus = model::IdSet::parse_list(util::trim(util::split(output.out, ':').back()));
    REQUIRE(cpus);
    CHECK(cpus->is_subset_of(*mine));
    CHECK(cpus->size() < mine->size());
    CHECK(output.out != seen);
    seen = output.out;
  }
  CHECK(launch_on_first(*mine, {"--bind", "apply", "--", "nproc"}).out == "1\n");
}

TEST_CASE("dry run prints and does nothing") {
  const std::string directory = make_directory();
  auto words = words_with_site(site_with_cache(directory), "touch " + directory + "/ran");
  words.insert(words.begin() + 3, "--dry-run");
  const auto output = run_hpcml(words, step_environment(0, 1));
  CHECK(output.exit_code == 0);
  CHECK_THAT(output.out, Contains("RANK=0\n") && Contains("MASTER_ADDR=nid001\n") &&
                             Contains("exec: sh -c ") && Contains("KERNEL_CACHE="));
  CHECK_FALSE(std::filesystem::exists(directory + "/ran"));
  CHECK_FALSE(std::filesystem::exists(directory + "/kernels-job4242-step0-node0"));
  std::filesystem::remove_all(directory);
}

TEST_CASE("eight ranks share one private cache directory, which goes with the last of them") {
  const std::string directory = site_with_cache(make_directory());
  REQUIRE_FALSE(directory.empty());
  const std::string cache = directory + "/kernels-job4242-step0-node0";
  std::vector<std::unique_ptr<Running>> ranks;
  for (unsigned rank = 0; rank < 8; ++rank)
    ranks.push_back(std::make_unique<Running>(
        words_with_site(directory,
                        "touch $KERNEL_CACHE/$RANK && echo $KERNEL_CACHE $KERNEL_DB; exec sleep 60"),
        step_environment(rank, 8)));
  for (auto& rank : ranks) CHECK(rank->read_line() == cache + "/a/b " + cache);
  struct stat found {};
  REQUIRE(::stat(cache.c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0700);
  for (std::size_t i = 0; i < 7; ++i) {
    ranks[i]->signal(i % 2 == 0 ? SIGKILL : SIGTERM);
    ranks[i]->wait();
  }
  CHECK(std::filesystem::exists(cache + "/a/b/7"));
  ranks[7]->signal(SIGKILL);
  ranks[7]->wait();
  CHECK(ranks[7]->read_line().empty()); // the end of the pipe: what removes the cache holds no output open
  CHECK(is_removed(cache));
  std::filesystem::remove_all(directory);
}

TEST_CASE("a cache directory in somebody else's hand is refused") {
  const std::string directory = site_with_cache(make_directory()),
                    cache = directory + "/kernels-job4242-step0-node0";
  std::filesystem::create_directory(directory + "/elsewhere");
  std::filesystem::create_symlink(directory + "/elsewhere", cache);
  const auto linked = run_hpcml(words_with_site(directory, "true"), step_environment(0, 1));
  CHECK(linked.exit_code == 125);
  CHECK_THAT(linked.err, Contains("it is a link or a file"));
  std::filesystem::remove(cache);
  if (::geteuid() == 0) {
    std::filesystem::create_directory(cache);
    REQUIRE(::chown(cache.c_str(), 12345, 12345) == 0);
    CHECK_THAT(run_hpcml(words_with_site(directory, "true"), step_environment(0, 1)).err,
               Contains("belongs to user 12345"));
  }
  std::filesystem::remove_all(directory);
}

TEST_CASE("caches that earlier steps left behind go with the next one") {
  const std::string directory = site_with_cache(make_directory()),
                    stale = directory + "/kernels-job17-step3-node0";
  std::filesystem::create_directories(stale + "/deep/er");
  std::filesystem::create_directory_symlink("/etc", stale + "/link");
  std::filesystem::create_directory(directory + "/kernels-mine");
  CHECK(run_hpcml(words_with_site(directory, "true"), step_environment(0, 1)).exit_code == 0);
  CHECK(is_removed(stale));
  CHECK(is_removed(directory + "/kernels-job4242-step0-node0"));
  CHECK(std::filesystem::exists("/etc/passwd"));
  CHECK(std::filesystem::exists(directory + "/kernels-mine"));
  std::filesystem::remove_all(directory);
}

TEST_CASE("ranks that launch started have no cache left when it ends") {
  const std::string directory = site_with_cache(make_directory());
  auto words = words_with_site(directory, "test -d $KERNEL_CACHE");
  words.insert(words.begin() + 3, {"--nproc-per-node", "2"});
  CHECK(run_hpcml(words, bare_environment()).exit_code == 0);
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    CHECK(entry.path().filename() == "cached.json");
  std::filesystem::remove_all(directory);
}
