// SPDX-License-Identifier: MIT
// Login shells on an emulated site: its `module`, whatever this machine has in /etc/profile.d.
#include <catch2/catch.hpp>

#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/shell_quote.hpp"
#include "emulate/cluster_helper.hpp"
#include "emulate/login_files.hpp"
#include "emulate/stand_ins_helper.hpp"
#include "skip.hpp"

using namespace hpcml;

TEST_CASE("a machine's own module system does not reach a job that reads the login files", "[slurm]") {
  if (::geteuid() != 0) return test::skip("only root can mount a private /etc/profile.d");
  const test::TempDirectory directory;
  const auto write = [&](const std::string& name, const std::string& text) {
    REQUIRE(util::write_file(directory / name, text));
  };
  std::filesystem::create_directory(directory / "profile.d");
  // As Lmod does it: a function that is exported, and a file by which every bash has it again.
  const auto again = util::shell_quote((directory / "again.sh").string());
  write("again.sh", "module() { echo \"the machine's module: $*\"; }\n");
  write("profile.d/modules.sh", ". " + again + "; export -f module; export BASH_ENV=" + again + "\n");
  const std::string commands = "type -t module; module load StdEnv/2023 && echo loaded; module load nowhere; "
                               "echo $?; command -v sacct; echo ${SCRATCH##*/}\n";
  write("job.sh",
        "#!/bin/bash -l\n#SBATCH --time=5 --account=def-me --mem=1G --export=NONE --output=out\n" + commands);
  write("login.sh", commands);
  const auto result = util::run_process({"env", "-C", directory.path().string(), "unshare", "--mount", "bash",
                                         "-ec", "mount --bind profile.d /etc/profile.d; exec \"$@\"", "_",
                                         HPCML_BINARY, "emulate", "--site", "narval", "--", "bash", "-c",
                                         "sbatch -W job.sh >&2; cat out; bash -l login.sh"},
                                        util::EnvSnapshot::of_process(), std::chrono::seconds(600));
  REQUIRE(result);
  INFO(result->err << result->out);
  CHECK(result->out.find("the machine's") == std::string::npos);
  // Twice: in the job, and in a login shell on the login node.
  const auto first = result->out.find("function\nloaded\n");
  REQUIRE(first != std::string::npos);
  CHECK(result->out.find("function\nloaded\n", first + 1) != std::string::npos);
  CHECK(result->out.find("/bin/sacct") != std::string::npos);
}

TEST_CASE("the login file gives every shell the site's module, its folders and the stand-ins first") {
  const test::Installed installed;
  auto site = test::rich_site();
  site.storage.scratch = "$SCRATCH/runs";
  const auto state = installed.directory.path().string();
  REQUIRE(
      util::write_file(installed.directory / "site.sh", emulate::make_login_profile(site, state, "o'hara")));
  for (const auto* shell : {"bash", "sh"}) {
    const auto output = util::run_process(
        {"env", "-i", "PATH=/usr/bin:/bin", shell, "-c",
         ". " + util::shell_quote(state + "/site.sh") + "; echo \"$SCRATCH\"; command -v sacct"},
        util::EnvSnapshot::of_process(), std::chrono::seconds(60));
    REQUIRE(output);
    CAPTURE(shell, output->err);
    CHECK(output->out == state + "/scratch/o'hara\n" + state + "/bin/sacct\n");
    CHECK(output->err.empty());
  }
  const auto loaded =
      installed.bash("unset -f module; . " + util::shell_quote(state + "/site.sh") +
                     "; module use /appl/modules; module load bindings && bash -c 'module load "
                     "nowhere && echo assumed'");
  INFO(loaded.err);
  CHECK(loaded.out == "assumed\n");
}

TEST_CASE("the profile names directories of jobs and users") {
  auto site = test::small_site();
  site.storage.scratch = "$WRKDIR";
  site.storage.project = "/project/$GROUP_NAME";
  site.node_types.front().local_disk = "$LOCAL_SCRATCH";
  CHECK(emulate::job_directory_variables(site) == std::vector<std::string>{"LOCAL_SCRATCH"});
  CHECK(emulate::storage_directories(site, "/s", "me") == std::vector<std::string>{"/s/wrkdir/me"});
  CHECK(emulate::job_directory_variables(test::shipped_site("narval")) ==
        std::vector<std::string>{"SLURM_TMPDIR"});
  CHECK(emulate::job_directory_variables(test::shipped_site("leonardo")).empty());
}

TEST_CASE("login shells find hpcml and no host login files", "[slurm]") {
  const test::TempDirectory home;
  for (const auto* name : {".bashrc", ".profile", ".bash_profile"})
    REQUIRE(util::write_file(home / name, "echo \"from the host\"; export PATH=/nowhere\n"));
  const auto hpcml = std::filesystem::path(HPCML_BINARY);
  const std::string script =
      "bash -lc 'command -v hpcml'; bash -ic 'echo interactive; command -v hpcml' 2> /dev/null";
  const auto result =
      util::run_process({"env", "-C", home.path().string(), "HOME=" + home.path().string(), HPCML_BINARY,
                         "emulate", "--quiet", "--site", "narval", "--", "bash", "-c", script},
                        util::EnvSnapshot::of_process(), std::chrono::seconds(600));
  REQUIRE(result);
  INFO(result->err);
  CHECK(result->out == hpcml.string() + "\ninteractive\n" + hpcml.string() + "\n");
}
