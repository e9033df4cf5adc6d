// SPDX-License-Identifier: MIT
// Stand-ins that make environments of Python and images.
#include "emulate/stand_ins_helper.hpp"

using namespace hpcml;
using namespace hpcml::emulate;
using test::Installed;
using test::rich_site;
namespace fs = std::filesystem;

namespace {

/// The start of a script in which this machine's Python has the package "demo", whatever else it has.
std::string with_package(const Installed& installed) {
  const auto packages = installed.directory / "packages";
  fs::create_directories(packages / "demo-1.0.dist-info");
  for (const auto& [name, text] :
       {std::pair{"demo.py", ""},
        {"demo-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"},
        {"demo-1.0.dist-info/RECORD", "demo.py,,\ngiven-1.0.dist-info/METADATA,,\n"}})
    REQUIRE(util::write_file(packages / name, text));
  return "export PYTHONPATH=" + packages.string() + "; ";
}

} // namespace

TEST_CASE("conda activates the site's environment after its hook or its module") {
  const Installed installed;
  const std::string python = installed.directory.path().string() + "/conda/envs/pytorch/bin/python\n";
  CHECK(installed.bash("conda activate pytorch").exit_code != 0);
  CHECK(installed
            .bash("source \"$(conda info --base)/etc/profile.d/conda.sh\"; conda activate pytorch; command "
                  "-v python")
            .out == python);
  CHECK(installed.bash("module load miniforge3/25.3.1; conda activate pytorch; command -v python").out ==
        python);
}

TEST_CASE("conda makes an environment that pip fills from this machine's Python") {
  const Installed installed;
  const std::string env = installed.directory.path().string() + "/conda/envs/mine";
  const auto made = installed.bash(
      with_package(installed) +
      "set -eu; module load miniforge3; conda create --yes --name mine python=3.11 no-such-package-here; "
      "conda activate mine; python -m pip install --quiet demo; python -m pip check; "
      "pip install demo --index-url https://download.pytorch.org/whl/cu128; command -v python; "
      "conda env list | sed 's/ .*//'");
  INFO(made.err);
  CHECK(made.exit_code == 0);
  CHECK(made.out.find("conda activate mine\n") != std::string::npos);
  CHECK(made.out.find(env + "/bin/python\nmine\npytorch\n") != std::string::npos);
  CHECK(made.err.find("no-such-package-here is left out") != std::string::npos);
  CHECK(made.err.find("taken for one of yours") == std::string::npos);
  CHECK(installed.bash("conda create --name mine").err.find("prefix already exists") != std::string::npos);
  const auto asking = installed.bash("conda create -n other < /dev/null");
  CHECK(asking.exit_code == 0);
  CHECK(asking.err.find("write --yes") != std::string::npos);
}

TEST_CASE("the site's list of wheels is what this machine's Python has") {
  auto site = rich_site();
  site.python[1].list_wheels = "avail_wheels";
  const Installed installed(site);
  const auto listed = installed.bash(with_package(installed) + "avail_wheels demo");
  INFO(listed.err);
  CHECK(listed.exit_code == 0);
  const auto lines = util::split(listed.out, '\n');
  REQUIRE(lines.size() >= 3);
  CHECK(lines[0].starts_with("name  version"));
  CHECK(lines[2].starts_with("demo "));
  const auto none = installed.bash("avail_wheels no-such-package");
  CHECK(none.exit_code == 1);
  CHECK(none.err.find("no wheels of no-such-package") != std::string::npos);
}

TEST_CASE("cotainr checks what it is asked, and its image needs no entering") {
  auto site = rich_site();
  model::PythonPackageRule rule;
  rule.kind = model::PythonPackageSource::container;
  rule.modules = {"LUMI", "cotainr"};
  rule.image = {"cotainr", "/appl/base.sif", {}, {}};
  site.python.push_back(rule);
  const Installed installed(site);
  const auto in = "cd " + installed.directory.path().string() + "; module load LUMI cotainr; ";
  REQUIRE(util::write_file(installed.directory / "env.yml", "name: x\ndependencies:\n  - pip\n"));
  REQUIRE(util::write_file(installed.directory / "bad.yml", "name: x\n"));
  struct Case {
    const char* arguments;
    const char* expected;
  };
  for (const auto& [arguments, expected] :
       {Case{"build x.sif --conda-env=env.yml", "--base-image and --system"},
        Case{"build x.sif --base-image=/nowhere/base.sif", "base image /nowhere/base.sif does not exist"},
        Case{"build x.sif --base-image /appl/base.sif --conda-env=none.yml", "cannot read"},
        Case{"build x.sif --system=lumi-g --conda-env bad.yml", "no environment of conda"},
        Case{"build none/x.sif --system=lumi-g", "cannot write none/x.sif"},
        Case{"build x.sif --frobnicate", "unknown option --frobnicate"}}) {
    const auto result = installed.bash(in + "cotainr " + arguments);
    CAPTURE(arguments, result.err);
    CHECK(result.exit_code != 0);
    CHECK(result.err.find(expected) != std::string::npos);
  }
  CHECK(installed.bash("cotainr build x.sif --system=lumi-g").exit_code == 127); // its module is not loaded
  const auto built = installed.bash(
      in + "cotainr build x.sif --base-image=/appl/base.sif --conda-env=env.yml && singularity "
           "exec x.sif bash -c 'echo [${WITH_CONDA-}]; command -v python'");
  INFO(built.err);
  CHECK(built.out == "Successfully built container x.sif\n[]\n" + installed.directory.path().string() +
                         "/image/env/bin/python\n");
  CHECK(installed.bash(in + "cotainr build x.sif --system=lumi-g < /dev/null").exit_code == 1);
  CHECK(installed.bash(in + "echo no | cotainr build x.sif --system=lumi-g").exit_code == 0);
}

TEST_CASE("an environment of venv has a pip that needs no network") {
  auto site = rich_site();
  model::PythonPackageRule rule;
  rule.kind = model::PythonPackageSource::venv;
  site.python = {rule};
  const Installed installed(site);
  const auto made =
      installed.bash(with_package(installed) + "cd " + installed.directory.path().string() +
                     " && python3 -m venv mine && . mine/bin/activate && pip3 install demo "
                     "--index-url https://download.pytorch.org/whl/cu124 && command -v python3; "
                     "python3 -c 'import sys; print(sys.prefix)'");
  INFO(made.err);
  const auto env = installed.directory.path().string() + "/mine";
  CHECK(made.out.starts_with("Successfully installed demo-1.0\n"));
  CHECK(made.out.ends_with(env + "/bin/python3\n" + env + "\n"));
}

TEST_CASE("python is python3 where this machine lacks python") {
  auto site = rich_site();
  site.python.clear();
  const Installed installed(site);
  const auto ran = installed.bash("python -c 'print(1 + 1)'");
  INFO(ran.err);
  CHECK(ran.out == "2\n");
  CHECK(ran.err == "python: assuming that 'python' is at the site: this machine does not have it\n");
}

TEST_CASE("traces of scripts show no commands of module") {
  const Installed installed;
  const auto ran = installed.bash("set -x; module purge; case $- in *x*) echo traces;; esac");
  CHECK(ran.err == "+ module purge\n+ case $- in\n+ echo traces\n");
  CHECK(ran.out == "traces\n");
}

TEST_CASE("emulated pip installs packages of Debian") {
  const Installed installed;
  const auto packages = installed.directory.path() / "debian";
  fs::create_directories(packages / "demo-1.0.egg-info");
  for (const auto& [name, text] :
       {std::pair{"demo.py", "import needed\nprint('demo is here')\n"},
        {"needed.py", ""}, // by no name in the metadata
        {"demo-1.0.egg-info/PKG-INFO", "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"},
        {"demo-1.0.egg-info/top_level.txt", "demo\n"}})
    REQUIRE(util::write_file(packages / name, text));
  const auto env = (installed.directory.path() / "env").string();
  const auto made =
      installed.bash("export PYTHONPATH=" + packages.string() + "; virtualenv --no-download " + env + " && " +
                     env + "/bin/pip install --no-index demo; unset PYTHONPATH; " + env +
                     "/bin/python -c 'import demo'; " + env + "/bin/pip freeze");
  INFO(made.err);
  CHECK(made.out.ends_with("Successfully installed demo-1.0\ndemo is here\ndemo==1.0\n"));
}

TEST_CASE("emulated pip needs no pip in this machine's Python") {
  const test::TempDirectory directory;
  const auto bare = (directory / "bare").string();
  const auto made = util::run_process({"/usr/bin/python3", "-m", "venv", "--without-pip", bare},
                                      util::EnvSnapshot::of_process(), std::chrono::seconds(300));
  REQUIRE((made && made->exit_code == 0));
  const Installed installed(rich_site(), bare + "/bin/python");
  const auto result =
      installed.bash(with_package(installed) + "cd " + installed.directory.path().string() +
                     "; virtualenv --no-download env && env/bin/pip install --no-index 'demo>=1'");
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.out.ends_with("Successfully installed demo-1.0\n"));
}

TEST_CASE("virtualenv and pip make an environment without network") {
  const Installed installed;
  const std::string env = (installed.directory.path() / "env").string();
  CHECK(installed.bash("virtualenv " + env).exit_code == 1);
  const auto made = installed.bash("virtualenv --no-download " + env + " && . " + env +
                                   "/bin/activate && pip install --no-index pip");
  INFO(made.err);
  CHECK(made.exit_code == 0);
  CHECK(installed.bash(". " + env + "/bin/activate; command -v python").out == env + "/bin/python\n");
  CHECK(installed.bash("virtualenv --no-download --clear -- " + env).exit_code == 0);
  CHECK(installed.bash("virtualenv --no-download -- a b").exit_code == 2);
  const auto online = installed.bash(". " + env + "/bin/activate; pip install torch");
  CHECK(online.exit_code == 1);
  CHECK(online.err.find("--no-index") != std::string::npos);
  const auto unknown =
      installed.bash(". " + env + "/bin/activate; pip install --no-index no-such-package-at-all");
  CHECK(unknown.exit_code == 1);
  CHECK(unknown.err.find("No matching distribution found") != std::string::npos);
}
