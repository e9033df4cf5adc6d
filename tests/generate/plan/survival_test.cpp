// SPDX-License-Identifier: MIT
// How ranks are asked to save before their job ends: when, by which signal, and what is refused.
#include "generate/plan/plan_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;
using Catch::Contains;

namespace {

model::JobSpec saving(model::JobSpec job, const std::string& before = "5m") {
  job.save_before = flag(model::LeadTime(time_of(before)), "--save-before");
  return job;
}

/// A job of the site's GPUs or, without any, of its CPUs.
model::JobSpec small_job(unsigned gpus) {
  auto job = job_of({"python", "train.py"});
  job.gpus_per_node = flag(gpus, "--gpus-per-node");
  return job;
}

model::Plan plan_at_small_site(const model::JobSpec& job, const std::string& vendor = "nvidia") {
  auto site = small_site();
  for (auto& type : site.node_types)
    if (type.gpu) type.gpu->vendor = *model::find_word<model::GpuVendor>(vendor);
  auto result = plan::make_plan(job, site);
  for (const auto& finding : result.diagnostics) UNSCOPED_INFO(finding.message);
  REQUIRE(result.plan);
  return *result.plan;
}

} // namespace

TEST_CASE("Slurm tells the batch shell before the limit, and nobody where nobody asked for it") {
  const auto plan = planned(saving(lumi_job()), "lumi");
  CHECK(directive(plan, "--signal") == "B:USR1@300");
  CHECK_FALSE(directive(planned(lumi_job(), "lumi"), "--signal"));
  CHECK_FALSE(planned(lumi_job(), "lumi").saving);
}

TEST_CASE("a site's profile may say how long before the limit its jobs save, and by which signal") {
  auto site = site_named("lumi");
  site.flags["save-before"].default_value = "2m";
  site.flags["save-signal"].default_value = "HUP";
  const auto result = plan::make_plan(lumi_job(), site);
  REQUIRE(result.plan);
  CHECK(directive(*result.plan, "--signal") == "B:USR1@120");
  CHECK(result.plan->saving->signal.text() == "HUP");
  auto job = lumi_job();
  job.save_signal = flag(*model::SaveSignal::parse("TERM"), "--save-signal");
  CHECK(plan::make_plan(job, site).plan->saving->signal.text() == "TERM");
  site.flags["save-signal"].default_value = "KILL";
  CHECK_FALSE(plan::make_plan(lumi_job(), site).plan);
  site.flags.erase("save-signal");
  const auto own = plan::make_plan(saving(lumi_job(), "90s"), site);
  REQUIRE(own.plan);
  CHECK(directive(*own.plan, "--signal") == "B:USR1@90");
}

TEST_CASE("ranks are asked by a signal that neither NCCL nor RCCL has taken, and by TERM under torchrun") {
  const auto signal_of = [](const model::JobSpec& job, const std::string& vendor) {
    const auto plan = plan_at_small_site(job, vendor);
    REQUIRE(plan.saving);
    return plan.saving->signal.text() + " by " + plan.saving->word;
  };
  CHECK(signal_of(saving(small_job(4)), "nvidia") == "USR2 by URG");
  CHECK(signal_of(saving(small_job(4)), "amd") == "USR1 by URG");
  auto job = saving(small_job(4));
  job.launcher = launcher("torchrun");
  CHECK(signal_of(job, "nvidia") == "TERM by TERM");
  job.launcher = launcher("srun");
  CHECK(signal_of(job, "nvidia") == "USR2 by USR2");
  job.save_signal = flag(model::SaveSignal::parse("SIGHUP").value(), "--save-signal");
  CHECK(signal_of(job, "nvidia") == "HUP by HUP");
}

TEST_CASE("what can ask nobody, or too early, is refused with the reason") {
  auto job = saving(lumi_job());
  job.signal = text("USR1@60");
  CHECK_THAT(error_of(job, "lumi", "request/save-before").message, Contains("one signal"));
  job = saving(lumi_job(), "2h");
  job.time = flag(time_of("1h"), "--time");
  CHECK_THAT(error_of(job, "lumi", "request/save-before").message, Contains("before they start"));
  job = lumi_job();
  job.save_signal = flag(model::SaveSignal::parse("USR1").value(), "--save-signal");
  CHECK_THAT(error_of(job, "lumi", "request/save-signal").hint, Contains("--save-before"));
  CHECK_FALSE(model::SaveSignal::parse("KILL"));
  CHECK_FALSE(model::SaveSignal::parse(""));
}

TEST_CASE("a program that seems to handle no signal is warned of, and one that does is not") {
  const auto warned = [](const std::string& text) {
    auto job = saving(lumi_job());
    job.program_text = text;
    return plan::make_plan(job, site_named("lumi")).diagnostics;
  };
  const auto is_warned = [&](const std::string& text) {
    for (const auto& finding : warned(text))
      if (finding.code == "request/save-before") return true;
    return false;
  };
  CHECK(is_warned("import torch\ntorch.save({}, 'x')\n"));
  CHECK_FALSE(is_warned("import signal\n"));
  CHECK_FALSE(is_warned("import lightning as L\n"));
  CHECK_FALSE(is_warned(""));
}

TEST_CASE("gen warns when Lightning expects a different signal") {
  const auto warned = [](const std::string& text, const char* signal) {
    auto job = saving(lumi_job());
    job.program_text = text;
    job.save_signal = flag(model::SaveSignal::parse(signal).value(), "--save-signal");
    for (const auto& finding : plan::make_plan(job, site_named("lumi")).diagnostics)
      if (finding.message.find("Lightning saves and requeues on USR1") != std::string::npos) return true;
    return false;
  };
  const std::string program = "import lightning as L\ntrainer = L.Trainer()\n";
  CHECK(warned(program, "USR2"));
  CHECK_FALSE(warned(program, "USR1"));
  CHECK_FALSE(warned(program + "SLURMEnvironment(requeue_signal=signal.SIGUSR2)\n", "USR2"));
  CHECK_FALSE(warned(program + "name = os.environ['HPCML_SAVE_SIGNAL']\n", "USR2"));
  CHECK_FALSE(warned("from lightning.fabric import Fabric\n", "USR2"));
}

TEST_CASE(
    "a script requeues its job three times at most, or as often as was asked for, and only what saves") {
  auto job = saving(lumi_job());
  job.requeue = flag(true, "--requeue");
  auto plan = planned(job, "lumi");
  REQUIRE(plan.requeue);
  CHECK(plan.requeue->requeues);
  CHECK(plan.requeue->most == 3);
  CHECK(directive(plan, "--requeue") == "");
  CHECK(directive(plan, "--open-mode") == "append");
  job.max_requeues = flag(7U, "--max-requeues");
  CHECK(planned(job, "lumi").requeue->most == 7);
  auto unsaved = lumi_job();
  unsaved.requeue = flag(true, "--requeue");
  plan = planned(unsaved, "lumi");
  CHECK_FALSE(plan.requeue->requeues);
  CHECK(has_note(plan, "add --save-before TIME"));
  unsaved.max_requeues = flag(7U, "--max-requeues");
  CHECK_THAT(error_of(unsaved, "lumi", "request/max-requeues").hint, Contains("--save-before"));
}

TEST_CASE("checkpoints are not put where the node takes them with it, or where it cannot write") {
  auto site = site_named("lumi");
  site.storage.read_only_on_compute = {"/appl"};
  const auto refused = [&](const std::string& directory) {
    auto job = lumi_job();
    job.checkpoint_dir = flag(directory, "--checkpoint-dir");
    for (const auto& finding : plan::make_plan(job, site).diagnostics)
      if (finding.code == "request/checkpoint-dir") return finding.message;
    return std::string();
  };
  CHECK_THAT(refused("/tmp/x"), Contains("private to each node"));
  CHECK_THAT(refused("/dev/shm"), Contains("private to each node"));
  CHECK_THAT(refused("/appl/x"), Contains("is read-only on the compute nodes"));
  CHECK(refused("/scratch/project_1/tmp").empty());
  CHECK(refused("/tmpfiles/x").empty());
}

TEST_CASE("a job is tried again where that can be known, and never after its program's own failure") {
  CHECK_FALSE(model::RetryClasses::parse("node,program"));
  CHECK_FALSE(model::RetryClasses::parse("user"));
  CHECK_FALSE(model::RetryClasses::parse("nodes"));
  auto job = saving(lumi_job());
  job.requeue_on = flag(model::RetryClasses::parse("preempted").value(), "--requeue-on");
  CHECK_THAT(error_of(job, "lumi", "request/requeue-on").hint, Contains("--requeue"));
  job.requeue = flag(true, "--requeue");
  CHECK(planned(job, "lumi").requeue->requeue_on.text() == "preempted");
  job.requeue_on = flag(model::RetryClasses::parse("node,preempted").value(), "--requeue-on");
  CHECK_THAT(error_of(job, "lumi", "request/requeue-on").hint, Contains("--log-dir"));
  job.log_dir = model::Sourced<model::LogDirectory>{model::LogDirectory::parse("logs").value(), {}};
  CHECK(planned(job, "lumi").requeue->requeue_on.text() == "node,preempted");
}

TEST_CASE("spare nodes are asked for beside those that run, count against limits, and are refused where all "
          "nodes have to "
          "run") {
  auto job = lumi_job();
  job.nodes = flag(2U, "--nodes");
  job.spare_nodes = flag(1U, "--spare-nodes");
  const auto plan = planned(job, "lumi");
  CHECK(directive(plan, "--nodes") == "3");
  CHECK(directive(plan, "--no-kill") == "");
  CHECK(plan.layout.nodes == 2);
  CHECK(plan.layout.world_size() == 16);
  job.spare_nodes = flag(100000U, "--spare-nodes");
  CHECK_THAT(error_of(job, "lumi", "request/nodes").message, Contains("100002 nodes"));
  job.spare_nodes = flag(1U, "--spare-nodes");
  job.stage = {{"data.tar", {}}};
  CHECK_THAT(error_of(job, "lumi", "request/spare-nodes").message,
             Contains("--stage, --wheelhouse or a packed environment"));
  job.stage.clear();
  job.nnodes = flag(model::ElasticNodeRange{1, 2}, "--nnodes");
  CHECK_THAT(error_of(job, "lumi", "request/spare-nodes").hint, Contains("use either --nnodes"));
  auto other_job = lumi_job();
  other_job.spare_nodes = flag(1U, "--spare-nodes");
  other_job.launcher = flag(model::Launcher::parse("torchrun").value(), "--launcher");
  CHECK_THAT(error_of(other_job, "lumi", "request/spare-nodes").message,
             Contains("needs the launcher hpcml, but torchrun starts the ranks"));
  auto vista = job_of({"python", "train.py"});
  vista.account = flag(std::string("a"), "--account");
  vista.spare_nodes = flag(1U, "--spare-nodes");
  CHECK_THAT(error_of(vista, "vista", "request/spare-nodes").message, Contains("ibrun"));
}

TEST_CASE("where the site's Slurm expedites requeues, --requeue asks for that, and says why not elsewhere") {
  auto site = small_site();
  site.flags["requeue"].default_value = "expedite";
  auto job = small_job(1);
  const auto requeue_of = [&](const std::string& version) {
    site.slurm_version.reset();
    if (!version.empty()) site.slurm_version = model::Sourced<std::string>{version, {}};
    auto result = plan::make_plan(job, site);
    REQUIRE(result.plan);
    return directive(*result.plan, "--requeue");
  };
  CHECK_FALSE(requeue_of("25.11"));
  job.requeue = flag(true, "--requeue");
  CHECK(requeue_of("25.11.7") == "expedite");
  CHECK(requeue_of("26.05") == "expedite");
  CHECK(requeue_of("") == ""); // an older one would refuse the job
  CHECK(requeue_of("25.05") == "");
  job.requeue = flag(false, "--no-requeue");
  CHECK_FALSE(requeue_of("25.11"));
  job.requeue = flag(true, "--requeue");
  site.flags["requeue"].default_value = "";
  CHECK(requeue_of("25.11") == "");
  site.flags["requeue"].default_value = "soon";
  const auto wrong = plan::make_plan(job, site);
  CHECK(std::any_of(wrong.diagnostics.begin(), wrong.diagnostics.end(),
                    [](const auto& finding) { return finding.code == "site/requeue"; }));
}

TEST_CASE("a folder of checkpoints has a name, and logs that a requeue reads outlive the node") {
  auto job = lumi_job();
  job.checkpoint_dir = flag(std::string(), "--checkpoint-dir");
  CHECK_THAT(error_of(job, "lumi", "usage/checkpoint-dir").message, Contains("--checkpoint-dir is empty"));
  job.checkpoint_dir = std::nullopt;
  job.requeue = flag(true, "--requeue");
  job.requeue_on = flag(model::RetryClasses::parse("node, launcher").value(), "--requeue-on");
  job.log_dir = flag(model::LogDirectory::parse("/tmp/logs").value(), "--log-dir");
  CHECK_THAT(error_of(job, "lumi", "request/log-dir").message, Contains("private to each node"));
  job.log_dir = flag(model::LogDirectory::parse("logs").value(), "--log-dir");
  CHECK(errors_of(job, "lumi").empty());
}

TEST_CASE("to requeue after preemption its script has to hear of it") {
  auto job = lumi_job();
  job.requeue = flag(true, "--requeue");
  job.requeue_on = flag(model::RetryClasses::parse("node,preempted").value(), "--requeue-on");
  job.log_dir = flag(model::LogDirectory::parse("logs").value(), "--log-dir");
  CHECK_THAT(error_of(job, "lumi", "request/requeue-on").hint, Contains("--save-before"));
  CHECK(errors_of(saving(job), "lumi").empty());
}
