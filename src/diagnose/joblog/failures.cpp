// SPDX-License-Identifier: MIT
#include "diagnose/joblog/failures.hpp"

#include <algorithm>

#include "core/failures/log_messages.hpp"
#include "core/model/id_set.hpp"
#include "core/util/text.hpp"
#include "diagnose/joblog/log_lines.hpp"

namespace hpcml::joblog {

using failures::known_errors;

void read_slurm_task(std::string_view line, LogFailure& failure) {
  constexpr std::size_t k_longest_host = 253;
  constexpr unsigned k_most_tasks = 1000000;
  const auto at = line.find(failures::k_srun_error);
  const auto end = at == std::string_view::npos ? std::nullopt : failures::parse_task_end(line.substr(at));
  if (!end || end->node.size() > k_longest_host) return;
  failure.host = std::string(end->node);
  if (const auto rank = util::parse_unsigned(end->tasks)) {
    if (*rank < k_most_tasks) failure.ranks.insert(static_cast<unsigned>(*rank));
  } else if (const auto tasks = model::IdSet::parse_list(end->tasks);
             tasks && tasks->size() <= k_most_ranks) {
    for (const auto task : tasks->ids()) failure.ranks.insert(task);
  }
}

void FailureReader::begin_block(std::string_view block) {
  const auto errors = known_errors();
  x_rows.clear();
  for (std::size_t i = 0; i < errors.size(); ++i)
    if (errors[i].is_printed() && holds(block, errors[i].text)) x_rows.push_back(i);
}

void FailureReader::read(std::uint64_t number, std::string_view line) {
  if (holds(line, "NCCL INFO")) return; // what it tries first, and does without
  // The first row is the cause of what the line says.
  const auto row = std::find_if(x_rows.begin(), x_rows.end(),
                                [&](std::size_t i) { return matches(known_errors()[i], line); });
  if (row == x_rows.end() || known_errors()[*row].hint.empty()) return;
  auto& failure = x_found[*row];
  if (failure.count++ == 0) {
    failure.line = number;
    failure.text = clipped(line);
    if (const auto nccl = parse_nccl_line(line)) failure.host = nccl->writer.host;
    read_slurm_task(line, failure);
    failure.error = &known_errors()[*row];
    failure.hint = hint_for(*failure.error, failure.host.empty() ? "HOST" : failure.host);
  }
  if (const auto rank = rank_in_front(line); rank && failure.ranks.size() < k_most_ranks)
    failure.ranks.insert(*rank);
}

bool FailureReader::has_cause() const {
  return std::any_of(x_found.begin(), x_found.end(), [](const auto& found) {
    const auto& row = known_errors()[found.first];
    return row.text != failures::k_task_exited && found.second.count >= row.least;
  });
}

std::vector<LogFailure> FailureReader::found() const {
  std::vector<LogFailure> list;
  for (const auto& [row, failure] : x_found)
    if (failure.count >= known_errors()[row].least) list.push_back(failure);
  return list;
}

} // namespace hpcml::joblog
