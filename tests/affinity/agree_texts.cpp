// SPDX-License-Identifier: MIT
#include "agree_texts.hpp"

#include "core/util/text.hpp"

namespace hpcml::agree {
namespace {

using model::IdSet;

/// The number behind `word` in the line, blanks between them.
std::optional<unsigned long long> number_behind(std::string_view line, std::string_view word,
                                                std::size_t& at) {
  const std::size_t found = line.find(word, at);
  if (found == std::string_view::npos) return std::nullopt;
  std::size_t begin = found + word.size();
  while (begin < line.size() && line[begin] == ' ') ++begin;
  std::size_t end = begin;
  while (end < line.size() && line[end] >= '0' && line[end] <= '9') ++end;
  at = end;
  return util::parse_unsigned(line.substr(begin, end - begin));
}

} // namespace

util::Result<BoundTask> parse_verbose_line(std::string_view line) {
  const util::Error error{"this is no line of srun --cpu-bind=verbose: " + std::string(line)};
  const std::size_t dash = line.find(" - ");
  const std::size_t comma = dash == std::string_view::npos ? dash : line.find(',', dash);
  // Older versions write cpu_bind.
  const bool binding = line.find("cpu-bind") != line.npos || line.find("cpu_bind") != line.npos;
  if (!binding || comma == std::string_view::npos) return error;
  BoundTask bound;
  bound.node = std::string(util::trim(line.substr(dash + 3, comma - dash - 3)));
  std::size_t at = comma;
  const auto task = number_behind(line, "task", at), local = number_behind(line, "", at);
  const std::size_t mask = line.find("mask ", at);
  if (!task || !local || mask == std::string_view::npos) return error;
  const std::string_view digits = line.substr(mask + 5);
  TRY(const auto cpus, IdSet::parse_mask(digits.substr(0, digits.find(' '))));
  bound.task = static_cast<unsigned>(*task);
  bound.local = static_cast<unsigned>(*local);
  bound.cpus = cpus;
  return bound;
}

util::Result<NumaAffinity> parse_numa_affinity(std::string_view text) {
  const std::string_view list = util::trim(text);
  if (list.empty() || list == "N/A") return NumaAffinity{};
  const std::size_t comma = list.find(',');
  TRY(const auto first, IdSet::parse_list(list.substr(0, comma)));
  NumaAffinity affinity;
  affinity.cpu = first.first();
  affinity.gpu_memory = first;
  affinity.gpu_memory.remove(*affinity.cpu);
  if (comma != std::string_view::npos) {
    TRY(const auto rest, IdSet::parse_list(list.substr(comma + 1)));
    affinity.gpu_memory = affinity.gpu_memory | rest;
  }
  return affinity;
}

} // namespace hpcml::agree
