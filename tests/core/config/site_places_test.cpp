// SPDX-License-Identifier: MIT
// Where profiles are looked for, and how layers lie on each other.
#include <algorithm>
#include <catch2/catch.hpp>

#include "core/config/load_text.hpp"
#include "core/config/site_store.hpp"
#include "core/config/temp_dir.hpp"

using namespace hpcml;
using testing::all_text;
using testing::TempDir;

namespace {

std::string named(const std::string& id, const std::string& name) {
  return R"({"id": ")" + id + R"(", "name": ")" + name + "\"}";
}

} // namespace

TEST_CASE("Places are searched in their order: flags, variable, home, system, built in", "[spec]") {
  const util::EnvSnapshot env({{"HPCML_SITES_PATH", "/a::/b"}, {"HOME", "/home/me"}});
  CHECK(config::site_directories({"/flag"}, env) ==
        std::vector<std::string>{"/flag", "/a", "/b", "/home/me/.config/hpcml/sites", "/etc/hpcml/sites"});
  CHECK(config::site_directories({}, util::EnvSnapshot()) == std::vector<std::string>{"/etc/hpcml/sites"});

  const TempDir first;
  const TempDir second;
  first.write("here.json", named("here", "first"));
  second.write("here.json", named("here", "second"));
  second.write("lumi.json", named("lumi", "mine"));
  CHECK(config::load_site("here", {first.path(), second.path()}).site->name == "first");
  CHECK(config::load_site("here", {second.path(), first.path()}).site->name == "second");
  CHECK(config::load_site("lumi", {first.path(), second.path()}).site->name == "mine");
  const auto builtin = config::load_site("lumi", {first.path()});
  CHECK(builtin.site->file == "built in");
  const auto ids = config::list_sites({first.path(), second.path()});
  CHECK(std::count(ids.begin(), ids.end(), "here") == 1);
  CHECK(std::count(ids.begin(), ids.end(), "lumi") == 1);
}

TEST_CASE("Facts keep their documents where two layers call different ones the same", "[spec]") {
  const TempDir directory;
  directory.write("centre.json", R"({"id": "centre", "abstract": true,
    "sources": {"running": {"url": "https://centre/running", "checked": "2026-01-01"}, "both": {"url": "https://both", "checked": "2026-01-01"}},
    "flags": {"mem": {"policy": "forbidden", "source": "running"}, "time": {"policy": "required", "source": "both"}},
    "env": [{"name": "A", "value": "1", "source": "both", "alternatives": [{"value": "2", "source": "running", "why": "old"}]}]})");
  directory.write("mine.json", R"({"id": "mine", "name": "Mine", "extends": ["centre"],
    "sources": {"running": {"url": "https://mine/running", "checked": "2026-02-02"}, "both": {"url": "https://both", "checked": "2026-02-02"}},
    "flags": {"nodes": {"policy": "required", "source": "running"}}})");
  const auto mine = config::load_site("mine", {directory.path()});
  INFO(all_text(mine));
  REQUIRE(mine.site.has_value());
  CHECK(mine.site->flags.at("mem").origin.source == "centre.running: https://centre/running");
  CHECK(mine.site->flags.at("nodes").origin.source == "running: https://mine/running");
  CHECK(mine.site->flags.at("time").origin.source == "both: https://both");
  REQUIRE(mine.site->env.front().origin.superseded.size() == 1);
  CHECK_THAT(mine.site->env.front().origin.superseded.front().source,
             Catch::Contains("https://centre/running"));
}

TEST_CASE("A user's profile refines a built-in one, also under the same name", "[spec]") {
  const TempDir directory;
  directory.write("lumi.json", R"({
    "id": "lumi", "extends": ["lumi"],
    "flags": {"account": {"default": "project_42"}},
    "network": {"interfaces": ["hsn0"]},
    "caches": null
  })");
  directory.write("mine.json", R"({"id": "mine", "extends": ["narval"], "state": {"is": "early"}})");
  const auto lumi = config::load_site("lumi", {directory.path()});
  INFO(all_text(lumi));
  REQUIRE(lumi.site.has_value());
  CHECK(lumi.site->flags.at("account").default_value == "project_42");
  CHECK(lumi.site->flags.at("account").pattern == "^project_[0-9]+$");      // objects merge
  CHECK(lumi.site->network.interfaces == std::vector<std::string>{"hsn0"}); // lists are replaced
  CHECK(lumi.site->network.fabric == "Slingshot-11, 4 x 200 Gb/s");
  CHECK(lumi.site->caches.empty()); // null removes
  CHECK(lumi.site->partitions.size() == 4);
  CHECK(lumi.site->hash != config::load_site("lumi", {}).site->hash);
  const auto mine = config::load_site("mine", {directory.path()});
  INFO(all_text(mine));
  REQUIRE(mine.site.has_value());
  CHECK(mine.site->id == "mine");
  CHECK(mine.site->flags.at("partition").policy == model::OptionPolicy::discouraged);
  CHECK(mine.site->state_origin.source ==
        directory.path() + "/mine.json"); // no source given: the file itself
}

TEST_CASE("unknown site is reported with a near name and hints", "[spec]") {
  for (const auto* id : {"lumo", "LUMI", "../lumi", "/etc/passwd", "", "$(id)", "schema"}) {
    INFO(id);
    const auto load = config::load_site(id, {"/etc"});
    CHECK(load.not_found);
    CHECK_FALSE(load.site.has_value());
    REQUIRE(load.diagnostics.size() == 1);
    CHECK(load.diagnostics[0].code == "site/unknown");
    CHECK_THAT(load.diagnostics[0].hint, Catch::Contains("--sites-dir DIR") &&
                                             Catch::Contains("hpcml sites discover") &&
                                             !Catch::Contains("alliance") && !Catch::Contains("schema"));
    CHECK(load.diagnostics[0].hint.size() <= 100);
  }
  CHECK_THAT(config::load_site("lumo", {}).diagnostics[0].hint, Catch::StartsWith("use 'lumi', or add "));
  const TempDir directory;
  directory.write("minerva.json", named("minerva", "x"));
  CHECK_THAT(config::load_site("minerv", {directory.path()}).diagnostics[0].hint,
             Catch::StartsWith("use 'minerva', or add "));
  CHECK_THAT(config::load_site("no_such_cluster_at_all", {}).diagnostics[0].hint,
             Catch::StartsWith("run hpcml sites list, or add "));
}

TEST_CASE("A file whose id is not its name is refused", "[spec]") {
  const TempDir directory;
  directory.write("one.json", named("two", "x"));
  const auto load = config::load_site("one", {directory.path()});
  CHECK_FALSE(load.site.has_value());
  CHECK_FALSE(load.not_found);
  CHECK_THAT(all_text(load), Catch::Contains("one.json") && Catch::Contains("\"two\""));
}

TEST_CASE("A broken profile in a directory is not passed over for the built-in one", "[spec]") {
  const TempDir directory;
  directory.write("lumi.json", "{");
  const auto load = config::load_site("lumi", {directory.path()});
  CHECK_FALSE(load.site.has_value());
  CHECK_FALSE(load.not_found);
  CHECK_THAT(all_text(load), Catch::Contains("lumi.json:1:"));
}

TEST_CASE("The hash depends on the content and on nothing else", "[spec]") {
  const TempDir directory;
  directory.write("a/x.json",
                  R"({"id": "x", "name": "n", "network": {"fabric": "f", "interfaces": ["ib0"]}})");
  directory.write("b/x.json",
                  "{\n  \"network\": {\"interfaces\": [\"ib0\"], \"fabric\": \"f\"},\n  \"name\": "
                  "\"n\",\n  \"id\": \"x\"\n}\n");
  directory.write("c/x.json",
                  R"({"id": "x", "name": "n", "network": {"fabric": "f", "interfaces": ["ib1"]}})");
  const auto hash = [&](const std::string& sub) {
    return config::load_site("x", {directory.path() + "/" + sub}).site->hash;
  };
  CHECK(hash("a").size() == 16);
  CHECK(hash("a") == hash("b"));
  CHECK(hash("a") != hash("c"));
  CHECK(config::load_site("lumi", {}).site->hash == config::load_site("lumi", {directory.path()}).site->hash);
}

TEST_CASE("A profile that is given as a file finds the layers that lie beside it", "[spec]") {
  const TempDir directory;
  directory.write("centre.json",
                  R"({"id": "centre", "name": "Centre", "abstract": true, "shebang": "#!/bin/bash -l"})");
  directory.write("a.json", R"({"id": "a", "name": "A", "extends": ["centre"]})");
  const auto load = config::load_site_file(directory.path() + "/a.json", {});
  INFO(all_text(load));
  REQUIRE(load.site);
  CHECK(load.site->shebang == "#!/bin/bash -l");
  directory.write("lumi.json",
                  R"({"id": "lumi", "name": "Mine", "extends": ["lumi"]})"); // its own id is the next place's
  const auto mine = config::load_site_file(directory.path() + "/lumi.json", {});
  INFO(all_text(mine));
  REQUIRE(mine.site);
  CHECK(mine.site->name == "Mine");
  CHECK_FALSE(mine.site->partitions.empty());
}

TEST_CASE("A site whose last day is over is retired from then on", "[spec]") {
  const auto mahti = *config::load_site("mahti", {}).site;
  CHECK(config::as_of(mahti, "2026-08-31").state == model::SiteState::production);
  const auto after = config::as_of(mahti, "2026-09-01");
  CHECK(after.state == model::SiteState::retired);
  CHECK(after.retired_on == "2026-08-31");
  CHECK(after.successor == "roihu");
  CHECK(config::as_of(*config::load_site("lumi", {}).site, "2099-01-01").state ==
        model::SiteState::production);
  CHECK(config::as_of(*config::load_site("cedar", {}).site, "2099-01-01").retired_on == "2025-09-12");
}

TEST_CASE("a layer that many layers share is read once, and a chain without an end has one", "[spec]") {
  const auto layer = [](int number, const std::string& bases) {
    const auto id = "l" + std::to_string(number);
    return R"({"id": ")" + id + R"(", "name": ")" + id + R"(", "extends": [)" + bases + "]}";
  };
  const auto name = [](const char* letter, int number) { return letter + std::to_string(number); };
  const TempDir diamond;
  // Each layer extends two that extend the next: read anew each time these would be 2^12 files.
  for (int i = 0; i < 12; ++i) {
    const auto next = "\"l" + std::to_string(i + 1) + "\"";
    diamond.write(name("l", i) + ".json",
                  layer(i, i == 11 ? "" : "\"" + name("a", i) + "\", \"" + name("b", i) + "\""));
    for (const char* side : {"a", "b"})
      diamond.write(name(side, i) + ".json",
                    R"({"id": ")" + name(side, i) + R"(", "name": "side", "extends": [)" + next + "]}");
  }
  const auto wide = config::load_site("l0", {diamond.path()});
  INFO(all_text(wide));
  CHECK(wide.site);
  CHECK(wide.layers.size() == 34);

  const TempDir chain;
  for (int i = 0; i < 200; ++i)
    chain.write(name("l", i) + ".json", layer(i, i == 199 ? "" : "\"" + name("l", i + 1) + "\""));
  const auto deep = config::load_site("l0", {chain.path()});
  CHECK_FALSE(deep.site);
  CHECK_THAT(all_text(deep), Catch::Contains("in more than 32 layers"));
  CHECK(deep.layers.size() <= 32);
}

TEST_CASE("A profile takes comments as a job file does, and a mistake behind them has its place") {
  const hpcml::testing::TempDir directory;
  directory.write(
      "mine.json",
      "// our cluster\n{\n  \"id\": \"mine\", // as the file\n  // \"name\": \"x\",\n"
      "  \"sources\": {\"a\": {\"url\": \"https://x.org // y\", \"checked\": \"2026-01-02\"}}\n}\n");
  const auto load = config::load_site_file(directory.path() + "/mine.json", {});
  for (const auto& finding : load.diagnostics) UNSCOPED_INFO(diag::render_text(finding, load.source, false));
  REQUIRE(load.site.has_value());
  CHECK(load.site->sources.at(0).url == "https://x.org // y");

  directory.write("slip.json",
                  "// our cluster\n{\n  \"id\": \"slip\", // as the file\n  \"nodetypes\": [] // none\n}\n");
  const auto typo = config::load_site_file(directory.path() + "/slip.json", {});
  REQUIRE_FALSE(typo.diagnostics.empty());
  CHECK(typo.diagnostics[0].location.line == 4);
  CHECK(typo.diagnostics[0].location.column == 3);
}

TEST_CASE("profile can set a key that its base lists", "[spec]") {
  const TempDir directory;
  directory.write("centre.json",
                  R"({"id": "centre", "abstract": true, "unknown": ["slurm_version", "detect"]})");
  directory.write("mine.json", R"({"id": "mine", "extends": ["centre"], "slurm_version": "24.05"})");
  CHECK(all_text(config::load_site("mine", {directory.path()})).empty());
  directory.write(
      "mine.json",
      R"({"id": "mine", "extends": ["centre"], "slurm_version": "24.05", "unknown": ["slurm_version"]})");
  CHECK_THAT(all_text(config::load_site("mine", {directory.path()})),
             Catch::Contains("\"unknown\" lists \"slurm_version\", but the profile sets this key"));
}

TEST_CASE("unknown accepts parts of keys and sentences", "[spec]") {
  const TempDir directory;
  directory.write("mine.json", R"json({
    "id": "mine", "network": {"interfaces": ["ib0"]},
    "node_types": [{"id": "a100", "memory": "500G", "cpu": {"cores": 64}}, {"id": "cpu", "cpu": {"cores": 128}}],
    "unknown": ["node_types[].memory", "node_types[cpu].memory (256 GiB are installed)", "flags.account", "detect",
                "network.interfaces: of the login nodes", "node_types[].cpu.cores of the new nodes",
                "network.fabric", "gpu_request.type", "node_types[cpu-2.5].memory", "whether nodes are shared", "partitions amem and acompile"]
})json");
  CHECK(all_text(config::load_site("mine", {directory.path()})).empty());
}
