// SPDX-License-Identifier: MIT
// What cannot run on a machine is reported through skip.hpp, and packages of Python are found through
// python_packages.hpp.
#include <catch2/catch.hpp>

#include <filesystem>
#include <regex>

#include "core/util/file.hpp"
#include "holds.hpp"
#include "python_packages.hpp"
#include "skip.hpp"
#include "sources.hpp"
#include "temp_directory.hpp"

using namespace hpcml;

namespace {

/// Runs the hidden case below in a process of its own.
util::ProcessOutput run_skipping_case(const std::string& list, bool require) {
  auto env = util::EnvSnapshot::of_process();
  env.set("HPCML_TESTS_SKIPPED", list);
  env.unset("HPCML_TESTS_REQUIRE_PACKAGES");
  if (require) env.set("HPCML_TESTS_REQUIRE_PACKAGES", "1");
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto output = util::run_process({self, "[.skips]"}, env);
  REQUIRE(output);
  return *output;
}

/// The test sources with a match of the pattern, but for one file.
std::vector<std::string> sources_with(const std::string& pattern, const std::string& except) {
  std::vector<std::string> found;
  const std::regex wanted(pattern);
  for (const auto& path : sources("tests"))
    if (path.filename() != except && std::regex_search(util::read_file(path).value(), wanted))
      found.push_back(path.filename().string());
  return found;
}

} // namespace

TEST_CASE("case without its package", "[.skips]") { test::skip_missing("no-such-package"); }

TEST_CASE("skip adds a line to the list of tests/run.sh") {
  const test::TempDirectory directory;
  const auto list = (directory / "skipped").string();
  CHECK(run_skipping_case(list, false).exit_code == 0);
  CHECK(util::read_file(list).value_or("") ==
        "layers_tests: case without its package: no-such-package is not installed\n");
}

TEST_CASE("a missing package fails the test under tests/run.sh") {
  const test::TempDirectory directory;
  const auto list = (directory / "skipped").string();
  const auto output = run_skipping_case(list, true);
  CHECK(output.exit_code != 0);
  CHECK(test::holds(output.out, "no-such-package is not installed, although tests/run.sh installs it"));
  CHECK_FALSE(std::filesystem::exists(list));
}

TEST_CASE("a directory is not taken for a Python module") {
  const test::TempDirectory directory;
  std::filesystem::create_directory(directory / "torch");
  const std::string code = "import torch";
  const auto tried = [&](const std::string& python) {
    return util::run_process({"env", "-C", directory.path().string(),
                              "PYTHONPATH=" + directory.path().string(), python, "-c", code},
                             util::EnvSnapshot::of_process());
  };
  const auto python = test::test_python();
  if (!std::filesystem::exists(python)) return test::skip_missing("tests/requirements.txt");
  REQUIRE(tried(python));
  CHECK(tried(python)->exit_code == 0); // the trap: an empty directory imports
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(directory.path());
  const auto version = test::module_version(python, "torch");
  std::filesystem::current_path(before);
  CHECK_FALSE(version);
  CHECK(test::module_version(python, "yaml"));
}

TEST_CASE("tests share one helper for skips and Python packages") {
  const std::vector<std::string> none;
  CHECK(sources_with(R"re(\bWARN\()re", "skip.hpp") == none);
  CHECK(sources_with(R"re("-c",\s*"import [\w.]+")re", "python_packages.hpp") == none);
}
