// SPDX-License-Identifier: MIT
// How many nodes, tasks and GPUs the old script's launches get, as far as its text shows.
#include <algorithm>
#include <array>
#include <cctype>
#include <functional>

#include "core/model/launcher.hpp"
#include "core/slurm/gres.hpp"
#include "core/util/text.hpp"
#include "generate/import_script/import_state.hpp"
#include "generate/import_script/layout_arithmetic.hpp"

namespace hpcml::import_script {
namespace {

using check::Link;
using model::OptionMeaning;

/// Sums and products of numbers and variables, from left to right as both arithmetic and expr read them.
class Arithmetic {
public:
  Arithmetic(std::string_view text, const std::function<std::optional<long>(std::string_view)>& variable)
      : x_text(text), x_variable(variable) {}
  std::optional<long> value() {
    const auto result = sum();
    skip();
    return x_at == x_text.size() ? result : std::nullopt;
  }

private:
  void skip() {
    while (x_at < x_text.size() && (x_text[x_at] == ' ' || x_text[x_at] == '\\')) ++x_at;
  }
  bool take(char c) {
    skip();
    if (x_at >= x_text.size() || x_text[x_at] != c) return false;
    ++x_at;
    return true;
  }
  /// Skips the default of "${SLURM_GPUS_ON_NODE:-4}". Returns false if the default may be what counts: Slurm
  /// sets most of its variables only if the request has their option.
  bool skip_default(std::string_view name) {
    static constexpr std::array<std::string_view, 3> k_always_set = {"SLURM_GPUS_ON_NODE",
                                                                     "SLURM_JOB_NUM_NODES", "SLURM_NNODES"};
    const auto rest = x_text.substr(x_at);
    if (!rest.starts_with(":-") && !rest.starts_with('-')) return true;
    const auto end = rest.find_first_of("{}");
    if (end == std::string_view::npos || rest[end] != '}') return false;
    x_at += end;
    return !name.starts_with("SLURM_") || util::contains(k_always_set, name);
  }
  std::optional<long> sum() {
    auto left = product();
    while (left) {
      const bool plus = take('+');
      if (!plus && !take('-')) break;
      const auto right = product();
      left = right ? std::optional(plus ? *left + *right : *left - *right) : std::nullopt;
    }
    return left;
  }
  std::optional<long> product() {
    auto left = term();
    while (left) {
      const bool times = take('*');
      if (!times && !take('/')) break;
      const auto right = term();
      if (!right || (!times && *right == 0) || *right > 1000000 || *left > 1000000) return std::nullopt;
      left = times ? *left * *right : *left / *right;
    }
    return left;
  }
  std::optional<long> term() {
    if (take('(')) {
      const auto inner = sum();
      return take(')') ? inner : std::nullopt;
    }
    skip();
    const bool dollar = take('$');
    const bool brace = dollar && take('{');
    const auto begin = x_at;
    while (x_at < x_text.size() && util::is_name_char(x_text[x_at])) ++x_at;
    const auto word = x_text.substr(begin, x_at - begin);
    if (brace && !(skip_default(word) && take('}'))) return std::nullopt;
    if (word.empty() || word.size() > 64) return std::nullopt;
    if (std::isdigit(static_cast<unsigned char>(word[0]))) {
      const auto number = util::parse_unsigned(word);
      return number && *number <= 1000000 ? std::optional(static_cast<long>(*number)) : std::nullopt;
    }
    return x_variable(word);
  }
  std::string_view x_text;
  const std::function<std::optional<long>(std::string_view)>& x_variable;
  std::size_t x_at = 0;
};

/// An option under any of these names.
const check::GivenOption* option_of(const Link* link, std::initializer_list<std::string_view> names) {
  if (!link) return nullptr;
  for (const auto name : names)
    if (const auto* option = link->find(name)) return option;
  return nullptr;
}

/// "gpu:a100:4" and "a100:4" end in their number; "gpu" is one.
CountOptionValue read_gpus(const Link* link, const SizeEvaluator& sizes,
                           std::initializer_list<std::string_view> names) {
  const auto* option = option_of(link, names);
  if (!option || !option->value) return {};
  const auto text = option->value->text();
  if (!option->value->known()) return sizes.read(*option->value);
  const auto number = util::parse_unsigned(text.substr(text.rfind(':') + 1));
  return {CountOptionValue::Kind::number, number ? static_cast<unsigned>(*number) : 1U};
}

/// GPUs of a node that the tasks of a step see: those that it requests itself, or all of the job.
unsigned gpus_of_step(const Link* step, const SizeEvaluator& sizes, unsigned nodes) {
  auto gpus = read_gpus(step, sizes, {"gpus-per-node", "gres"});
  if (gpus.is_number() && !step->value("gres").value_or("gpu").starts_with("gpu")) gpus = {};
  if (!gpus.is_number()) {
    gpus = read_gpus(step, sizes, {"gpus"});
    gpus.value = std::max(1U, gpus.value / nodes);
  }
  const auto all = sizes.gpus_per_node;
  return gpus.is_number() && gpus.value > 0 && (all == 0 || gpus.value < all) ? gpus.value : all;
}

/// Accelerators of the request that are GRES under another name than "gpu": "dcu:4".
std::uint64_t other_accelerators(const slurm::JobOptions& request) {
  std::uint64_t count = 0;
  for (const auto& item : slurm::parse_gres(request.text("gres"), slurm::k_newest_version)
                              .value_or(std::vector<slurm::GresItem>()))
    if (is_shared_gpu(item.name))
      count = std::max<std::uint64_t>(count, item.count > 0 ? 1 : 0);
    else if (is_accelerator(item.name))
      count = std::max(count, item.count);
  return count;
}

CountOptionValue read_count(const Link* link, const SizeEvaluator& sizes,
                            std::initializer_list<OptionMeaning> what) {
  const auto* option = link ? link->find_any(what) : nullptr;
  if (!option) return {};
  return option->value ? sizes.read(*option->value) : CountOptionValue{CountOptionValue::Kind::unknown, 0};
}

/// Whether the script reads the visible devices into the array: `read -ra NAME <<< "$CUDA_VISIBLE_DEVICES"`,
/// `NAME=(${CUDA_VISIBLE_DEVICES//,/ })`.
bool lists_devices(std::string_view text, std::string_view name) {
  for (const auto& start : {std::string(name) + " <<<", std::string(name) + "=("}) {
    const auto at = text.find(start);
    if (at != std::string_view::npos &&
        text.substr(at, text.find('\n', at) - at).find("VISIBLE_DEVICES") != std::string_view::npos)
      return true;
  }
  return false;
}

/// Whether the text is a command substitution.
bool is_command(std::string_view text) { return text.starts_with("$(") || text.starts_with('`'); }

/// The text that all assignments at the beginning of a line give the variable; empty if there is none, or if
/// they differ.
std::string_view assigned_text(std::string_view text, std::string_view name) {
  std::string_view common;
  const auto setting = std::string(name) + "=";
  for (auto at = text.find(setting); at != std::string_view::npos; at = text.find(setting, at + 1)) {
    const auto before = text.substr(0, at);
    const auto start = before.substr(before.rfind('\n') + 1); // npos + 1 is 0
    if (!util::trim(start).empty() && util::trim(start) != "export") continue;
    const auto rest = text.substr(at + setting.size());
    // In a command, ';' ends nothing of the script's own: python -c 'import torch; …'.
    auto value = rest.substr(0, rest.find_first_of(is_command(rest) ? "\n" : "\n;"));
    value = util::trim(value.substr(0, value.find(" #")));
    const bool quoted = value.size() > 1 && value.front() == '"' && value.back() == '"';
    if (quoted) value = value.substr(1, value.size() - 2);
    const bool is_nested = start.starts_with(' ') || start.starts_with('\t');
    if (common != value && (is_nested || !common.empty())) return {};
    common = value;
  }
  return common;
}

/// Processes that an agent starts in each task.
CountOptionValue agent_processes(const Link& agent, const SizeEvaluator& sizes, unsigned nodes) {
  const auto each = read_count(&agent, sizes, {OptionMeaning::ranks_per_node});
  if (each.kind != CountOptionValue::Kind::unset) return each;
  const auto all = read_count(&agent, sizes, {OptionMeaning::ranks, OptionMeaning::world});
  const auto* launcher = model::find_launcher(agent.program);
  if (all.kind == CountOptionValue::Kind::unset && !agent.complete)
    return {CountOptionValue::Kind::unknown, 0};
  if (all.kind == CountOptionValue::Kind::unset)
    return launcher && launcher->one_without_ranks ? CountOptionValue{CountOptionValue::Kind::number, 1}
                                                   : CountOptionValue{CountOptionValue::Kind::per_gpu, 0};
  auto machines = read_count(&agent, sizes, {OptionMeaning::nodes});
  if (machines.kind == CountOptionValue::Kind::unset) machines = {CountOptionValue::Kind::number, nodes};
  if (all.is_number() && machines.is_number() && machines.value > 0 && all.value % machines.value == 0)
    return {CountOptionValue::Kind::number, all.value / machines.value};
  return {CountOptionValue::Kind::unknown, 0};
}

bool shows_own(const Link& step) {
  if (const auto bind = step.value("gpu-bind")) return *bind != "none";
  return step.find("gpus-per-task") || step.find("ntasks-per-gpu") || step.find("tres-per-task");
}

/// True if agents only connect to others on the same node.
bool is_single_node_rendezvous(const Link& agent, const SizeEvaluator& sizes) {
  if (agent.find(OptionMeaning::alone)) return true;
  const auto nodes = read_count(&agent, sizes, {OptionMeaning::nodes});
  return nodes.is_number() && nodes.value == 1;
}

/// Several tasks of a node each start an agent with all of the node's ranks: more ranks than GPUs, or agents
/// than the rendezvous counts.
bool repeats_agent(const LaunchLayout& shape, unsigned processes) {
  if (shape.agents_per_node <= 1) return false;
  const bool shares_gpus = shape.gpus_per_node > 0 && processes <= shape.gpus_per_node &&
                           shape.agents_per_node * processes > shape.gpus_per_node;
  return shares_gpus || (shape.counts_nodes && shape.nodes > 1);
}

/// Each task starts an agent, which starts the ranks.
void add_agent(LaunchLayout& shape, const Link& agent, const SizeEvaluator& sizes) {
  if (const auto included = included_gpus(agent); included > 0 && included <= shape.gpus_per_node)
    shape.gpus_per_node = included;
  const auto processes = agent_processes(agent, sizes, shape.nodes);
  shape.one_node = is_single_node_rendezvous(agent, sizes);
  const auto counted = read_count(&agent, sizes, {OptionMeaning::nodes});
  shape.counts_nodes = counted.is_number() && counted.value == shape.nodes;
  shape.agents_per_node = shape.ranks_per_node;
  if (!processes.is_number()) {
    shape.ranks_per_node = std::max(1U, shape.gpus_per_node);
    shape.known_ranks = processes.kind == CountOptionValue::Kind::per_gpu;
    return;
  }
  if (repeats_agent(shape, processes.value)) {
    shape.repeated_agents = shape.agents_per_node;
    shape.agents_per_node = 1;
  }
  shape.ranks_per_node = shape.agents_per_node * processes.value;
}

} // namespace

bool is_shared_gpu(std::string_view gres) { return gres == "shard" || gres == "mps"; }

bool is_accelerator(std::string_view gres) {
  static constexpr std::array<std::string_view, 9> k_names = {"dcu", "gcd",   "gcu", "hpu", "mlu",
                                                              "npu", "gaudi", "tpu", "xpu"};
  return gres.starts_with("gpu") || is_shared_gpu(gres) || util::contains(k_names, gres);
}

SizeEvaluator::SizeEvaluator(std::string_view text, const slurm::JobOptions& request,
                             const slurm::JobSize& size)
    : x_text(text) {
  const auto count = [](auto number) {
    return static_cast<unsigned>(std::clamp<long>(static_cast<long>(number), 0, 1000000));
  };
  nodes = std::max(1U, count(size.min_nodes));
  tasks_per_node = count(size.tasks_per_node);
  const auto tasks = count(size.tasks_known);
  if (!size.nodes_given && tasks > 0 && tasks_per_node > 0 && request.has("ntasks"))
    nodes = std::max(nodes, (tasks + tasks_per_node - 1) / tasks_per_node);
  else if (tasks_per_node == 0 && tasks > 0)
    tasks_per_node = (tasks + nodes - 1) / nodes;
  gpus_per_node = count(request.gpus_per_node());
  if (gpus_per_node == 0 && size.gpus_per_task > 0)
    gpus_per_node = count(size.gpus_per_task) * std::max(1U, tasks_per_node);
  if (gpus_per_node == 0) gpus_per_node = count(size.gpus) / nodes;
  if (gpus_per_node == 0) gpus_per_node = count(other_accelerators(request));
  if (request.has("cpus-per-task")) cpus_per_task = count(request.count("cpus-per-task", 1));
  const auto bind = request.text("gpu-bind");
  own_gpus = bind.empty() ? size.gpus_per_task > 0 || request.has("ntasks-per-gpu") : bind != "none";
}

std::optional<unsigned> SizeEvaluator::value_of(std::string_view name) const {
  const auto known = [](unsigned value) { return value > 0 ? std::optional(value) : std::nullopt; };
  if (name == "SLURM_NNODES" || name == "SLURM_JOB_NUM_NODES") return nodes;
  if (name == "SLURM_NTASKS_PER_NODE" || name == "SLURM_TASKS_PER_NODE") return known(tasks_per_node);
  if (name == "SLURM_NTASKS" || name == "SLURM_NPROCS") return known(tasks_per_node * nodes);
  if (name == "SLURM_GPUS_PER_NODE" || name == "SLURM_GPUS_ON_NODE") return known(gpus_per_node);
  if (name == "SLURM_CPUS_PER_TASK") return known(cpus_per_task);
  if (name == "SLURM_GPUS") return known(gpus_per_node * nodes);
  return assigned(name);
}

unsigned SizeEvaluator::counted_gpus(std::string_view command) const {
  return can_count_gpus(command, vendor, lists_gpus) ? gpus_per_node : 0;
}

/// What the script's own line gives the variable.
std::optional<unsigned> SizeEvaluator::assigned(std::string_view name) const {
  if (x_depth > 8) return std::nullopt;
  auto value = assigned_text(x_text, name);
  if (value.starts_with("${#") && value.ends_with("[@]}") &&
      lists_devices(x_text, value.substr(3, value.size() - 7)))
    value = "$(echo $CUDA_VISIBLE_DEVICES | wc -w)";
  ++x_depth;
  const auto number = evaluate(value);
  --x_depth;
  return number && *number > 0 ? std::optional(static_cast<unsigned>(*number)) : std::nullopt;
}

std::optional<long> SizeEvaluator::evaluate(std::string_view text) const {
  const std::function<std::optional<long>(std::string_view)> lookup =
      [&](std::string_view name) -> std::optional<long> {
    const auto value = value_of(name);
    return value ? std::optional<long>(*value) : std::nullopt;
  };
  if (is_command(text) && counts_gpus(text)) {
    const auto count = counted_gpus(text);
    return count > 0 ? std::optional<long>(count) : std::nullopt;
  }
  if (text.starts_with("$((") && text.ends_with("))")) text = text.substr(3, text.size() - 5);
  if (text.starts_with("$(expr ") && text.ends_with(")")) text = text.substr(7, text.size() - 8);
  return Arithmetic(text, lookup).value();
}

CountOptionValue SizeEvaluator::read(const shell::Argument& word) const {
  auto text = word.text();
  if (text == "gpu" || text == "auto") return {CountOptionValue::Kind::per_gpu, 0};
  // Of a range of nodes the largest number.
  const auto range = text.find_first_of("-:");
  if (word.known() && range != std::string::npos) text = text.substr(range + 1);
  const auto value = evaluate(text);
  return value && *value > 0 ? CountOptionValue{CountOptionValue::Kind::number, static_cast<unsigned>(*value)}
                             : CountOptionValue{CountOptionValue::Kind::unknown, 0};
}

unsigned included_gpus(const Link& agent) {
  const auto value = agent.program == "deepspeed" ? agent.value("include").value_or("") : std::string();
  const auto list = value.substr(value.find(':') + 1); // npos + 1 is 0
  if (list.empty() || list.find_first_not_of("0123456789,") != std::string::npos) return 0;
  return static_cast<unsigned>(1 + std::count(list.begin(), list.end(), ','));
}

LaunchLayout shape_of(const FoundLaunch& found, const SizeEvaluator& sizes) {
  LaunchLayout shape;
  const auto* step = found.launch->step();
  const auto* agent = found.launch->agent();
  const auto nodes = read_count(step, sizes, {OptionMeaning::nodes});
  shape.nodes = nodes.is_number() ? nodes.value : sizes.nodes;
  auto per_node = read_count(step, sizes, {OptionMeaning::ranks_per_node});
  const auto tasks = read_count(step, sizes, {OptionMeaning::ranks});
  if (!per_node.is_number() && tasks.is_number())
    per_node = {CountOptionValue::Kind::number, std::max(1U, tasks.value / shape.nodes)};
  if (tasks.is_number() && tasks.value < shape.nodes) shape.nodes = tasks.value;
  unsigned each = per_node.is_number() ? per_node.value : std::max(1U, sizes.tasks_per_node);
  if (!step) each = 1;
  if (step && !per_node.is_number() && tasks.kind == CountOptionValue::Kind::unknown &&
      sizes.tasks_per_node <= 1)
    each = std::max(1U, agent ? 1U : sizes.gpus_per_node);
  shape.known_ranks = std::max({nodes.kind, per_node.kind, tasks.kind}) < CountOptionValue::Kind::unknown;
  const auto per_task = read_gpus(step, sizes, {"gpus-per-task"});
  shape.gpus_per_node = gpus_of_step(step, sizes, shape.nodes);
  if (per_task.is_number()) shape.gpus_per_node = std::max(sizes.gpus_per_node, per_task.value * each);
  shape.ranks_per_node = each;
  shape.own_gpus = step && !agent && (shows_own(*step) || (sizes.own_gpus && !step->find("gpu-bind")));
  if (!agent) {
    shape.one_process = !step || each == 1;
    return shape;
  }
  add_agent(shape, *agent, sizes);
  shape.gpus_per_node = std::max(shape.gpus_per_node, sizes.gpus_per_node == 0 ? shape.ranks_per_node : 0U);
  return shape;
}

} // namespace hpcml::import_script
