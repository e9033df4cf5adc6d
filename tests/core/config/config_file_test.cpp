// SPDX-License-Identifier: MIT
// The person's configuration: read, checked, written.
#include <catch2/catch.hpp>

#include "core/config/config_file.hpp"
#include "core/config/temp_dir.hpp"

using namespace hpcml;
using hpcml::testing::TempDir;

TEST_CASE("a configuration is read back as it was written") {
  const TempDir directory;
  config::Config config;
  config.site = "lumi";
  config.sites["lumi"] = {{"account", "project_1"}, {"partition", "small-g"}};
  config.sites["narval"] = {{"account", "def-\"me\""}};
  config.sites["empty"] = {};
  const auto load = config::load_config(directory.write("config.json", config::render_config(config)));
  CHECK(load.diagnostics.empty());
  CHECK(load.config.site == config.site);
  config.sites.erase("empty");
  CHECK(load.config.sites == config.sites);
  const auto nothing = config::load_config(directory.write("nothing.json", config::render_config({})));
  CHECK(nothing.diagnostics.empty());
  CHECK(nothing.config.sites.empty());
  CHECK(config::load_config("/nowhere/config.json").diagnostics.empty());
}

TEST_CASE("what is no file of a configuration's size is not read as one") {
  const TempDir directory;
  const auto large = directory.write("large.json", std::string((1 << 20) + 1, ' '));
  for (const auto& path : {directory.path(), std::string("/dev/zero"), large}) {
    CAPTURE(path);
    const auto load = config::load_config(path);
    REQUIRE(load.diagnostics.size() == 1);
    CHECK(load.diagnostics[0].code == "config/unreadable");
  }
}

TEST_CASE("a configuration's values are a request with the file as their origin") {
  config::Config config;
  config.sites["lumi"] = {{"account", "project_1"}, {"time", "2h"}};
  const auto job = config::job_from_config(config, "lumi", "/c");
  REQUIRE(job.account);
  CHECK(job.account->value == "project_1");
  CHECK(job.account->origin.kind == model::OriginKind::config);
  CHECK(job.account->origin.by == "/c sites.lumi.account");
  CHECK(job.time->value.to_slurm() == "02:00:00");
  CHECK_FALSE(config::job_from_config(config, "narval", "/c").account);
}

TEST_CASE("what belongs to one job, wrong values and unknown keys are refused with their places") {
  const TempDir directory;
  const std::pair<const char*, const char*> cases[] = {
      {R"({"sites": {"lumi": {"array": "0-3"}}})", "array"},
      {R"({"sites": {"lumi": {"acount": "x"}}})", "use \"account\" if"},
      {R"({"sites": {"lumi": {"time": "soon"}}})", "soon"},
      {R"({"account": "x"})", "account"},
      {R"({"site": 3})", "text"},
      {"{", "JSON"},
  };
  for (const auto& [text, part] : cases) {
    const auto load = config::load_config(directory.write("config.json", text));
    std::string message;
    for (const auto& finding : load.diagnostics) message += diag::render_text(finding, load.source, false);
    CAPTURE(text, message);
    CHECK(diag::has_errors(load.diagnostics));
    CHECK(message.find(part) != std::string::npos);
    CHECK(message.find("config.json:1:") != std::string::npos);
  }
}

TEST_CASE("the configuration lies where the person's other configurations lie") {
  util::EnvSnapshot env;
  CHECK(config::config_path(env) == "");
  env.set("HOME", "/h");
  CHECK(config::config_path(env) == "/h/.config/hpcml/config.json");
  env.set("XDG_CONFIG_HOME", "/x");
  CHECK(config::config_path(env) == "/x/hpcml/config.json");
}
