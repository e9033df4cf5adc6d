// SPDX-License-Identifier: MIT
#include "check/job_shape.hpp"

#include <algorithm>
#include <array>

#include "core/util/text.hpp"

namespace hpcml::check {
namespace {

/// The name in "$NAME" or "${NAME}", and nothing else.
std::string_view variable_in(std::string_view text) {
  if (text.size() < 2 || text[0] != '$') return {};
  text.remove_prefix(1);
  if (text.front() == '{' && text.back() == '}') text = text.substr(1, text.size() - 2);
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '_' || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); })
             ? text
             : std::string_view();
}

std::optional<long> whole(std::optional<long> total, std::optional<long> parts) {
  if (!total || !parts || *parts <= 0 || *total % *parts != 0) return std::nullopt;
  return *total / *parts;
}

/// The job's number that Slurm gives in the variable; nothing for other names.
std::optional<long> number_named(std::string_view name, const LaunchShape& job) {
  if (name == "SLURM_NNODES" || name == "SLURM_JOB_NUM_NODES") return job.nodes;
  if (job.sets_tasks && (name == "SLURM_NTASKS" || name == "SLURM_NPROCS")) return job.tasks;
  if (job.sets_tasks_per_node && name == "SLURM_NTASKS_PER_NODE") return job.tasks_per_node;
  if (name == "SLURM_GPUS_ON_NODE" || (job.sets_gpus_per_node && name == "SLURM_GPUS_PER_NODE"))
    return job.gpus_per_node;
  return std::nullopt;
}

/// The value of "$((SLURM_NNODES * 4))": two numbers of the job or of the text; nothing for longer terms.
std::optional<long> evaluate(std::string_view text, const LaunchShape& job) {
  if (!text.starts_with("$((") || !text.ends_with("))")) return std::nullopt;
  text = text.substr(3, text.size() - 5);
  const auto at = text.find_first_of("*/-+");
  if (at == std::string_view::npos) return std::nullopt;
  const auto operand = [&](std::string_view word) -> std::optional<long> {
    word = util::trim(word);
    if (const auto number = util::parse_unsigned(word); number && *number < 100000)
      return static_cast<long>(*number);
    if (const auto name = variable_in(word); !name.empty()) return number_named(name, job);
    return number_named(word, job);
  };
  const auto left = operand(text.substr(0, at));
  const auto right = operand(text.substr(at + 1));
  if (!left || !right) return std::nullopt;
  if (text[at] == '/') return whole(left, right);
  return text[at] == '*' ? *left * *right : text[at] == '+' ? *left + *right : *left - *right;
}

/// GPUs of each node that the job's options ask for.
std::optional<long> job_gpus_per_node(const slurm::JobOptions& request, const LaunchShape& job) {
  for (const char* option : {"gres", "gpus", "gpus-per-node", "gpus-per-task"})
    if (has_gap(request.text(option))) return std::nullopt; // "gpu:{n}" is not filled in
  if (request.has("gpus-per-socket")) return std::nullopt;
  if (const auto gpus = request.gpus_per_node(); gpus > 0) return static_cast<long>(gpus);
  if (const auto gpus = request.gpus("gpus"); gpus > 0) return whole(static_cast<long>(gpus), job.nodes);
  if (const auto gpus = request.gpus("gpus-per-task"); gpus > 0 && job.tasks_per_node)
    return static_cast<long>(gpus) * *job.tasks_per_node;
  return std::nullopt;
}

bool requests_gpus(const Link& step) {
  static constexpr std::array<std::string_view, 7> k_options = {
      "gpus", "gpus-per-task", "gpus-per-socket", "gres", "tres-per-task", "ntasks-per-gpu", "gpus-per-node"};
  return std::any_of(k_options.begin(), k_options.end(),
                     [&](auto option) { return step.find(option) != nullptr; });
}

/// Returns the number of an option of srun; `is_set` is true if it has the option, with any value.
std::optional<long> option_number(const Link& step, std::string_view option, const LaunchShape& job,
                                  bool& is_set) {
  const auto* found = step.find(option);
  is_set = found != nullptr;
  return found && found->value ? number_of(*found->value, job) : std::nullopt;
}

void apply_srun(const Link& step, const LaunchShape& job, LaunchShape& shape) {
  bool has_nodes = false, has_tasks = false, has_per_node = false;
  const auto nodes = option_number(step, "nodes", job, has_nodes);
  const auto tasks = option_number(step, "ntasks", job, has_tasks);
  const auto per_node = option_number(step, "ntasks-per-node", job, has_per_node);
  if (has_nodes) {
    shape.nodes = nodes;
    shape.several_nodes = nodes && *nodes > 1;
    // srun may keep the job's number of tasks or not: who counts on either is not to be evaluated.
    if (!has_tasks && nodes != job.nodes) shape.tasks = shape.tasks_per_node = std::nullopt;
  }
  if (has_per_node) {
    shape.tasks_per_node = per_node;
    if (!has_tasks)
      shape.tasks = per_node && shape.nodes ? std::optional(*per_node * *shape.nodes) : std::nullopt;
  }
  if (has_tasks) {
    shape.tasks = tasks;
    if (tasks && shape.nodes) shape.nodes = std::min(*shape.nodes, *tasks);
    if (!tasks && !has_nodes) shape.nodes = std::nullopt;
    shape.several_nodes = shape.several_nodes && (!tasks || *tasks > 1);
    if (!has_per_node) shape.tasks_per_node = whole(tasks, shape.nodes);
    if (tasks && *tasks == 1) shape.tasks_per_node = 1;
  }
  if (!has_nodes && (step.find("nodelist") || step.find("relative") || step.find("exclude"))) {
    shape.nodes = std::nullopt;
    shape.several_nodes = false;
  }
  if (requests_gpus(step)) {
    bool is_set = false;
    shape.gpus_per_node = option_number(step, "gpus-per-node", job, is_set);
  }
}

/// True if mpirun starts as many processes as the job has tasks, and no option changes on which nodes.
bool starts_all_tasks(const Link& step, const LaunchShape& job) {
  static constexpr std::array<std::string_view, 7> k_harmless = {
      "x", "bind-to", "report-bindings", "mca", "tag-output", "allow-run-as-root", "verbose"};
  bool all = false;
  for (const auto& option : step.options) {
    const bool is_number = option.name == "n" || option.name == "np";
    if (!is_number && !util::contains(k_harmless, std::string_view(option.name))) return false;
    if (is_number && (!option.value || !job.tasks || number_of(*option.value, job) != job.tasks))
      return false;
    all = all || is_number;
  }
  return all;
}

/// Adds which numbers sbatch sets in variables.
void add_variables(const slurm::JobOptions& request, LaunchShape& job) {
  job.sets_tasks_per_node = request.has("ntasks-per-node");
  job.sets_tasks = request.has("ntasks") || job.sets_tasks_per_node || request.has("ntasks-per-gpu");
  job.sets_gpus_per_node = request.has("gpus-per-node");
}

} // namespace

bool is_own_job(const GivenOption& jobid) {
  const auto text = jobid.value ? jobid.value->text() : std::string();
  return text.find("SLURM_JOB_ID") != std::string::npos || text.find("SLURM_JOBID") != std::string::npos;
}

const shell::ArgumentPiece* only_unknown_piece(const shell::Argument& word) {
  const shell::ArgumentPiece* only = nullptr;
  for (const auto& piece : word.pieces) {
    if (piece.known && piece.text.empty()) continue;
    if (only || piece.known) return nullptr;
    only = &piece;
  }
  return only;
}

std::optional<long> number_of(const shell::Argument& word, const LaunchShape& job) {
  if (word.known()) {
    const auto number = util::parse_unsigned(word.text());
    return number ? std::optional(static_cast<long>(*number)) : std::nullopt;
  }
  const auto* only = only_unknown_piece(word);
  if (!only) return std::nullopt;
  if (const auto name = variable_in(only->text); !name.empty()) return number_named(name, job);
  return evaluate(only->text, job);
}

LaunchShape shape_of_job(const LintContext& subject) {
  LaunchShape job;
  if (subject.requests.size() != 1 || subject.sizes.size() != 1) return job;
  const auto& request = subject.requests[0];
  const auto& size = subject.sizes[0];
  if (size.has_exact_nodes()) job.nodes = size.min_nodes;
  job.several_nodes = size.nodes_given && size.min_nodes > 1;
  const bool by_gpus = request.has("ntasks-per-gpu") ||
                       (size.gpus_per_task > 0 && !request.has("ntasks") && !request.has("ntasks-per-node"));
  const bool odd = by_gpus || request.has("ntasks-per-socket") || request.has("ntasks-per-core") ||
                   request.has("extra-node-info") || request.has("sockets-per-node");
  if (request.has("ntasks"))
    job.tasks = request.count("ntasks");
  else if (odd)
    job.tasks = size.tasks_known > 0 ? std::optional(size.tasks_known) : std::nullopt;
  else if (job.nodes)
    job.tasks = *job.nodes * std::max(1L, request.count("ntasks-per-node"));
  if (request.has("ntasks-per-node") && !(job.tasks && *job.tasks < size.tasks_per_node))
    job.tasks_per_node = size.tasks_per_node;
  else if (job.tasks && *job.tasks == 1)
    job.tasks_per_node = 1;
  else if (request.has("ntasks") || odd)
    job.tasks_per_node = whole(job.tasks, job.nodes);
  else
    job.tasks_per_node = 1;
  add_variables(request, job);
  job.gpus_per_node = job_gpus_per_node(request, job);
  return job;
}

LaunchShape shape_of(const LintContext& subject, const Launch& launch) {
  auto shape = shape_of_job(subject);
  const auto* step = launch.step();
  if (!step) {
    shape.nodes = shape.tasks = shape.tasks_per_node = 1;
    shape.several_nodes = false;
    return shape;
  }
  const auto* job_id = step->find("jobid");
  if (job_id && !is_own_job(*job_id)) return {};
  if (subject.requests.size() != 1 || !step->complete || step->find("het-group")) return {};
  const auto job = shape;
  if (step->program == "srun")
    apply_srun(*step, job, shape);
  else if (!step->options.empty() && !starts_all_tasks(*step, job))
    shape.tasks = shape.tasks_per_node = std::nullopt; // which host gets how many is up to the MPI
  return shape;
}

} // namespace hpcml::check
