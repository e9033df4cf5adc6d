// SPDX-License-Identifier: MIT
// Variables, caches, interfaces, rendezvous and backend.
#include "plan/environment.hpp"

#include <algorithm>
#include <cctype>

#include "hpcml/rank_env.hpp"
#include "plan/command_words.hpp"
#include "plan/plan_context.hpp"
#include "plan/threads.hpp"
#include "util/shell_quote.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

using model::Backend;
using model::GpusSeen;
using model::PlannedEnv;
using model::Scope;

/// Variables that differ from rank to rank: one value for the whole job would be wrong on all but one.
bool is_rank_variable(const std::string& name) {
  return std::find(k_rank_variables.begin(), k_rank_variables.end(), name) != k_rank_variables.end();
}

void add_user_variables(PlanContext& context) {
  for (const auto& [name, value] : context.job.env) {
    if (!util::is_variable_name(name))
      context.error("usage/env", "'" + name + "' is no name for a variable",
                    "letters, digits and _, as --env NAME=VALUE");
    else if (is_rank_variable(name))
      context.error("usage/env", name + " is set by the launcher, for each rank its own",
                    "leave --env " + name + " out");
    else if (value.value.find('\0') != std::string::npos)
      context.error("usage/env", "the value of " + name + " holds a zero byte");
    else
      set_variable(context.plan.env, {name, value.value, false, Scope::batch, value.origin},
                   "the request says otherwise");
  }
}

void plan_backend(PlanContext& context) {
  const bool gpus = context.plan.layout.gpus_per_node > 0;
  if (!context.job.backend) {
    context.plan.backend = gpus ? model::Sourced<Backend>{Backend::automatic,
                                                          by_rule("NCCL where the ranks see GPUs, else Gloo")}
                                : model::Sourced<Backend>{Backend::gloo, by_rule("a job without GPUs")};
    return;
  }
  context.plan.backend = *context.job.backend;
  if (context.plan.backend.value == Backend::nccl && !gpus)
    context.error("request/backend", "NCCL needs GPUs, and this job has none",
                  "use --backend gloo, or ask for GPUs");
}

void plan_visibility(PlanContext& context) {
  const model::GpuVisibility& rule = context.site.gpu_visibility;
  context.plan.gpu_visibility =
      context.job.gpu_visibility.value_or(model::Sourced<GpusSeen>{rule.mode, rule.origin});
  const model::GpuRequest& request = context.gpu_request();
  const bool by_slurm = context.gpus_by_task();
  if (by_slurm && context.job.gpu_visibility && context.plan.gpu_visibility.value == GpusSeen::all)
    context.error("request/gpu-visibility",
                  context.site.name +
                      " asks for GPUs by the task, and then Slurm shows each rank its own only" +
                      site::cited(request.origin),
                  "leave --gpu-visibility out");
  else if (by_slurm)
    context.plan.gpu_visibility = {GpusSeen::own,
                                   by_rule("with --gpus-per-task Slurm shows each task its own GPUs only")};
}

} // namespace

std::string job_folder(const std::string& base, const std::string& name) {
  return (base == "/" ? "" : base) + "/hpcml-$UID-$SLURM_JOB_ID-" + name;
}

void set_variable(std::vector<PlannedEnv>& env, PlannedEnv variable, const std::string& why) {
  const auto old =
      std::find_if(env.begin(), env.end(), [&](const auto& other) { return other.name == variable.name; });
  if (old != env.end()) {
    if (old->value != variable.value)
      variable.origin.superseded.push_back(
          {old->value, old->origin.source.empty() ? old->origin.by : old->origin.source, why});
    env.erase(old);
  }
  env.push_back(std::move(variable));
}

std::vector<PlannedEnv> site_environment(const model::Site& site, const site::JobFacts& facts,
                                         model::GpuVendor gpu_vendor) {
  std::vector<PlannedEnv> env;
  if (!site.network.interfaces.empty()) {
    // Both lists are exact names: NCCL would also take prefixes, Gloo splits at the commas and takes nothing
    // else.
    const std::string names = util::join(site.network.interfaces, ",");
    if (facts.gpus) env.push_back({"NCCL_SOCKET_IFNAME", names, false, Scope::task, site.network.origin});
    env.push_back({"GLOO_SOCKET_IFNAME", names, false, Scope::task, site.network.origin});
  }
  if (facts.gpus && gpu_vendor == model::GpuVendor::nvidia)
    env.push_back({"CUDA_DEVICE_ORDER", "PCI_BUS_ID", false, Scope::task,
                   by_rule("CUDA numbers GPUs by speed unless told to go by PCI address")});
  for (const auto& [name, value] : site.network.proxy)
    env.push_back({name, value, false, Scope::batch, site.network.proxy_origin});
  for (const auto& rule : site.env)
    if (site::applies(rule.when, facts))
      set_variable(env, {rule.name, rule.value, rule.expression, rule.scope, rule.origin},
                   "a later rule of the site");
  return env;
}

bool binds_threads(const std::string& name, const std::string& value) {
  if (name == "OMP_PLACES") return true;
  const auto word = util::to_lower(value);
  return (name == "OMP_PROC_BIND" || name == "KMP_AFFINITY" || name == "GOMP_CPU_AFFINITY") &&
         !word.empty() && word != "false" && word != "none" && word != "disabled";
}

std::vector<PlannedEnv> openmp_environment(const model::Site& site, unsigned cores) {
  std::vector<PlannedEnv> env;
  if (cores > 0)
    env.push_back({"OMP_NUM_THREADS", std::to_string(cores), false, Scope::task,
                   by_rule("one thread per core of the rank")});
  for (const auto& [name, value] : site.openmp)
    if (!binds_threads(name, value)) env.push_back({name, value, false, Scope::task, site.openmp_origin});
  return env;
}

namespace {

/// Data loaders that the request itself counts.
std::optional<unsigned> wanted_workers(const model::JobSpec& job) {
  for (const auto& [name, value] : job.env)
    if (name == "HPCML_DATALOADER_WORKERS")
      if (const auto number = util::parse_unsigned(value.value); number && *number < 100000)
        return static_cast<unsigned>(*number);
  return std::nullopt;
}

} // namespace

std::vector<model::PlannedCache> site_caches(const model::Site& site, const site::JobFacts& facts) {
  std::vector<model::PlannedCache> caches;
  for (const auto& rule : site.caches)
    if (site::applies(rule.when, facts))
      caches.push_back({rule.name, rule.base, rule.variables, rule.origin});
  return caches;
}

namespace {

/// "${SCRATCH:-$HOME/.cache}": where Hugging Face's libraries look by themselves, should the variable be
/// missing.
std::string with_fallback(const std::string& scratch) {
  const auto end = std::find_if_not(scratch.begin() + 1, scratch.end(),
                                    [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
  const std::string name(scratch.begin() + 1, end), rest(end, scratch.end());
  return scratch.front() != '$' || name.empty() || name == "HOME" ? scratch
                                                                  : "${" + name + ":-$HOME/.cache}" + rest;
}

} // namespace

std::string place_in_scratch(const model::Site& site, const std::string& variable,
                             const std::string& folder) {
  const auto& scratch = site.storage.scratch;
  return scratch.find('$') == std::string::npos
             ? std::string()
             : "${" + variable + ":-" + with_fallback(scratch) + "/" + folder + "}";
}

namespace {

/// Models do not fit into a home's quota: their caches go to scratch, where the profile knows one that is the
/// user's own.
void place_models(PlanContext& context, bool shows_scratch) {
  if (!is_python(context.job.command)) return;
  const model::StorageRule& storage = context.site.storage;
  const auto left = [&](const std::string& why) {
    context.note(
        "HF_HOME and TORCH_HOME, the folders of Hugging Face's and torch's models, stay as they are: " + why,
        by_rule("--env HF_HOME=FOLDER places them"));
  };
  if (leaves_host(context.job, context.images) && !shows_scratch)
    left("an image sees only what is bound");
  else if (storage.scratch.find('$') == std::string::npos)
    left("the profile knows no folder of one's own on shared storage");
  else
    for (const auto& [name, folder] : {std::pair{"HF_HOME", "huggingface"}, {"TORCH_HOME", "torch"}})
      context.plan.env.push_back(
          {name, place_in_scratch(context.site, name, folder), true, Scope::batch, storage.origin});
  if (site::is_offline(context.site, context.placement.partitions))
    context.plan.env.push_back(
        {"HF_HUB_OFFLINE", "${HF_HUB_OFFLINE:-1}", true, Scope::batch, context.site.network.origin});
}

} // namespace

void plan_environment(PlanContext& context) {
  model::Plan& plan = context.plan;
  const site::JobFacts facts = context.facts();
  plan.env = site_environment(context.site, facts, plan.gpu_vendor);
  for (auto& variable :
       thread_environment(context.site, {plan.layout.cpus_per_rank, plan.layout.gpus_per_node > 0,
                                         wanted_workers(context.job),
                                         plan.layout.cpus_per_rank * plan.layout.threads_per_core}))
    set_variable(plan.env, std::move(variable), "the rank's cores");
  const auto* images = context.image_rule;
  if (images)
    for (const auto& [name, value] : images->env)
      set_variable(plan.env, {name, value, false, Scope::batch, images->origin},
                   "the images of " + model::word_of(images->engine));
  place_models(context, images && images->shows_scratch);
  if (context.job.nccl_debug) {
    const model::Origin origin{model::OriginKind::flag, "--nccl-debug", {}, {}, {}};
    set_variable(plan.env, {"NCCL_DEBUG", "INFO", false, Scope::batch, origin}, "asked for");
    set_variable(plan.env, {"NCCL_DEBUG_SUBSYS", "INIT,COLL", false, Scope::batch, origin}, "asked for");
  }
  // Without hpcml in the task nothing sets variables there; a literal is the same for every rank, so the
  // script can export it.
  if (!plan.launcher.choice.is_hpcml())
    for (auto& variable : plan.env)
      if (!variable.expression) variable.scope = Scope::batch;
  add_user_variables(context);
  plan.caches = site_caches(context.site, facts);
  plan.rendezvous = {context.site.network.master.interface, context.site.network.master.suffix,
                     context.site.network.interfaces, context.site.network.master.origin};
  const model::MasterRule& master = context.site.network.master;
  plan.rendezvous.ipv4 = master.ipv4;
  plan.rendezvous.from_env = master.from_env;
  plan.rendezvous.port_from_env = master.port_from_env;
  plan.rendezvous.port = master.port.value_or(0);
  plan_backend(context);
  plan_visibility(context);
}

} // namespace hpcml::plan
