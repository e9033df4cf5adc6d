// SPDX-License-Identifier: MIT
// What compilers are told, several at a time, and what `hpcml torch build` says where something is missing.
#include <algorithm>
#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "holds.hpp"
#include "temp_directory.hpp"
#include "torch/build/build_recipe.hpp"
#include "torch/build/cmake_package.hpp"
#include "torch/build/compile_all.hpp"
#include "torch/build/compiler.hpp"
#include "torch/build/in_image.hpp"
#include "torch/build/sources.hpp"

namespace fs = std::filesystem;
using namespace hpcml;
using namespace torch_build;
using test::holds;

namespace {

const util::EnvSnapshot& process_env() {
  static const auto c_env = util::EnvSnapshot::of_process();
  return c_env;
}

std::string put(const fs::path& path, const std::string& text, unsigned mode = 0644) {
  REQUIRE(util::write_file(path, text, mode));
  return path.string();
}

} // namespace

TEST_CASE("standard, ABI, headers, NCCL and the library's folder of the torch reach the compiler as words of "
          "their own") {
  TorchPackage package;
  package.version = "2.5.0";
  package.include = "/opt/my torch/include";
  package.lib = "/opt/my torch/lib";
  package.abi = "0";
  package.gpu_includes = {"/cuda/include"};
  package.gpu_defines = {"USE_C10D_NCCL"};
  const std::vector<std::string> sources = {"src/ddp/network.hpp", "src/ddp/network.cpp",
                                            "src/torch/helper/helper_main.cpp"};
  const auto with = make_recipe("/usr/bin/c++", package, "/build", sources, true);
  REQUIRE(with.steps.size() == 2);
  const auto& words = with.steps[0].words;
  CHECK(words[0] == "/usr/bin/c++");
  for (const char* word : {"-std=c++17", "-D_GLIBCXX_USE_CXX11_ABI=0", "/opt/my torch/include",
                           "-DUSE_C10D_NCCL", "/cuda/include", "-I/build/src", "/build/src/ddp/network.cpp"})
    CHECK(util::contains(words, word));
  CHECK(util::contains(with.link_helper, "-Wl,-rpath,/opt/my torch/lib"));
  CHECK(util::contains(with.link_helper, with.steps[1].object));
  CHECK_FALSE(
      util::contains(with.link_library, with.steps[1].object)); // the helper's own main is not in the library
  const auto without = make_recipe("/usr/bin/c++", package, "/build", sources, false);
  CHECK_FALSE(util::contains(without.steps[0].words, "-DUSE_C10D_NCCL"));
  package.include = "/usr/include"; // searched by itself, and last
  package.abi = "";
  const auto system = make_recipe("/usr/bin/c++", package, "/build", sources, false).steps[0].words;
  CHECK_FALSE(util::contains(system, "/usr/include"));
  CHECK(util::contains(system, "/usr/include/torch/csrc/api/include"));
  CHECK_FALSE(holds(util::join(system, " "), "CXX11_ABI"));
}

TEST_CASE(
    "library, helper and users' programs ask for the shared C++ library by its file's name, before torch's "
    "libraries and before the compiler's own") {
  TorchPackage package;
  package.lib = "/torch/lib";
  const auto recipe =
      make_recipe("/usr/bin/c++", package, "/build", {"src/ddp/a.cpp", "src/torch/helper/b.cpp"}, false);
  for (const auto& words : {recipe.link_library, recipe.link_helper, program_flags(package, "/build")}) {
    const auto place = [&](const std::string& word) {
      return std::find(words.begin(), words.end(), word) - words.begin();
    };
    const auto count = static_cast<std::ptrdiff_t>(words.size());
    CHECK(place("-l:libstdc++.so.6") < place("-lstdc++"));
    CHECK(place("-lstdc++") < place("/torch/lib/libtorch.so"));
    CHECK(place("/torch/lib/libtorch.so") < count);
  }
}

TEST_CASE(
    "sources are compiled together, so that torch's headers are read a few times and not for each of them") {
  std::vector<std::string> names;
  for (const auto& file : embedded::torch_sources()) names.emplace_back(file.name);
  const auto recipe = make_recipe("/usr/bin/c++", {}, "/build", names, false);
  CHECK(recipe.steps.size() == 4);
  std::map<std::string, int> times;
  for (const auto& step : recipe.steps)
    for (const auto& word : step.words) ++times[word];
  for (const auto& name : names) {
    INFO(name);
    CHECK(times["/build/" + name] == (name.ends_with(".cpp") ? 1 : 0));
  }
}

TEST_CASE("CMake's package of a build names headers, standard, ABI and libraries of its torch, odd names as "
          "they are") {
  TorchPackage package;
  package.version = "2.5.0+cpu";
  package.include = "/opt/my $torch/include";
  package.lib = "/opt/my $torch/lib";
  package.abi = "0";
  package.cxx_standard = 20;
  const auto text = render_cmake_config(package);
  for (const char* part : {"set(hpcml_TORCH_VERSION \"2.5.0+cpu\")", "/lib/libhpcml_ddp.so\"", "cxx_std_20\n",
                           "\"/opt/my \\$torch/include;/opt/my \\$torch/include/torch/csrc/api/include\"",
                           "\"_GLIBCXX_USE_CXX11_ABI=0\"",
                           "\"hpcml::headers;-l:libstdc++.so.6;-lstdc++;/opt/my \\$torch/lib/libtorch.so;"})
    CHECK(holds(text, part));
  CHECK_FALSE(holds(text, "@"));
  CHECK(holds(render_cmake_version("0.1.7"), "GREATER_EQUAL 0.1)"));
}

TEST_CASE("every source of the helper is in the program, with all that it includes from hpcml") {
  std::map<std::string, std::string> files;
  for (const auto& file : embedded::torch_sources()) files.emplace(file.name, file.text);
  CHECK(files.count("src/torch/helper/helper_main.cpp") == 1);
  CHECK(files.count("include/hpcml/ddp/distributed_data_parallel.hpp") == 1);
  for (const auto& [name, text] : files)
    for (const auto& line : util::split(text, '\n')) {
      if (!line.starts_with("#include \"")) continue;
      const auto header = line.substr(10, line.find('"', 10) - 10);
      INFO(name << " includes " << header);
      CHECK(files.count("src/" + header) + files.count("include/" + header) +
                files.count("src/torch/build/gloo_names/" + header) ==
            1);
    }
}

TEST_CASE("sources are compiled several at a time, and a failure brings the compiler's own words") {
  const auto compiler = find_compiler(process_env());
  REQUIRE(compiler);
  const test::TempDirectory directory;
  const auto step = [&](const std::string& name, const std::string& text) {
    const auto source = put(directory / (name + ".cpp"), text);
    const auto object = (directory / (name + ".o")).string();
    return CompileStep{name, object, {*compiler, "-c", source, "-o", object}};
  };
  std::vector<CompileStep> steps;
  for (const char* name : {"a", "b", "c"})
    steps.push_back(step(name, std::string("int ") + name + "() { return 1; }\n"));
  std::vector<std::size_t> progress;
  CHECK(compile_all(steps, 2, process_env(), [&](std::size_t done) { progress.push_back(done); }).empty());
  CHECK(progress == std::vector<std::size_t>{1, 2, 3});
  for (const auto& compile_step : steps) CHECK(fs::exists(compile_step.object));
  const auto failures = compile_all(
      {step("wrong", "int wrong() { return nothing; }\n"), step("late", "int late;\n")}, 1, process_env());
  REQUIRE(failures.size() == 1);
  CHECK(holds(first_errors(failures[0].output), "error:"));
  CHECK(holds(first_errors(failures[0].output), "nothing"));
  CHECK_FALSE(fs::exists(directory / "late.o")); // after a failure no other begins
}

TEST_CASE("a compiler that is too old for the torch is refused with its name and what to do") {
  const auto compiler = find_compiler(process_env());
  REQUIRE(compiler);
  CHECK_FALSE(try_compiler(*compiler, 17, process_env()));
  CHECK_FALSE(try_compiler(*compiler, 20, process_env()));
  const test::TempDirectory directory;
  const auto old = put(directory / "old-c++", "#!/bin/sh\nexec " + *compiler + " \"$@\" -std=c++14\n", 0755);
  for (const unsigned standard : {17U, 20U}) {
    const auto refused = try_compiler(old, standard, process_env());
    REQUIRE(refused);
    CHECK(holds(refused->what, old + " ("));
    CHECK(holds(refused->what, "does not compile C++" + std::to_string(standard)));
    CHECK(holds(refused->what, "error"));
    CHECK(holds(refused->hint, "CXX"));
  }
}

TEST_CASE("all that is missing is said at once: the torch, the compiler, a place to keep the build") {
  const test::TempDirectory directory;
  auto env = process_env();
  env.set("CXX", "/nowhere/g++");
  put(directory / "file", "");
  const auto output =
      util::run_process({HPCML_BINARY, "torch", "build", "--torch", (directory / "none").string(), "--cache",
                         (directory / "file/cache").string()},
                        env);
  REQUIRE(output);
  CHECK(output->exit_code == 5);
  CHECK(output->out.empty());
  for (const char* part : {"contains no torch", "CXX is '/nowhere/g++'", "cannot create "})
    CHECK(holds(output->err, part));
  std::size_t hints = 0;
  for (const auto& line : util::split(output->err, '\n')) hints += line.starts_with("  hint: ") ? 1 : 0;
  CHECK(hints == 3);
}

TEST_CASE("each engine runs a command in an image, with the cache at one place and odd names as they are") {
  const std::vector<std::string> command = {"/mnt/hpcml", "torch", "build"};
  const auto words = [&](const std::string& engine, const std::string& image) {
    return util::join(image_words(engine, image, "/home/a b/DIR", command), "|");
  };
  CHECK(words("apptainer", "my IMAGE.sif") ==
        "apptainer|exec|--bind|/home/a b/DIR:/mnt|my IMAGE.sif|/mnt/hpcml|torch|build");
  CHECK(words("ch-run", "img") == "ch-run|--bind=/home/a b/DIR:/mnt|img|--|/mnt/hpcml|torch|build");
  CHECK(words("podman", "pytorch/pytorch") ==
        "podman|run|--rm|--volume=/home/a b/DIR:/mnt|--entrypoint=/mnt/hpcml|pytorch/pytorch|torch|build");
  CHECK(words("no-engine", "img").empty());
  for (const auto& engine : image_engines()) CHECK_FALSE(image_words(engine, "img", "/d", command).empty());
}

TEST_CASE("an image is run by an engine that can run such a one, and others are refused") {
  const test::TempDirectory directory;
  auto env = process_env();
  env.set("PATH", directory.path().string());
  env.set("XDG_CACHE_HOME", (directory / "cache").string());
  const auto build = [&](const std::string& image, const std::string& engine) {
    std::vector<std::string> words = {HPCML_BINARY, "torch", "build", "--container", image};
    if (!engine.empty()) words.insert(words.end(), {"--engine", engine});
    const auto output = util::run_process(words, env);
    REQUIRE(output);
    CHECK(output->exit_code == 5);
    return output->err;
  };
  CHECK(holds(build("docker.io/pytorch/pytorch", ""), "no container engine for docker.io/pytorch/pytorch"));
  fs::create_directories(directory / "image");
  CHECK(holds(build((directory / "image").string(), "podman"), "podman does not run a file or directory"));
}

TEST_CASE(
    "where an image's build fails, its own errors come out with their hints, else the engine's last word") {
  const auto inside = explain_failure("podman", "img",
                                      {5, "",
                                       "hpcml: error: no torch is found here\n  hint: name it\nhpcml: error: "
                                       "no compiler\n  hint: set CXX\n"});
  CHECK(inside.what == "the build in img failed: no torch is found here; no compiler");
  CHECK(inside.hint == "name it; set CXX");
  const auto engine =
      explain_failure("ch-run", "img", {1, "", "ch-run[32065]: error: $USER not set (ch-run.c:122)\n"});
  CHECK(engine.what ==
        "ch-run did not run hpcml in img (code 1): ch-run[32065]: error: $USER not set (ch-run.c:122)");
  CHECK(engine.hint == "check whether this works: ch-run --bind=/tmp:/mnt img -- /bin/true");
  const auto old = explain_failure(
      "podman", "img", {1, "", "/mnt/.hpcml-7: /lib64/libc.so.6: version `GLIBC_2.34' not found\n"});
  CHECK(holds(old.hint, "glibc 2.28"));
}
