// SPDX-License-Identifier: MIT
// Raw options: requests change the plan, the rest goes through, and the user wins.
#include "plan_helper.hpp"

#include <algorithm>

#include "plan/command_words.hpp"
#include "plan/option_word.hpp"

using namespace hpcml;
using namespace hpcml::test;

TEST_CASE("Raw options are read in all forms that sbatch takes") {
  struct Row {
    const char* word;
    const char* name;
    std::optional<std::string> value;
  };
  const std::vector<Row> rows = {{"--mem=4G", "--mem", "4G"},
                                 {"--mem 4G", "--mem", "4G"},
                                 {"-pgpu", "--partition", "gpu"},
                                 {"-p gpu", "--partition", "gpu"},
                                 {"--hold", "--hold", {}},
                                 {"-H", "--hold", {}},
                                 {"--comment=a=b c", "--comment", "a=b c"},
                                 {"--tasks-per-node=2", "--ntasks-per-node", "2"},
                                 {"-Z1", "-Z", "1"}};
  for (const auto& row : rows) {
    INFO(row.word);
    CHECK(plan::is_option_word(row.word));
    const auto option = plan::split_option(row.word);
    CHECK(option.name == row.name);
    CHECK(option.value == row.value);
  }
  for (const char* word : {"", "-", "--", "mem=4G", "--a\nb", "-=x", "- x"})
    CHECK_FALSE(plan::is_option_word(word));
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
  CHECK(has_note(plan, "--sbatch --nodes replaces --nodes"));
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
  job.env = {{"NCCL_NET_GDR_LEVEL", text("LOC")}, {"FOO", text("$(x) 'y'")}};
  const auto plan = planned(job, "lumi");
  REQUIRE(variable(plan, "NCCL_NET_GDR_LEVEL"));
  CHECK(variable(plan, "NCCL_NET_GDR_LEVEL")->value == "LOC");
  CHECK(variable(plan, "NCCL_NET_GDR_LEVEL")->scope == model::Scope::batch);
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
