// SPDX-License-Identifier: MIT
#include "cli/run/job_end.hpp"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <utility>

#include "core/failures/log_messages.hpp"
#include "hpcml/exit_code.hpp"

namespace hpcml::cli {
void FailedTaskSearch::read(std::string_view text) {
  constexpr std::size_t k_longest = 4096; // srun's own lines are short
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    x_rest += text.substr(0, std::min(end, k_longest));
    read_line(x_rest);
    x_rest.clear();
    text.remove_prefix(end + 1);
  }
  if (x_rest.size() < k_longest) x_rest += text.substr(0, k_longest);
}

void FailedTaskSearch::read_line(std::string_view line) {
  // A task that srun ended after another one does not know why.
  const auto is_specific = [](const auto& why) { return why && *why != model::FailureClass::terminated; };
  if (const auto why = failures::parse_run_end(line); why && (is_specific(why) || !is_specific(x_class)))
    x_class = why;
  x_separate_worlds = x_separate_worlds || failures::reports_separate_worlds(line);
  if (x_found && x_found->out_of_memory) return;
  if (failures::reports_stop(line)) x_early = false;
  const auto end = failures::parse_task_end(line);
  if (!end) return;
  // srun stops tasks with TERM and KILL. Before it does, another process has killed the task, such as the
  // kernel if the node was out of memory.
  const bool early = std::exchange(x_early, false);
  const bool stopped =
      end->code == 128 + SIGTERM || (end->code == 128 + SIGKILL && !early && !end->out_of_memory);
  if (!end->code || stopped || (x_found && !end->out_of_memory)) return;
  x_found = FailedTask{
      std::string(end->tasks), std::string(end->node),
      end->has_exited ? fmt::format("exited with code {}", *end->code)
                      : fmt::format("{}: {}", end->out_of_memory ? "was killed" : "was terminated", end->how),
      *end->code, end->out_of_memory};
}

std::optional<model::FailureClass> class_of_job(std::optional<model::FailureClass> of_slurm, int code,
                                                const FailedTaskSearch& log) {
  using model::FailureClass;
  if (of_slurm != FailureClass::program) return of_slurm;
  if (log.found() && log.found()->out_of_memory) return FailureClass::out_of_memory;
  if (log.reported_class() == FailureClass::terminated && log.found()) return FailureClass::program;
  if (log.reported_class()) return log.reported_class();
  return code == k_cannot_set_up ? FailureClass::launcher : FailureClass::program;
}

} // namespace hpcml::cli
