// SPDX-License-Identifier: MIT
// Scripts that make environments: judged by bash and shellcheck for every site, and run with the real venv
// and pip.
#include <catch2/catch.hpp>
#include <map>

#include <set>

#include "core/config/site_store.hpp"
#include "core/util/file.hpp"
#include "flag_values.hpp"
#include "generate/plan/setup_plan.hpp"
#include "generate/render/environment_script.hpp"
#include "generate/render/render_helper.hpp"
#include "samples.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

/// A request whose place is `place`, for an environment of that kind.
model::JobSpec at(const std::string& place, plan::SetupKind kind = plan::SetupKind::venv) {
  model::JobSpec job;
  if (kind == plan::SetupKind::conda)
    job.conda = text(place);
  else if (kind == plan::SetupKind::container)
    job.container = text(place);
  else
    job.venv = text(place);
  return job;
}

/// A wheel of a package called torch that knows its version, as pip installs it.
void make_torch_wheel(const std::filesystem::path& directory) {
  const auto made = util::run_process({"python3", "-c", R"(
import sys, zipfile
name = "torch-2.7.1-py3-none-any.whl"
with zipfile.ZipFile(sys.argv[1] + "/" + name, "w") as wheel:
    wheel.writestr("torch/__init__.py", "from . import version\n__version__ = '2.7.1'\n")
    wheel.writestr("torch/version.py", "cuda = '12.6'\nhip = None\n")
    wheel.writestr("torch-2.7.1.dist-info/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.7.1\n")
    wheel.writestr("torch-2.7.1.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
    wheel.writestr("torch-2.7.1.dist-info/RECORD", "")
)",
                                       directory.string()},
                                      util::EnvSnapshot::of_process());
  REQUIRE(made.value().exit_code == 0);
}

/// Runs the script that names `hostile`: it must not do what that says.
void check_harmless(const plan::SetupPlan& plan, const std::string& hostile, const TempDirectory& directory) {
  const auto script = render::render_environment_script(plan);
  INFO(script);
  run_script(script, directory);
  CHECK_FALSE(std::filesystem::exists(directory / "pwned"));
  if (hostile.find('\xff') == std::string::npos) CHECK(script_faults(script) == "");
}

} // namespace

TEST_CASE("every environment of every site passes bash -n and shellcheck") {
  std::set<std::string> seen; // most sites have the same texts: each once
  std::set<plan::SetupKind> kinds;
  for (const auto& id : config::list_sites({})) {
    const auto load = config::load_site(id, {});
    if (!load.site) continue;
    for (const auto& [word, kind] : model::k_words<plan::SetupKind>) {
      const std::string archive =
          kind == plan::SetupKind::conda || kind == plan::SetupKind::uv ? "/project/me/my env.tar.gz" : "";
      const auto result = plan::plan_setup({kind, "torch numpy>=1.26", "", "", "", archive},
                                           at("/project/me/torch env", kind), *load.site);
      if (!result.plan) continue;
      kinds.insert(kind);
      const auto script = render::render_environment_script(*result.plan);
      const auto body = script.substr(script.find("set -euo"));
      if (!seen.insert(body).second) continue;
      INFO(id << " " << word << "\n" << script);
      if (is_sample(seen.size())) CHECK(script_faults(script).empty());
    }
  }
  CHECK(kinds.size() == 6);
}

TEST_CASE("an environment on top of an image is made inside it and packed, and half of one does not stay") {
  const auto script_of = [](const std::string& id, const std::string& image, const TempDirectory& directory) {
    auto job = at((directory / "my env.sqsh").string());
    job.container = text(image);
    job.account = text("a1");
    const auto result =
        plan::plan_setup({plan::SetupKind::venv, "optuna it", "", "", ""}, job, shipped_site(id));
    REQUIRE(result.plan);
    auto made = *result.plan;
    made.node_arch = model::CpuArch::unknown; // of this machine
    const auto script = render::render_environment_script(made);
    CHECK(script_faults(script) == "");
    return script;
  };
  for (const auto& [id, image] : {std::pair<std::string, std::string>{"lumi", "/a b/x.sif"},
                                  {"alps_daint", "prgenv-gnu/24.11:v1"},
                                  {"alps_daint", "/a b/ngc.toml"}}) {
    for (const bool works : {true, false}) {
      CAPTURE(id, works);
      const TempDirectory directory;
      for (const char* program : {"module"}) put_program(directory, program, ":\n");
      put_program(directory, "singularity",
                  "echo \"$@\" >> words\nbinds=$3; while [[ $1 != bash ]]; do shift; done\n/bin/mkdir -p "
                  "\"${binds%%:*}/bin\"\necho x > \"${binds%%:*}/bin/activate\"\n");
      put_program(directory, "uenv",
                  "echo \"$@\" >> words\nwhile [[ $1 != -- ]]; do shift; done; shift\nexec \"$@\"\n");
      put_program(directory, "srun",
                  "echo \"$@\" >> words\nfor word; do [[ $word == --environment=* ]] && cat \"${word#*=}\" "
                  ">> edf; done\nwhile [[ $1 != bash ]]; do shift; done\nexec \"$@\"\n");
      put_program(directory, "python",
                  "[[ $1 == -m ]] || exit 0\n/bin/mkdir -p \"${@: -1}/bin\"\nprintf '#!/bin/bash\\necho "
                  "\"$@\" >> pip\\n' > \"${@: -1}/bin/python\"\nchmod +x \"${@: -1}/bin/python\"\n");
      put_program(directory, "mksquashfs",
                  works ? "printf '%s\\n' \"$@\" > packed\n: > \"$2\"\n" : "exit 1\n");
      const auto result = run_script(script_of(id, image, directory), directory);
      INFO(result.out << result.err);
      CHECK((result.exit_code == 0) == works);
      CHECK(std::filesystem::exists(directory / "my env.sqsh") == works);
      if (!works) continue;
      const auto packed = *util::read_file(directory / "packed");
      CHECK_THAT(
          packed,
          Catch::Contains("my env.sqsh\n" +
                          std::string(id == "lumi" ? "-processors\n1\n-no-xattrs\n"
                                                   : "-no-recovery\n-noappend\n-Xcompression-level\n3\n")));
      const bool edf = image.ends_with(".toml");
      CHECK_THAT(*util::read_file(directory / "words"),
                 Catch::Contains(id == "lumi" ? ":/user-software /a b/x.sif bash -c"
                                 : edf ? "--nodes=1 --ntasks=1 --time=00:30:00 --account=a1 --environment="
                                       : "run --view=default prgenv-gnu/24.11:v1 -- bash -c"));
      if (edf) {
        const auto place = (directory / "my env").string();
        CHECK(*util::read_file(directory / "edf") ==
              "base_environment = \"/a b/ngc.toml\"\nmounts = [\"" + place + ":" + place + "\"]\n");
        CHECK_FALSE(std::filesystem::exists(place + ".sqsh.toml"));
      }
      if (id == "lumi") continue;
      CHECK(*util::read_file(directory / "pip") == "-m pip install optuna it\n");
      CHECK(std::filesystem::is_empty(directory / "my env")); // where jobs mount the file
    }
  }
}

TEST_CASE("a real venv is made with the real pip, and a second run leaves it alone") {
  TempDirectory directory;
  make_torch_wheel(directory.path());
  const auto place = (directory / "my env").string();
  const auto result =
      plan::plan_setup({plan::SetupKind::venv, "torch", "", "12.6", ""}, at(place), shipped_site("generic"));
  REQUIRE(result.plan.has_value());
  const auto script = render::render_environment_script(*result.plan);
  const std::map<std::string, std::string> offline{{"PIP_NO_INDEX", "1"},
                                                   {"PIP_FIND_LINKS", directory.path().string()}};
  const auto first = run_script(script, directory, offline);
  INFO(script << first.out << first.err);
  REQUIRE(first.exit_code == 0);
  CHECK_THAT(first.out, Catch::Contains("torch 2.7.1 for CUDA 12.6"));
  CHECK_THAT(first.out, Catch::Contains("--venv " + place));
  CHECK(std::filesystem::exists(directory / "my env/bin/activate"));
  const auto second = run_script(script, directory, offline);
  CHECK(second.exit_code == 1);
  CHECK_THAT(second.err, Catch::Contains("is there already"));
  CHECK(std::filesystem::exists(directory / "my env/bin/activate"));
}

TEST_CASE("half an environment does not stay") {
  TempDirectory directory;
  const auto result = plan::plan_setup({plan::SetupKind::venv, "torch", "", "12.6", ""},
                                       at((directory / "env").string()), shipped_site("generic"));
  const auto failed = run_script(render::render_environment_script(*result.plan), directory,
                                 {{"PIP_NO_INDEX", "1"}, {"PIP_FIND_LINKS", directory.path().string()}});
  CHECK(failed.exit_code != 0);
  CHECK_FALSE(std::filesystem::exists(directory / "env"));
}

TEST_CASE("the environment of a cluster without internet on its nodes is not made in a job") {
  TempDirectory directory;
  model::Site offline = shipped_site("generic");
  offline.network.internet_on_compute = false;
  const auto result = plan::plan_setup({plan::SetupKind::venv, "torch", "", "12.6", ""},
                                       at((directory / "env").string()), offline);
  const auto refused =
      run_script(render::render_environment_script(*result.plan), directory, {{"SLURM_JOB_ID", "7"}});
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.err, Catch::Contains("login node"));
}

TEST_CASE("an environment for other CPUs than these is not made here") {
  TempDirectory directory;
  auto site = shipped_site("generic");
  model::NodeType node;
  node.id = "far";
  node.cpu_arch = model::CpuArch::ppc64le;
  site.node_types = {node};
  auto job = at((directory / "env").string());
  job.gpus_per_node = model::Sourced<unsigned>{0, {}};
  auto result = plan::plan_setup({plan::SetupKind::venv, "torch", "", "", ""}, job, site);
  REQUIRE(result.plan.has_value());
  const auto refused = run_script(render::render_environment_script(*result.plan), directory, {});
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.err, Catch::Contains("ppc64le"));
}

TEST_CASE("no name of an environment, image or package runs as code") {
  std::map<plan::SetupKind, std::size_t> run;
  std::size_t number = 0;
  for (const auto& hostile : hostile_texts()) {
    for (const auto kind : {plan::SetupKind::venv, plan::SetupKind::conda, plan::SetupKind::container}) {
      TempDirectory directory;
      for (const char* name : {"conda", "cotainr", "module", "pip", "python", "python3", "virtualenv"})
        put_program(directory, name, "exit 0\n");
      const bool image = kind == plan::SetupKind::container;
      auto result = plan::plan_setup({kind, "", "", image ? "" : "12.6", ""}, at(hostile, kind),
                                     shipped_site(image ? "lumi" : "generic"));
      if (!result.plan || !is_sample(number++, 3)) continue;
      result.plan->packages = {hostile};
      check_harmless(*result.plan, hostile, directory);
      ++run[kind];
    }
  }
  // Some texts are refused; that no kind is left without scripts to run is what makes this a test.
  for (const auto kind : {plan::SetupKind::venv, plan::SetupKind::conda, plan::SetupKind::container})
    CHECK(run[kind] > 5);
}

TEST_CASE("no name of an environment on top of an image runs as code") {
  std::map<std::string, std::size_t> run;
  std::size_t number = 0;
  for (const auto& hostile : hostile_texts()) {
    for (const auto& [id, image] : {std::pair<std::string, std::string>{"lumi", hostile},
                                    {"alps_daint", "a/" + hostile},
                                    {"alps_daint", hostile + ".toml"}}) {
      TempDirectory directory;
      for (const char* name : {"mksquashfs", "module", "singularity", "srun", "uenv"})
        put_program(directory, name, "exit 0\n");
      auto job = at((directory / "x").string() + hostile + ".sqsh");
      job.container = text(image);
      job.account = text(hostile);
      auto result = plan::plan_setup({plan::SetupKind::venv, "it", "", "", ""}, job, shipped_site(id));
      if (!result.plan || !is_sample(number++, 3)) continue;
      result.plan->node_arch = model::CpuArch::unknown;
      result.plan->packages = {hostile};
      check_harmless(*result.plan, hostile, directory);
      ++run[id];
    }
  }
  CHECK(run["lumi"] > 5);
  CHECK(run["alps_daint"] > 5);
}
