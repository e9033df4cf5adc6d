// SPDX-License-Identifier: MIT
// Recognising the machine from profiles.
#include <catch2/catch.hpp>

#include "core/config/site_detect.hpp"
#include "core/config/site_store.hpp"
#include "core/config/temp_dir.hpp"

using namespace hpcml;

namespace {

util::EnvSnapshot with(const std::string& name, const std::string& value) {
  util::EnvSnapshot env;
  env.set(name, value);
  return env;
}

std::string by(const std::optional<config::SiteMatch>& match) { return match ? match->by : "none"; }

} // namespace

TEST_CASE("a site is recognised by a variable or a host name, which must match as a whole") {
  const model::DetectionRule cluster = {{{"NERSC_HOST", "perl.*"}}, {R"(login\d+\.c\.org)"}};
  CHECK(by(config::match_site("c", cluster, with("NERSC_HOST", "perlmutter"), {})) ==
        "NERSC_HOST=perlmutter");
  CHECK(by(config::match_site("c", cluster, with("NERSC_HOST", "superperl"), {})) == "none");
  CHECK(by(config::match_site("c", cluster, with("NERSC_HOST", ""), {"login7", "login7.c.org"})) ==
        "the host name login7.c.org");
  CHECK(by(config::match_site("c", cluster, {}, {"xlogin7.c.org"})) == "none");
  CHECK(by(config::match_site("c", cluster, {}, {"login7.c.org.evil"})) == "none");
  CHECK(by(config::match_site("c", cluster, {}, {std::string(5000, 'a')})) == "none");
  CHECK(by(config::match_site("d", {{}, {"("}}, {}, {"("})) == "none");
}

TEST_CASE("the shipped profiles recognise their machines") {
  struct Case {
    util::EnvSnapshot env;
    std::vector<std::string> hosts;
    std::string id;
  };
  const Case cases[] = {
      {with("CC_CLUSTER", "narval"), {"narval3"}, "narval"},
      {{}, {"login2.vista.tacc.utexas.edu"}, "vista"},
      {{}, {"ln03-nmn"}, "lumi"},
      {{}, {"login01", "login01.zurada.rc.louisville.edu"}, "zurada"},
  };
  for (const auto& [env, hosts, id] : cases) {
    CAPTURE(id);
    const auto found = config::detect_sites({std::string(HPCML_SOURCE_DIR) + "/sites"}, {}, env, hosts);
    REQUIRE(found.size() == 1);
    CHECK(found.front().id == id);
  }
  CHECK(config::detect_sites({std::string(HPCML_SOURCE_DIR) + "/sites"}, {}, {}, {"laptop", "laptop.local"})
            .empty());
}

TEST_CASE("where a variable tells, host names are not asked; several sites stay several") {
  const testing::TempDir dir;
  const auto put = [&](const std::string& id, const std::string& detect) {
    dir.write(id + ".json", R"({"id": ")" + id + R"(", "sources": {}, "detect": )" + detect + "}");
  };
  put("one", R"({"env": {"MY_CLUSTER": "one"}, "hostnames": ["login.*"]})");
  put("two", R"({"hostnames": ["login.*"]})");
  dir.write("broken.json", "{");
  const std::vector<std::string> directories = {dir.path()};
  const auto sure = config::detect_sites(directories, {}, with("MY_CLUSTER", "one"), {"login5"});
  REQUIRE(sure.size() == 1);
  CHECK(sure.front().id == "one");
  const auto several = config::detect_sites(directories, {}, {}, {"login5"});
  REQUIRE(several.size() == 2);
  CHECK(several[0].id == "one");
  CHECK(several[1].id == "two");
}

TEST_CASE("compiled-in sites are known by their marks, until one of their profiles is a person's") {
  // The marks say something else than the profile does: so it shows which of the two was asked.
  const std::vector<config::SiteFingerprint> built_in = {
      {"narval", {"narval", "alliance"}, {{{"CC_CLUSTER", "from_the_marks"}}, {}}}};
  CHECK(config::detect_sites({"/nonexistent"}, built_in, with("CC_CLUSTER", "narval"), {}).empty());
  REQUIRE(config::detect_sites({"/nonexistent"}, built_in, with("CC_CLUSTER", "from_the_marks"), {}).size() ==
          1);
  for (const std::string own : {"narval", "alliance"}) {
    CAPTURE(own);
    const testing::TempDir dir;
    dir.write(own + ".json", R"({"extends": [")" + own + R"("], "id": ")" + own + "\"" +
                                 (own == "alliance" ? R"(, "abstract": true)" : "") + "}");
    const auto found = config::detect_sites({dir.path()}, built_in, with("CC_CLUSTER", "narval"), {});
    REQUIRE(found.size() == 1);
    CHECK(found.front().id == "narval");
  }
}
