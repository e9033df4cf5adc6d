// SPDX-License-Identifier: MIT
#include "generate/render/random_request_helper.hpp"

#include "core/config/job_keys.hpp"
#include "core/site_rules/placement.hpp"
#include "generate/render/render_helper.hpp"

namespace hpcml::test {
namespace {

/// What a person may write for a key; the sites' own names come from their profiles.
const std::map<std::string, std::vector<std::string>>& plain_values() {
  static const std::map<std::string, std::vector<std::string>> k_values = {
      {"account", {}},
      {"partition", {}},
      {"qos", {}},
      {"gpu-type", {}},
      {"nodes", {"1", "1", "2", "4", "64"}},
      {"gpus-per-node", {"0", "1", "2", "4", "8", "3"}},
      {"gpus-per-task", {"1", "2", "4"}},
      {"tasks-per-node", {"1", "2", "4", "8", "128"}},
      {"cpus-per-task", {"1", "4", "7", "16", "64"}},
      {"threads-per-core", {"1", "2"}},
      {"mem", {"1G", "16G", "100G", "480G", "0", "4T"}},
      {"time", {"10", "30m", "1h", "1-00:00:00", "2-00:00:00", "7-00:00:00"}},
      {"job-name", {"train", "exp/1", "a b", "x%j"}},
      {"output", {"%x-%j.out", "logs/%j.out", "/dev/null", "a b.out", "%A_%a.out"}},
      {"launcher", {"hpcml", "torchrun", "srun", "ibrun", "mpirun", "accelerate", "deepspeed"}},
      {"backend", {"nccl", "gloo"}},
      {"gpu-visibility", {"all", "own"}},
      {"rank-order", {"gpu", "cpu", "ring", "0,1,2,3"}},
      {"idle-cores", {"none", "package"}},
      {"bind-check", {"warn", "fail"}},
      {"signal", {"USR1@60", "B:USR1@120", "TERM", "usr1@90", "USR1@", "0@60", "USR1@70000"}},
      {"array", {"0-3", "0-9%2", "1,3,5", "7", "0-10:0", "5-1", "0-40000"}},
      {"dependency", {"afterok:123", "singleton", "AFTERANY:1:2", "afterok:0", "afterok:1?afterok:2"}},
      {"hpcml-path", {"/opt/hpcml/bin/hpcml", "/opt/my tools/hpcml"}},
      {"sbatch", {"--reservation=ours", "--comment=hello",   "--exclusive",
                  "--mail-type=END",    "--nice=10",         "--begin=now+1hour",
                  "--constraint=a",     "--gres=gpu:1",      "--hint=nomultithread",
                  "--mem-per-cpu=2G",   "--mem-per-gpu=8G",  "--nodelist=n1",
                  "--time-min=5",       "--clusters=other",  "--gres=nvme:10",
                  "--tmp=10G",          "--mem=20G",         "-t 20",
                  "--ntasks=4",         "--no-such-option=1"}},
      {"srun", {"--label", "--cpu-bind=none", "--unbuffered", "--kill-on-bad-exit=1", "--mpi=pmix"}},
      {"save-before", {"90s", "2m", "5", "3-0"}},
      {"save-signal", {"USR1", "sigterm"}},
      {"requeue", {"true", "false"}},
      {"max-requeues", {"0", "5"}},
      {"spare-nodes", {"0"}}, // more make other requests of the nodes that the test counts
      {"requeue-on", {"preempted", "node,launcher"}},
      {"checkpoint-dir", {"/scratch/my runs", "/tmp/x"}},
      {"nccl-debug", {"true"}},
      {"report", {"true"}},
      {"tf32", {"on", "off"}},
      {"preflight", {"true"}},
      {"store", {"own", "env", "auto"}},
      {"rendezvous-timeout", {"0", "60"}},
      {"jax-coordinator", {"true"}},
      {"agent", {"true"}},
      {"log-dir", {"logs", "/scratch/my logs"}},
      {"max-restarts", {"0", "3"}},
      {"stall-timeout", {"0", "600"}},
      {"nnodes", {"1", "1:2", "1:1", "2:4"}},
      {"heartbeat-interval", {"5", "10"}},
      {"heartbeat-timeout", {"0", "60"}},
      {"venv", {"/home/me/env", "env.tar.gz", "/home/me/my env"}},
      {"conda", {"pytorch", "env.tar.gz"}},
      {"wheelhouse", {"torch numpy", "requirements.txt"}},
      {"container", {"/images/torch.sif", "docker://pytorch/pytorch:2.4.0", "nersc/pytorch:25.06"}},
      {"container-engine", {"apptainer", "singularity", "pyxis", "shifter", "uenv", "edf"}},
      {"module", {"cuda", "PyTorch/2.1.2-foss-2023a", "use:/opt/modules"}},
      {"env", {"OMP_PLACES=cores", "A=b c", "NCCL_DEBUG=INFO", "EMPTY="}},
      {"stage", {"/data/set.tar", "/data/folder"}},
      {"bind", {"/project", "/project/me:/workdir"}},
      {"container-enter", {"false"}},
  };
  return k_values;
}

std::vector<std::string> values_of(const std::string& key, const model::Site& site) {
  auto values = plain_values().at(key); // a key without values fails the test
  if (key == "account") values = {account_at(site).value_or("abc123")};
  if (key == "partition")
    for (const auto& partition : site.partitions) values.push_back(partition.name);
  if (key == "qos")
    for (const auto& qos : site.qos) values.push_back(qos.name);
  if (key == "gpu-type")
    for (const auto& node : site.node_types)
      if (node.gpu && !node.gpu->slurm_type.empty()) values.push_back(node.gpu->slurm_type);
  if (values.empty()) values.push_back("normal");
  return values;
}

} // namespace

void RequestMaker::draw_key(model::JobSpec& job, const model::Site& site) {
  const auto& keys = config::job_keys();
  const auto is_launcher = [](const auto& entry) { return entry.name == "launcher"; };
  const auto& key = below(10) == 0 ? *std::find_if(keys.begin(), keys.end(), is_launcher)
                                   : keys[below(static_cast<unsigned>(keys.size()))];
  const auto value = pick(values_of(key.name, site));
  if (key.from_text(job, value, {model::OriginKind::flag, key.flag(), {}, {}, {}})) return;
  ++x_drawn[key.name];
  x_written += (x_written.empty() ? "" : " ") + key.flag() + " '" + value + "'";
}

void RequestMaker::count(model::JobSpec& job, const model::Site& site) {
  const auto* node = site_rules::place(site, site_rules::demand_of(job)).node();
  const unsigned gpu_count = node && node->gpu ? node->gpu->per_node : 1;
  const auto number = [&](const char* flag, unsigned value) {
    x_written += std::string(x_written.empty() ? "" : " ") + flag + " " + std::to_string(value);
    return model::Sourced<unsigned>{value, {model::OriginKind::flag, flag, {}, {}, {}}};
  };
  const bool by_node = site.gpu_request.style == model::GpuOptionStyle::none;
  if (!job.gpus_per_node) {
    const unsigned gpus[] = {gpu_count, gpu_count, gpu_count, gpu_count, 1, gpu_count + 1};
    job.gpus_per_node = number("--gpus-per-node", by_node ? gpu_count : gpus[below(6)]);
  }
  if (!job.tasks_per_node)
    job.tasks_per_node = number("--tasks-per-node", std::max(1U, job.gpus_per_node->value));
  if (!job.cpus_per_task) {
    const unsigned cores[] = {1, 1, 2, 2, 4, 4, 8, 12, 300};
    job.cpus_per_task = number("--cpus-per-task", cores[below(9)]);
  }
}

model::JobSpec RequestMaker::next(const model::Site& site) {
  auto job = request_for(site);
  job.nodes = model::Sourced<unsigned>{1, {}};
  if (below(3) == 0) job.command = {"./train_ddp", "--epochs", "3"};
  if (below(12) == 0) job.steps = {{{"python", "prepare.py"}, below(2) == 0}, {job.command, false}};
  x_written.clear();
  const unsigned counts[] = {0, 1, 1, 1, 2, 2, 3};
  for (auto keys = counts[below(7)]; keys > 0; --keys) draw_key(job, site);
  choose_partition(job, site);
  x_counted = below(4) == 0;
  if (x_counted) count(job, site);
  return job;
}

} // namespace hpcml::test
