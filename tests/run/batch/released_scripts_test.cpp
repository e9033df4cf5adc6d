// SPDX-License-Identifier: MIT
// Scripts that earlier versions have written run with this hpcml: released_scripts/ has one of each version,
// with all options of survival.
#include <catch2/catch.hpp>

#include <csignal>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "holds.hpp"
#include "run/batch/batch_helper.hpp"

using namespace hpcml;
using hpcml::testing::BatchRun;
using test::holds;

namespace {

/// The script with the path of this hpcml.
std::string with_this_hpcml(const std::string& script) {
  const auto begin = script.find("\nHPCML=");
  REQUIRE(begin != std::string::npos);
  const auto end = script.find('\n', begin + 1);
  return script.substr(0, begin) + "\nHPCML=" HPCML_BINARY + script.substr(end);
}

} // namespace

TEST_CASE("scripts of earlier versions run and requeue their job", "[program]") {
  const std::string directory = HPCML_SOURCE_DIR "/tests/run/batch/released_scripts";
  const auto names = util::list_directory(directory);
  CHECK_FALSE(names.empty());
  for (const auto& name : names) {
    CAPTURE(name);
    const auto script = util::read_file(directory + "/" + name);
    REQUIRE(script);
    BatchRun job;
    job.set("SLURM_JOB_NODELIST", "n[1-3]");
    REQUIRE(util::write_file(job.path("health"), "n1 ok\nn2 broken\nn3 ok\n"));
    REQUIRE(util::write_file(job.path("release"), ""));
    job.start_script(with_this_hpcml(*script));
    job.wait_for("--nodelist=n[1,3] ");
    job.signal(SIGUSR1);
    CHECK(job.wait() == 0);
    INFO(job.output());
    CHECK(holds(job.log(), " launch "));
    CHECK(holds(job.log(), "\nscontrol requeue 70\n"));
    CHECK(holds(job.output(), "hpcml: the program runs on n[1,3] (spare nodes: none)\n"));
    CHECK(std::filesystem::is_directory(job.path("checkpoints/70")));
  }
}

TEST_CASE("a script without its hpcml ends with 127 and the path", "[program]") {
  const auto script = util::read_file(HPCML_SOURCE_DIR "/tests/run/batch/released_scripts/0.1.0.sh");
  REQUIRE(script);
  BatchRun job;
  job.start_script(*script);
  CHECK(job.wait() == 127);
  CHECK(holds(job.output(), "/opt/hpcml/bin/hpcml: No such file or directory"));
  CHECK(holds(job.output(), "needs another build: --hpcml-path"));
}
