// SPDX-License-Identifier: MIT
// Steps that a real srun ends although their job continues, and a store that Slurm signals.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "run/launch/process_helper.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

const char* const k_script = R"sh(
seen() { for ((i = 0; i < 1200; ++i)); do [ $(ls $1 2> /dev/null | wc -l) -ge $2 ] && return; sleep 0.05; done; echo "never seen: $1"; }
over() { for ((i = 0; i < 1200; ++i)); do [[ $(squeue -h) ]] || break; sleep 0.05; done; }
ranks='touch up.$0.$RANK; if [ $RANK = 3 ]; then until [ $(ls up.$0.* | wc -l) = 4 ]; do sleep 0.05; done; exit 3; fi; exec sleep 60'

# Rank 3, on the second node, fails: srun ends the first node's launch.
srun -N2 --ntasks-per-node=1 -t 5 --kill-on-bad-exit=1 "$H" launch --bind none --nproc-per-node 2 -- \
  sh -c "$ranks" failed &> failed.log

# The same with an agent, whose record decides whether a script requeues its job.
echo 'touch up.agent.$RANK; exec sleep 60' > ranks.sh
echo 'until [ $(ls up.agent.* | wc -l) = 2 ]; do sleep 0.05; done; exit 3' > fails.sh
echo "0 $H torchrun --standalone --nproc-per-node 2 --no-python --log-dir logs bash ranks.sh" > programs
echo "1 bash fails.sh" >> programs
srun -N2 --ntasks-per-node=1 -t 5 --kill-on-bad-exit=1 --multi-prog programs &> agent.log

# Slurm signals all processes of a job, and then a user signals the store alone.
cat > store.job <<'END'
#!/bin/bash
#SBATCH -N1 -t 5
trap 'touch asked' TERM
read -r place < <(exec "$H" internal store-serve --with-parent --name localhost)
store=$(pgrep -f 'internal store-serve --with-parent')
touch up.store
until [ -e asked ]; do sleep 0.1; done
sleep 1
kill -0 $store && echo "after Slurm's signal: serves"
kill -TERM $store
for ((i = 0; i < 100; ++i)); do kill -0 $store 2> /dev/null || break; sleep 0.05; done
kill -0 $store 2> /dev/null || echo "after a user's signal: ended"
END
id=$(sbatch --parsable -o store.log store.job)
seen up.store 1
scancel --full --signal=TERM $id
over
)sh";

} // namespace

TEST_CASE("a step that srun ends is not called preempted", "[slurm]") {
  const test::TempDirectory directory;
  const auto read = [&](const std::string& name) { return util::read_file(directory / name).value_or(""); };
  REQUIRE(util::write_file(directory / "all.sh", "export H=" HPCML_BINARY + std::string(k_script)));
  auto env = util::EnvSnapshot::of_process();
  env.set("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
  const auto output =
      util::run_process({"env", "-C", directory.path().string(), HPCML_BINARY, "emulate", "--quiet", "--site",
                         "generic", "--nodes", "2", "--cpus-per-node", "4", "--", "bash", "./all.sh"},
                        env, std::chrono::seconds(500));
  REQUIRE(output);
  const auto failed = read("failed.log"), agent = read("agent.log");
  std::string record;
  for (const auto& run : std::filesystem::directory_iterator(directory / "logs"))
    record += util::read_file(run.path() / "record-0.jsonl").value_or("");
  INFO(output->out << output->err << "failed:\n"
                   << failed << "agent:\n"
                   << agent << record << "store:\n"
                   << read("store.log"));
  CHECK_THAT(failed, Contains("hpcml: the run exited with code 3: program\n") &&
                         Contains("hpcml: the run exited with code 143: terminated\n"));
  CHECK_THAT(agent, Contains("hpcml: the run exited with code 143: terminated\n"));
  CHECK_THAT(record, Contains("\"class\":\"terminated\""));
  CHECK_THAT(read("store.log"),
             Contains("after Slurm's signal: serves\n") && Contains("after a user's signal: ended\n"));
}
