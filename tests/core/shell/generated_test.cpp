// SPDX-License-Identifier: MIT
// Every script that is generated can be read to its last line, and its launch is seen.
#include <catch2/catch.hpp>

#include <algorithm>

#include "core/config/site_store.hpp"
#include "core/shell/script_commands.hpp"
#include "generate/plan/planner.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"

using namespace hpcml;

TEST_CASE("the scripts of all sites and launchers are read without a gap") {
  const std::vector<std::string> directories;
  std::size_t scripts = 0;
  for (const auto& id : config::list_sites(directories)) {
    const auto load = config::load_site(id, directories);
    REQUIRE(load.site);
    for (const std::string launcher :
         {"hpcml", "torchrun", "srun", "accelerate", "deepspeed", "ibrun", "mpirun"}) {
      auto job = test::request_for(*load.site);
      test::choose_partition(job, *load.site);
      job.launcher = model::Sourced<model::Launcher>{model::Launcher::parse(launcher).value(), {}};
      const auto result = plan::make_plan(job, *load.site);
      if (!result.plan) continue;
      const auto text = render::render_script(*result.plan);
      INFO(id << " " << launcher << "\n" << text);
      const auto script = shell::read_script(text);
      const auto listing = shell::list_commands(script);
      for (const auto& unread : listing.unread) CHECK(unread.why == "");
      CHECK(listing.complete);
      // The program stands in a command's words, whoever starts it.
      const auto starts = [](const shell::Command& command) {
        return std::any_of(command.words.begin(), command.words.end(), [](const shell::Argument& word) {
          return word.known() && word.text() == "train.py";
        });
      };
      CHECK(std::any_of(listing.commands.begin(), listing.commands.end(), starts));
      ++scripts;
    }
  }
  CHECK(scripts > 100);
}
