// SPDX-License-Identifier: MIT
// What a script does once on every node, run by real bash: caches, and an environment on the node's own disk.
#include <catch2/catch.hpp>

#include <sys/stat.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

/// Four tasks of a node at once, each with its number, as an MPI launcher starts them.
constexpr const char* k_ibrun = R"(
for local in 3 2 1 0; do
  OMPI_COMM_WORLD_RANK=$local OMPI_COMM_WORLD_LOCAL_RANK=$local OMPI_COMM_WORLD_SIZE=4 "$@" &
  pids+=($!)
done
code=0
for pid in "${pids[@]}"; do wait "$pid" || code=$?; done
exit "$code"
)";

/// Slow enough that a second one on the node would meet it.
constexpr const char* k_virtualenv = R"(
echo "$*" >> virtualenv.log
sleep 0.3
mkdir -p "${!#}/bin"
echo "export VIRTUAL_ENV=${!#}; PATH=${!#}/bin:\$PATH" > "${!#}/bin/activate"
)";

constexpr const char* k_pip = "echo \"$VIRTUAL_ENV $*\" >> pip.log\n";

std::string text_of(const fs::path& path) {
  const auto text = util::read_file(path);
  return text ? *text : "";
}

std::string cache_directory(const test::TempDirectory& directory) {
  return (directory / ("hpcml-" + std::to_string(::getuid()) + "-4711-0-miopen")).string();
}

/// The plan of a launcher, with its cache in the test's folder.
model::Plan cached_plan(const std::string& launcher, const test::TempDirectory& directory) {
  auto plan = test::make_plan_for(launcher);
  plan.caches[0].base = directory.path().string();
  plan.hpcml_path.value = test::stand_in_hpcml(directory);
  plan.command = {test::word_writer(directory)};
  return plan;
}

/// Slurm's folder of the job on its node.
std::string local_directory(const test::TempDirectory& directory) {
  fs::create_directory(directory / "local");
  return (directory / "local").string();
}

model::Plan wheelhouse_plan(const std::string& launcher, const test::TempDirectory& directory) {
  auto plan = cached_plan(launcher, directory);
  plan.caches.clear();
  plan.python = {
      model::PythonEnvironmentKind::wheelhouse, "$SLURM_TMPDIR/env", {"torch", "numpy"}, {}, false};
  test::put_program(directory, "virtualenv", k_virtualenv);
  test::put_program(directory, "pip", k_pip);
  return plan;
}

} // namespace

TEST_CASE("a cache folder is the job's alone while the ranks run, and gone at the end") {
  for (const auto* launcher : {"srun", "torchrun", "accelerate", "deepspeed", "ibrun"}) {
    CAPTURE(launcher);
    test::TempDirectory directory;
    auto plan = cached_plan(launcher, directory);
    test::put_program(directory, "look",
                      "stat -c '%a %F' \"$MIOPEN_USER_DB_PATH\" \"$MIOPEN_CUSTOM_CACHE_DIR\" "
                      "\"${MIOPEN_USER_DB_PATH%/*}\" > seen\n");
    plan.command = {"look"};
    test::put_program(directory, "ibrun", k_ibrun);
    plan.caches[0].variables = {{"MIOPEN_USER_DB_PATH", "config"}, {"MIOPEN_CUSTOM_CACHE_DIR", "cache"}};
    const auto script = render::render_script(plan);
    CHECK(test::script_faults(script) == "");
    const auto result = test::run_script(script, directory);
    INFO(script << result.err);
    REQUIRE(result.exit_code == 0);
    const auto lines = util::split(text_of(directory / "seen"), '\n');
    REQUIRE(lines.size() == 4);
    CHECK(lines[2] == "700 directory");
    CHECK_FALSE(fs::exists(cache_directory(directory)));
  }
}

TEST_CASE("a planted cache directory ends the job") {
  struct Case {
    const char* what;
    void (*put)(const std::string& path, const test::TempDirectory& directory);
  };
  const std::vector<Case> cases = {
      {"a link",
       [](const std::string& path, const test::TempDirectory& directory) {
         fs::create_directory_symlink(directory / "mine", path);
       }},
      {"a file",
       [](const std::string& path, const test::TempDirectory&) { REQUIRE(util::write_file(path, "")); }},
      {"another user's directory",
       [](const std::string& path, const test::TempDirectory&) {
         fs::create_directory(path);
         if (::geteuid() == 0) REQUIRE(::chown(path.c_str(), 65534, 65534) == 0);
       }},
      {"the user's own directory",
       [](const std::string& path, const test::TempDirectory&) { fs::create_directory(path); }}};
  for (const auto& example : cases) {
    CAPTURE(example.what);
    test::TempDirectory directory;
    fs::create_directory(directory / "mine");
    REQUIRE(util::write_file(directory / "mine" / "precious", "x"));
    const auto path = cache_directory(directory);
    example.put(path, directory);
    const auto result = test::run_script(render::render_script(cached_plan("srun", directory)), directory);
    CAPTURE(result.err);
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.err, Catch::Contains("mkdir: cannot create directory") && Catch::Contains(path) &&
                               Catch::Contains("File exists"));
    CHECK_FALSE(fs::exists(directory / "words"));
    CHECK(fs::exists(directory / "mine" / "precious"));
  }
}

TEST_CASE("folders are removed on every node, by one task each") {
  test::TempDirectory directory;
  test::put_program(directory, "srun",
                    "echo \"$*\" >> srun.log\nwhile [[ $1 == -* ]]; do shift; done\nexec \"$@\"\n");
  auto plan = cached_plan("srun", directory);
  const auto result = test::run_script(render::render_script(plan), directory);
  REQUIRE(result.exit_code == 0);
  auto lines = util::split(text_of(directory / "srun.log"), '\n');
  lines.pop_back();
  REQUIRE(lines.size() >= 3);
  const auto cache = cache_directory(directory);
  CHECK(lines.front() == "--ntasks=2 --ntasks-per-node=1 mkdir -m 700 " + cache + " " + cache + "/cache");
  CHECK(lines.back() == "--ntasks=2 --ntasks-per-node=1 rm -rf " + cache);
}

TEST_CASE("folders go away when the program fails, and its code stays") {
  test::TempDirectory directory;
  auto plan = cached_plan("srun", directory);
  plan.command = {"bash", "-c", "exit 7"};
  CHECK(test::run_script(render::render_script(plan), directory).exit_code == 7);
  CHECK_FALSE(fs::exists(cache_directory(directory)));
}

TEST_CASE("a variable of the request stays, also where the site has a cache for it") {
  test::TempDirectory directory;
  auto plan = cached_plan("srun", directory);
  plan.env.push_back({"MIOPEN_CUSTOM_CACHE_DIR", "/scratch/me", false, model::ValueScope::batch, {}});
  const auto result = test::run_script(render::render_script(plan), directory);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(test::seen_environment(directory)["MIOPEN_CUSTOM_CACHE_DIR"] == "/scratch/me");
  CHECK(test::seen_environment(directory)["MIOPEN_USER_DB_PATH"] == cache_directory(directory));
}

TEST_CASE("an environment is built once per node before the ranks start, whatever starts them") {
  for (const std::string launcher :
       {"srun", "torchrun", "accelerate", "deepspeed", "ibrun", "hpcml by ibrun", "torchrun by ibrun"}) {
    CAPTURE(launcher);
    test::TempDirectory directory;
    auto plan = wheelhouse_plan(launcher.substr(0, launcher.find(' ')), directory);
    if (launcher.find("ibrun") != std::string::npos) {
      plan.launcher.step = "ibrun";
      plan.launcher.rank_variable = "OMPI_COMM_WORLD_RANK";
      plan.launcher.local_rank_variable = "OMPI_COMM_WORLD_LOCAL_RANK";
      plan.layout.nodes = 1;
      if (plan.layout.tasks_per_node > 1) {
        plan.layout.tasks_per_node = plan.layout.ranks_per_node = 4;
        test::put_program(directory, "ibrun", k_ibrun);
      }
    }
    const auto script = render::render_script(plan);
    CHECK(test::script_faults(script) == "");
    const auto result = test::run_script(script, directory, {{"SLURM_TMPDIR", local_directory(directory)}});
    INFO(script << result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(text_of(directory / "virtualenv.log") ==
          "--no-download --quiet " + (directory / "local/env").string() + "\n");
    CHECK(util::split(text_of(directory / "pip.log"), '\n').size() == 3);
    CHECK(text_of(directory / "pip.log").ends_with(" install --no-index --quiet torch numpy\n"));
    CHECK(test::seen_environment(directory)["VIRTUAL_ENV"] == (directory / "local/env").string());
  }
}

TEST_CASE("caches are made once per node too where a step starts the tasks of all ranks") {
  test::TempDirectory directory;
  auto plan = cached_plan("ibrun", directory);
  plan.layout.nodes = 1;
  plan.layout.tasks_per_node = plan.layout.ranks_per_node = 4;
  test::put_program(directory, "ibrun", k_ibrun);
  test::put_program(directory, "mkdir", "echo \"$*\" >> mkdir.log\nexec /bin/mkdir \"$@\"\n");
  test::put_program(directory, "rm", "echo \"$*\" >> rm.log\nexec /bin/rm \"$@\"\n");
  const auto result = test::run_script(render::render_script(plan), directory);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto cache = cache_directory(directory);
  CHECK(text_of(directory / "mkdir.log") == "-m 700 " + cache + " " + cache + "/cache\n");
  CHECK_THAT(text_of(directory / "rm.log"),
             Catch::StartsWith("-rf " + cache + "\n")); // all tasks may remove it
  CHECK_FALSE(fs::exists(cache));
}

TEST_CASE("an environment is never built in a planted directory") {
  test::TempDirectory directory;
  auto plan = wheelhouse_plan("srun", directory);
  plan.python.where = directory.path().string() + "/hpcml-$SLURM_JOB_ID-env";
  plan.python.remove = true;
  fs::create_directory(directory / "hpcml-4711-env");
  const auto result = test::run_script(render::render_script(plan), directory);
  CAPTURE(result.err);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Catch::Contains("hpcml-4711-env") && Catch::Contains("File exists"));
  CHECK_FALSE(fs::exists(directory / "virtualenv.log"));
  CHECK_FALSE(fs::exists(directory / "words"));
}

TEST_CASE("an environment that Slurm does not remove goes away with the job, also when its making fails") {
  for (const bool fails : {false, true}) {
    CAPTURE(fails);
    test::TempDirectory directory;
    auto plan = wheelhouse_plan("srun", directory);
    if (fails) test::put_program(directory, "pip", "echo no such wheel >&2\nexit 1\n");
    plan.python.where = directory.path().string() + "/hpcml-$UID-$SLURM_JOB_ID-${SLURM_RESTART_COUNT:-0}-env";
    plan.python.remove = true;
    const auto script = render::render_script(plan);
    CHECK(test::script_faults(script) == "");
    const auto result = test::run_script(script, directory, {{"SLURM_RESTART_COUNT", "2"}});
    INFO(script << result.err);
    CHECK(result.exit_code == (fails ? 1 : 0));
    const auto env = (directory / ("hpcml-" + std::to_string(::getuid()) + "-4711-2-env")).string();
    CHECK(text_of(directory / "virtualenv.log") == "--no-download --quiet " + env + "\n");
    CHECK_FALSE(fs::exists(env));
  }
}
