// SPDX-License-Identifier: MIT
// Where a torch is looked for, and what is read from its files.
#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "holds.hpp"
#include "temp_directory.hpp"
#include "torch/build/cache.hpp"
#include "torch/build/sources.hpp"
#include "torch/build/torch_package.hpp"

namespace fs = std::filesystem;
using namespace hpcml;
using test::holds;

namespace {

void put(const fs::path& path, const std::string& text) {
  fs::create_directories(path.parent_path());
  REQUIRE(util::write_file(path, text));
}

/// The files of a torch as far as they are looked at, in a folder.
fs::path put_torch(const fs::path& root, const std::string& version, const std::string& header) {
  put(root / "version.py", "from typing import Optional\n__version__ = '" + version + "'\n");
  put(root / "include/torch/csrc/api/include/torch/version.h", header);
  put(root / "include/torch/csrc/distributed/c10d/ProcessGroupGloo.hpp", "");
  put(root / "lib/libtorch_cpu.so", "");
  return root;
}

constexpr const char* k_header_2_4 = "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 4\n"
                                     "/// Patch version\n#define TORCH_VERSION_PATCH 1\n";

torch_build::TorchSearchResult find(const std::map<std::string, std::string>& variables,
                                    const std::string& named = {}) {
  auto all = variables;
  all.emplace("PATH", "/nowhere");
  return torch_build::find_torch_package(named, util::EnvSnapshot(all), "/");
}

} // namespace

TEST_CASE("a torch is found by each variable that leads to it, and the first one in the order wins") {
  const test::TempDirectory directory;
  const auto site = "lib/python3.11/site-packages/torch";
  for (const auto& [root, version] :
       std::map<std::string, std::string>{{"a", "2.4.1+cu124"}, {"b", "2.4.1+rocm6.0"}})
    put_torch(directory / root / site, version, k_header_2_4);
  put_torch(directory / "libtorch", "2.4.1+cpu", k_header_2_4);
  const auto at = [&](const std::string& path) { return (directory / path).string(); };
  struct Case {
    std::map<std::string, std::string> variables;
    std::string named, from, version;
  };
  const std::vector<Case> cases = {
      {{}, at("a"), "--torch", "2.4.1+cu124"},
      {{{"VIRTUAL_ENV", at("b")}}, at("libtorch"), "--torch", "2.4.1+cpu"},
      {{}, at("libtorch/lib"), "--torch", "2.4.1+cpu"},
      {{{"Torch_DIR", at("libtorch/share/cmake/Torch")}, {"VIRTUAL_ENV", at("a")}},
       "",
       "Torch_DIR",
       "2.4.1+cpu"},
      {{{"CMAKE_PREFIX_PATH", "/nowhere:" + at("libtorch")}, {"VIRTUAL_ENV", at("a")}},
       "",
       "CMAKE_PREFIX_PATH",
       "2.4.1+cpu"},
      {{{"VIRTUAL_ENV", at("a")}, {"CONDA_PREFIX", at("b")}}, "", "VIRTUAL_ENV", "2.4.1+cu124"},
      {{{"CONDA_PREFIX", at("b")}}, "", "CONDA_PREFIX", "2.4.1+rocm6.0"},
      {{{"LD_LIBRARY_PATH", "/nowhere:" + at("libtorch/lib")}}, "", "LD_LIBRARY_PATH", "2.4.1+cpu"},
  };
  fs::create_directories(directory / "libtorch/share/cmake/Torch");
  for (const auto& test_case : cases) {
    const auto search = find(test_case.variables, test_case.named);
    INFO(test_case.from << " " << test_case.version);
    CHECK(search.problems.empty());
    REQUIRE(search.package);
    CHECK(search.package->from == test_case.from);
    CHECK(search.package->version == test_case.version);
    CHECK(search.package->cxx_standard == 17);
  }
}

TEST_CASE("a torch that cannot be built against is refused with every reason") {
  const test::TempDirectory directory;
  const auto root = put_torch(directory / "torch", "2.5.0+cpu", k_header_2_4);
  fs::remove(root / "include/torch/csrc/distributed/c10d/ProcessGroupGloo.hpp");
  const auto search = find({}, root.string());
  CHECK_FALSE(search.package);
  REQUIRE(search.problems.size() == 2);
  CHECK(holds(search.problems[0].what, "are of torch 2.4.1"));
  CHECK(holds(search.problems[0].what, "is 2.5.0+cpu"));
  CHECK(holds(search.problems[1].what, "ProcessGroupGloo.hpp"));
  for (const auto& problem : search.problems) CHECK_FALSE(problem.hint.empty());
  const auto nothing = find({}, (directory / "empty").string());
  REQUIRE(nothing.problems.size() == 1);
  CHECK(holds(nothing.problems[0].what, "contains no torch with C++ headers"));
}

TEST_CASE("version, standard and ABI are read as torch's files say them") {
  CHECK(torch_build::header_version(k_header_2_4) == "2.4.1");
  CHECK(torch_build::header_version("#define TORCH_VERSION_MAJOR 2\n").empty());
  CHECK(torch_build::standard_of("1.13.1") == 17);
  CHECK(torch_build::standard_of("2.8.0") == 17);
  CHECK(torch_build::standard_of("2.9.0") == 20);
  CHECK(torch_build::standard_of("2.13.0+cpu") == 20);
  CHECK(torch_build::abi_of("set(TORCH_CXX_FLAGS \"-D_GLIBCXX_USE_CXX11_ABI=0\")") == "0");
  CHECK(torch_build::abi_of("  set(TORCH_CXX_FLAGS \"-D_GLIBCXX_USE_CXX11_ABI=1\")") == "1");
  CHECK(torch_build::abi_of("-D_GLIBCXX_USE_CXX11_ABI=@GLIBCXX_USE_CXX11_ABI@").empty());
}

TEST_CASE("a build for GPUs takes NCCL in where the vendor's headers are, and names them where not") {
  const test::TempDirectory directory;
  const auto root = put_torch(directory / "site-packages/torch", "2.4.1+cu124", k_header_2_4);
  CHECK(holds(find({}, root.string()).package->no_nccl, "CPU build"));
  put(root / "lib/libtorch_cuda.so", "");
  for (const char* header : {"cuda_runtime_api.h", "cusparse.h", "cublas_v2.h"})
    put(directory / "cuda/include" / header, "");
  put(directory / "site-packages/nvidia/nccl/include/nccl.h", "");
  const std::map<std::string, std::string> cuda = {{"CUDA_HOME", (directory / "cuda").string()}};
  const auto without = find(cuda, root.string());
  REQUIRE(without.package);
  if (!fs::exists("/usr/local/cuda/include/cusolverDn.h") && !fs::exists("/usr/include/cusolverDn.h")) {
    CHECK(without.package->gpu_defines.empty());
    CHECK(holds(without.package->no_nccl, "not found: cusolverDn.h."));
  }
  // What its headers include has a folder of its own in CUDA 13.
  for (const char* header : {"cusolverDn.h", "crt/host_config.h", "cccl/nv/target"})
    put(directory / "cuda/include" / header, "");
  const auto with = find(cuda, root.string());
  REQUIRE(with.package);
  CHECK(with.package->gpu_defines == std::vector<std::string>{"USE_C10D_NCCL"});
  REQUIRE(with.package->gpu_includes.size() == 3);
  CHECK(holds(with.package->gpu_includes[0] + with.package->gpu_includes[1], "nccl/include"));
  CHECK(holds(with.package->gpu_includes[2], "cuda/include/cccl"));
}

TEST_CASE("builds differ by torch, ABI, library, sources, compiler and NCCL") {
  const test::TempDirectory directory;
  const auto root = put_torch(directory / "torch", "2.4.1+cpu", k_header_2_4);
  auto package = *find({}, root.string()).package;
  const auto sources = embedded::torch_sources();
  std::set<std::string> keys;
  const auto add = [&](const std::string& key) { CHECK(keys.insert(key).second); };
  add(torch_build::package_key(package, sources));
  add(torch_build::package_key(package, sources.subspan(1)));
  package.abi = "0";
  add(torch_build::package_key(package, sources));
  put(root / "lib/libtorch_cpu.so", "another");
  add(torch_build::package_key(package, sources));
  package.version = "2.4.2";
  add(torch_build::package_key(package, sources));
  const auto key = torch_build::package_key(package, sources);
  CHECK(key == torch_build::package_key(package, sources));
  CHECK(key.starts_with("torch-2.4.2-abi0-"));
  add(torch_build::build_key(key, "/usr/bin/g++ 1 2", package));
  add(torch_build::build_key(key, "/usr/bin/g++ 1 3", package));
  package.gpu_defines = {"USE_C10D_NCCL"};
  add(torch_build::build_key(key, "/usr/bin/g++ 1 2", package));
  package.gpu_includes = {"/opt/cuda/include"}; // a header that was missing is there now
  add(torch_build::build_key(key, "/usr/bin/g++ 1 2", package));
}

TEST_CASE("what was built is found by nodes without a compiler, too, and half a build is not") {
  const test::TempDirectory directory;
  const auto cache = directory.path().string();
  CHECK_FALSE(torch_build::find_built(cache, "torch-2.4.1-abi1-x"));
  put(directory / "torch-2.4.1-abi1-x-1/build.json", "{}");
  put(directory / "torch-2.4.1-abi0-x-1/hpcml-torch", "");
  fs::permissions(directory / "torch-2.4.1-abi0-x-1/hpcml-torch", fs::perms::owner_all);
  CHECK_FALSE(torch_build::find_built(cache, "torch-2.4.1-abi1-x"));
  CHECK(torch_build::find_built(cache, "torch-2.4.1-abi0-x") == cache + "/torch-2.4.1-abi0-x-1");
}
