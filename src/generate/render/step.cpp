// SPDX-License-Identifier: MIT
// The step that runs the program: what starts the tasks, how they are bound, what wraps the program.
#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "generate/render/sections.hpp"
#include "generate/render/template.hpp"

namespace hpcml::render {

namespace {

using model::Binder;

std::string mask_list(const model::PlannedBinding& binding) {
  std::vector<std::string> masks;
  for (const auto& rank : binding.ranks) masks.push_back(rank.cpus.to_mask());
  return util::join(masks, ",");
}

bool binds_with_masks(const model::Plan& plan) {
  return plan.binding.binder == Binder::srun_masks && !plan.binding.ranks.empty();
}

/// The header's CPU count: srun of 22.05 to 23.02 does not take it over by itself.
std::optional<std::string> header_cpus(const model::Plan& plan) {
  for (const auto& directive : plan.directives)
    if (directive.name == "--cpus-per-task") return directive.value;
  return std::nullopt;
}

/// What srun binds to by itself. Where one thread of each core is counted, "cores" would bring the others
/// back.
const char* bound_unit(const model::Plan& plan) {
  for (const auto& directive : plan.directives)
    if (directive.name == "--threads-per-core" && directive.value == "1") return "threads";
  return "cores";
}

bool gives(const std::vector<std::string>& args, std::string_view option) {
  return std::any_of(args.begin(), args.end(), [&](const std::string& arg) {
    return arg == option || arg.starts_with(std::string(option) + "=");
  });
}

/// A bind as singularity wants it. What a profile says may name variables; what a person says is literal.
std::string bind_word(const model::ContainerBind& bind) {
  const auto text = (bind.target.empty() ? bind.source : bind.source + ":" + bind.target) +
                    (bind.squashed ? ":image-src=/" : "");
  return bind.origin.kind == model::OriginKind::site ? quote_path(text) : quote_word(text);
}

ScriptWords bind_words(const model::PlannedContainer& container, bool optional) {
  const std::string option(model::row_of(container.engine).bind);
  ScriptWords words;
  for (const auto& bind : container.binds) {
    if (bind.optional != optional) continue;
    const bool separate = option.ends_with(" ");
    if (!optional && separate) words.push_back(ScriptWord::literal(std::string(util::trim(option))));
    words.push_back(ScriptWord::expression((optional || separate ? "" : option) + bind_word(bind)));
  }
  return words;
}

bool has_optional_binds(const model::PlannedContainer& container) {
  return std::any_of(container.binds.begin(), container.binds.end(),
                     [](const auto& bind) { return bind.optional; });
}

/// What runs inside the image, right before the program, in the same shell. The image's own environment comes
/// first: the other one lies on top of it.
std::string inner_activation(const model::Plan& plan) {
  std::string text;
  if (!plan.container->enter.empty()) text += plan.container->enter + " && ";
  if (plan.python.kind == model::PythonKind::venv)
    text += fmt::format("source {} && ", quote_word(plan.python.where + "/bin/activate"));
  if (plan.python.kind == model::PythonKind::conda)
    text += fmt::format("source \"$(conda info --base)/etc/profile.d/conda.sh\" && conda activate {} && ",
                        quote_word(plan.python.where));
  return text;
}

/// What the site's srun gets in every step that runs in the image.
void add_image_options(ScriptWords& words, const model::Plan& plan) {
  if (!plan.container) return;
  for (const auto& option : plan.container->step_options)
    words.push_back(plan.container->own_edf
                        ? ScriptWord::expression(util::replace_all(option, "{image}", "\"$edf\""))
                        : ScriptWord::literal(option));
}

/// Options that a ported script wrote, as it wrote them.
void add_expressions(ScriptWords& words, const std::vector<std::string>& options) {
  for (const auto& option : options) words.push_back(ScriptWord::expression(option));
}

/// A shell for a task: one line if it only starts something, else one line each.
ScriptWords task_shell(const std::string& lines, const std::string& last, const char* name) {
  const auto program = lines.empty() ? last : "\n" + lines + "  " + last + "\n";
  return {ScriptWord::literal("bash"), ScriptWord::literal("-c"),
          ScriptWord::expression(quote_program(program)), ScriptWord::literal(name)};
}

bool holds_program(const Step& step) {
  for (const auto& group : step.groups)
    for (const auto& word : group)
      if (const auto text = word.to_shell(); text.front() == '\'' && text.find('$') != std::string::npos)
        return true;
  return false;
}

} // namespace

Reasons step_reasons(const model::Plan& plan) {
  Reasons reasons{{plan.launcher.choice.name(), plan.launcher.origin}};
  if (!plan.binding.why.empty()) reasons.push_back({plan.binding.why, plan.binding.origin});
  for (const auto& rank : plan.binding.ranks)
    if (!rank.why.empty())
      reasons.push_back({fmt::format("local rank {}: {}", rank.local_rank, rank.why), plan.binding.origin});
  if (plan.layout.gpus_per_node > 0 && plan.launcher.choice.is_agent())
    reasons.push_back(
        {"a rank sees all GPUs of the node",
         by_rule(plan.launcher.choice.name() + " tells its ranks apart by LOCAL_RANK only").front().origin});
  else if (plan.layout.gpus_per_node > 0)
    reasons.push_back(
        {"a rank sees " + model::word_of(plan.gpu_visibility.value) + " GPUs", plan.gpu_visibility.origin});
  if (plan.launcher.choice.is_hpcml()) {
    reasons.push_back({"hpcml launch lets each rank prefer memory of the NUMA nodes of its cores",
                       by_rule("a full node then borrows, where a bound rank is killed").front().origin});
    if (plan.layout.gpus_per_node > 0)
      reasons.push_back({"where the node shows RDMA devices, it sets UCX_NET_DEVICES to the one nearest the "
                         "rank's GPU, and NCCL_IB_HCA to those of the fabric where others are there, too",
                         by_rule("where the node's NICs are").front().origin});
  }
  if (const auto& order = plan.binding.order;
      plan.layout.gpus_per_node > 0 && order.value.kind != model::RankOrder::gpu)
    reasons.push_back({"ranks take the GPUs in the order " + order.value.text() +
                           ": hpcml launch lists them so, and LOCAL_RANK counts in that list",
                       order.origin});
  if (plan.binding.idle_cores.value != model::IdleCores::none)
    reasons.push_back(
        {"cores of NUMA nodes without GPUs go to ranks of the same package", plan.binding.idle_cores.origin});
  for (const auto& flag : model::k_rank_flags)
    if (const auto value = flag.write(plan.ranks); value && !flag.reason.empty())
      reasons.push_back({"--" + std::string(flag.name) + (flag.is_switch() ? "" : " " + *value) + ": " +
                             std::string(flag.reason),
                         *flag.origin(plan.ranks)});
  reasons.push_back({"backend " + model::word_of(plan.backend.value), plan.backend.origin});
  if (plan.container) {
    reasons.push_back({"container", plan.container->origin});
    for (const auto& bind : plan.container->binds) reasons.push_back({"bind " + bind.source, bind.origin});
  }
  return reasons;
}

ScriptWords program_words(const model::ImportedLaunch& program, const std::vector<std::string>& words) {
  const auto& source = program.source;
  if (source.empty()) return literals(words);
  ScriptWords last;
  for (auto i = source.size() - std::min(words.size(), source.size()); i < source.size(); ++i)
    last.push_back(ScriptWord::expression(source[i]));
  return last;
}

ScriptWords step_words(const ScriptStep& step) {
  const auto& plan = step.plan;
  const auto& extra = step.step_args;
  ScriptWords words{ScriptWord::literal(plan.launcher.step)};
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!gives(extra, option)) words.push_back(ScriptWord::literal(option + "=" + value));
  };
  if (plan.launcher.by_srun()) {
    for (auto& word : healthy_node_words(plan)) words.push_back(std::move(word));
    if (plan.launcher.spawns) {
      add("--ntasks", std::to_string(plan.layout.nodes));
      add("--ntasks-per-node", "1");
    }
    const auto cpus = header_cpus(plan);
    if (cpus && !binds_with_masks(plan)) add("--cpus-per-task", *cpus);
    if (binds_with_masks(plan))
      add("--cpu-bind", "mask_cpu:" + mask_list(plan.binding));
    else if (plan.binding.binder == Binder::srun_cores)
      add("--cpu-bind", bound_unit(plan));
    else
      add("--cpu-bind", "none");
    // An elastic job outlives its nodes.
    add("--kill-on-bad-exit", plan.launcher.least_nodes > 0 ? "0" : "1");
    if (plan.launcher.has_own_agent() && plan.launcher.least_nodes > 0 && !gives(extra, "--no-kill"))
      words.push_back(ScriptWord::literal("--no-kill"));
  }
  for (const auto& arg : extra) words.push_back(ScriptWord::literal(arg));
  if (plan.launcher.by_srun()) add_expressions(words, step.program.step_options);
  add_image_options(words, plan);
  return words;
}

std::vector<ScriptWords> wrapper_groups(const ScriptStep& step, const std::string& task_lines,
                                        const std::string& last) {
  const auto& plan = step.plan;
  constexpr std::string_view k_plain = "exec \"$@\"";
  const char* name = task_lines.empty() ? "task" : plan.launcher.choice.is_agent() ? "node" : "rank";
  std::vector<ScriptWords> groups;
  if (!plan.container) {
    const auto activate = plan.python.on_each_node()
                              ? fmt::format("source {} && ", quote_path(plan.python.where + "/bin/activate"))
                              : std::string();
    if (!task_lines.empty() || !activate.empty() || last != k_plain)
      groups.push_back(task_shell(task_lines, activate + last, name));
    return groups;
  }
  if (plan.container->by_slurm) { // the task is inside already, or its prefix takes it there
    if (!plan.container->prefix.empty()) {
      groups.push_back({ScriptWord::literal(plan.container->prefix)});
      add_expressions(groups.back(), step.program.image_options);
    }
    const auto activate = inner_activation(plan);
    if (!task_lines.empty() || !activate.empty() || last != k_plain)
      groups.push_back(task_shell(task_lines, activate + last, name));
    return groups;
  }
  if (!task_lines.empty()) groups.push_back(task_shell(task_lines, std::string(k_plain), name));
  const auto& container = *plan.container;
  const auto& engine = model::row_of(container.engine);
  ScriptWords words{ScriptWord::literal(std::string(engine.words.name))};
  for (const auto& word : util::split(std::string(engine.exec), ' '))
    if (!word.empty()) words.push_back(ScriptWord::literal(word));
  if (container.gpu_flag != model::GpuFlag::none)
    words.push_back(ScriptWord::literal(model::word_of(container.gpu_flag)));
  groups.push_back(words);
  if (has_optional_binds(container))
    groups.push_back({ScriptWord::expression("\"${binds[@]}\"")});
  else if (auto binds = bind_words(container, false); !binds.empty())
    groups.push_back(binds);
  if (ScriptWords options; !step.program.image_options.empty()) {
    add_expressions(options, step.program.image_options);
    groups.push_back(options);
  }
  groups.push_back({!step.program.image.empty() ? ScriptWord::expression(step.program.image)
                    : container.image_variable.empty()
                        ? ScriptWord::literal(container.image)
                        : ScriptWord::expression("\"$" + container.image_variable + "\"")});
  if (!engine.behind_image.empty())
    groups.back().push_back(ScriptWord::literal(std::string(engine.behind_image)));
  if (const auto activate = inner_activation(plan); !activate.empty() || last != k_plain)
    groups.push_back(task_shell({}, activate + last, "in the container")); // bash begins its messages with it
  return groups;
}

namespace {

/// The EDF of the job: the person's, and what that does not show.
ScriptLines make_own_edf(const model::Plan& plan) {
  const auto& container = *plan.container;
  std::string mounts = plan.launcher.choice.is_hpcml() ? "\"$HPCML:$HPCML\"" : "";
  for (const auto& bind : container.binds)
    mounts += (mounts.empty() ? "" : " ") +
              quote_word(bind.source + ":" + bind.inside() + (bind.squashed ? ":sqsh" : ""));
  const auto text = render_block(
      "own_edf",
      {{"image", quote_word(container.image)}, {"mounts", mounts}, {"folders", removes_directories(plan)}});
  return {Verbatim{text, {{"", container.origin}}}};
}

} // namespace

ScriptLines make_container(const model::Plan& plan) {
  if (plan.container && plan.container->own_edf) return make_own_edf(plan);
  if (!plan.container || plan.container->by_slurm || !has_optional_binds(*plan.container)) return {};
  const auto text =
      render_block("container_binds", {{"bind", std::string(model::row_of(plan.container->engine).bind)},
                                       {"required", join_words(bind_words(*plan.container, false))},
                                       {"optional", join_words(bind_words(*plan.container, true))}});
  return {Verbatim{text, {{"", plan.container->origin}}}};
}

Step single_step(const ScriptStep& step, ScriptWords start, const char* why) {
  std::vector<ScriptWords> groups{std::move(start)};
  add_image_options(groups.front(), step.plan);
  for (auto& group : wrapper_groups(step)) groups.push_back(std::move(group));
  groups.push_back(program_words(step.program, step.program.command));
  return {groups, by_rule(why)};
}

ScriptLines mask_lines(const model::Plan& plan) {
  if (!binds_with_masks(plan) || !plan.launcher.by_srun()) return {};
  const auto reasons = by_rule(
      "with a CPU count in one of these variables srun chooses CPUs itself and refuses masks that name "
      "others "
      "(three variables, because Slurm 23.11 and later hand the count over in SLURM_TRES_PER_TASK too)");
  return {
      Comment{
          "srun binds with the masks below; a CPU count left in these variables would make it refuse them.",
          reasons},
      CommandLine{literals({"unset", "SLURM_CPUS_PER_TASK", "SRUN_CPUS_PER_TASK", "SLURM_TRES_PER_TASK"}),
                  reasons}};
}

Step program_step(const ScriptStep& step) {
  if (!step.plan.components.empty() && !step.program.once) return component_step(step);
  const auto& launcher = step.plan.launcher;
  return step.program.once ? single_step(step,
                                         literals({launcher.step, "--nodes=1", "--ntasks=1",
                                                   "--ntasks-per-node=1", "--cpu-bind=none"}),
                                         "a step that is to run once: one process on the first node")
                           : Step{launcher.choice.is_hpcml() ? launch_groups(step) : plain_groups(step),
                                  step_reasons(step.plan)};
}

namespace {

ScriptLines one_step(const ScriptStep& script_step) {
  const bool over_components = !script_step.plan.components.empty() && !script_step.program.once;
  auto lines = over_components ? component_lines() : mask_lines(script_step.plan);
  auto step = program_step(script_step);
  // Only programs for `bash -c` are in single quotes with a dollar: they are expanded in the task, on
  // purpose.
  if (holds_program(step))
    lines.push_back(Verbatim{"# shellcheck disable=SC2016 # each task expands these",
                             by_rule("per-task values are never expanded in the batch part")});
  lines.push_back(std::move(step));
  return lines;
}

} // namespace

ScriptLines make_step(const model::Plan& plan, const std::vector<std::string>& step_args) {
  if (plan.body) return ported_lines(plan, step_args);
  if (plan.steps.empty()) return one_step({plan, {plan.command, {}}, step_args});
  ScriptLines lines;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    if (i > 0) lines.push_back(Verbatim{"", {}});
    lines.push_back(Comment{
        fmt::format("Step {} of {}; the next one starts only if it ends well.", i + 1, plan.steps.size()),
        by_rule("the steps of the job file, in their order")});
    const auto& [command, once] = plan.steps[i];
    for (auto& line : one_step({plan, {command, {}, once}, step_args})) lines.push_back(std::move(line));
  }
  return lines;
}

} // namespace hpcml::render
