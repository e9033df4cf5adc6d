// SPDX-License-Identifier: MIT
// Set-up scripts that meet what is there already, or fail on the way: what was made stays, halves go, and the
// next run works.
#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "flag_values.hpp"
#include "generate/plan/setup_plan.hpp"
#include "generate/render/environment_script.hpp"
#include "generate/render/render_helper.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using namespace hpcml::test;
using plan::SetupKind;

namespace {

/// The script for an environment of that kind and place, for this machine.
std::string script_of(const std::string& site_id, const plan::SetupOptions& spec, const std::string& place) {
  model::JobSpec job;
  if (spec.kind == SetupKind::conda)
    job.conda = text(place);
  else if (spec.kind == SetupKind::container)
    job.container = text(place);
  else
    job.venv = text(place);
  auto result = plan::plan_setup(spec, job, shipped_site(site_id));
  for (const auto& finding : result.diagnostics) INFO(finding.message);
  REQUIRE(result.plan);
  result.plan->node_arch = model::CpuArch::unknown;
  result.plan->offline_nodes = false;
  const auto script = render::render_environment_script(*result.plan);
  INFO(script);
  CHECK(script_faults(script) == "");
  return script;
}

/// conda with one environment; each call's words go to the file "conda", `pip_works` says whether pip does.
void put_conda(const TempDirectory& directory, bool pip_works) {
  std::filesystem::create_directories(directory / "base/etc/profile.d");
  REQUIRE(util::write_file(directory / "base/etc/profile.d/conda.sh", ""));
  put_program(
      directory, "conda",
      "echo \"$@\" >> conda\ncase \"$1 $2\" in\n'info --base') echo \"$PWD/base\" ;;\n"
      "'env list') printf '# conda environments:\\n#\\nbase  /b\\nmy_pytorch_cuda12.8  *  /b/envs/x\\n' "
      ";;\nesac\n");
  put_program(directory, "python", pip_works ? "exit 0\n" : "[[ $2 != pip ]]\n");
}

/// A virtualenv whose torch has files for CMake that want C++17; the folder of its libraries is printed.
void put_alliance(const TempDirectory& directory) {
  put_program(directory, "module", ":\n");
  put_program(directory, "pip", ":\n");
  put_program(directory, "avail_wheels", ":\n");
  put_program(
      directory, "virtualenv",
      "/bin/mkdir -p \"${@: -1}/bin\" \"${@: -1}/site/torch/lib\" \"${@: -1}/site/torch/share/cmake/Torch\"\n"
      ": > \"${@: -1}/bin/activate\"\n"
      "echo '    CXX_STANDARD 17' > \"${@: -1}/site/torch/share/cmake/Torch/TorchConfig.cmake\"\n");
  put_program(directory, "python",
              "[[ $2 == *os.path* ]] && echo \"$PWD/env/site/torch/lib\"\necho \"$@\" >> python\n");
}

} // namespace

TEST_CASE("a conda environment is there already if its whole name is, not if another begins with it") {
  for (const auto& [name, is_there] : {std::pair<std::string, bool>{"my_pytorch_cuda12", false},
                                       {"my_pytorch_cuda12.8", true},
                                       {"cuda12.8", false}}) {
    CAPTURE(name);
    const TempDirectory directory;
    put_conda(directory, true);
    const auto result =
        run_script(script_of("generic", {SetupKind::conda, "torch", "", "12.6", ""}, name), directory);
    INFO(result.out << result.err);
    CHECK((result.exit_code != 0) == is_there);
    CHECK((util::read_file(directory / "conda")->find("create") == std::string::npos) == is_there);
  }
}

TEST_CASE("half a conda environment does not stay: the next run would stop at it") {
  const TempDirectory directory;
  put_conda(directory, false);
  const auto result =
      run_script(script_of("generic", {SetupKind::conda, "torch", "", "12.6", ""}, "fresh"), directory);
  CHECK(result.exit_code != 0);
  CHECK_THAT(*util::read_file(directory / "conda"), Catch::Contains("env remove --yes --name fresh"));
  std::filesystem::remove(directory / "conda");
  put_conda(directory, true);
  run_script(script_of("generic", {SetupKind::conda, "torch", "", "12.6", ""}, "fresh"), directory);
  CHECK_THAT(*util::read_file(directory / "conda"), !Catch::Contains("env remove"));
}

TEST_CASE("an image whose building failed leaves nothing that stops the next run") {
  const TempDirectory directory;
  put_program(directory, "module", ":\n");
  const auto script =
      script_of("lumi", {SetupKind::container, "torch", "", "", ""}, (directory / "t.sif").string());
  put_program(directory, "cotainr", ": > \"$2\"; exit 1\n");
  CHECK(run_script(script, directory).exit_code != 0);
  put_program(directory, "cotainr", ": > \"$2\"\n");
  const auto second = run_script(script, directory);
  INFO(second.out << second.err);
  CHECK(second.exit_code == 0);
  CHECK(std::filesystem::exists(directory / "t.sif"));
}

TEST_CASE("a list of packages that is there already is not replaced") {
  const TempDirectory directory;
  put_alliance(directory);
  REQUIRE(util::write_file(directory / "requirements.txt", "mine\n"));
  const auto result =
      run_script(script_of("narval", {SetupKind::wheelhouse, "torch", "", "", ""}, "x"), directory);
  CHECK(result.exit_code != 0);
  CHECK_THAT(result.err, Catch::Contains("requirements.txt is there already"));
  CHECK(*util::read_file(directory / "requirements.txt") == "mine\n");
  // Given as the list to try, it is read, and another is written.
  const auto tried = run_script(
      script_of("narval", {SetupKind::wheelhouse, "requirements.txt", "", "", ""}, "x"), directory);
  INFO(tried.out << tried.err);
  CHECK(tried.exit_code == 0);
  CHECK(*util::read_file(directory / "requirements.txt") == "mine\n");
  CHECK(std::filesystem::exists(directory / "requirements-narval.txt"));
}

TEST_CASE("torch is imported only where it was installed") {
  for (const auto kind : {SetupKind::venv, SetupKind::conda, SetupKind::uv, SetupKind::wheelhouse}) {
    const std::string site = kind == SetupKind::wheelhouse ? "narval" : "generic";
    const std::string cuda = kind == SetupKind::wheelhouse ? "" : "12.6";
    const auto with = [&](const std::string& packages) {
      return script_of(site, {kind, packages, "", cuda, ""}, "/x/y");
    };
    CAPTURE(model::word_of(kind));
    for (const char* packages : {"numpy", "pandas>=2 triton"}) {
      CHECK_THAT(with(packages), !Catch::Contains("import torch"));
      CHECK_THAT(with(packages), Catch::Contains("pip check"));
    }
    for (const char* packages : {"torch", "numpy torchvision==0.20", "needs.txt"})
      CHECK_THAT(with(packages), Catch::Contains("import torch"));
  }
  CHECK_THAT(script_of("narval", {SetupKind::libtorch, "scipy", "", "", ""}, "/x/y"),
             Catch::Contains("install --no-index torch"));
}

TEST_CASE("LibTorch's environment: what a module sets is asked for first, and nothing later takes it away") {
  const TempDirectory directory;
  put_alliance(directory);
  const auto script =
      script_of("narval", {SetupKind::libtorch, "", "", "", ""}, (directory / "env").string());
  const auto unset = run_script(script, directory);
  CHECK(unset.exit_code != 0);
  CHECK_THAT(unset.err, Catch::Contains("EBROOTCUDA is not set"));
  CHECK_FALSE(std::filesystem::exists(directory / "env"));
  const auto made = run_script(script, directory, {{"EBROOTCUDA", "/cuda"}});
  INFO(made.out << made.err);
  CHECK(made.exit_code == 0);
  CHECK_THAT(made.out, Catch::Contains("CXX_STANDARD 17"));
  const auto cmake = *util::read_file(directory / "env/libtorch.cmake");
  CHECK_THAT(cmake,
             Catch::Contains("set(CMAKE_CXX_STANDARD 17 ") && Catch::Contains("-L/cuda/extras/CUPTI/lib64"));
  // Whatever fails after the packages are there, they stay.
  std::filesystem::remove_all(directory / "env");
  put_program(directory, "cat", "exit 1\n");
  CHECK(run_script(script, directory, {{"EBROOTCUDA", "/cuda"}}).exit_code != 0);
  CHECK(std::filesystem::exists(directory / "env/bin/activate"));
}
