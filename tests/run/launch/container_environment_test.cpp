// SPDX-License-Identifier: MIT
// The ranks' variables reach programs in images whose engine empties the environment, or launch rejects it.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/launch_play.hpp"
#include "run/resolve/container_environment.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::launch;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

std::vector<std::string> words(const std::string& line) { return util::split(line, ' '); }

/// What Singularity and Apptainer do with --cleanenv: nothing of the host's environment, then the variables
/// that were named for the image.
constexpr const char* k_engine = R"sh(#!/bin/bash
engine=${0##*/}
[[ $1 == exec ]] && shift
clean=() set=()
while [[ $1 == -* ]]; do
  case $1 in -e | --cleanenv | -C | --containall) clean=(-i "PATH=$PATH") ;; esac
  shift
done
shift # the image
prefixes=(APPTAINERENV_)
[[ $engine == singularity ]] && prefixes=(SINGULARITYENV_)
for prefix in "${prefixes[@]}"; do
  for name in $(compgen -e "$prefix"); do set+=("${name#"$prefix"}=${!name}"); done
done
exec env "${clean[@]}" "${set[@]}" "$@"
)sh";

struct Engines {
  test::TempDirectory directory;
  Engines() {
    for (const auto* name : {"apptainer", "singularity", "wrapper"})
      REQUIRE(util::write_file(directory / name, k_engine, 0755));
  }
  util::ProcessOutput run(const std::vector<std::string>& launch_words, util::EnvSnapshot env) const {
    env.set("PATH", directory.path().string() + ":" + env.get_or("PATH", ""));
    std::vector<std::string> all = {"launch"};
    all.insert(all.end(), launch_words.begin(), launch_words.end());
    return run_hpcml(all, env);
  }
};

constexpr const char* k_print =
    "echo $RANK/$WORLD_SIZE $LOCAL_RANK ${MASTER_ADDR:-none} ${OMP_NUM_THREADS:-none} "
    "${HPCML_CHECKPOINT_DIR:-none} ${SECRET:-none}";

} // namespace

TEST_CASE("variable names in the image depend on the engine") {
  using List = std::vector<std::string>;
  CHECK(container_prefixes(words("apptainer exec -e a.sif python x.py"), false) == List{"APPTAINERENV_"});
  CHECK(container_prefixes(words("/opt/bin/singularity exec a.sif python x.py"), false).size() == 2);
  CHECK(container_prefixes({"bash", "-c", "exec apptainer exec a.sif python x.py"}, false) ==
        List{"APPTAINERENV_"});
  CHECK(container_prefixes(words("env A=1 apptainer run a.sif"), false) == List{"APPTAINERENV_"});
  CHECK(container_prefixes(words("./enter.sh python x.py"), true).size() == 2);
  CHECK(container_prefixes(words("./enter.sh python x.py"), false).empty());
  CHECK(container_prefixes(words("python x.py --engine apptainer"), false).empty());
  CHECK(container_prefixes(words("podman run --env-host image python x.py"), true).empty());
}

TEST_CASE("engines that would hide the ranks' variables are found") {
  const auto is_fine = [](const std::string& line) {
    return static_cast<bool>(check_container_environment(words(line)));
  };
  for (const auto* line :
       {"podman run image python x.py", "docker run --gpus all image python x.py",
        "docker run -e WORLD_SIZE image python x.py", "shifter --clearenv --image=a:1 python x.py",
        "ch-run --unset-env=* /img -- python x.py", "ch-run --unset-env=R* /img -- python x.py"}) {
    INFO(line);
    CHECK_FALSE(is_fine(line));
  }
  for (const auto* line :
       {"podman run --env-host image python x.py", "podman run -e RANK -e WORLD_SIZE image python x.py",
        "docker run --env-file vars image python x.py", "docker run --env=RANK image python x.py",
        "docker run -e RANK=3 image python x.py", "shifter --image=a:1 python x.py",
        "ch-run /img -- python x.py", "ch-run --unset-env=LD_* /img -- python x.py",
        "apptainer exec --cleanenv a.sif python x.py", "python x.py --engine docker", "python x.py"}) {
    INFO(line);
    CHECK(is_fine(line));
  }
  CHECK_THAT(check_container_environment(words("podman run image x")).error().hint, Contains("--env-host"));
  CHECK_THAT(check_container_environment(words("docker run image x")).error().hint, Contains("-e RANK"));
}

TEST_CASE("ranks in an image with cleared environment get their variables") {
  const Engines engines;
  const auto line = GENERATE(std::vector<std::string>{"--container", "--", "apptainer", "exec", "--cleanenv"},
                             std::vector<std::string>{"--", "singularity", "exec", "-e"},
                             std::vector<std::string>{"--container", "--", "wrapper", "exec", "--containall"},
                             std::vector<std::string>{"--container", "--", "apptainer", "exec"});
  auto all = line;
  all.insert(all.end(), {"image.sif", "bash", "-c", k_print});
  auto env = step_environment(3, 8);
  env.set("HPCML_CHECKPOINT_DIR", "/scratch/7");
  env.set("OMP_NUM_THREADS", "5");
  env.set("SECRET", "7");
  env.set("APPTAINERENV_RANK", "0"); // an export before srun, the same for all
  env.set("SINGULARITYENV_RANK", "0");
  const auto task = engines.run(all, env);
  INFO(task.out << task.err);
  const bool clean = line.back() != "exec";
  CHECK(task.exit_code == 0);
  CHECK_THAT(task.out,
             Catch::StartsWith("3/8 3 nid001 5 /scratch/7 ") && Contains(clean ? " none\n" : " 7\n"));
  auto started = all;
  started.insert(started.begin(), {"--nproc-per-node", "2"});
  const auto ranks = engines.run(started, bare_environment());
  INFO(ranks.out << ranks.err);
  CHECK_THAT(ranks.out, Contains("[0] 0/2 0 ") && Contains("[1] 1/2 1 "));
}

TEST_CASE("launch rejects an engine that hides the ranks' variables") {
  const auto rejected = dry_run_in_memory(bare_environment(), {"podman", "run", "image", "true"}, 2);
  CHECK(rejected.exit_code == 125);
  CHECK_THAT(rejected.err,
             Contains("podman starts the image without the ranks' variables") && Contains("--env-host"));
  const auto alone = dry_run_in_memory(step_environment(0, 1), {"podman", "run", "image", "true"});
  CHECK(alone.exit_code == 0);
}
