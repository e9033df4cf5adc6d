// SPDX-License-Identifier: MIT
// Data and environments on the nodes' own disks: real bash with a stand-in for sbcast, and real Slurm on two
// nodes.
#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"

using namespace hpcml;
using namespace hpcml::test;
namespace fs = std::filesystem;

namespace {

/// Copies as sbcast does on one node: files only, and over another only with --force.
constexpr const char* k_sbcast = R"(
force=
if [[ $1 == --force ]]; then force=yes; shift; fi
[[ -f $1 && ( -n $force || ! -e $2 ) ]] || exit 1
cp -- "$1" "$2"
)";

model::Plan staged_plan(const TempDirectory& directory, const std::vector<std::string>& sources) {
  auto plan = make_plan_for("srun");
  plan.caches.clear();
  plan.command = {"look"};
  plan.stage = model::PlannedStage{directory.path().string() + "/local-$SLURM_JOB_ID", true, {}, {}};
  for (const auto& source : sources) plan.stage->sources.push_back({source, {}});
  put_program(directory, "sbcast", k_sbcast);
  put_program(directory, "look",
              "find \"$HPCML_STAGE\" -mindepth 1 | sort > seen; echo \"$HPCML_STAGE\" > where\n");
  return plan;
}

} // namespace

TEST_CASE("files and folders lie on the node's disk while the ranks run, and are gone at the end") {
  const TempDirectory directory;
  fs::create_directories(directory / "my data/deep");
  REQUIRE(util::write_file(directory / "my data/deep/file", "x"));
  REQUIRE(util::write_file(directory / "labels.csv", "y"));
  REQUIRE(util::write_file(directory / "set.tar", "z"));
  const auto plan =
      staged_plan(directory, {(directory / "my data").string(), (directory / "labels.csv").string(),
                              (directory / "set.tar").string()});
  const auto script = render::render_script(plan);
  CHECK(script_faults(script) == "");
  const auto result = run_script(script, directory);
  INFO(script << result.err);
  REQUIRE(result.exit_code == 0);
  const auto where = util::read_file(directory / "where").value_or("\n");
  const auto root = where.substr(0, where.size() - 1);
  CHECK(util::read_file(directory / "seen").value_or("") == root + "/labels.csv\n" + root + "/my data\n" +
                                                                root + "/my data/deep\n" + root +
                                                                "/my data/deep/file\n" + root + "/set.tar\n");
  CHECK_FALSE(fs::exists(root));
}

TEST_CASE("a packed environment is unpacked and active in the ranks") {
  const TempDirectory directory;
  fs::create_directories(directory / "packed/bin");
  REQUIRE(util::write_file(directory / "packed/bin/activate", "PATH=$HPCML_STAGE/env/bin:$PATH\n"));
  REQUIRE(util::write_file(directory / "packed/bin/conda-unpack", "#!/bin/bash\necho unpacked >> unpacked\n",
                           0755));
  REQUIRE(util::write_file(directory / "packed/bin/look", "#!/bin/bash\necho \"$0\" > seen\n", 0755));
  REQUIRE(util::run_process({"tar", "-C", (directory / "packed").string(), "-czf",
                             (directory / "env.tar.gz").string(), "."},
                            util::EnvSnapshot::of_process())
              ->exit_code == 0);
  auto plan = staged_plan(directory, {});
  fs::remove(directory / "bin/look");
  plan.python = {model::PythonEnvironmentKind::packed,
                 plan.stage->directory + "/env",
                 {(directory / "env.tar.gz").string()},
                 {}};
  const auto script = render::render_script(plan);
  CHECK(script_faults(script) == "");
  const auto result = run_script(script, directory);
  INFO(script << result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(util::read_file(directory / "seen").value_or(""), Catch::EndsWith("/env/bin/look\n"));
  CHECK(util::read_file(directory / "unpacked").value_or("") == "unpacked\n");
}

TEST_CASE("a name of something to stage never runs as code") {
  for (const auto& hostile : hostile_texts()) {
    if (hostile.find('\xff') != std::string::npos) continue;
    const TempDirectory directory;
    const auto script = render::render_script(staged_plan(directory, {"/" + hostile}));
    INFO(script);
    CHECK(script_faults(script) == "");
    run_script(script, directory);
    CHECK_FALSE(fs::exists(directory / "pwned"));
  }
}

TEST_CASE("real Slurm brings data to every node's own disk", "[slurm]") {
  const TempDirectory directory;
  fs::create_directories(directory / "data");
  REQUIRE(util::write_file(directory / "data/file", "precious\n"));
  REQUIRE(util::write_file(directory / "labels", "seven\n"));
  const auto env = util::EnvSnapshot::of_process();
  const auto at = [&](const std::string& name) { return (directory / name).string(); };
  for (const char* launcher : {"hpcml", "srun"}) {
    const auto made =
        util::run_process({HPCML_BINARY,
                           "gen",
                           "--site",
                           "narval",
                           "--account",
                           "def-me",
                           "--nodes",
                           "2",
                           "--gpus-per-node",
                           "1",
                           "--tasks-per-node",
                           "1",
                           "--time",
                           "5",
                           "--launcher",
                           launcher,
                           "--stage",
                           at("data"),
                           "--stage",
                           at("labels"),
                           "--output",
                           at("out"),
                           "-o",
                           at("job.sh"),
                           "--",
                           "bash",
                           "-c",
                           "cat \"$HPCML_STAGE/data/file\" \"$HPCML_STAGE/labels\" > \"$1/$SLURMD_NODENAME\"",
                           "look",
                           directory.path().string()},
                          env);
    INFO(made->err);
    REQUIRE(made->exit_code == 0);
    const auto ran = util::run_process({HPCML_BINARY, "emulate", "-q", "--site", "narval", "--nodes", "2",
                                        "--", "sbatch", "-W", at("job.sh")},
                                       env);
    INFO(ran->err << util::read_file(directory / "out").value_or(""));
    REQUIRE(ran->exit_code == 0);
    unsigned nodes = 0;
    for (const auto& entry : fs::directory_iterator(directory.path()))
      if (util::read_file(entry.path()).value_or("") == "precious\nseven\n")
        nodes += fs::remove(entry.path());
    CHECK(nodes == 2);
  }
}
