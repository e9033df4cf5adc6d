// SPDX-License-Identifier: MIT
// Variables, caches, interfaces, rendezvous and backend.
#include "generate/plan/environment.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/model/gpu_arch.hpp"
#include "core/model/tf32.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/plan/program_signs.hpp"
#include "generate/plan/software.hpp"
#include "generate/plan/threads.hpp"
#include "generate/plan/user_command.hpp"
#include "hpcml/rank_env.hpp"

namespace hpcml::plan {
namespace {

using model::Backend;
using model::GpuVisibilityMode;
using model::PlannedEnv;
using model::ValueScope;

/// Variables that differ from rank to rank: one value for the whole job would be wrong on all but one.
bool is_rank_variable(const std::string& name) {
  return std::find(k_rank_variables.begin(), k_rank_variables.end(), name) != k_rank_variables.end();
}

void add_user_variables(const RequestWithLaunch& input, PlanStepResult<Software>& result) {
  for (const auto& [name, value] : input.job.env) {
    if (!util::is_variable_name(name))
      result.remarks.error("usage/env",
                           fmt::format("--env cannot set '{}': it is not a valid variable name", name),
                           "use letters, digits and _, without a digit first: --env NAME=VALUE");
    else if (is_rank_variable(name))
      result.remarks.error(
          "usage/env",
          fmt::format("--env {0} cannot be used: the launcher sets {0} to the value of each rank", name),
          fmt::format("remove --env {}", name));
    else if (value.value.find('\0') != std::string::npos)
      result.remarks.error(
          "usage/env",
          fmt::format("--env {} has a value with a zero byte, which no variable can contain", name),
          "remove the zero byte from \"env\" in the job file");
    else
      set_variable(result.value.env, {name, value.value, false, ValueScope::batch, value.origin},
                   "the request sets another value");
  }
}

/// Says where TF32 is asked for and GPUs have none; where no hpcml sets it for the ranks the script does.
void plan_tf32(const RequestWithLaunch& input, PlanStepResult<Software>& result) {
  if (!input.job.tf32) return;
  const auto& [choice, origin] = *input.job.tf32;
  const auto flag = fmt::format("--tf32 {}", model::word_of(choice));
  const auto* node = input.node();
  const auto arch = node && node->gpu ? model::gpu_arch(*node->gpu) : std::string();
  std::string fault;
  if (input.numbers().gpus_per_node == 0)
    fault = fmt::format("{} has no effect: the job has no GPUs, and CPUs have no TF32", flag);
  else if (!model::may_have_tf32(arch))
    fault = fmt::format("{} has no effect: {} ({}) always computes float32 without TF32", flag,
                        node->gpu->model, arch);
  if (!fault.empty() && choice == model::Tf32::on)
    result.remarks.warning(
        "request/tf32", fault,
        "use GPUs with TF32 (NVIDIA from A100 on, AMD from MI300 on), or remove --tf32 on");
  else if (!fault.empty())
    result.remarks.report("request/tf32", fault, "remove --tf32 off: the job computes without TF32 anyway");
  if (input.is_hpcml()) return;
  for (const auto& [name, value] : model::tf32_variables(choice, input.placement.gpu_vendor).set)
    set_variable(result.value.env, {name, value, false, ValueScope::batch, origin}, "asked for");
}

void plan_backend(const RequestWithLaunch& input, PlanStepResult<Software>& result) {
  const bool gpus = input.numbers().gpus_per_node > 0;
  if (!input.job.backend) {
    result.value.backend =
        gpus ? model::Sourced<Backend>{Backend::automatic,
                                       rule_origin("NCCL where the ranks see GPUs, else Gloo")}
             : model::Sourced<Backend>{Backend::gloo, rule_origin("a job without GPUs")};
    return;
  }
  result.value.backend = *input.job.backend;
  if (result.value.backend.value == Backend::nccl && !gpus)
    result.remarks.error("request/backend", "--backend nccl needs GPUs, but the job has none",
                         "use --backend gloo, or set --gpus-per-node N");
}

/// Warns about a program whose ranks would use devices that they do not see.
void remark_on_devices(const RequestWithLaunch& input, PlanStepResult<Software>& result) {
  const auto& numbers = input.numbers();
  if (!input.is_hpcml() || numbers.gpus_per_node < 2 || numbers.ranks_per_node < 2 ||
      result.value.gpu_visibility.value != GpuVisibilityMode::own ||
      !numbers_device_by_rank(input.job.program_text))
    return;
  result.remarks.warning(
      "request/gpu-visibility",
      "the program seems to use LOCAL_RANK as the number of its GPU, but each rank sees only its own GPU, "
      "as device 0: all ranks of a node except the first would fail (invalid device ordinal)",
      input.gpus_by_task()
          ? "use LOCAL_RANK % torch.cuda.device_count() in the program"
          : "add --gpu-visibility all, or use LOCAL_RANK % torch.cuda.device_count() in the program");
}

void plan_visibility(const RequestWithLaunch& input, PlanStepResult<Software>& result) {
  const model::GpuVisibilityRule& rule = input.site.gpu_visibility;
  result.value.gpu_visibility =
      input.job.gpu_visibility.value_or(model::Sourced<GpuVisibilityMode>{rule.mode, rule.origin});
  const model::GpuRequestRule& request = input.gpu_request();
  const bool by_slurm = input.gpus_by_task();
  if (by_slurm && input.job.gpu_visibility && result.value.gpu_visibility.value == GpuVisibilityMode::all)
    result.remarks.error(
        "request/gpu-visibility",
        fmt::format(
            "--gpu-visibility all cannot be used: jobs on {} request GPUs per task, so Slurm shows each rank "
            "only its own GPUs",
            input.site.name),
        "remove --gpu-visibility", request.origin);
  else if (by_slurm)
    result.value.gpu_visibility = {
        GpuVisibilityMode::own, rule_origin("with --gpus-per-task Slurm shows each task its own GPUs only")};
  remark_on_devices(input, result);
}

} // namespace

std::string job_directory(const model::PlannedLayout& layout, const std::string& base,
                          const std::string& name) {
  // With spare nodes a job may start again without a requeue.
  const std::string restarts = layout.spare_nodes > 0 ? "$HPCML_RESTART_COUNT" : "${SLURM_RESTART_COUNT:-0}";
  return (base == "/" ? "" : base) + "/hpcml-$UID-$SLURM_JOB_ID-" + restarts + "-" + name;
}

void set_variable(std::vector<PlannedEnv>& env, PlannedEnv variable, const std::string& why) {
  const auto old = std::find_if(env.begin(), env.end(),
                                [&](const auto& existing) { return existing.name == variable.name; });
  if (old != env.end()) {
    if (old->value != variable.value)
      variable.origin.superseded.push_back(
          {old->value, old->origin.source.empty() ? old->origin.by : old->origin.source.text(), why});
    env.erase(old);
  }
  env.push_back(std::move(variable));
}

std::vector<PlannedEnv> site_environment(const model::Site& site, const site_rules::JobFacts& facts,
                                         model::GpuVendor gpu_vendor) {
  std::vector<PlannedEnv> env;
  if (!site.network.interfaces.empty()) {
    // Both lists are exact names: NCCL would also take prefixes, Gloo splits at the commas and takes nothing
    // else.
    const std::string names = util::join(site.network.interfaces, ",");
    if (facts.gpus)
      env.push_back({"NCCL_SOCKET_IFNAME", names, false, ValueScope::task, site.network.origin});
    env.push_back({"GLOO_SOCKET_IFNAME", names, false, ValueScope::task, site.network.origin});
  }
  if (facts.gpus && gpu_vendor == model::GpuVendor::nvidia)
    env.push_back({"CUDA_DEVICE_ORDER", "PCI_BUS_ID", false, ValueScope::task,
                   rule_origin("CUDA numbers GPUs by speed unless it is set to use the PCI address")});
  for (const auto& [name, value] : site.network.proxy)
    env.push_back({name, value, false, ValueScope::batch, site.network.proxy_origin});
  for (const auto& rule : site.env)
    if (site_rules::applies(rule.when, facts))
      set_variable(env, {rule.name, rule.value, rule.expression, rule.scope, rule.origin},
                   "a later rule of the site");
  return env;
}

model::PlannedEnv cpu_rank_variable() {
  return {"ACCELERATE_USE_CPU", "true", false, ValueScope::task,
          rule_origin("without it Accelerate starts a separate world for each rank on CPUs")};
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
    env.push_back({"OMP_NUM_THREADS", std::to_string(cores), false, ValueScope::task,
                   rule_origin("one thread per core of the rank")});
  for (const auto& [name, value] : site.openmp)
    if (!binds_threads(name, value))
      env.push_back({name, value, false, ValueScope::task, site.openmp_origin});
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

std::vector<model::PlannedCache> site_caches(const model::Site& site, const site_rules::JobFacts& facts) {
  std::vector<model::PlannedCache> caches;
  for (const auto& rule : site.caches)
    if (site_rules::applies(rule.when, facts))
      caches.push_back({rule.name, rule.base, rule.variables, rule.origin});
  return caches;
}

namespace {

/// "${SCRATCH:-$HOME/.cache}": where Hugging Face's libraries look by themselves, should the variable be
/// missing.
std::string with_fallback(const std::string& scratch) {
  const auto end = std::find_if_not(scratch.begin() + 1, scratch.end(), util::is_name_char);
  const std::string name(scratch.begin() + 1, end), rest(end, scratch.end());
  return scratch.front() != '$' || name.empty() || name == "HOME" ? scratch
                                                                  : "${" + name + ":-$HOME/.cache}" + rest;
}

} // namespace

std::string place_in_scratch(const model::Site& site, const std::string& variable,
                             const std::string& directory) {
  const auto& scratch = site.storage.scratch;
  return scratch.find('$') == std::string::npos
             ? std::string()
             : "${" + variable + ":-" + with_fallback(scratch) + "/" + directory + "}";
}

namespace {

/// Variables of the models' caches, and the names of their directories.
constexpr std::array<std::pair<const char*, const char*>, 2> k_model_caches = {
    {{"HF_HOME", "huggingface"}, {"TORCH_HOME", "torch"}}};

/// Models do not fit into a home's quota: their caches go to scratch, where the profile knows one that is the
/// user's own.
void place_models(const RequestWithLaunch& input, bool shows_scratch, PlanStepResult<Software>& result) {
  if (!is_python(input.job.command)) return;
  const model::StorageRule& storage = input.site.storage;
  const auto reason = rule_origin("models can exceed the quota of the home directory");
  if (leaves_host(input.job, input.request.images) && !shows_scratch)
    result.remarks.note(
        "hpcml sets no HF_HOME and TORCH_HOME (for models), because the container does not show "
        "scratch; use --env HF_HOME=DIR --bind DIR",
        reason);
  else if (storage.scratch.find('$') == std::string::npos)
    result.remarks.note(
        fmt::format("hpcml sets no HF_HOME and TORCH_HOME (for models), because the profile of {} has no "
                    "scratch directory per user; use --env HF_HOME=DIR",
                    input.site.name),
        reason);
  else
    for (const auto& [name, directory] : k_model_caches)
      result.value.env.push_back(
          {name, place_in_scratch(input.site, name, directory), true, ValueScope::batch, storage.origin});
  if (site_rules::is_offline(input.site, input.placement.place.partitions))
    result.value.env.push_back(
        {"HF_HUB_OFFLINE", "${HF_HUB_OFFLINE:-1}", true, ValueScope::batch, input.site.network.origin});
}

} // namespace

namespace {

model::PlannedRendezvous rendezvous_place(const model::Site& site) {
  const model::MasterAddressRule& master = site.network.master;
  model::PlannedRendezvous place{master.interface, master.suffix, site.network.interfaces, master.origin};
  place.ipv4 = master.ipv4;
  place.from_env = master.from_env;
  place.port_from_env = master.port_from_env;
  place.port = master.port.value_or(0);
  return place;
}

} // namespace

namespace {

/// True if a line of the script that is imported assigns the variable: `NAME=value`, `${NAME:=value}`.
bool assigns(const std::string& text, const std::string& name) {
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    if (at > 0 && util::is_name_char(text[at - 1])) continue;
    if (text.compare(end, 1, "=") != 0 && text.compare(end, 2, ":=") != 0) continue;
    const auto line = at == 0 ? 0 : text.rfind('\n', at - 1) + 1; // npos + 1 is 0
    const auto first = text.find_first_not_of(" \t", line);
    if (text[first] != '#') return true;
  }
  return false;
}

/// Removes values that only fill a variable in: they would come before the script's own default.
void leave_to_script(const model::ImportedBody& body, std::vector<PlannedEnv>& env) {
  const auto sets = [&](const std::string& name) {
    return std::any_of(body.pieces.begin(), body.pieces.end(),
                       [&](const auto& piece) { return assigns(piece.text, name); });
  };
  // Those of the models are in it by default, and a file that is not read may set them with a default.
  const bool sets_caches = sets("XDG_CACHE_HOME") || body.sources_settings;
  std::erase_if(env, [&](const PlannedEnv& variable) {
    const auto& name = variable.name;
    if (!variable.expression || !variable.value.starts_with("${" + name + ":-")) return false;
    return sets(name) || (sets_caches && std::any_of(k_model_caches.begin(), k_model_caches.end(),
                                                     [&](const auto& cache) { return cache.first == name; }));
  });
}

} // namespace

PlanStepResult<Software> plan_environment(const RequestWithLaunch& input, Software software) {
  PlanStepResult<Software> result{std::move(software)};
  auto& env = result.value.env;
  const model::PlannedLayout& layout = input.numbers();
  env = site_environment(input.site, input.facts(), input.placement.gpu_vendor);
  for (auto& variable : thread_environment(input.site, {layout.cpus_per_rank, layout.gpus_per_node > 0,
                                                        wanted_workers(input.job),
                                                        layout.cpus_per_rank * layout.threads_per_core}))
    set_variable(env, std::move(variable), "the rank's cores");
  if (layout.gpus_per_node == 0) env.push_back(cpu_rank_variable());
  const auto* image = result.value.image_rule;
  if (image)
    for (const auto& [name, value] : image->env)
      set_variable(env, {name, value, false, ValueScope::batch, image->origin},
                   fmt::format("the images of {}", model::word_of(image->engine)));
  place_models(input, image && image->shows_scratch, result);
  if (input.job.nccl_debug && layout.gpus_per_node == 0)
    result.remarks.warning("request/nccl-debug", "--nccl-debug has no effect: a job without GPUs has no NCCL",
                           "remove --nccl-debug, or set --gpus-per-node N");
  if (input.job.nccl_debug && layout.gpus_per_node > 0) {
    const model::Origin origin{model::OriginKind::flag, "--nccl-debug", {}, {}, {}};
    set_variable(env, {"NCCL_DEBUG", "INFO", false, ValueScope::batch, origin}, "asked for");
    set_variable(env, {"NCCL_DEBUG_SUBSYS", "INIT,COLL", false, ValueScope::batch, origin}, "asked for");
  }
  plan_tf32(input, result);
  // Without hpcml in the task nothing sets variables there; a literal is the same for every rank, so the
  // script can export it.
  if (!input.is_hpcml())
    for (auto& variable : env)
      if (!variable.expression) variable.scope = ValueScope::batch;
  if (input.job.body) leave_to_script(*input.job.body, env);
  add_user_variables(input, result);
  result.value.caches = site_caches(input.site, input.facts());
  result.value.rendezvous = rendezvous_place(input.site);
  plan_backend(input, result);
  plan_visibility(input, result);
  return result;
}

} // namespace hpcml::plan
