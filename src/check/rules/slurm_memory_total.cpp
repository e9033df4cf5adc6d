// SPDX-License-Identifier: MIT
// Memory of a job that its options add up to, which is far more or less than a training uses.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "check/script_work.hpp"
#include "core/model/mem_size.hpp"
#include "core/util/text.hpp"

namespace hpcml::check {
namespace slurm_memory_total {

constexpr std::uint64_t k_gib = 1024;
/// Most nodes have less.
constexpr std::uint64_t k_large_node = 2048 * k_gib;
/// More than the share of a GPU on any common node.
constexpr std::uint64_t k_large_share = 384 * k_gib;
/// A python process with a framework loaded uses more.
constexpr std::uint64_t k_least = 256;

/// True if the job asks for nodes with much memory by their name.
bool names_large_nodes(const slurm::JobOptions& request) {
  for (const char* option : {"partition", "qos", "constraint", "nodelist"}) {
    const auto text = util::to_lower(request.text(option));
    for (const std::string_view sign : {"mem", "fat", "large", "huge", "big", "grace", "smp"})
      if (text.find(sign) != std::string::npos) return true;
  }
  return false;
}

/// An amount of memory that Slurm multiplies, and what it is for each of.
struct MultipliedMemory {
  std::string_view option;
  std::string_view unit;
  std::uint64_t each = 0;  ///< MiB
  std::uint64_t count = 0; ///< on each node
  std::uint64_t total() const { return each * count; }
};

/// The tasks that a node has at least.
long tasks_on_node(const slurm::JobSize& size) {
  if (size.tasks_per_node > 0) return std::min(size.tasks_per_node, size.tasks);
  return size.has_exact_nodes() ? std::max(1L, size.tasks / size.min_nodes) : 1;
}

/// Nothing if the job has another option of memory, or its number of CPUs or GPUs of a node is not known.
std::optional<MultipliedMemory> multiplied_memory(const LintContext& subject) {
  const auto& request = subject.requests[0];
  const auto& size = subject.sizes[0];
  if (request.memory_mb.size() != 1) return std::nullopt;
  const auto& [option, each] = *request.memory_mb.begin();
  if (option == "mem-per-cpu" && request.has("cpus-per-task") && size.min_nodes > 0 &&
      request.count("cpus-per-task") > 1) {
    return MultipliedMemory{"mem-per-cpu", "CPU", each,
                            static_cast<std::uint64_t>(tasks_on_node(size) * size.cpus_per_task)};
  }
  if (option == "mem-per-gpu" && size.gpus_per_node > 0)
    return MultipliedMemory{"mem-per-gpu", "GPU", each, size.gpus_per_node};
  return std::nullopt;
}

std::string text_of(std::uint64_t mib) { return model::MemSize::of_mib(mib).to_slurm(); }

void find_large(const LintContext& subject, RuleMatches& hits) {
  const auto& request = subject.requests[0];
  const auto memory = multiplied_memory(subject);
  if (!memory || memory->count < 2 || request.place(memory->option).length == 0 || names_large_nodes(request))
    return;
  const auto gpus = static_cast<std::uint64_t>(shape_of_job(subject).gpus_per_node.value_or(0));
  const bool large_share =
      memory->option == "mem-per-cpu" && gpus > 0 && memory->total() / gpus >= k_large_share;
  if (memory->total() < k_large_node && !large_share) return;
  hits.push_back(
      {request.place(memory->option),
       fmt::format("--{} is for each {}: {} times {} is {} on a node", memory->option, memory->unit,
                   memory->count, text_of(memory->each), text_of(memory->total())),
       fmt::format("use --mem for the memory of a node{}",
                   memory->each >= 8 * k_gib ? fmt::format(": --mem={}", text_of(memory->each)) : "")});
}

/// True if the job's script starts python: itself, by a launcher, or in a container.
bool starts_python(const LintContext& subject) {
  return std::any_of(subject.launches.begin(), subject.launches.end(), [](const Launch& launch) {
    return does_work(launch) && (launch.python() || launch.agent());
  });
}

void find_small(const LintContext& subject, RuleMatches& hits) {
  const auto& request = subject.requests[0];
  for (const auto& [option, mib] : request.memory_mb) {
    const auto text = request.text(option);
    const bool unit = text.find_first_not_of("0123456789") != std::string::npos;
    if (unit || mib == 0 || mib >= k_least || request.place(option).length == 0) continue;
    if (option == "mem-per-cpu" && mib * static_cast<std::uint64_t>(subject.sizes[0].cpus) >= k_least)
      continue;
    if (!starts_python(subject)) return;
    hits.push_back(
        {request.place(option),
         fmt::format("--{}={} is {} MB: without a unit, the number counts megabytes", option, mib, mib),
         fmt::format("use --{}={}G", option, mib),
         {},
         diag::Severity::warning});
  }
}

RuleMatches find(const LintContext& subject) {
  RuleMatches hits;
  if (subject.requests.size() != 1 || subject.sizes.size() != 1 || subject.requests[0].memory_mb.empty())
    return hits;
  find_large(subject, hits);
  find_small(subject, hits);
  return hits;
}

} // namespace slurm_memory_total

Rule rule_slurm_memory_total() {
  using namespace slurm_memory_total;
  return {
      .id = "slurm/memory-total",
      .severity = diag::Severity::note,
      .title = "Memory that adds up to another amount",
      .why =
          "--mem-per-cpu is multiplied by the CPUs of all tasks on a node, --mem-per-gpu by its GPUs: with "
          "the job's memory as the value, the job waits for a node that hardly exists, or keeps the "
          "memory of GPUs that others could use. A number without a unit counts megabytes: --mem=64 ends "
          "the program at once.",
      .link = "https://slurm.schedmd.com/sbatch.html#OPT_mem-per-cpu",
      .bad = {R"(#!/bin/bash
#SBATCH --gres=gpu:1 --cpus-per-task=16 --mem-per-cpu=32G --time=10
python train.py
)"},
      .good = {R"(#!/bin/bash
#SBATCH --gres=gpu:1 --cpus-per-task=16 --mem=32G --time=10
python train.py
)"},
      .find = find,
      .yields_to = {{"site/memory"}},
  };
}

} // namespace hpcml::check
