// SPDX-License-Identifier: MIT
// srun's lines: src/srun/libsrun/launch.c and src/api/step_launch.c; slurmstepd's: its mgr.c.
#include "core/failures/log_messages.hpp"

#include <array>
#include <fmt/format.h>

#include "core/failures/failure_table.hpp"
#include "core/util/text.hpp"

namespace hpcml::failures {

namespace {

constexpr std::string_view k_log_prefix = "hpcml: ";
/// The line of this version, and that of earlier ones.
constexpr std::array<std::string_view, 2> k_run_ends = {"hpcml: the run exited with code ",
                                                        "hpcml launch: the run ended with "};

/// Removes and returns the text up to `end`, which is removed as well; nothing if the text does not have it.
std::optional<std::string_view> take_until(std::string_view& text, std::string_view end) {
  const auto at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  const auto head = text.substr(0, at);
  text.remove_prefix(at + end.size());
  return head;
}

/// Returns the signal that a text begins with.
std::optional<int> find_signal(std::string_view text) {
  for (const auto& signal : k_signal_texts)
    if (text.starts_with(signal.text)) return signal.number;
  return std::nullopt;
}

} // namespace

std::optional<TaskEnd> parse_task_end(std::string_view line) {
  if (!line.starts_with(k_srun_error)) return std::nullopt;
  line.remove_prefix(k_srun_error.size());
  const auto node = take_until(line, ": task");
  if (!node || node->empty() || node->find(' ') != std::string_view::npos) return std::nullopt;
  if (line.starts_with("s")) line.remove_prefix(1);
  const auto tasks = take_until(line, ": ");
  if (!tasks) return std::nullopt;
  TaskEnd end{*node, util::trim(*tasks), util::trim(line), {}};
  end.has_exited = end.how.starts_with(k_task_exited);
  end.out_of_memory = end.how.starts_with(k_task_out_of_memory);
  if (end.has_exited) {
    const auto code = util::parse_unsigned(util::trim(end.how.substr(k_task_exited.size())));
    if (code && *code > 0 && *code < 256) end.code = static_cast<int>(*code);
  } else if (const auto signal = end.out_of_memory ? SIGKILL : find_signal(end.how)) {
    end.code = 128 + *signal;
  }
  return end;
}

bool reports_stop(std::string_view line) {
  const auto has = [&](std::string_view part) { return line.find(part) != std::string_view::npos; };
  // "srun: launch/slurm: _step_signal: Terminating StepId=1.0", "srun: Job step aborted: Waiting up to 32 s";
  // "slurmstepd: error: *** STEP 1.0 ON nid000001 CANCELLED AT …", also of JOB
  return line.starts_with("srun: ") ? has("Terminating ") || has("aborted")
                                    : line.starts_with("slurmstepd") && has(" CANCELLED ");
}

std::string describe_run_end(int code, model::FailureClass why) {
  return fmt::format("{}{}: {}", k_run_ends[0].substr(k_log_prefix.size()), code, model::word_of(why));
}

std::optional<model::FailureClass> parse_run_end(std::string_view line) {
  for (const auto text : k_run_ends) {
    const auto begin = line.find(text);
    if (begin == std::string_view::npos) continue;
    const auto rest = line.substr(begin + text.size());
    const auto colon = rest.find(": ");
    if (colon == std::string_view::npos || !util::parse_unsigned(rest.substr(0, colon))) return std::nullopt;
    return model::find_word<model::FailureClass>(util::trim(rest.substr(colon + 2)));
  }
  return std::nullopt;
}

bool reports_separate_worlds(std::string_view line) {
  static const auto& error = known_error("separate-worlds");
  return matches(error, line);
}

} // namespace hpcml::failures
