// SPDX-License-Identifier: MIT
// Raw --sbatch options: those that are requests become the request, so that the layout and the masks follow
// them.
#include <map>
#include <set>

#include "plan/option_word.hpp"
#include "plan/plan_context.hpp"
#include "util/text.hpp"

namespace hpcml::plan {
namespace {

using model::Known;
using model::Origin;

/// Options that would contradict the layout and have a flag of their own.
const std::map<std::string, std::string> k_own_flags = {
    {"--gpus", "--gpus-per-node"},          {"--ntasks", "--nodes and --tasks-per-node"},
    {"--gpus-per-task", "--gpus-per-task"}, {"--ntasks-per-gpu", "--tasks-per-node"},
    {"--cpus-per-gpu", "--cpus-per-task"},  {"--gpus-per-socket", "--gpus-per-node"},
};

template <class T>
void take(PlanContext& context, const std::string& name, Known<T>& target, T value, const Origin& origin) {
  if (target) context.note("--sbatch " + name + " replaces " + target->origin.by, origin);
  target = model::Sourced<T>{std::move(value), origin};
}

bool take_number(PlanContext& context, const OptionWord& option, Known<unsigned>& target,
                 const Origin& origin) {
  const auto number = util::parse_unsigned(option.value.value_or(""));
  if (!number || *number > 1000000) {
    context.error("usage/sbatch", "'" + option.value.value_or("") + "' is no number for " + option.name);
    return true;
  }
  take(context, option.name, target, static_cast<unsigned>(*number), origin);
  return true;
}

bool take_gpus(PlanContext& context, const OptionWord& option, const Origin& origin) {
  const std::string text = option.value.value_or("");
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos)
    take(context, "GPU type", context.job.gpu_type, text.substr(0, colon), origin);
  return take_number(context, {option.name, text.substr(colon == std::string::npos ? 0 : colon + 1)},
                     context.job.gpus_per_node, origin);
}

template <class T>
bool take_parsed(PlanContext& context, const OptionWord& option, Known<T>& target, const Origin& origin) {
  auto parsed = T::parse(option.value.value_or(""));
  if (parsed)
    take(context, option.name, target, *parsed, origin);
  else
    context.error("usage/sbatch", option.name + ": " + parsed.error().what, parsed.error().hint);
  return true;
}

/// True if the option was a request (or a wrong one) and is dealt with.
bool fold(PlanContext& context, const OptionWord& option, const Origin& origin) {
  model::JobSpec& job = context.job;
  const std::string value = option.value.value_or("");
  const std::map<std::string, Known<std::string>*> texts = {
      {"--partition", &job.partition}, {"--account", &job.account},      {"--qos", &job.qos},
      {"--job-name", &job.job_name},   {"--output", &job.output},        {"--signal", &job.signal},
      {"--array", &job.array},         {"--dependency", &job.dependency}};
  if (const auto text = texts.find(option.name); text != texts.end()) {
    if (value.empty())
      context.error("usage/sbatch", option.name + " needs a value", "as --sbatch=" + option.name + "=VALUE");
    else
      take(context, option.name, *text->second, value, origin);
    return true;
  }
  if (option.name == "--nodes" && value.find_first_of("-,:") != std::string::npos) {
    context.error("usage/sbatch", "--nodes " + value + ": a range of node counts leaves the layout open",
                  "say one number of nodes");
    return true;
  }
  if (option.name == "--nodes") return take_number(context, option, job.nodes, origin);
  if (option.name == "--ntasks-per-node") return take_number(context, option, job.tasks_per_node, origin);
  if (option.name == "--cpus-per-task") return take_number(context, option, job.cpus_per_task, origin);
  if (option.name == "--gpus-per-node") return take_gpus(context, option, origin);
  if (option.name == "--gres" && util::starts_with(value, "gpu:") && value.find(',') == std::string::npos)
    return take_gpus(context, {option.name, value.substr(4)}, origin);
  if (option.name == "--mem") return take_parsed(context, option, job.mem, origin);
  if (option.name == "--time") return take_parsed(context, option, job.time, origin);
  if (option.name == "--requeue" || option.name == "--no-requeue") {
    take(context, option.name, job.requeue, option.name == "--requeue", origin);
    return true;
  }
  return false;
}

} // namespace

void plan_passthrough(PlanContext& context) {
  std::vector<model::Sourced<std::string>> kept;
  const auto given = context.job.sbatch;
  for (const auto& raw : given) {
    if (!is_option_word(raw.value)) {
      context.error("usage/sbatch", "'" + raw.value + "' is no option of sbatch",
                    "give one option each, as --sbatch=--reservation=NAME");
      continue;
    }
    const OptionWord option = split_option(raw.value);
    // Asked before it is folded: --gres=gpu:4 becomes a number of GPUs, and the refusal of --gres would go
    // unsaid.
    const model::FlagRule& rule = context.flag(option.name.substr(2));
    if (rule.policy == model::Policy::forbidden)
      context.error("request/" + option.name.substr(2),
                    context.site.name + " refuses " + option.name +
                        (rule.why.empty() ? "" : ": " + rule.why) + cited(rule.origin),
                    "leave --sbatch=" + raw.value + " out");
    else if (const auto own = k_own_flags.find(option.name); own != k_own_flags.end())
      context.error("usage/sbatch", option.name + " would contradict the layout that is planned here",
                    "use " + own->second);
    else if (!fold(context, option, raw.origin))
      kept.push_back(raw);
  }
  context.job.sbatch = std::move(kept);
}

} // namespace hpcml::plan
