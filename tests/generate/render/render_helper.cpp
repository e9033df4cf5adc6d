// SPDX-License-Identifier: MIT
#include "generate/render/render_helper.hpp"

#include <cstdlib>
#include <regex>
#include <stdexcept>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "flag_values.hpp"
#include "samples.hpp"

namespace hpcml::test {

namespace fs = std::filesystem;

namespace {

model::Origin site_fact(const std::string& by) {
  return {model::OriginKind::site, by, "a page", "2026-01-02", {}};
}
model::Origin given_by(const std::string& flag) { return {model::OriginKind::flag, flag, {}, {}, {}}; }

bool fits(const std::string& value, const model::SbatchOptionRule& rule) {
  return rule.pattern.empty() || std::regex_match(value, std::regex(rule.pattern));
}

/// An account as the site writes it.
std::string valid_value(const model::SbatchOptionRule& rule) {
  for (const auto* account : {"me", "def-me", "aip-me", "project_1", "me-dtai-gh", "berzelius-2026-1"})
    if (fits(account, rule)) return account;
  return "me" + rule.suffix;
}

void put(const fs::path& path, const std::string& text) {
  if (!util::write_file(path, text, 0755)) throw std::runtime_error("cannot write " + path.string());
}

} // namespace

model::Plan make_whole_node_plan() {
  model::Plan plan;
  plan.site_id = "lumi";
  plan.site_hash = "0123456789abcdef";
  plan.shebang = "#!/bin/bash";
  plan.partition = "standard-g";
  plan.command = {"train_ddp"};
  plan.request_line = "hpcml gen --site lumi -- train_ddp";
  plan.directives = {{"--job-name", "train_ddp", given_by("--job-name")},
                     {"--account", "project_1", given_by("--account")},
                     {"--partition", "standard-g", site_fact("partitions[0]")},
                     {"--nodes", "2", given_by("--nodes")},
                     {"--ntasks-per-node", "8", {}},
                     {"--gpus-per-node", "8", {}},
                     {"--time", "00:10:00", given_by("--time")},
                     {"--output", "%x-%j.out", {}},
                     {"--exclusive", std::nullopt, {}}};
  plan.layout.nodes = 2;
  plan.layout.ranks_per_node = plan.layout.tasks_per_node = plan.layout.gpus_per_node = 8;
  plan.layout.gpus_per_rank = 1;
  plan.layout.cpus_per_rank = 7;
  plan.binding.binder = model::Binder::srun_masks;
  plan.binding.why = "the step owns its nodes";
  for (const unsigned first : {49U, 57U, 17U, 25U, 1U, 9U, 33U, 41U}) {
    model::PlannedRankBinding rank;
    rank.local_rank = static_cast<unsigned>(plan.binding.ranks.size());
    rank.gpus = {rank.local_rank};
    rank.cpus = model::IdSet::range(first, first + 6);
    plan.binding.ranks.push_back(rank);
  }
  plan.gpu_visibility = {model::GpuVisibilityMode::own, site_fact("gpu_visibility")};
  plan.gpu_vendor = model::GpuVendor::amd;
  plan.backend = {model::Backend::automatic, {}};
  plan.hpcml_path = {"/opt/hpcml/bin/hpcml", {}};
  plan.rendezvous.interfaces = {"hsn0", "hsn1"};
  plan.caches = {{"miopen",
                  "$SLURM_TMPDIR",
                  {{"MIOPEN_USER_DB_PATH", ""}, {"MIOPEN_CUSTOM_CACHE_DIR", "cache"}},
                  site_fact("caches[0]")}};
  model::Origin newer = site_fact("env[0]");
  newer.superseded.push_back({"3", "an older page", "newer pages say PHB"});
  plan.env = {{"NCCL_NET_GDR_LEVEL", "PHB", false, model::ValueScope::task, newer}};
  return plan;
}

model::Plan make_plan_for(const std::string& launcher) {
  auto plan = make_whole_node_plan();
  plan.launcher.choice = model::Launcher::parse(launcher).value();
  // Where no launch sets variables in the task, the planner has the batch part export them.
  if (launcher != "hpcml") {
    plan.env[0].scope = model::ValueScope::batch;
    plan.env.push_back(
        {"GLOO_SOCKET_IFNAME", "hsn0,hsn1", false, model::ValueScope::batch, site_fact("network")});
    plan.env.push_back({"OMP_NUM_THREADS", "7", false, model::ValueScope::batch, {}});
  }
  if (launcher == "torchrun" || launcher == "accelerate") {
    plan.launcher.spawns = true;
    plan.layout.tasks_per_node = 1;
    plan.binding.binder = model::Binder::agent;
    plan.binding.ranks.clear();
    plan.directives[4].value = "1";
  }
  if (launcher == "ibrun") {
    plan.launcher.step = "ibrun";
    plan.launcher.rank_variable = "OMPI_COMM_WORLD_RANK";
    plan.launcher.local_rank_variable = "OMPI_COMM_WORLD_LOCAL_RANK";
    plan.binding.binder = model::Binder::srun_cores;
    plan.binding.ranks.clear();
  }
  return plan;
}

void choose_partition(model::JobSpec& job, const model::Site& site) {
  const bool gpus = !job.gpus_per_node || job.gpus_per_node->value > 0;
  for (const auto& partition : site.partitions)
    if (partition.cpu_only != gpus && (partition.is_default || !partition.nameable)) return;
  for (const auto& partition : site.partitions)
    if (partition.cpu_only != gpus && !job.partition) job.partition = text(partition.name);
}

std::optional<std::string> account_at(const model::Site& site) {
  const auto rule = site.flags.find("account");
  const bool taken = rule != site.flags.end() && (rule->second.policy == model::OptionPolicy::required ||
                                                  rule->second.policy == model::OptionPolicy::optional);
  return taken ? std::optional(valid_value(rule->second)) : std::nullopt;
}

std::string other_account(const model::Site& site, const std::string& account) {
  const auto rule = site.flags.find("account");
  for (const auto& account_name : {account + "9", "9" + account})
    if (account.find('@') == std::string::npos && fits(account_name, rule->second)) return account_name;
  return "9" + account; // in front of "@" and of an ending that the site wants
}

model::JobSpec request_for(const model::Site& site) {
  model::JobSpec job;
  job.command = {"python", "train.py", "--note", "it's $HOME"};
  job.nodes = number(2);
  job.time = model::Sourced<model::Walltime>{*model::Walltime::parse("15"), {}};
  job.hpcml_path = text("/opt/hpcml/bin/hpcml");
  if (const auto account = site.flags.find("account");
      account != site.flags.end() && account->second.policy == model::OptionPolicy::required)
    job.account = text(valid_value(account->second));
  if (const auto mem = site.flags.find("mem");
      mem != site.flags.end() && mem->second.policy == model::OptionPolicy::required)
    job.mem = model::Sourced<model::MemSize>{*model::MemSize::parse("16G"), {}};
  if (const auto qos = site.flags.find("qos");
      qos != site.flags.end() && qos->second.policy == model::OptionPolicy::required)
    job.qos = text(site.qos.empty() ? "normal" : site.qos.front().name);
  if (site.node_types.empty()) job.gpus_per_node = number(1);
  return job;
}

const std::vector<std::string>& hostile_texts() {
  static const std::vector<std::string> k_texts = {"plain",
                                                   "",
                                                   " ",
                                                   "two words",
                                                   "a\"b'$(touch pwned)#x",
                                                   "`touch pwned`",
                                                   "$HOME",
                                                   "${IFS}",
                                                   "a;touch pwned",
                                                   "a && touch pwned",
                                                   "| touch pwned",
                                                   "> pwned",
                                                   "\\",
                                                   "a\\",
                                                   "\\\\'",
                                                   "'",
                                                   "''",
                                                   "\"",
                                                   "'; touch pwned; '",
                                                   "\"; touch pwned; \"",
                                                   "#",
                                                   "# no comment",
                                                   "a#b",
                                                   "~",
                                                   "~/x",
                                                   "~root",
                                                   "*",
                                                   "?[a]",
                                                   "{a,b}",
                                                   "!!",
                                                   "!x",
                                                   "a!",
                                                   "-n",
                                                   "--",
                                                   "-",
                                                   "--x=$(touch pwned)",
                                                   "A=b",
                                                   "%x-%j",
                                                   "caf\xc3\xa9",
                                                   "\xe2\x80\x9cquoted\xe2\x80\x9d $x",
                                                   "\xe2\x80\x99",
                                                   "\xc2\xa0",
                                                   "a\tb",
                                                   "a\nb",
                                                   "\n",
                                                   "a\rb",
                                                   "a\r\nb",
                                                   "$'a'",
                                                   "\x1b[31m",
                                                   "{{name}}",
                                                   "{{{name}}}",
                                                   "{{#name}}",
                                                   "a=b=c",
                                                   "(",
                                                   ")",
                                                   "()",
                                                   "a b\nSBATCH",
                                                   "\n#SBATCH --nodes=9",
                                                   "$SLURM_PROCID",
                                                   "$(",
                                                   "${",
                                                   "$",
                                                   "a$",
                                                   "\\$x",
                                                   "\\n",
                                                   "<<EOF",
                                                   "&",
                                                   "shellcheck disable=all",
                                                   "\xff\xfe"};
  return k_texts;
}

std::string script_faults(const std::string& script) {
  if (k_sanitized) return {}; // bash and shellcheck say there what they say in the release run
  TempDirectory directory;
  put(directory / "job.sh", script);
  std::string faults;
  const auto env = util::EnvSnapshot::of_process();
  for (const auto& argv : std::vector<std::vector<std::string>>{
           {"bash", "-n", (directory / "job.sh").string()},
           // Environments exist only on the cluster, and tasks expand their own variables.
           {"shellcheck", "--norc", "--shell=bash", "--severity=style", "--exclude=SC1090,SC1091,SC2016",
            "--enable=deprecate-which,avoid-nullary-conditions", (directory / "job.sh").string()}}) {
    const auto result = util::run_process(argv, env);
    if (!result)
      faults += result.error().what + "\n";
    else if (result->exit_code != 0)
      faults += result->out + result->err;
  }
  return faults;
}

const char* const k_batch_stand_in = R"([[ $1 != --version ]] || exit 0
if [[ $1 == internal && $2 == batch ]]; then
  until [[ $1 == -- ]]; do shift; done
  HPCML_BATCH=$SLURM_JOB_ID exec "${@:2}"
fi
if [[ $1 == internal ]]; then
  printf '%s\0' "$@" > internal-words
  exit 0
fi
)";

std::string stand_in_hpcml(const TempDirectory& directory) {
  put(directory / "hpcml", std::string("#!/bin/bash\n") + k_batch_stand_in +
                               "while [[ $1 != -- ]]; do shift; done\nshift\nexec \"$@\"\n");
  return (directory / "hpcml").string();
}

std::string word_writer(const TempDirectory& directory) {
  put(directory / "show words", "#!/bin/bash\nprintf '%s\\0' \"$@\" > words\nenv -0 > env\n");
  return (directory / "show words").string();
}

void put_program(const TempDirectory& directory, const std::string& name, const std::string& body) {
  fs::create_directories(directory / "bin");
  put(directory / "bin" / name, "#!/bin/bash\n" + body);
}

util::ProcessOutput run_script(const std::string& script, const TempDirectory& directory,
                               const std::map<std::string, std::string>& more) {
  const auto offer = [&](const char* name, const char* body) {
    if (!fs::exists(directory / "bin" / name)) put_program(directory, name, body);
  };
  for (const char* name : {"srun", "ibrun"})
    offer(name, "while [[ $1 == -* ]]; do shift; done\nexec \"$@\"\n");
  offer("scontrol", "printf '%s\\n' node1 node2\n");
  offer("singularity", "while [[ $1 != *.sif ]]; do shift; done\nshift\nSINGULARITY_NAME=x exec \"$@\"\n");
  for (const char* name : {"torchrun", "accelerate"})
    offer(name, "[[ $1 != launch ]] || shift\nwhile [[ $1 == -* ]]; do shift; done\nexec \"$@\"\n");
  put(directory / "job.sh", script);
  util::EnvSnapshot env;
  env.set("PATH", (directory / "bin").string() + ":/usr/bin:/bin:/usr/sbin:/sbin");
  env.set("HOME", directory.path().string());
  for (const auto& [name, value] : std::map<std::string, std::string>{{"SLURM_JOB_ID", "4711"},
                                                                      {"SLURM_JOB_NODELIST", "node[1-2]"},
                                                                      {"SLURM_PROCID", "11"},
                                                                      {"SLURM_LOCALID", "3"},
                                                                      {"SLURM_NTASKS", "16"},
                                                                      {"SLURM_NNODES", "2"},
                                                                      {"SLURM_NODEID", "1"},
                                                                      {"SLURMD_NODENAME", "node1"},
                                                                      {"OMPI_COMM_WORLD_RANK", "11"},
                                                                      {"OMPI_COMM_WORLD_LOCAL_RANK", "3"}})
    env.set(name, value);
  env.set("SLURM_TMPDIR", directory.path().string());
  env.set("SIF", "image.sif"); // as a module that gives an image has it
  for (const auto& [name, value] : more) env.set(name, value);
  const auto result = util::run_process({"/usr/bin/env", "-C", directory.path().string(), "bash", "job.sh"},
                                        env, std::chrono::seconds(300));
  if (!result) throw std::runtime_error(result.error().what);
  return *result;
}

std::vector<std::string> written_words(const TempDirectory& directory) {
  const auto text = util::read_file(directory / "words");
  if (!text) return {"(no words were written)"};
  auto words = util::split(*text, '\0');
  words.pop_back();
  return words;
}

std::map<std::string, std::string> seen_environment(const TempDirectory& directory) {
  std::map<std::string, std::string> variables;
  const auto text = util::read_file(directory / "env");
  if (!text) return variables;
  for (const auto& line : util::split(*text, '\0'))
    if (const auto equals = line.find('='); equals != std::string::npos)
      variables[line.substr(0, equals)] = line.substr(equals + 1);
  return variables;
}

} // namespace hpcml::test
