// SPDX-License-Identifier: MIT
// The step that runs the program: what starts the tasks, how they are bound, what wraps the program.
#include <algorithm>
#include <fmt/format.h>

#include "core/util/text.hpp"
#include "core/util/user_path.hpp"
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

/// Returns a bind in singularity's form. A profile's text may contain variables; the user's text is literal.
std::string bind_word(const model::ContainerBind& bind) {
  const auto text = (bind.target.empty() ? bind.source : bind.source + ":" + bind.target) +
                    (bind.squashed ? ":image-src=/" : "");
  return bind.origin.kind == model::OriginKind::site || !util::leading_variable(text).empty()
             ? quote_path(text)
             : quote_word(text);
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

/// A path for a shell inside the image.
std::string inner_path(const std::string& path) {
  return util::leading_variable(path).empty() ? quote_word(path) : quote_path(path);
}

/// Returns what runs inside the image, right before the program, in the same shell. The image's environment
/// is activated first, because the other one extends it.
std::string inner_activation(const model::Plan& plan) {
  std::string text;
  if (!plan.container->enter.empty()) text += plan.container->enter + " && ";
  if (plan.python.kind == model::PythonEnvironmentKind::venv)
    text += fmt::format("source {} && ", inner_path(plan.python.where + "/bin/activate"));
  if (plan.python.kind == model::PythonEnvironmentKind::conda)
    text += fmt::format("source \"$(conda info --base)/etc/profile.d/conda.sh\" && conda activate {} && ",
                        inner_path(plan.python.where));
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

/// A shell for a task; bash begins its messages with `name`.
ScriptWords task_shell(const std::string& program, const char* name) {
  return {ScriptWord::literal("bash"), ScriptWord::literal("-c"),
          ScriptWord::expression(quote_program(program)), ScriptWord::literal(name)};
}

constexpr std::string_view k_start_program = "exec \"$@\"";

/// Shells that set the variables, each on one line; `last` is what the last of them runs.
std::vector<ScriptWords> variable_shells(const TaskVariables& variables, const std::string& last,
                                         const char* name) {
  constexpr std::size_t k_columns = 110;
  std::vector<std::string> programs;
  for (const auto& list : variables) {
    std::string program;
    for (const auto& assignment : list) {
      const auto longer = program + assignment + " ";
      const auto width = 2 + join_words(task_shell(longer + std::string(k_start_program), name)).size() + 2;
      if (!program.empty() && width > k_columns) {
        programs.push_back(program);
        program.clear();
      }
      program += assignment + " ";
    }
    if (!program.empty()) programs.push_back(program);
  }
  const auto fits = [&](const std::string& program) {
    return 2 + join_words(task_shell(program + last, name)).size() + 2 <= k_columns;
  };
  if (last != k_start_program && (programs.empty() || !fits(programs.back()))) programs.emplace_back();
  std::vector<ScriptWords> shells;
  for (std::size_t i = 0; i < programs.size(); ++i)
    shells.push_back(
        task_shell(programs[i] + (i + 1 < programs.size() ? std::string(k_start_program) : last), name));
  return shells;
}

void append(std::vector<ScriptWords>& groups, std::vector<ScriptWords> more) {
  for (auto& group : more) groups.push_back(std::move(group));
}

} // namespace

bool has_one_task_per_node(const model::Plan& plan) {
  // Spare nodes start no task. The variables of a job with components have other names, and those in the
  // shell of an interactive step, which shares its nodes with this one, are of that step.
  const bool shares_nodes = !plan.launcher.per_node_args.empty();
  if (!plan.launcher.by_srun() || plan.layout.spare_nodes > 0 || !plan.components.empty() || shares_nodes)
    return false;
  return std::any_of(plan.directives.begin(), plan.directives.end(), [](const auto& directive) {
    return directive.name == "--ntasks-per-node" && directive.value == "1";
  });
}

Reasons step_reasons(const model::Plan& plan) {
  Reasons reasons{{plan.launcher.choice.name(), plan.launcher.origin}};
  if (!plan.binding.why.empty()) reasons.push_back({plan.binding.why, plan.binding.origin});
  for (const auto& rank : plan.binding.ranks)
    if (!rank.why.empty())
      reasons.push_back({fmt::format("local rank {}: {}", rank.local_rank, rank.why), plan.binding.origin});
  if (plan.layout.gpus_per_node > 0 && plan.launcher.choice.is_agent())
    reasons.push_back({"a rank sees all GPUs of the node",
                       by_rule(plan.launcher.choice.name() + " distinguishes its ranks by LOCAL_RANK only")
                           .front()
                           .origin});
  else if (plan.layout.gpus_per_node > 0)
    reasons.push_back(
        {"a rank sees " + model::word_of(plan.gpu_visibility.value) + " GPUs", plan.gpu_visibility.origin});
  if (plan.launcher.choice.is_hpcml()) {
    reasons.push_back({"hpcml launch lets each rank prefer memory of the NUMA nodes of its cores",
                       by_rule("a full node then borrows, where a bound rank is killed").front().origin});
    if (plan.layout.gpus_per_node > 0)
      reasons.push_back({"if the node shows RDMA devices, it sets UCX_NET_DEVICES to the one nearest the "
                         "rank's GPU, and NCCL_IB_HCA to those of the fabric if there are others",
                         by_rule("where the node's NICs are").front().origin});
  }
  if (const auto& order = plan.binding.order;
      plan.layout.gpus_per_node > 0 && order.value.kind != model::GpuOrderKind::gpu)
    reasons.push_back({"ranks take the GPUs in the order " + order.value.text() +
                           ": hpcml launch lists them so, and LOCAL_RANK counts in that list",
                       order.origin});
  if (plan.binding.idle_cores.value != model::IdleCorePolicy::none)
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
  // Words of the command are dropped in front only: those of the text that are the same words.
  ScriptWords last;
  for (auto i = program.command.size() - std::min(words.size(), program.command.size()); i < source.size();
       ++i)
    last.push_back(ScriptWord::expression(source[i]));
  return last;
}

namespace {

/// Agents of an elastic job outlive a lost node.
void add_no_kill(ScriptWords& words, const JobStepInput& step) {
  const auto& launcher = step.plan.launcher;
  if (launcher.has_own_agent() && launcher.least_nodes > 0 && !gives(step.step_args, "--no-kill"))
    words.push_back(ScriptWord::literal("--no-kill"));
}

} // namespace

ScriptWords step_words(const JobStepInput& step) {
  const auto& plan = step.plan;
  const auto& extra = step.step_args;
  ScriptWords words{ScriptWord::literal(plan.launcher.step)};
  const auto add = [&](const std::string& option, const std::string& value) {
    if (!gives(extra, option)) words.push_back(ScriptWord::literal(option + "=" + value));
  };
  if (plan.launcher.by_srun()) {
    for (auto& word : healthy_node_words(plan)) words.push_back(std::move(word));
    if (plan.launcher.spawns) {
      if (!has_one_task_per_node(plan)) add("--ntasks", std::to_string(plan.layout.nodes));
      add("--ntasks-per-node", "1");
    }
    const bool has_masks = binds_with_masks(plan);
    if (const auto cpus = header_cpus(plan); cpus && !has_masks) add("--cpus-per-task", *cpus);
    const auto bind = plan.binding.binder == Binder::srun_cores ? bound_unit(plan) : std::string("none");
    if (!has_masks) add("--cpu-bind", bind);
    // An elastic job outlives its nodes.
    add("--kill-on-bad-exit", plan.launcher.least_nodes > 0 ? "0" : "1");
    // The masks are the longest word: last, they do not need a separate line.
    if (has_masks) add("--cpu-bind", "mask_cpu:" + mask_list(plan.binding));
    add_no_kill(words, step);
  }
  for (const auto& arg : extra) words.push_back(ScriptWord::literal(arg));
  if (plan.launcher.by_srun()) add_expressions(words, step.program.step_options);
  if (!step.program.on_host) add_image_options(words, plan);
  return words;
}

std::vector<ScriptWords> wrapper_groups(const JobStepInput& step, const TaskVariables& variables,
                                        const std::string& last) {
  const auto& plan = step.plan;
  const char* name = plan.launcher.choice.is_agent() ? "node" : "rank";
  std::vector<ScriptWords> groups;
  if (!plan.container || step.program.on_host) return variable_shells(variables, last, name);
  if (plan.container->by_slurm) { // the task is inside already, or its prefix takes it there
    if (!plan.container->prefix.empty()) {
      groups.push_back({ScriptWord::literal(plan.container->prefix)});
      add_expressions(groups.back(), step.program.image_options);
    }
    append(groups, variable_shells(variables, inner_activation(plan) + last, name));
    return groups;
  }
  append(groups, variable_shells(variables, std::string(k_start_program), name));
  const auto& container = *plan.container;
  const auto& engine = model::row_of(container.engine);
  ScriptWords words{ScriptWord::literal(std::string(engine.words.name))};
  for (const auto& word : util::split(std::string(util::trim(engine.exec)), ' '))
    words.push_back(ScriptWord::literal(word));
  if (container.gpu_flag != model::ContainerGpuOption::none)
    words.push_back(ScriptWord::literal(model::word_of(container.gpu_flag)));
  if (has_optional_binds(container))
    words.push_back(ScriptWord::expression("\"${binds[@]}\""));
  else
    for (auto& bind : bind_words(container, false)) words.push_back(std::move(bind));
  add_expressions(words, step.program.image_options);
  words.push_back(!step.program.image.empty() ? ScriptWord::expression(step.program.image)
                  : container.image_variable.empty()
                      ? ScriptWord::literal(container.image)
                      : ScriptWord::expression("\"$" + container.image_variable + "\""));
  if (!engine.behind_image.empty()) words.push_back(ScriptWord::literal(std::string(engine.behind_image)));
  groups.push_back(words);
  if (const auto activate = inner_activation(plan); !activate.empty() || last != k_start_program)
    groups.push_back(task_shell(activate + last, "container"));
  return groups;
}

namespace {

/// Returns the lines that write the EDF of the job: that of the user, and the mounts that it lacks.
ScriptLines make_own_edf(const model::Plan& plan) {
  const auto& container = *plan.container;
  const auto reasons = because(container.origin);
  ScriptWords mounts;
  if (plan.launcher.choice.is_hpcml()) mounts.push_back(ScriptWord::expression("\"$HPCML:$HPCML\""));
  for (const auto& bind : container.binds)
    mounts.push_back(ScriptWord::literal(bind.source + ":" + bind.inside() + (bind.squashed ? ":sqsh" : "")));
  std::string list;
  for (std::size_t i = 0; i < mounts.size(); ++i) list += i == 0 ? "\"%s\"" : ", \"%s\"";
  ScriptWords write{ScriptWord::literal("printf"),
                    ScriptWord::expression("'base_environment = \"%s\"\\nmounts = [" + list + "]\\n'"),
                    ScriptWord::literal(container.image)};
  for (auto& mount : mounts) write.push_back(std::move(mount));
  write.push_back(ScriptWord::expression("> \"$edf\""));
  ScriptLines lines{
      Comment{"The image shows only the mounts of its EDF. An EDF of the job adds what this script needs.",
              reasons},
      CommandLine{{ScriptWord::expression("edf=$PWD/hpcml-$SLURM_JOB_ID.toml")}, reasons}};
  if (!removes_directories(plan)) // else their removal has it in its line
    lines.push_back(CommandLine{{ScriptWord::expression("trap 'rm -f \"$edf\"' EXIT")}, reasons});
  lines.push_back(CommandLine{write, reasons});
  return lines;
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

JobStepLine single_step(const JobStepInput& step, ScriptWords start, const char* why) {
  std::vector<ScriptWords> groups{std::move(start)};
  if (step.plan.launcher.by_srun()) {
    ScriptWords options;
    add_expressions(options, step.program.step_options);
    groups.front().insert(groups.front().begin() + 1, options.begin(), options.end());
  }
  if (!step.program.on_host) add_image_options(groups.front(), step.plan);
  for (auto& group : wrapper_groups(step)) groups.push_back(std::move(group));
  groups.push_back(program_words(step.program, step.program.command));
  return {groups, by_rule(why)};
}

ScriptLines mask_lines(const model::Plan& plan) {
  if (!binds_with_masks(plan) || !plan.launcher.by_srun()) return {};
  const auto reasons = by_rule(
      "with a CPU count in one of these variables srun chooses CPUs itself and rejects masks that name "
      "others "
      "(three variables, because Slurm 23.11 and later hand the count over in SLURM_TRES_PER_TASK too)");
  return {Verbatim{
      "unset SLURM_CPUS_PER_TASK SRUN_CPUS_PER_TASK SLURM_TRES_PER_TASK # srun would reject the masks",
      reasons}};
}

JobStepLine program_step(const JobStepInput& step) {
  if (!step.plan.components.empty() && !step.program.once) return component_step(step);
  const auto& launcher = step.plan.launcher;
  return step.program.once
             ? single_step(step,
                           literals({launcher.step, "--nodes=1", "--ntasks=1", "--ntasks-per-node=1",
                                     "--cpu-bind=none"}),
                           "a step that is to run once: one process on the first node")
             : JobStepLine{launcher.choice.is_hpcml() ? launch_groups(step) : plain_groups(step),
                           step_reasons(step.plan)};
}

namespace {

/// What starts the ranks of hpcml launch, and what binds them: readers find options for both in the step.
ScriptLines describe_step(const JobStepInput& step) {
  const auto& plan = step.plan;
  if (!plan.launcher.choice.is_hpcml() || step.program.once || !plan.components.empty()) return {};
  const auto* cores =
      plan.layout.gpus_per_node > 0 ? "--cpus-per-task cores near its GPUs" : "--cpus-per-task cores";
  std::string text;
  if (plan.launcher.spawns)
    text = fmt::format("One agent per node: hpcml launch starts its ranks and binds each to {}.", cores);
  else if (plan.binding.binder == Binder::launch)
    text = fmt::format("One task per rank: hpcml launch{} binds it to {} and sets RANK.",
                       plan.launcher.by_srun() ? " (not srun)" : "", cores);
  else if (binds_with_masks(plan))
    text = "One task per rank, with its CPU mask: hpcml launch checks that, sets RANK and runs the program.";
  else
    text = "One task per rank, bound by srun: hpcml launch sets RANK and MASTER_ADDR and runs the program.";
  ScriptLines lines{Comment{text, by_rule("srun and hpcml launch get the same plan: one binds the ranks")}};
  const auto& endpoint = plan.rendezvous;
  const auto explain_address = [&](const char* sentence) {
    lines.push_back(Comment{sentence, because(endpoint.origin)});
  };
  if (!endpoint.suffix.empty() && endpoint.interface.empty() && endpoint.from_env.empty())
    explain_address("Ranks connect to the first node by --host above, its name in the fast network.");
  if (has_site_port(endpoint))
    explain_address(
        plan.launcher.has_own_agent()
            ? "Rank 0's agent serves the rendezvous store at --master-port, which the site prescribes."
            : "Rank 0 serves the rendezvous store at --master-port, which the site prescribes.");
  return lines;
}

ScriptLines one_step(const JobStepInput& script_step, bool is_first = true) {
  const bool over_components = !script_step.plan.components.empty() && !script_step.program.once;
  auto lines = is_first ? describe_step(script_step) : ScriptLines{};
  for (auto& line : over_components ? component_lines() : mask_lines(script_step.plan))
    lines.push_back(std::move(line));
  lines.push_back(program_step(script_step));
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
        fmt::format("Step {} of {}: if it fails, the next steps do not start.", i + 1, plan.steps.size()),
        by_rule("the steps of the job file, in their order")});
    const auto& [command, once] = plan.steps[i];
    for (auto& line : one_step({plan, {command, {}, once}, step_args}, i == 0))
      lines.push_back(std::move(line));
  }
  return lines;
}

} // namespace hpcml::render
