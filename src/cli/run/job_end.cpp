// SPDX-License-Identifier: MIT
#include "cli/run/job_end.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <fmt/format.h>
#include <utility>

#include "core/util/text.hpp"
#include "hpcml/exit_code.hpp"
#include "run/launch/end_class.hpp"
#include "run/launch/world_evidence.hpp"

namespace hpcml::cli {
namespace {

/// Signals by the names that srun prints (strsignal), without TERM and KILL, which srun itself sends.
constexpr std::array<std::pair<std::string_view, int>, 7> k_signals = {{{"Segmentation fault", SIGSEGV},
                                                                        {"Aborted", SIGABRT},
                                                                        {"Bus error", SIGBUS},
                                                                        {"Floating point exception", SIGFPE},
                                                                        {"Illegal instruction", SIGILL},
                                                                        {"Bad system call", SIGSYS},
                                                                        {"Trace/breakpoint trap", SIGTRAP}}};

constexpr std::string_view k_out_of_memory = "Out Of Memory";

/// Removes and returns the text up to `end`, which is removed as well; nothing if the text does not have it.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view end) {
  const auto at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const auto head = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return head;
}

/// `early`: srun has not begun to stop tasks. A task that was killed was then killed by another process, such
/// as the kernel if the node was out of memory.
std::optional<int> code_of(std::string_view how, bool early) {
  constexpr std::string_view k_exit = "Exited with exit code ";
  constexpr int k_killed = 128 + SIGKILL;
  if (how.starts_with(k_exit)) {
    const auto code = util::parse_unsigned(util::trim(how.substr(k_exit.size())));
    const bool own =
        code && *code > 0 && *code < 256 && *code != 128 + SIGTERM && (early || *code != k_killed);
    return own ? std::optional(static_cast<int>(*code)) : std::nullopt;
  }
  if (how.starts_with(k_out_of_memory) || (early && how.starts_with("Killed"))) return k_killed;
  for (const auto& [name, number] : k_signals)
    if (how.starts_with(name)) return 128 + number;
  return std::nullopt;
}

} // namespace

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
  constexpr std::string_view k_start = "srun: error: ";
  // A task that srun ended after another one does not know why.
  const auto is_specific = [](const auto& why) { return why && *why != model::FailureClass::terminated; };
  if (const auto why = launch::read_class(line); why && (is_specific(why) || !is_specific(x_class)))
    x_class = why;
  x_separate_worlds = x_separate_worlds || launch::reports_separate_worlds(line);
  if (x_found && x_found->out_of_memory) return;
  // "srun: launch/slurm: _step_signal: Terminating StepId=1.0", "srun: Job step aborted: Waiting up to 32 s";
  // "slurmstepd: error: *** STEP 1.0 ON nid000001 CANCELLED AT …", also of JOB
  if ((line.starts_with("srun: ") && (line.find("Terminating ") != std::string_view::npos ||
                                      line.find("aborted") != std::string_view::npos)) ||
      (line.starts_with("slurmstepd") && line.find(" CANCELLED ") != std::string_view::npos))
    x_early = false;
  if (!line.starts_with(k_start)) return;
  line.remove_prefix(k_start.size());
  const auto node = take_until(line, ": task");
  if (!node || node->find(' ') != std::string_view::npos) return;
  if (line.starts_with("s")) line.remove_prefix(1);
  const auto tasks = take_until(line, ": ");
  if (!tasks) return;
  const auto code = code_of(line, std::exchange(x_early, false));
  const bool memory = line.starts_with(k_out_of_memory);
  if (!code || (x_found && !memory)) return;
  const bool exit = line.starts_with("Exited");
  x_found =
      FailedTask{std::string(util::trim(*tasks)), std::string(*node),
                 exit ? fmt::format("exited with code {}", *code)
                      : fmt::format("{}: {}", memory ? "was killed" : "was terminated", util::trim(line)),
                 *code, memory};
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
