// SPDX-License-Identifier: MIT
// Another Slurm than the machine's: what is wished for, built once, found again. A small tree with a
// configure and a Makefile stands for Slurm's own, whose build takes minutes: .ci/full slurm has that.
#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "emulate/slurm_build.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::emulate;
namespace fs = std::filesystem;

namespace {

/// A folder with a cache, sources of a version, and how often they were built.
struct Workshop {
  test::TempDirectory directory;
  util::EnvSnapshot env = util::EnvSnapshot::of_process();
  std::vector<std::string> reports;

  Workshop() { env.set("XDG_CACHE_HOME", (directory / "caches").string()); }

  std::string cache() const { return slurm_cache(env).value(); }

  void put(const std::string& name, const std::string& text, unsigned mode = 0644) const {
    fs::create_directories((directory / name).parent_path());
    REQUIRE(util::write_file(directory / name, text, mode));
  }

  /// The name of a tarball whose build leaves sbin/slurmctld, or fails.
  std::string sources(const std::string& version, bool good = true) const {
    const auto tree = "slurm-" + version;
    put(tree + "/META", "##\n  Name:\t\tslurm\n  Version:\t" + version + "\n");
    put(tree + "/configure",
        "#!/bin/sh\nfor word in \"$@\"; do case $word in --prefix=*) echo \"PREFIX=${word#--prefix=}\" > "
        "src/settings;; esac; done\n",
        0755);
    put(tree + "/src/Makefile", std::string("include settings\nall:\n\t") +
                                    (good ? "touch built" : "@echo 'slurm.h: no such thing' >&2; exit 1") +
                                    "\ninstall: all\n\tmkdir -p $(DESTDIR)$(PREFIX)/sbin\n\techo one >> " +
                                    (directory / "builds").string() +
                                    "\n\tcp built $(DESTDIR)$(PREFIX)/sbin/slurmctld\n");
    const auto packed = util::run_process(
        {"tar", "-C", directory.path().string(), "-czf", (directory / (tree + ".tar.gz")).string(), tree},
        env, std::chrono::seconds(60));
    REQUIRE(packed);
    REQUIRE(packed->exit_code == 0);
    return (directory / (tree + ".tar.gz")).string();
  }

  util::Result<std::string> obtain(const SlurmChoice& choice) {
    return obtain_slurm(choice, env, [&](const std::string& sentence) { reports.push_back(sentence); });
  }

  /// What stays in the cache besides built Slurms and their logs.
  unsigned leavings() const {
    unsigned count = 0;
    for (const auto& entry : fs::directory_iterator(cache()))
      count += entry.path().filename().string().starts_with(".");
    return count;
  }
};

} // namespace

TEST_CASE("a version is meant by its release or by itself") {
  CHECK(is_version("23.11.10", "23.11"));
  CHECK(is_version("23.11.10", "23.11.10"));
  CHECK(is_version("24.05.0-0rc1", "24.05.0"));
  CHECK_FALSE(is_version("23.11.10", "23.11.1"));
  CHECK_FALSE(is_version("23.11.10", "23.1"));
  CHECK(find_meta_version("##\n  Meta:\t1\n  Version:\t\t22.05.8\n  Release: 1\n") == "22.05.8");
  CHECK(find_meta_version("a Version: 1\n") == "");
}

TEST_CASE("a Slurm is built once from its sources, and found by its version from then on") {
  Workshop shop;
  const auto tarball = shop.sources("23.11.9");
  const auto first = shop.obtain({"23.11", tarball});
  INFO((first ? "" : first.error().what));
  REQUIRE(first);
  CHECK(*first == shop.cache() + "/23.11.9");
  CHECK(fs::exists(*first + "/sbin/slurmctld"));
  CHECK(util::read_file(shop.cache() + "/23.11.9.log").value().find("--prefix=" + *first) !=
        std::string::npos);
  REQUIRE(shop.reports.size() == 1);
  CHECK(shop.reports[0].starts_with("building Slurm 23.11.9 once"));
  CHECK(shop.obtain({"", tarball}).value() == *first);
  CHECK(shop.obtain({"23.11", ""}).value() == *first);
  CHECK(shop.reports.size() == 1);
  CHECK(util::read_file(shop.directory / "builds").value() == "one\n");
  // A folder is as good as a tarball, and the newest of a release is taken.
  shop.sources("23.11.10");
  CHECK(shop.obtain({"", (shop.directory / "slurm-23.11.10").string()}));
  CHECK(list_built_slurms(shop.cache()) == std::vector<std::string>{"23.11.10", "23.11.9"});
  CHECK(shop.obtain({"23.11", ""}).value() == shop.cache() + "/23.11.10");
  CHECK(shop.leavings() == 0);
  CHECK(with_slurm_of(*first, shop.env).get_or("PATH", "").starts_with(*first + "/bin:" + *first + "/sbin:"));
}

TEST_CASE("a Slurm that cannot be had is an error that says what to do") {
  Workshop shop;
  const auto none = shop.obtain({"24.05", ""});
  REQUIRE_FALSE(none);
  CHECK(none.error().what == "Slurm 24.05 is not built yet");
  CHECK(none.error().hint.find("--slurm-source slurm-24.05.N.tar.bz2") != std::string::npos);
  const auto obtained = shop.obtain({"24.05", shop.sources("23.11.9")});
  REQUIRE_FALSE(obtained);
  CHECK(obtained.error().what.ends_with(
      "slurm-23.11.9.tar.gz contains Slurm 23.11.9, but --slurm-version is 24.05"));
  shop.put("text", "no tarball\n");
  const auto text = shop.obtain({"", (shop.directory / "text").string()});
  REQUIRE_FALSE(text);
  CHECK(text.error().what.find("cannot unpack ") != std::string::npos);
  shop.put("elsewhere/src/file", "");
  const auto strange = shop.obtain({"", (shop.directory / "elsewhere").string()});
  REQUIRE_FALSE(strange);
  CHECK(strange.error().what.find("contains no sources of Slurm") != std::string::npos);
  shop.env.unset("XDG_CACHE_HOME");
  shop.env.unset("HOME");
  CHECK_FALSE(shop.obtain({"24.05", ""}));
}

TEST_CASE("a build that fails names its log and leaves no half Slurm") {
  Workshop shop;
  const auto failed = shop.obtain({"", shop.sources("22.05.1", false)});
  REQUIRE_FALSE(failed);
  CAPTURE(failed.error().what, failed.error().hint);
  CHECK(failed.error().what.starts_with("compiling Slurm failed: "));
  CHECK(failed.error().hint.find(shop.cache() + "/22.05.1.log") != std::string::npos);
  CHECK(util::read_file(shop.cache() + "/22.05.1.log").value().find("slurm.h: no such thing") !=
        std::string::npos);
  CHECK(list_built_slurms(shop.cache()).empty());
  CHECK(shop.leavings() == 0);
}

TEST_CASE("Slurm is configured as the file of options says, which the tests of the reader take, too") {
  const auto options = slurm_configure_options();
  CHECK(util::contains(options, "--without-munge"));
  for (const auto& option : options) CHECK(option.find(' ') == std::string::npos);
  Workshop shop;
  REQUIRE(shop.obtain({"", shop.sources("23.02.7")}));
  const auto log = util::read_file(shop.cache() + "/23.02.7.log").value();
  for (const auto& option : options) CHECK(log.find(" " + option) != std::string::npos);
  CHECK(util::read_file(HPCML_SOURCE_DIR "/.ci/full").value().find("src/emulate/slurm_configure.txt") !=
        std::string::npos);
}
