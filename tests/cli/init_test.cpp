// SPDX-License-Identifier: MIT
// hpcml init and hpcml config: what is said once, and a job file to start from.
#include <catch2/catch.hpp>
#include <map>

#include "cli/create/init_text.hpp"
#include "cli/workspace_helper.hpp"
#include "core/config/job_file.hpp"
#include "core/config/job_keys.hpp"
#include "core/config/site_store.hpp"
#include "core/util/text.hpp"
#include "generate/plan/planner.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

TEST_CASE("the job file of every site is one that hpcml reads, and fits the site once the account is there") {
  const Workspace workspace;
  std::size_t sites = 0;
  for (const auto& id : config::list_sites({})) {
    auto site = config::load_site(id, {}).site;
    REQUIRE(site);
    if (site->state == model::SiteState::retired || site->scheduler != model::Scheduler::slurm) continue;
    workspace.put("job.json", cli::render_job_file(*site, {}));
    auto file = config::load_job_file((workspace / "job.json").string());
    std::string text;
    for (const auto& finding : file.diagnostics) text += diag::render_text(finding, file.source, false);
    CAPTURE(id, text);
    REQUIRE(file.job);
    CHECK(file.site == id);
    CHECK(file.job->command == std::vector<std::string>{"python", "train.py"});
    // What no profile can know stands there to be filled in.
    for (const std::string name : {"account", "qos", "mem"})
      if (holds(workspace.read("job.json"), "  // \"" + name + "\": ")) site->flags.erase(name);
    const auto planned = plan::make_plan(*file.job, *site);
    for (const auto& finding : planned.diagnostics)
      if (finding.severity == diag::Severity::error) text += finding.message + "\n";
    CAPTURE(text);
    CHECK(planned.plan);
    ++sites;
  }
  CHECK(sites >= 5);
}

TEST_CASE("init lists the QoS of a site, and the time fits the one that jobs get") {
  const auto site = test::shipped_site("perlmutter");
  const auto text = cli::render_job_file(site, {});
  for (const char* part : {"//   debug (default): at most 8 nodes, at most 00:30:00\n",
                           "  // \"qos\": \"regular\",\n", "  \"time\": \"00:30:00\",\n"})
    CHECK(holds(text, part));
  model::JobSpec job;
  job.qos = model::Sourced<std::string>{"regular", {}};
  CHECK(holds(cli::render_job_file(site, job), "  \"time\": \"01:00:00\",\n"));
}

namespace {

/// A value for each key, other than any default.
const std::map<std::string, std::vector<std::string>> k_samples = {
    {"account", {"--account=project_7"}},
    {"partition", {"--partition=standard"}},
    {"qos", {"--qos=long"}},
    {"nodes", {"--nodes=3"}},
    {"gpus-per-node", {"--gpus-per-node=4"}},
    {"gpu-type", {"--gpu-type=a100"}},
    {"gpus-per-task", {"--gpus-per-task=2"}},
    {"tasks-per-node", {"--tasks-per-node=2"}},
    {"cpus-per-task", {"--cpus-per-task=5"}},
    {"threads-per-core", {"--threads-per-core=1"}},
    {"mem", {"--mem=48G"}},
    {"time", {"--time=35m"}},
    {"job-name", {"--job-name=a \"quoted\" name"}},
    {"output", {"--output=logs/%j.txt"}},
    {"launcher", {"--launcher=torchrun"}},
    {"backend", {"--backend=gloo"}},
    {"gpu-visibility", {"--gpu-visibility=own"}},
    {"rank-order", {"--rank-order=cpu"}},
    {"idle-cores", {"--idle-cores=package"}},
    {"bind-check", {"--bind-check=fail"}},
    {"signal", {"--signal=USR1@60"}},
    {"save-before", {"--save-before=5m"}},
    {"save-signal", {"--save-signal=TERM"}},
    {"array", {"--array=0-9%2"}},
    {"dependency", {"--dependency=afterok:123"}},
    {"hpcml-path", {"--hpcml-path=/opt/hpcml"}},
    {"sbatch", {"--sbatch=--reservation=x", "--sbatch=--comment=y"}},
    {"srun", {"--srun=--label"}},
    {"requeue", {"--no-requeue"}},
    {"spare-nodes", {"--spare-nodes=1"}},
    {"max-requeues", {"--max-requeues=5"}},
    {"requeue-on", {"--requeue-on=node,preempted"}},
    {"checkpoint-dir", {"--checkpoint-dir=/scratch/my checkpoints"}},
    {"nccl-debug", {"--nccl-debug"}},
    {"report", {"--report"}},
    {"tf32", {"--tf32=off"}},
    {"preflight", {"--preflight"}},
    {"store", {"--store=env"}},
    {"rendezvous-timeout", {"--rendezvous-timeout=60"}},
    {"jax-coordinator", {"--jax-coordinator"}},
    {"agent", {"--agent"}},
    {"log-dir", {"--log-dir=/scratch/my logs"}},
    {"max-restarts", {"--max-restarts=3"}},
    {"stall-timeout", {"--stall-timeout=600"}},
    {"nnodes", {"--nnodes=2:4"}},
    {"heartbeat-interval", {"--heartbeat-interval=10"}},
    {"heartbeat-timeout", {"--heartbeat-timeout=60"}},
    {"venv", {"--venv=/home/me/venv"}},
    {"conda", {"--conda=torch"}},
    {"wheelhouse", {"--wheelhouse=torch numpy"}},
    {"container", {"--container=/images/a.sif"}},
    {"container-engine", {"--container-engine=apptainer"}},
    {"module", {"--module=cuda/12", "--module=gcc"}},
    {"env", {"--env=A=1", "--env=B=\\ and \"b\""}},
    {"stage", {"--stage=/data/set"}},
    {"bind", {"--bind=/data:/data"}},
    {"container-enter", {"--no-container-enter"}},
};

} // namespace

TEST_CASE("every key that is asked for stands in the job file and is read as it was said") {
  const auto site = config::load_site("generic", {}).site;
  REQUIRE(site);
  const Workspace workspace;
  for (const auto& key : config::job_keys()) {
    CAPTURE(key.name);
    REQUIRE(k_samples.count(key.name) == 1);
    model::JobSpec job;
    for (const auto& word : k_samples.at(key.name)) {
      const auto equals = word.find('=');
      const auto no = word.starts_with("--no-");
      const auto value = equals != std::string::npos ? word.substr(equals + 1) : no ? "false" : "true";
      REQUIRE_FALSE(key.from_text(job, value, {}));
    }
    const auto text = key.to_json(job);
    REQUIRE(text);
    workspace.put("job.json", cli::render_job_file(*site, job));
    const auto file = config::load_job_file((workspace / "job.json").string());
    CAPTURE(workspace.read("job.json"));
    REQUIRE(file.job);
    CHECK(key.to_json(*file.job) == text);
  }
}

TEST_CASE("init takes each flag that it shows, and refuses a request that gen refuses") {
  const Workspace workspace;
  std::vector<std::string> words = {"init", "--site", "generic", "-o", "job.json"};
  // Not together: two environments, images, two ways to start ranks.
  for (const auto& [name, flags] : k_samples)
    for (const auto& flag : flags)
      for (const std::string left_out :
           {"env", "job-name", "module", "output", "signal", "array", "sbatch", "srun", "requeue",
            "nccl-debug", "report", "venv", "mem", "dependency"})
        if (name == left_out) words.push_back(flag);
  const auto written = workspace.hpcml(words);
  INFO(written.err);
  REQUIRE(written.exit_code == 0);
  for (const char* part : {"\"B\": \"\\\\ and \\\"b\\\"\"", "\"logs/%j.txt\"", "\"USR1@60\"",
                           "\"requeue\": false", "[\"cuda/12\", \"gcc\"]", "\"--label\""})
    CHECK(holds(workspace.read("job.json"), part));
  const auto refused =
      workspace.hpcml({"init", "--site", "lumi", "--partition", "nowhere", "-o", "other.json"});
  CHECK(refused.exit_code != 0);
  CHECK(holds(refused.err, "nowhere"));
  CHECK(workspace.read("other.json").empty());
}

TEST_CASE("init writes what is said, comments on what is allowed, and never overwrites") {
  const Workspace workspace;
  const auto first = workspace.hpcml({"init", "--site", "lumi", "--nodes", "2", "--time", "30m", "--account",
                                      "project_7", "--", "python", "my \"train\".py"});
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  CHECK(first.out == "");
  const auto text = workspace.read("hpcml.json");
  for (const char* part : {"project_<number>", "small-g: 8 ", "at most 4 nodes, at most 3-00:00:00",
                           "// \"chain\": 4,", "\"account\": \"project_7\"", "\"partition\": \"standard-g\""})
    CHECK(holds(text, part));
  for (const auto& line : util::split(text, '\n')) CHECK(line.size() < 160);
  CHECK(holds(text, "\n  //     at most 2-00:00:00\n")); // of standard-g, whose line is too long
  // What gen makes of the file is what the flags alone would have made.
  const auto by_file = workspace.hpcml({"gen"});
  INFO(by_file.err);
  REQUIRE(by_file.exit_code == 0);
  CHECK(holds(by_file.out, "#SBATCH --nodes=2\n"));
  CHECK(holds(by_file.out, "#SBATCH --time=00:30:00\n"));
  CHECK(holds(by_file.out, "#SBATCH --account=project_7\n"));
  CHECK(holds(by_file.out, "'my \"train\".py'"));
  const auto again = workspace.hpcml({"init", "--site", "narval", "--", "x"});
  CHECK(again.exit_code == 2);
  CHECK(holds(again.err, "already exists and is not changed"));
  CHECK(workspace.read("hpcml.json") == text);
  CHECK(workspace.hpcml({"init", "--site", "lmui", "-o", "other.json"}).exit_code == 2);
  CHECK(workspace.hpcml({"init", "--site", "lumi", "-o", "no/folder.json"}).exit_code == 5);
  CHECK(workspace.files() == 1);
}

TEST_CASE("what config remembers comes below everything that is said, and above the site") {
  Workspace workspace;
  CHECK(holds(workspace.hpcml({"config"}).err, "does not exist yet"));
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"config", "set", "site", "lumi"},
                                             {"config", "set", "account", "project_1"},
                                             {"config", "set", "partition", "small-g"},
                                             {"config", "set", "--site", "narval", "account", "def-me"}}) {
    const auto result = workspace.hpcml(words);
    CAPTURE(words, result.err);
    REQUIRE(result.exit_code == 0);
  }
  CHECK(workspace.hpcml({"config"}).out ==
        "site lumi\nlumi.account project_1\nlumi.partition small-g\nnarval.account def-me\n");
  const std::vector<std::string> request{"gen", "--time", "10", "--gpus-per-node", "1", "--", "x"};
  const auto usual = workspace.hpcml(request);
  INFO(usual.err);
  REQUIRE(usual.exit_code == 0);
  CHECK(holds(usual.out, "#SBATCH --account=project_1\n#SBATCH --partition=small-g\n"));
  auto explained = request;
  explained.insert(explained.begin() + 1, "--explain");
  CHECK(holds(workspace.hpcml(explained).out,
              "configuration " + (workspace / ".config/hpcml/config.json").string() + " sites.lumi.account"));
  workspace.put("hpcml.json", R"({"account": "project_2"})");
  CHECK(holds(workspace.hpcml(request).out, "--account=project_2\n"));
  workspace.set("HPCML_ACCOUNT", "project_3");
  CHECK(holds(workspace.hpcml(request).out, "--account=project_3\n"));
  auto typed = request;
  typed.insert(typed.begin() + 1, {"--account", "project_4"});
  CHECK(holds(workspace.hpcml(typed).out, "--account=project_4\n"));
  REQUIRE(workspace.hpcml({"config", "unset", "partition", "--site", "lumi"}).exit_code == 0);
  CHECK(workspace.hpcml({"config", "unset", "partition", "--site", "lumi"}).exit_code == 2);
  CHECK_FALSE(holds(workspace.hpcml({"config"}).out, "partition"));
}

TEST_CASE("config takes nothing that the site would refuse, and keeps a file that it cannot read") {
  const Workspace workspace;
  struct Case {
    std::vector<std::string> words;
    int exit_code;
    std::string message;
  };
  const std::vector<Case> cases = {
      {{"config", "set", "--site", "lumi", "account", "me"}, 4, "project_<number>"},
      {{"config", "set", "--site", "lumi", "partition", "smal-g"}, 4, "use 'small-g' or another of"},
      {{"config", "set", "--site", "lumi", "acount", "project_1"}, 2, "use 'account'"},
      {{"config", "set", "--site", "lumi", "time", "soon"}, 2, "soon"},
      {{"config", "set", "--site", "lmui", "account", "x"}, 2, "lumi"},
      {{"config", "set", "site", "lmui"}, 2, "lumi"},
      {{"config", "set", "site"}, 2, "VALUE"},
  };
  for (const auto& test_case : cases) {
    const auto result = workspace.hpcml(test_case.words);
    CAPTURE(test_case.words, result.err);
    CHECK(result.exit_code == test_case.exit_code);
    CHECK(holds(result.err, test_case.message));
    CHECK(workspace.files() == 0);
  }
  REQUIRE(workspace.hpcml({"config", "set", "site", "lumi"}).exit_code == 0);
  workspace.put(".config/hpcml/config.json", "{\"site\": ");
  CHECK(workspace.hpcml({"config", "set", "site", "narval"}).exit_code == 3);
  CHECK(workspace.read(".config/hpcml/config.json") == "{\"site\": ");
  CHECK(workspace.hpcml({"gen", "--site", "lumi", "--", "x"}).exit_code == 3);
}
