// SPDX-License-Identifier: MIT
// Which builds leave the cache: those that nobody uses, of a torch that is there no more.
#include <algorithm>

#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "temp_directory.hpp"
#include "torch/build/build_recipe.hpp"
#include "torch/build/cache.hpp"
#include "torch/build/old_builds.hpp"

namespace fs = std::filesystem;
using namespace hpcml;
using namespace torch_build;
using std::chrono::hours;

namespace {

/// A build in a cache, for what has this identity ("": it does not say).
void put_build(const fs::path& cache, const std::string& name, const std::string& built_for) {
  fs::create_directories(cache / name / "lib");
  REQUIRE(util::write_file(cache / name / k_helper_name, "", 0755));
  REQUIRE(util::write_file(cache / name / k_library_name, ""));
  if (!built_for.empty()) REQUIRE(util::write_file(cache / name / k_built_for_name, built_for + "\n"));
}

} // namespace

TEST_CASE("a build is outlived when its torch is another one or gone, and nobody has used it for 30 days") {
  const auto now = CachedBuild::Time(hours(1'000'000));
  const auto outlived = [&](const std::string& built_for, const std::string& there_now, int days,
                            const std::string& name = "torch-2.13") {
    return is_outlived({name, built_for, there_now, now - hours(24 * days)}, now);
  };
  CHECK(outlived("/t/libtorch_cpu.so 5 100", "/t/libtorch_cpu.so 5 200", 31));
  CHECK_FALSE(outlived("/t/libtorch_cpu.so 5 100", "/t/libtorch_cpu.so 5 200", 29)); // it may be in use
  CHECK_FALSE(outlived("/t/libtorch_cpu.so 5 100", "/t/libtorch_cpu.so 5 100", 400));
  CHECK_FALSE(outlived("", "", 400)); // of an earlier hpcml: nobody knows
  CHECK(outlived("", "", 31, ".building-torch-2.13-node1"));
  CHECK_FALSE(outlived("", "", 1, ".building-torch-2.13-node1"));
  CHECK(path_of_identity("/my torch/libtorch_cpu.so 5 100") == "/my torch/libtorch_cpu.so");
  CHECK(path_of_identity("").empty());
}

TEST_CASE("outlived builds leave the cache whole, and all else stays") {
  const test::TempDirectory directory;
  const auto cache = directory / "cache";
  TorchPackage package, gone;
  package.lib = (directory / "here").string();
  gone.lib = (directory / "gone").string();
  for (const auto* torch : {&package, &gone}) {
    fs::create_directory(torch->lib);
    REQUIRE(util::write_file(torch->lib + "/libtorch_cpu.so", "library"));
  }
  put_build(cache, "torch-1-here", library_identity(package));
  put_build(cache, "torch-2-gone", library_identity(gone));
  put_build(cache, "torch-3-old", "");
  put_build(cache, "torch-4-image", library_identity(gone));
  put_build(cache, "torch-5-image", library_identity(gone));
  put_build(cache, "probe-1", library_identity(gone));
  note_image((cache / "torch-4-image").string(), package.lib + "/libtorch_cpu.so");
  note_image((cache / "torch-5-image").string(), "registry.example/torch:2");
  fs::remove_all(gone.lib);
  const auto now = std::chrono::system_clock::now();
  CHECK(remove_outlived_builds(cache.string(), now).empty()); // all are new
  CHECK(remove_outlived_builds(cache.string(), now + hours(24 * 40)) ==
        std::vector<std::string>{"torch-2-gone"});
  std::vector<std::string> left;
  for (const auto& entry : fs::directory_iterator(cache)) left.push_back(entry.path().filename());
  std::sort(left.begin(), left.end());
  CHECK(left ==
        std::vector<std::string>{"probe-1", "torch-1-here", "torch-3-old", "torch-4-image", "torch-5-image"});
  REQUIRE(util::write_file(package.lib + "/libtorch_cpu.so", "another library"));
  CHECK(remove_outlived_builds(cache.string(), now + hours(24 * 40)) ==
        std::vector<std::string>{"torch-1-here", "torch-4-image"});
  CHECK(remove_outlived_builds((directory / "nowhere").string(), now).empty());
}
