// SPDX-License-Identifier: MIT
// What runs the preflight's checks: a helper that was built, the one beside hpcml, Python.
#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "diagnose/preflight/preflight_program.hpp"
#include "holds.hpp"
#include "temp_directory.hpp"
#include "torch/build/cache.hpp"
#include "torch/build/sources.hpp"
#include "wrong_preflight_lines.hpp"

namespace fs = std::filesystem;
using namespace hpcml;
using test::holds;

namespace {

void put(const fs::path& path, const std::string& text, unsigned mode = 0644) {
  fs::create_directories(path.parent_path());
  REQUIRE(util::write_file(path, text, mode));
}

/// An environment with a torch in files, and hpcml's own folder.
struct Place {
  Place() {
    const auto package = directory / "venv/lib/python3.11/site-packages/torch";
    put(package / "__init__.py", "");
    put(package / "version.py", "__version__ = '2.4.1+cpu'\n");
    put(package / "include/torch/csrc/api/include/torch/version.h",
        "#define TORCH_VERSION_MAJOR 2\n#define TORCH_VERSION_MINOR 4\n#define TORCH_VERSION_PATCH 1\n");
    put(package / "include/torch/csrc/distributed/c10d/ProcessGroupGloo.hpp", "");
    put(package / "lib/libtorch_cpu.so", "");
    put(directory / "venv/pyvenv.cfg", "home = /usr/bin\n");
    put(directory / "bin/hpcml", "", 0755);
    env.set("VIRTUAL_ENV", (directory / "venv").string());
    env.set("PATH", "/nowhere");
    env.set("XDG_CACHE_HOME", (directory / "cache").string());
  }
  util::Result<launch::PreflightProgram> choose() const {
    return preflight::choose_preflight((directory / "bin/hpcml").string(), {}, env);
  }
  test::TempDirectory directory;
  util::EnvSnapshot env;
};

} // namespace

TEST_CASE(
    "the helper that was built for the torch comes before the one beside hpcml, and that before Python") {
  Place place;
  const auto nothing = place.choose();
  REQUIRE_FALSE(nothing);
  CHECK(holds(nothing.error().what, "cannot run the preflight: no helper is built"));
  CHECK(holds(nothing.error().hint, "run `hpcml torch build` to build the helper for torch 2.4.1+cpu in "));

  // A Python that imports the environment's torch: the files decide, nothing is started.
  fs::create_directories(place.directory / "venv/bin");
  fs::create_symlink("/usr/bin/python3", place.directory / "venv/bin/python3");
  place.env.set("PATH", (place.directory / "venv/bin").string());
  place.env.set("PYTHONPATH", (place.directory / "venv/lib/python3.11/site-packages").string());
  const auto probe = place.choose();
  REQUIRE(probe);
  REQUIRE(probe->words.size() == 2);
  CHECK(probe->words[0] == "python3");
  CHECK(fs::exists(probe->words[1] + "/__main__.py"));
  CHECK(holds(probe->note, "python3 with torch 2.4.1+cpu"));
  CHECK(holds(probe->note, "hpcml torch build"));

  put(place.directory / "libexec/hpcml/hpcml-torch", "", 0755);
  const auto beside = place.choose();
  REQUIRE(beside);
  CHECK(holds(beside->words[0], "bin/../libexec/hpcml/hpcml-torch"));
  CHECK(beside->note.empty());

  const auto package = torch_build::find_torch_package("", place.env, "/").package;
  REQUIRE(package);
  const auto key = torch_build::package_key(*package, embedded::torch_sources());
  put(place.directory / "cache/hpcml/torch" / (key + "-1") / "hpcml-torch", "", 0755);
  const auto built = place.choose();
  REQUIRE(built);
  CHECK(built->words == std::vector<std::string>{
                            (place.directory / "cache/hpcml/torch" / (key + "-1") / "hpcml-torch").string()});
}

TEST_CASE("a Python that is a wrapper is asked for its torch, which it does not import for that") {
  Place place;
  const auto packages = (place.directory / "venv/lib/python3.11/site-packages").string();
  put(place.directory / "venv/lib/python3.11/site-packages/torch/__init__.py",
      "raise SystemExit('imported')\n");
  put(place.directory / "tools/python3",
      "#!/bin/sh\nPYTHONPATH='" + packages + "' exec /usr/bin/python3 \"$@\"\n", 0755);
  place.env.set("PATH", (place.directory / "tools").string());
  const auto probe = place.choose();
  REQUIRE(probe);
  CHECK(probe->words[0] == "python3");
  CHECK(holds(probe->note, "python3 with torch 2.4.1+cpu"));
  put(place.directory / "tools/python3", "#!/bin/sh\nexec /usr/bin/python3 -I -S \"$@\"\n", 0755);
  CHECK_FALSE(place.choose());
}

TEST_CASE("the checks in Python are written once into the cache, whole") {
  Place place;
  const auto first = preflight::place_probe(place.env);
  REQUIRE(first);
  for (const auto& file : embedded::probe_files())
    CHECK(util::read_file(*first + "/" + std::string(file.name)).value() == file.text);
  const auto time = fs::last_write_time(*first + "/__main__.py");
  CHECK(preflight::place_probe(place.env).value() == *first);
  CHECK(fs::last_write_time(*first + "/__main__.py") == time);
  std::size_t entries = 0;
  for (const auto& entry : fs::directory_iterator(place.directory / "cache/hpcml/torch"))
    entries += entry.exists() ? 1 : 0;
  CHECK(entries == 1);
  put(place.directory / "file", "");
  place.env.set("XDG_CACHE_HOME", (place.directory / "file").string());
  const auto refused = preflight::place_probe(place.env);
  REQUIRE_FALSE(refused);
  CHECK(holds(refused.error().hint, "XDG_CACHE_HOME"));
}

TEST_CASE("the Python checks say what is wrong with their command line and with a rank's variables, without "
          "torch") {
  Place place;
  const auto directory = preflight::place_probe(place.env);
  REQUIRE(directory);
  const auto python = [&](const std::vector<std::string>& words) {
    std::vector<std::string> all = {"/usr/bin/python3", "-I", *directory};
    all.insert(all.end(), words.begin(), words.end());
    auto env = util::EnvSnapshot::of_process();
    for (const char* variable : {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"}) env.unset(variable);
    const auto output = util::run_process(all, env);
    REQUIRE(output);
    return *output;
  };
  const auto alone = python({"preflight"});
  CHECK(alone.exit_code == 5);
  CHECK(holds(alone.err, "WORLD_SIZE is not set; RANK is not set"));
  for (const auto& words : test::wrong_preflight_lines()) {
    const auto output = python(words);
    CHECK(output.exit_code == 2);
    CHECK(holds(output.err, "hpcml-probe: error:"));
    CHECK(holds(output.err, "usage:"));
  }
}
