// SPDX-License-Identifier: MIT
// Raw options: requests change the plan, the rest goes through, and the user wins.
#include "plan_helper.hpp"

#include <algorithm>

#include "core/slurm/option_word.hpp"
#include "generate/plan/user_command.hpp"

using namespace hpcml;
using namespace hpcml::test;

TEST_CASE("Raw options are read in all forms that Slurm takes") {
  using slurm::Program;
  struct Row {
    Program program;
    const char* word;
    const char* name;
    std::optional<std::string> value;
  };
  const std::vector<Row> rows = {{Program::sbatch, "--mem=4G", "--mem", "4G"},
                                 {Program::sbatch, "--mem 4G", "--mem", "4G"},
                                 {Program::sbatch, "-pgpu", "--partition", "gpu"},
                                 {Program::sbatch, "-p gpu", "--partition", "gpu"},
                                 {Program::sbatch, "--part=gpu", "--partition", "gpu"},
                                 {Program::sbatch, "--hold", "--hold", {}},
                                 {Program::sbatch, "-H", "--hold", {}},
                                 {Program::sbatch, "-W", "--wait", {}},
                                 {Program::srun, "-W 5", "--wait", "5"},
                                 {Program::srun, "-K0", "--kill-on-bad-exit", "0"},
                                 {Program::srun, "-l", "--label", {}},
                                 {Program::srun, "--cpu_bind=none", "--cpu-bind", "none"},
                                 {Program::sbatch, "--comment=a=b c", "--comment", "a=b c"},
                                 {Program::sbatch, "--tasks-per-node=2", "--ntasks-per-node", "2"},
                                 {Program::sbatch, "--uenv=x:y", "--uenv", "x:y"}};
  for (const auto& row : rows) {
    INFO(row.word);
    const auto option = slurm::read_option(row.program, row.word);
    REQUIRE(option);
    CHECK(option->name == row.name);
    CHECK(option->value == row.value);
  }
  CHECK_FALSE(slurm::read_option(Program::sbatch, "--uenv=x:y")->known);
  for (const char* word : {"", "-", "--", "mem=4G", "--a\nb", "-=x", "- x", "-Z1", "--nod=2", "--hold=1",
                           "-HW", "--mem", "--mem=", "-p", "-l"}) {
    INFO(word);
    CHECK_FALSE(slurm::read_option(Program::sbatch, word));
  }
}

TEST_CASE("Raw options that contradict the plan are refused in every spelling, with what to use instead") {
  struct Row {
    const char* word;
    const char* part; ///< of message and hint together
  };
  const std::vector<Row> for_srun = {{"--cpu-bind=cores", "planned binding"},
                                     {"--cpu_bind=none", "planned binding"},
                                     {"--cpu-b none", "planned binding"},
                                     {"-c 4", "use --cpus-per-task"},
                                     {"-c4", "use --cpus-per-task"},
                                     {"--cpus-per-task=4", "use --cpus-per-task"},
                                     {"--cpus-per-t 4", "use --cpus-per-task"},
                                     {"-n4", "use --nodes and --tasks-per-node"},
                                     {"-n 4", "planned layout"},
                                     {"--ntasks=4", "planned layout"},
                                     {"--ntasks 4", "planned layout"},
                                     {"--ntasks-per-node=1", "use --tasks-per-node"},
                                     {"--tasks-per-node=1", "use --tasks-per-node"},
                                     {"-N1", "use --nodes"},
                                     {"--gpus-per-task=1", "use --gpus-per-task"},
                                     {"--gpu-bind=closest", "use --gpu-visibility"},
                                     {"-G8", "use --gpus-per-node"},
                                     {"--gres=gpu:1", "use --gpus-per-node"},
                                     {"--exact", "planned binding"},
                                     {"--exclusive", "use --sbatch=--exclusive"},
                                     {"-m cyclic", "planned layout"},
                                     {"-r1", "planned layout"},
                                     {"-w nid001", "--sbatch=--nodelist"},
                                     {"-p small-g", "use --partition"},
                                     {"--reservation=r", "--sbatch=--reservation"},
                                     {"--export=NONE", "use --env"},
                                     {"--multi-prog", "use -- PROGRAM"},
                                     {"--pty", "--interactive"},
                                     {"--test-only", "command line"},
                                     {"--jobid=1", "another job"},
                                     {"-Z", "another job"},
                                     {"-ln4", "set other options separately"},
                                     {"label", "--srun=--label"},
                                     {"--nod=1", "use the full name"},
                                     {"-y", "no option '-y'"}};
  const std::vector<Row> for_sbatch = {{"--wrap=hostname", "use -- PROGRAM"},
                                       {"--ntasks=4", "use --nodes and --tasks-per-node"},
                                       {"-n4", "planned layout"},
                                       {"--ntasks-per-gpu=1", "use --tasks-per-node"},
                                       {"--parsable", "sbatch --parsable job.sh"},
                                       {"--test-only", "sbatch --test-only job.sh"},
                                       {"-W", "sbatch --wait job.sh"},
                                       {"--wait", "sbatch --wait job.sh"},
                                       {"-Q", "use it when you submit"},
                                       {"--help", "use it when you submit"},
                                       {"--gpus=8", "use --gpus-per-node"},
                                       {"-G 8", "use --gpus-per-node"},
                                       {"--gpus-per-task=1", "use --gpus-per-task"},
                                       {"--gpu-bind=none", "use --gpu-visibility"},
                                       {"--hint=nomultithread", "planned binding"},
                                       {"--threads-per-core=2", "planned binding"},
                                       {"--cpus-per-gpu=4", "use --cpus-per-task"},
                                       {"--export=NONE", "use --env"},
                                       {"--container=/bundle", "use --container IMAGE"},
                                       {"-O", "planned layout"},
                                       {"--tres-per-task=cpu=4", "use --cpus-per-task"}};
  const auto check = [](const std::vector<Row>& rows, const std::string& flag) {
    for (const auto& row : rows) {
      INFO("--" << flag << "=" << row.word);
      auto job = lumi_job();
      auto& raw = flag == "srun" ? job.srun : job.sbatch;
      raw.push_back(text(row.word));
      const auto error = error_of(job, "lumi", "usage/" + flag);
      CHECK_THAT(error.message + "; " + error.hint, Catch::Contains(row.part));
    }
  };
  check(for_srun, "srun");
  check(for_sbatch, "sbatch");
}

TEST_CASE("Harmless raw options go through, written out in full") {
  auto job = lumi_job();
  job.srun = {text("-l"),
              text("-K0"),
              text("--output=rank-%t.txt"),
              text("--mpi pmi2"),
              text("--export=ALL,A=b"),
              text("--environment=/x.toml")};
  job.sbatch = {text("--export=ALL"), text("-x nid001"), text("--hold")};
  const auto plan = planned(job, "lumi");
  CHECK(plan.launcher.step_args == std::vector<std::string>{"--label", "--kill-on-bad-exit=0",
                                                            "--output=rank-%t.txt", "--mpi=pmi2",
                                                            "--export=ALL,A=b", "--environment=/x.toml"});
  CHECK(directive(plan, "--exclude") == "nid001");
  CHECK(directive(plan, "--hold") == "");
}

TEST_CASE("A raw option that the site's Slurm does not have is refused, with the versions that have it") {
  const auto tried = [](const std::string& id, slurm::Program program, const char* word) {
    auto job = id == "lumi" ? lumi_job() : job_of({"./train"});
    job.partition = id == "lonestar6" ? std::optional(text("gpu-a100")) : job.partition;
    (program == slurm::Program::sbatch ? job.sbatch : job.srun).push_back(text(word));
    std::string message;
    for (const auto& finding : errors_of(job, id))
      message += finding.code + ": " + finding.message + "; " + finding.hint + "\n";
    return message;
  };
  using slurm::Program;
  struct Row {
    const char* site;
    Program program;
    const char* word;
    const char* versions; ///< empty: it is taken
  };
  for (const auto& [site, program, word, versions] :
       {Row{"lonestar6", Program::sbatch, "--prefer=x", "22.05-"},
        Row{"lonestar6", Program::sbatch, "--spread-job", ""},
        Row{"zurada", Program::sbatch, "--external", "25.05-"},
        Row{"zurada", Program::sbatch, "--segment=2", ""},
        Row{"zurada", Program::srun, "--wait-for-children", "25.05-"},
        Row{"zurada", Program::srun, "--treewidth=2", ""},
        Row{"lumi", Program::sbatch, "--external", ""}}) { // its version is not known
    CAPTURE(site, word);
    const auto message = tried(site, program, word);
    CAPTURE(message);
    const bool refused = message.find("is not an option of Slurm") != std::string::npos &&
                         message.find(versions) != std::string::npos;
    CHECK(refused == (*versions != '\0'));
  }
}

TEST_CASE("A raw option that Slurm does not have is refused, but where a plugin may bring it") {
  const auto tried = [](const char* word) {
    auto job = lumi_job();
    job.sbatch = {text(word)};
    std::string message;
    for (const auto& finding : plan::make_plan(job, site_named("lumi")).diagnostics)
      if (finding.code == "usage/sbatch")
        message +=
            std::string(finding.severity == diag::Severity::error ? "error " : "warning ") + finding.hint;
    return message;
  };
  CHECK(tried("--nodelst=nid001").starts_with("error use --nodelist, or "));
  CHECK(tried("--my-sites-own-thing=1").starts_with("warning check that a plugin"));
  CHECK(tried("--comment=a").empty());
}

TEST_CASE("Raw options that do not go together are refused as sbatch does") {
  auto job = lumi_job();
  job.gpus_per_node = flag(0u);
  job.sbatch = {text("--mem-per-gpu=8G")};
  CHECK(error_of(job, "lumi", "usage/sbatch").message.starts_with("--mem-per-gpu applies to GPUs"));
}

TEST_CASE("GRES that are no GPUs stay beside the planned GPUs") {
  auto job = lumi_job();
  job.sbatch = {text("--gres=gpu:4,nvme:100")};
  const auto plan = planned(job, "lumi");
  CHECK(plan.layout.gpus_per_node == 4);
  CHECK(directive(plan, "--gres") == "nvme:100");
  CHECK(directive(plan, "--gpus-per-node") == "4");
}

TEST_CASE("Raw options for srun have nobody to go to where another program starts the tasks") {
  auto job = job_of({"./train"});
  job.srun = {text("--label")};
  CHECK(error_of(job, "vista", "request/srun").message.find("ibrun") != std::string::npos);
}

TEST_CASE("Two kinds of memory are refused: Slurm stops at them") {
  auto job = lumi_job();
  job.mem = flag(mem_of("100G"));
  job.sbatch = {text("--mem-per-gpu=60G")};
  CHECK(error_of(job, "lumi", "usage/mem").message ==
        "--mem and --mem-per-gpu exclude each other: Slurm accepts one request for memory");
}

TEST_CASE("Raw options that are requests change the layout and win over the flags") {
  auto job = lumi_job();
  job.sbatch = {text("--nodes=3"), text("--gpus-per-node=4"), text("--time=1:00:00"), text("--mem=100G"),
                text("-J raw")};
  const auto plan = planned(job, "lumi");
  CHECK(plan.layout.nodes == 3);
  CHECK(plan.layout.gpus_per_node == 4);
  CHECK(directive(plan, "--nodes") == "3");
  CHECK(directive(plan, "--ntasks-per-node") == "4");
  CHECK(directive(plan, "--time") == "01:00:00");
  CHECK(directive(plan, "--mem") == "100G");
  CHECK(directive(plan, "--job-name") == "raw");
  CHECK(has_note(plan, "the value of --sbatch=--nodes is used instead of that of --nodes"));
}

TEST_CASE("Other raw options stand last, once, and replace a planned line of their name") {
  auto job = lumi_job();
  job.sbatch = {text("--reservation=r"), text("-C a&b"), text("--open-mode=truncate")};
  job.requeue = flag(true);
  const auto lines = directive_lines(planned(job, "lumi"));
  REQUIRE(lines.size() >= 3);
  CHECK(lines[lines.size() - 3] == "--reservation=r");
  CHECK(lines[lines.size() - 2] == "--constraint=a&b");
  CHECK(lines[lines.size() - 1] == "--open-mode=truncate");
  CHECK(std::count(lines.begin(), lines.end(), "--open-mode=append") == 0);
  CHECK(std::count(lines.begin(), lines.end(), "--requeue") == 1);
}

TEST_CASE("Memory by CPU or GPU replaces memory by node: Slurm refuses both together") {
  auto job = lumi_job();
  job.sbatch = {text("--mem-per-gpu=60G")};
  const auto plan = planned(job, "lumi");
  CHECK_FALSE(directive(plan, "--mem"));
  CHECK(directive(plan, "--mem-per-gpu") == "60G");
}

TEST_CASE("The user's variables win over the site's, which stay visible as superseded") {
  auto job = lumi_job();
  job.container = text("lumi-pytorch-rocm-6.2.4.sif");
  job.env = {{"NCCL_NET_GDR_LEVEL", text("LOC")}, {"FOO", text("$(x) 'y'")}};
  const auto plan = planned(job, "lumi");
  REQUIRE(variable(plan, "NCCL_NET_GDR_LEVEL"));
  CHECK(variable(plan, "NCCL_NET_GDR_LEVEL")->value == "LOC");
  CHECK(variable(plan, "NCCL_NET_GDR_LEVEL")->scope == model::ValueScope::batch);
  REQUIRE(variable(plan, "NCCL_NET_GDR_LEVEL")->origin.superseded.size() == 1);
  CHECK(variable(plan, "NCCL_NET_GDR_LEVEL")->origin.superseded[0].value == "PHB");
  REQUIRE(variable(plan, "FOO"));
  CHECK_FALSE(variable(plan, "FOO")->expression); // a person's value is never shell text
}

TEST_CASE("A job is named after its program") {
  using plan::job_name_of;
  CHECK(job_name_of({"python", "-u", "src/train.py", "--lr", "1"}) == "train");
  CHECK(job_name_of({"python3.11", "-X", "dev", "-m", "pkg.train"}) == "pkg.train");
  CHECK(job_name_of({"/opt/bin/train_ddp"}) == "train_ddp");
  CHECK(job_name_of({"bash", "run all.sh"}) == "run_all");
  CHECK(job_name_of({"env", "A=1", "python", "x.py"}) == "x");
  CHECK(job_name_of({"$(reboot)"}) == "__reboot_");
  CHECK(job_name_of({"--"}) == "job");
}
