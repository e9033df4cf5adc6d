// SPDX-License-Identifier: MIT
// Emulated clusters under the installed Slurm: what slurmctld, slurmd and the tasks themselves say.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "emulate/cluster_helper.hpp"
#include "skip.hpp"
#include "sorted_lines.hpp"

using namespace hpcml;
using Catch::Contains;
using Catch::EndsWith;
using test::Cluster;
using test::sorted_lines;
namespace fs = std::filesystem;

namespace {

const char* const k_lumi_job =
    "--account=project_1 --partition=standard-g --time=5 --nodes=2 --tasks-per-node=8 --gpus-per-node=8 "
    "--cpus-per-task=7 --mem=480G";
// As LUMI's documentation gives it, GPU by GPU.
const char* const k_lumi_masks =
    "0xfe000000000000,0xfe00000000000000,0xfe0000,0xfe000000,0xfe,0xfe00,0xfe00000000,0xfe0000000000";

} // namespace

TEST_CASE("a command runs on the nodes of the site, with its exit code", "[slurm]") {
  const Cluster lumi({"--site", "lumi", "--nodes", "2"});
  lumi.write("rank.sh", "#!/bin/bash\n[ $RANK != 1 ] || exit 3\nsleep 60\n");
  const auto result = lumi.run("srun -N2 -p standard-g -A project_1 -t 5 hostname; hpcml gen --account "
                               "project_1 --time 5 --gpus-per-node 8 -- python x.py | grep partition=; "
                               "hpcml submit --watch --account project_1 --partition small-g --time 5 "
                               "--gpus-per-node 2 -- ./rank.sh > watched 2>&1; echo $? >> watched; exit 7");
  INFO(result.err << lumi.read("watched"));
  CHECK(result.exit_code == 7);
  // The culprit's own code, though srun gives that of those that it stopped.
  CHECK_THAT(lumi.read("watched"),
             Contains("task 1 on nid000001 exited with code 3 first; 143 is the exit code of the others") &&
                 EndsWith("job 2 ended with exit code 3: program\n3\n"));
  // gen takes the emulated site for its own.
  CHECK(sorted_lines(result.out) ==
        std::vector<std::string>{"#SBATCH --partition=standard-g", "nid000001", "nid000002"});
  CHECK(result.err.find("LUMI-G: 2 nodes of standard-g (the site has 2978), ready in ") != std::string::npos);
}

TEST_CASE("nodes that share this machine's network work too and listen to nobody else", "[slurm]") {
  const Cluster lumi({"--site", "lumi", "--nodes", "2", "--shared-network"});
  const auto result = lumi.run(
      "srun -N2 -p standard-g -A project_1 -t 5 --cpu-bind=mask_cpu:0xfe bash -c "
      "'echo $(hostname) $(grep Cpus_allowed_list /proc/self/status)'; grep -o 'NoInAddrAny' $SLURM_CONF");
  INFO(result.err);
  CHECK(sorted_lines(result.out) == std::vector<std::string>{"NoInAddrAny",
                                                             "nid000001 Cpus_allowed_list: 1-7",
                                                             "nid000002 Cpus_allowed_list: 1-7"});
}

TEST_CASE("a user without privileges gets the same cluster under his own name", "[slurm]") {
  if (::geteuid() != 0)
    return test::skip("only root can become another user; the other cases run without privileges");
  const test::TempDirectory directory;
  fs::permissions(directory.path(), fs::perms::all);
  fs::copy_file(HPCML_BINARY, directory.path() / "hpcml"); // the build folder may be closed to others
  REQUIRE(util::write_file(directory.path() / "image.sif", ""));
  const auto result = util::run_process(
      {"env", "-C", directory.path().string(), "HOME=" + directory.path().string(), "setpriv",
       "--reuid=65534", "--regid=65534", "--clear-groups", "./hpcml", "emulate", "--site", "lumi", "--",
       "bash", "-c",
       "srun -A project_1 -p small-g -t 5 -n1 --gpus-per-node=2 singularity exec -B $PWD:/workdir image.sif "
       "bash -c "
       "'echo $(id -u) $(hostname) $ROCR_VISIBLE_DEVICES $(ls /workdir)'"},
      util::EnvSnapshot::of_process(), std::chrono::seconds(300));
  REQUIRE(result);
  INFO(result->err);
  CHECK(result->out == "65534 nid000001 0,1 hpcml image.sif\n");
}

TEST_CASE("LUMI's documented masks bind each of 16 tasks to its cores", "[slurm]") {
  const Cluster lumi({"--site", "lumi", "--nodes", "2"});
  const auto result = lumi.run_job(
      k_lumi_job, std::string("srun --cpu-bind=mask_cpu:") + k_lumi_masks +
                      " bash -c 'echo $SLURM_PROCID $(grep Cpus_allowed_list /proc/self/status)'");
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const char* const cores[] = {"49-55", "57-63", "17-23", "25-31", "1-7", "9-15", "33-39", "41-47"};
  for (unsigned rank = 0; rank < 16; ++rank) {
    const std::string line = "\n" + std::to_string(rank) + " Cpus_allowed_list: " + cores[rank % 8] + "\n";
    CAPTURE(line, result.out);
    CHECK(result.out.find(line) != std::string::npos);
  }
}

TEST_CASE("a mask with a core that LUMI reserves is refused by slurmd", "[slurm]") {
  const Cluster lumi({"--site", "lumi"});
  const auto result = lumi.run("srun -p standard-g -A project_1 -t 5 -n1 --cpu-bind=mask_cpu:0xff true");
  CHECK(result.exit_code != 0);
  CHECK(result.err.find("CPU binding outside of job step allocation") != std::string::npos);
}

TEST_CASE("Slurm itself makes the site's GPUs visible", "[slurm]") {
  const Cluster lumi({"--site", "lumi"});
  const auto result = lumi.run(
      "options='-A project_1 -p small-g -t 5'; "
      "srun $options -n1 --gpus-per-node=8 bash -c 'echo all $ROCR_VISIBLE_DEVICES "
      "cuda=$CUDA_VISIBLE_DEVICES'; "
      "srun $options -n1 bash -c 'echo none=$ROCR_VISIBLE_DEVICES'; "
      "srun $options -n1 --gpus-per-node=2 rocm-smi; srun $options -n1 --gpus-per-node=1 nvidia-smi");
  INFO(result.err);
  CHECK(result.out == "all 0,1,2,3,4,5,6,7 cuda=\nnone=\nGPU 0: AMD MI250X (GCD) (emulated)\nGPU 1: AMD "
                      "MI250X (GCD) (emulated)\n");
  CHECK(result.exit_code == 127);
}

TEST_CASE("requests that the site refuses are refused at submission", "[slurm]") {
  struct Case {
    const char* options;
    const char* expected;
  };
  const Case cases[] = {
      {"-A project_1 -p standard-g -t 5 --gpus-per-node=9", "Requested node configuration is not available"},
      {"-A project_1 -p standard-g -t 50:00:00", "Requested time limit is invalid"},
      {"-p standard-g -t 5", "requires --account"},
      {"-A me -p standard-g -t 5", "hint: use --account=project_<number>"},
      {"-A project_1 -t 5", "requires --partition"},
      {"-A project_1 -p standard-g", "requires --time"},
      {"-A project_1 -p small-g -t 5 -N5", "Node count specification invalid"},
      {"-A project_1 -p standard-g -t 5 -N3", "use hpcml emulate --site lumi --nodes 3"},
      {"-A project_1 -p standrad-g -t 5", "invalid partition specified: standrad-g"},
      {"-A project_1 -p small-g -t 5 --mem=481G", "Memory specification can not be satisfied"},
      {"-A project_1 -p small-g -t 5 --gpus-per-node=a100:1",
       "Requested node configuration is not available"},
  };
  std::string script;
  for (const auto& test_case : cases)
    script += std::string("echo; sbatch ") + test_case.options + " --wrap true 2>&1; echo code=$?; echo @@;";
  const Cluster lumi({"--site", "lumi", "--nodes", "2"});
  const auto result = lumi.run(script);
  const auto answers = util::split(util::replace_all(result.out, "@@\n", "\x01"), '\x01');
  REQUIRE(answers.size() > std::size(cases));
  for (std::size_t i = 0; i < std::size(cases); ++i) {
    CAPTURE(cases[i].options, answers[i]);
    CHECK(answers[i].find(cases[i].expected) != std::string::npos);
    CHECK(answers[i].find("code=1") != std::string::npos);
  }
}

TEST_CASE("Slurm takes the person's accounts and no others, where it keeps accounts", "[slurm]") {
  const Cluster lumi({"--site", "lumi", "--accounts", "project_1,project_2"});
  const auto result = lumi.run("srun -A project_2 -p small-g -t 5 hostname; squeue -h -t all -o %a; srun -A "
                               "project_3 -p small-g -t 5 hostname; echo code $?");
  INFO(result.err);
  CHECK(result.out == "nid000001\nproject_2\ncode 1\n");
  CHECK(result.err.find("Invalid account") != std::string::npos);
  CHECK(lumi.run("true").exit_code == 0); // no port or socket of the first is in its way
  const auto wrong = Cluster({"--site", "lumi", "--accounts", "a;b"}).run("true");
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err.find("--accounts must be names of letters, digits and _ . @ + -, not 'a;b'") !=
        std::string::npos);
}

TEST_CASE("jobs are recorded for those who ask sacct, whatever their account", "[slurm]") {
  const Cluster narval({"--site", "narval", "--accounting"});
  const auto result = narval.run("srun -A def-anybody --mem=1G -t 5 -J recorded true\n"
                                 "for i in {1..1000}; do sacct -X -n -P -o JobName,State | grep COMPLETED && "
                                 "break; sleep 0.1; done; sacct -V | grep -o slurm");
  INFO(result.err);
  CHECK(result.out == "recorded|COMPLETED\nslurm\n");
}

TEST_CASE("nothing is left of a cluster when its command ends", "[slurm]") {
  const Cluster lumi({"--site", "lumi", "--accounts", "project_1"}); // with the most daemons
  const auto result =
      lumi.run("echo $SLURM_CONF; srun -A project_1 -p small-g -t 5 sleep 100 & sleep 1; exit 0");
  const std::string conf(util::trim(result.out));
  REQUIRE(conf.size() > 10);
  CHECK_FALSE(fs::exists(fs::path(conf).parent_path()));
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const auto environment = util::read_file(entry.path() / "environ");
    if (environment)
      CHECK(environment->find("SLURM_CONF=" + fs::path(conf).parent_path().string()) == std::string::npos);
  }
}

TEST_CASE("a peer's address has a name on every interface and in either family", "[slurm]") {
  const Cluster lumi({"--site", "lumi", "--nodes", "2"});
  const auto result = lumi.run("srun -A project_1 -p small-g -t 5 -n1 -N1 bash -c 'for a in 10.66.1.2 "
                               "::ffff:10.66.1.2 10.69.1.2; do getent hosts $a; done; "
                               "getent ahosts nid000002'");
  INFO(result.err);
  const auto lines = util::split(util::replace_all(result.out, " ", ""), '\n');
  REQUIRE(lines.size() >= 4);
  CHECK(lines[0] == "10.66.1.2nid000002");
  CHECK(lines[1] == "::ffff:10.66.1.2nid000002-hsn0");
  CHECK(lines[2] == "10.69.1.2nid000002-hsn3");
  for (std::size_t i = 3; i + 1 < lines.size(); ++i)
    CHECK(lines[i].starts_with("10.66.1.2")); // no other way to reach it
}

TEST_CASE("the daemons' logs and configuration can be kept", "[slurm]") {
  const Cluster lumi({"--site", "lumi", "--keep-logs", "logs/of/lumi"});
  const auto result = lumi.run("srun -A project_1 -p small-g -t 5 true");
  INFO(result.err);
  CHECK(result.exit_code == 0);
  CHECK(lumi.read("logs/of/lumi/slurm.conf").find("ClusterName=lumi") != std::string::npos);
  CHECK(lumi.read("logs/of/lumi/slurmctld.log").find("slurmctld version") != std::string::npos);
  CHECK(lumi.read("logs/of/lumi/slurmd.nid000001.log").find("slurmd version") != std::string::npos);
}

TEST_CASE("LUMI's documented way into the container works", "[slurm]") {
  const Cluster lumi({"--site", "lumi", "--nodes", "2", "--record", "calls.jsonl"});
  lumi.write("image.sif", "");
  lumi.write(
      "run-pytorch.sh",
      "#!/bin/bash -e\n$WITH_CONDA\necho \"in $SINGULARITY_NAME $(python -c 'print(6*7)') $(taskset -p $$ | "
      "sed 's/.*: //')\"\n");
  const auto result = lumi.run_job(k_lumi_job, std::string("PROJECT_DIR=$PWD\nsrun --cpu-bind=mask_cpu:") +
                                                   k_lumi_masks + R"( \
  singularity exec -B /var/spool/slurmd -B /opt/cray -B /usr/lib64/libcxi.so.1 -B /usr/lib64/libjansson.so.4 \
    -B $PROJECT_DIR:/workdir $PROJECT_DIR/image.sif /workdir/run-pytorch.sh)");
  INFO(result.err + result.out);
  CHECK(result.exit_code == 0);
  for (const auto* mask : {"fe000000000000", "fe00000000000000", "fe0000", "fe000000", "fe", "fe00",
                           "fe00000000", "fe0000000000"}) {
    const auto line = std::string("in image.sif 42 ") + mask + "\n";
    const auto first = result.out.find(line);
    CAPTURE(mask);
    REQUIRE(first != std::string::npos);
    CHECK(result.out.find(line, first + 1) != std::string::npos); // one on each node
  }
  CHECK_FALSE(fs::exists("/workdir"));
  const auto calls = util::split(std::string(util::trim(lumi.read("calls.jsonl"))), '\n');
  CHECK(calls.size() == 16);
  unsigned on_second = 0;
  for (const auto& call : calls) {
    CHECK(nlohmann::json::parse(call)["tool"] == "singularity");
    on_second += nlohmann::json::parse(call)["host"] == "nid000002";
  }
  CHECK(on_second == 8);
}

TEST_CASE("Vista refuses what TACC refuses and starts ranks with ibrun", "[slurm]") {
  const Cluster vista({"--site", "vista", "--partition", "gh-dev", "--nodes", "2"});
  const auto result = vista.run("sbatch -p gh-dev -N2 -n2 -t 5 --mem=4G --wrap true 2>&1; sbatch -p gh-dev "
                                "-N2 -n2 -t 5 --gpus-per-task=1 --wrap true 2>&1; "
                                "salloc -p gh-dev -N2 -n2 -t 5 ibrun -np 2 bash -c 'echo rank "
                                "$OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE on $(hostname), "
                                "slurm says ${SLURM_PROCID-nothing}'");
  INFO(result.err + result.out);
  CHECK(result.out.find("Vista (TACC) rejects --mem") != std::string::npos);
  CHECK(result.out.find("Vista (TACC) rejects --gpus-per-task") != std::string::npos);
  CHECK(result.out.find("rank 0 of 2 on c123-001, slurm says ") != std::string::npos);
  CHECK(result.out.find("rank 1 of 2 on c123-002, slurm says ") != std::string::npos);
  CHECK(result.out.find("slurm says 1") == std::string::npos);
}

TEST_CASE("nodes show their GPUs where Slurm does not tell of them", "[slurm]") {
  const Cluster vista({"--site", "vista", "--partition", "gh-dev"});
  const auto result = vista.run("srun -p gh-dev -N1 -n1 -t 5 bash -c 'ls /proc/driver/nvidia/gpus | wc -l; "
                                "cat /sys/bus/pci/devices/*/vendor; "
                                "ls /sys/class/net'");
  INFO(result.err);
  CHECK(result.out.starts_with("1\n0x10de\n"));
  const Cluster lumi({"--site", "lumi"});
  const auto amd =
      lumi.run("srun -A project_1 -p small-g -t 5 bash -c 'cd /sys/class/kfd/kfd/topology/nodes; grep -l "
               "\"simd_count [1-9]\" */properties | wc -l; "
               "cat 4/properties | grep -E \"location_id|gfx_target\"; cat 4/name "
               "/sys/bus/pci/devices/0000:c1:00.0/numa_node; cat /sys/class/net/hsn0/mtu'");
  INFO(amd.err);
  CHECK(amd.out == "8\nlocation_id 49408\ngfx_target_version 90010\ngfx90a\n3\n1500\n");
}

TEST_CASE("idev gives a shell on a compute node", "[slurm]") {
  const Cluster vista({"--site", "vista", "--partition", "gh-dev"});
  const auto result = vista.run(
      "echo 'hostname; echo tasks $SLURM_NTASKS' | SHELL=/bin/bash idev -p gh-dev -N 1 -n 1 -t 1:00:00");
  INFO(result.err);
  CHECK(result.out == "c123-001\ntasks 1\n");
}

TEST_CASE("Narval's jobs build their environment in a directory of their own on each node", "[slurm]") {
  const Cluster narval({"--site", "narval", "--nodes", "2"});
  const auto result = narval.run_job("--time=5 --nodes=2 --ntasks=2 --gpus-per-node=a100:4 --mem=4G",
                                     R"job(module load StdEnv/2023 python
srun bash -c 'virtualenv --no-download $SLURM_TMPDIR/env && . $SLURM_TMPDIR/env/bin/activate &&
  echo $(hostname) $(ls $SLURM_TMPDIR) $(python -c "import sys; print(sys.prefix == sys.argv[1])" $SLURM_TMPDIR/env) $CUDA_VISIBLE_DEVICES')job");
  INFO(result.err + result.out);
  CHECK(result.exit_code == 0);
  CHECK(sorted_lines(result.out).size() >= 2);
  CHECK(result.out.find("001 env True 0,1,2,3\n") != std::string::npos);
  CHECK(result.out.find("002 env True 0,1,2,3\n") != std::string::npos);
  const auto named = narval.run("sbatch --time=5 -p gpu --wrap true");
  CHECK(named.err.find("is chosen by Slurm and must not be named") != std::string::npos);
}

TEST_CASE("a job without the caller's environment still finds the site's commands", "[slurm]") {
  const Cluster narval({"--site", "narval"});
  const auto result = narval.run_job("--time=5 --export=NONE --mem=1G",
                                     "module load python && echo loaded && echo ${MINE-unset}");
  INFO(result.err + result.out);
  CHECK(result.out.find("loaded\nunset\n") != std::string::npos);
}

TEST_CASE("Zurada's conda environment comes with its module", "[slurm]") {
  const Cluster zurada({"--site", "zurada"});
  const auto result =
      zurada.run_job("--time=5 --partition=gpu2h100 --mem=4G --gpus-per-node=2",
                     "module load miniforge3/25.3.1-gcc-11.4.1\nconda activate pytorch\n"
                     "echo $CONDA_DEFAULT_ENV $CUDA_VISIBLE_DEVICES; nvidia-smi -L; python -c 'print(6*7)'");
  INFO(result.err + result.out);
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("pytorch 0,1\n") != std::string::npos);
  CHECK(result.out.find("\n42\n") != std::string::npos);
  CHECK(zurada.run("sbatch -t 5 -p gpu2h100 --wrap true").err.find("requires --mem") != std::string::npos);
}

TEST_CASE("a cluster that cannot be emulated is refused before anything starts") {
  struct Case {
    std::vector<std::string> arguments;
    int code;
    const char* expected;
  };
  const Case cases[] = {
      {{"--site", "lmui"}, 2, "lumi"},
      {{"--site", "lumi", "--partition", "standrad-g"}, 4, "use 'standard-g' or another of "},
      {{"--site", "lumi", "--nodes", "0"}, 2, "--nodes must be a whole number from 1"},
      {{"--site", "cedar"}, 4, "retired"},
      {{"--site", "local"}, 4, "hpcml launch --nproc-per-node"},
      {{"--site", "lumi", "--gpus-per-node", "4"}, 4, "describes its nodes"},
      {{"--site", "generic", "--gpus-per-node", "a100:"}, 2, "--gpus-per-node"},
      {{"--site", "generic", "--cpus-per-node", "0"}, 2, "--cpus-per-node must be a whole number from 1"},
  };
  for (const auto& [arguments, code, expected] : cases) {
    const auto result = Cluster(arguments).run("true");
    CAPTURE(arguments, result.err);
    CHECK(result.exit_code == code);
    CHECK(result.err.find(expected) != std::string::npos);
    CHECK(result.out.empty());
  }
}

TEST_CASE("emulated steps read the node's topology from one file", "[slurm]") {
  const Cluster lumi({"--quiet", "--site", "lumi"});
  const auto result = lumi.run_job(
      "--account=project_1 --partition=standard-g --time=5",
      "file=$(tr '\\0' '\\n' < /proc/$(pgrep -o slurmd)/environ | sed -n 's/^HWLOC_XMLFILE=//p')\n"
      "grep -c '<object type=\"PU\"' \"$file\"\n"
      "cmp \"$file\" \"${file%whole.xml}\"$SLURM_JOB_ID.*.xml && echo same in the step\n"
      "echo \"job: ${HWLOC_XMLFILE-unset} ${HWLOC_PLUGINS_PATH-unset} ${HWLOC_THISSYSTEM-unset}\"");
  INFO(result.err);
  CHECK(result.out == "Submitted batch job 1\n128\nsame in the step\njob: unset unset unset\n");
}

TEST_CASE("sbatch -W ends with its job on emulated clusters", "[slurm]") {
  const Cluster generic({"--quiet", "--site", "generic"});
  generic.write("job.sh", "#!/bin/bash\n#SBATCH --ntasks=1 --time=5\nsleep 6\nexit 3\n");
  const auto result =
      generic.run("sbatch -W job.sh; echo code $?; "
                  "sdiag | sed -n 's/.*REQUEST_JOB_INFO_SINGLE .* count:\\([0-9]*\\) .*/polls \\1/p'; "
                  "scontrol show config | grep MinJobAge");
  INFO(result.err);
  CHECK(result.out.find("code 3\n") != std::string::npos);
  const auto polls = result.out.find("polls ");
  REQUIRE(polls != std::string::npos);
  CHECK(std::stoul(result.out.substr(polls + 6)) >= 10);    // four times a second, and not every 2 s
  CHECK(result.out.find("= 300 sec") != std::string::npos); // slurmctld keeps ended jobs as on sites
}
