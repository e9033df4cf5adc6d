// SPDX-License-Identifier: MIT
// The stand-in programs of a made-up site, in a folder and under the real bash.
#pragma once

#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "emulate/cluster_run.hpp"
#include "emulate/site_helper.hpp"
#include "emulate/stand_in_files.hpp"

namespace hpcml::test {

/// A made-up site that has everything that the stand-ins serve.
inline model::Site rich_site() {
  auto site = small_site();
  model::ContainerRule container;
  container.engine = model::ContainerEngine::singularity;
  container.enter = "$WITH_CONDA";
  container.modules = {"use:/appl/modules", "bindings"};
  container.binds.push_back({"/opt/nowhere/cray", "", false, {}});
  site.containers.push_back(container);
  model::PythonPackageRule conda;
  conda.kind = model::PythonPackageSource::conda;
  conda.modules = {"miniforge3/25.3.1"};
  conda.conda_env = "pytorch";
  model::PythonPackageRule wheels;
  wheels.kind = model::PythonPackageSource::wheelhouse;
  wheels.modules = {"StdEnv/2023", "python"};
  wheels.where = "$SLURM_TMPDIR";
  site.python = {conda, wheels};
  model::LauncherRule ibrun;
  ibrun.name = "ibrun";
  ibrun.rank_variable = "PMI_RANK";
  site.launchers.push_back(ibrun);
  site.network.internet_on_compute = false;
  site.interactive = {"idev", {{"nodes", "-N"}}};
  return site;
}

/// The stand-ins of a site, written to a folder, and a way to run text with them under bash.
struct Installed {
  TempDirectory directory;
  model::Site site;
  util::EnvSnapshot env;

  explicit Installed(model::Site made = rich_site(), const std::string& python = "/usr/bin/python3")
      : site(std::move(made)) {
    emulate::StandInOptions options;
    options.state_dir = directory.path().string();
    options.python = python;
    options.lacks_python = true;
    for (const auto& [name, file] : emulate::make_stand_ins(site, layout_of(site), options)) {
      std::filesystem::create_directories((directory.path() / name).parent_path());
      REQUIRE(util::write_file(directory.path() / name, file.text, file.mode));
    }
    env = emulate::make_login_environment(site, util::EnvSnapshot::of_process(), directory.path().string(),
                                          "tester");
  }

  util::ProcessOutput bash(const std::string& text) const {
    auto result = util::run_process({"bash", "-c", text}, env, std::chrono::seconds(300));
    REQUIRE(result);
    return *result;
  }

  std::vector<nlohmann::json> record() const {
    std::vector<nlohmann::json> lines;
    const auto text = util::read_file(directory.path() / "record.jsonl").value_or("");
    for (const auto& line : util::split(text, '\n'))
      if (!line.empty()) lines.push_back(nlohmann::json::parse(line));
    return lines;
  }
};

} // namespace hpcml::test
