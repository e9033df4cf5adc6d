// SPDX-License-Identifier: MIT
// Limits for what a support engineer has to read: lines of a plain job, their width, and no packed programs.
#include <catch2/catch.hpp>

#include <map>
#include <regex>

#include "core/config/site_store.hpp"
#include "core/util/text.hpp"
#include "flag_values.hpp"
#include "generate/plan/planner.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"

using namespace hpcml;

namespace {

/// Sites whose own rules need more lines: Frontier's 11 directives, 5 modules and 19 variables.
const std::map<std::string, std::size_t> k_longer_sites = {{"frontier", 40}};

constexpr std::size_t k_most_lines = 30;
constexpr std::size_t k_columns = 110;

std::vector<std::string> lines_of(const std::string& script) {
  auto lines = util::split(script, '\n');
  if (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

/// The plain job of the site on two nodes; nothing where its rules do not allow it.
std::optional<std::string> plain_script(const model::Site& site, const std::string& launcher,
                                        void (*change)(model::JobSpec&) = nullptr) {
  auto job = test::request_for(site);
  job.command = {"python", "train.py"};
  if (launcher != "hpcml")
    job.launcher = model::Sourced<model::Launcher>{model::Launcher::parse(launcher).value(), {}};
  test::choose_partition(job, site);
  if (change) change(job);
  const auto planned = plan::make_plan(job, site);
  return planned.plan ? std::optional(render::render_script(*planned.plan)) : std::nullopt;
}

/// What makes a script hard to read, besides its length.
std::string find_packed(const std::string& script) {
  static const std::regex k_program(R"(bash -c '[^']*\n)"), k_here(R"(<<-?\s*['"\\]?\w)"),
      k_function(R"(\n\s*\w+\s*\(\))"), k_chain(R"(\n(?!if )[^#'"\n]*;[^'"\n]*;)");
  std::string found;
  if (std::regex_search(script, k_program)) found += "a program of several lines for bash -c\n";
  if (std::regex_search(script, k_here)) found += "a here-document\n";
  if (std::regex_search(script, k_function)) found += "a function\n";
  if (std::regex_search(script, k_chain)) found += "a chain of commands\n";
  for (const auto& line : lines_of(script))
    if (line.size() > k_columns && !line.starts_with("#SBATCH") &&
        line.find("--cpu-bind=mask_cpu:") == std::string::npos)
      found += "wide: " + line + "\n";
  return found;
}

} // namespace

TEST_CASE("plain scripts of all sites stay short and narrow") {
  std::size_t scripts = 0;
  for (const auto& id : config::list_sites({})) {
    const auto load = config::load_site(id, {});
    REQUIRE(load.site);
    for (const std::string launcher : {"hpcml", "srun", "torchrun", "accelerate", "deepspeed"}) {
      const auto script = plain_script(*load.site, launcher);
      if (!script) continue;
      CAPTURE(id, launcher, *script);
      const auto longer = k_longer_sites.find(id);
      CHECK(lines_of(*script).size() <= (longer == k_longer_sites.end() ? k_most_lines : longer->second));
      CHECK(find_packed(*script) == "");
      ++scripts;
    }
  }
  CHECK(scripts > 250);
}

TEST_CASE("an option adds at most two lines") {
  struct Option {
    const char* name;
    void (*change)(model::JobSpec&);
  };
  const std::vector<Option> options = {
      {"--venv", [](model::JobSpec& job) { job.venv = test::text("/project/me/env"); }},
      {"--conda", [](model::JobSpec& job) { job.conda = test::text("mine"); }},
      {"--env", [](model::JobSpec& job) { job.env.emplace_back("A", test::text("1")); }},
      {"--nccl-debug", [](model::JobSpec& job) { job.nccl_debug = true; }}};
  for (const auto& id : {"lumi", "snellius", "leonardo", "perlmutter", "jupiter"}) {
    const auto load = config::load_site(id, {});
    REQUIRE(load.site);
    for (const std::string launcher : {"srun", "torchrun", "accelerate"}) {
      const auto plain = plain_script(*load.site, launcher);
      REQUIRE(plain);
      for (const auto& option : options) {
        CAPTURE(id, launcher, option.name);
        const auto script = plain_script(*load.site, launcher, option.change);
        if (!script) continue;
        CAPTURE(*script);
        CHECK(lines_of(*script).size() <= lines_of(*plain).size() + 2);
        CHECK(find_packed(*script) == "");
      }
    }
  }
}

TEST_CASE("data and environments on the nodes need no packed programs") {
  const auto load = config::load_site("lumi", {});
  REQUIRE(load.site);
  for (const std::string launcher : {"hpcml", "srun", "torchrun"}) {
    CAPTURE(launcher);
    const auto script = plain_script(*load.site, launcher, [](model::JobSpec& job) {
      job.venv = test::text("/project/me/env.tar.gz");
      job.stage = {test::text("/project/me/a directory"), test::text("/project/me/labels")};
    });
    REQUIRE(script);
    CAPTURE(*script);
    CHECK(find_packed(*script) == "");
    CHECK(test::script_faults(*script) == "");
  }
}
