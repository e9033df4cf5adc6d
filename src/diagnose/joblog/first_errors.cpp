// SPDX-License-Identifier: MIT
#include "diagnose/joblog/first_errors.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "core/failures/log_messages.hpp"
#include "core/util/text.hpp"
#include "diagnose/joblog/log_lines.hpp"

namespace hpcml::joblog {

namespace {

constexpr std::size_t k_most_exceptions = 8;
constexpr unsigned k_most_other_lines = 200; ///< of other processes, between a traceback's frames
constexpr const char* k_hint = "check the lines around it: hpcml has no advice for this error";

/// Whether the text has one of the parts in it.
template <class List> bool holds_any(std::string_view text, const List& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](auto part) { return holds(text, part); });
}

/// "0.1", "-3", "nan": what a metric that is called an error has for a value.
bool is_number(std::string_view text) {
  text = util::trim(text);
  if (text.starts_with('+') || text.starts_with('-') || text.starts_with('.')) text.remove_prefix(1);
  return text.empty() || is_digit(text.front()) || text.starts_with("nan") || text.starts_with("inf");
}

/// "KeyError: 'x'", "socket.timeout": the name and what follows the colon.
struct ExceptionLine {
  std::string_view name, message;
};
std::optional<ExceptionLine> parse_exception(std::string_view text) {
  const auto is_name_char = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  const auto end =
      static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_name_char) - text.begin());
  const auto name = text.substr(0, end), rest = text.substr(end);
  if (name.empty() || is_digit(name.front()) || name.front() == '.' || name.back() == '.')
    return std::nullopt;
  if (!rest.empty() && !rest.starts_with(": ") && rest != ":") return std::nullopt;
  return ExceptionLine{name, rest.empty() ? rest : util::trim(rest.substr(1))};
}

/// Whether it ends a traceback: an exception by its name, or one that a module qualifies.
bool ends_traceback(const ExceptionLine& line) {
  static constexpr std::array<std::string_view, 9> k_ends = {
      "Error", "Exception", "Interrupt", "Exit", "Warning", "Iteration", "Expired", "Timeout", "Failure"};
  return line.name.find('.') != std::string_view::npos ||
         std::any_of(k_ends.begin(), k_ends.end(), [&](auto end) { return line.name.ends_with(end); });
}

/// Whether it is an exception without a traceback before it, and not a metric: "MeanSquaredError: 0.1".
bool is_alone(const ExceptionLine& line) {
  return (line.name.ends_with("Error") || line.name.ends_with("Exception")) && !is_number(line.message);
}

/// Whether it only reports that another process failed.
bool is_wrapper(const ExceptionLine& line) {
  return line.name.ends_with("ChildFailedError") || line.name.ends_with("ProcessRaisedException") ||
         line.name.ends_with("ProcessExitedException");
}

/// Lines that also healthy runs have.
bool is_harmless(std::string_view text) {
  static constexpr std::array<std::string_view, 8> k_harmless = {
      "ignoring the error",          // torch's TCPStore under torchrun, from 2.7
      "pip's dependency resolver",   // pip's advice after an install
      "_ARRAY_API not found",        // NumPy 2 with a torch that was built for NumPy 1
      "Missing \"iommu=pt\"",        // RCCL's advice to administrators (src/init.cc)
      "NUMA auto balancing enabled", // the same
      "HSA_FORCE_FINE_GRAIN_PCIE",   // the same
      "Failed to open libibverbs",   // NCCL on nodes without InfiniBand
      failures::k_task_exited};      // a row of the table
  return holds_any(text, k_harmless);
}

/// "srun: error: …", "sbatch: fatal: …", "train.py: error: …", "error: …"
bool is_program_error(std::string_view text) {
  constexpr std::string_view k_mark = "error: ";
  const auto fatal = text.find(": fatal: ");
  if (fatal != std::string_view::npos && text.substr(0, fatal).find(' ') == std::string_view::npos)
    return true;
  const auto at = text.starts_with(k_mark) ? 0 : text.find(": error: ");
  if (at == std::string_view::npos || text.substr(0, at).find(' ') != std::string_view::npos) return false;
  return !is_number(text.substr(text.find(k_mark, at) + k_mark.size()));
}

bool is_nccl_warning(std::string_view text) { return holds(text, "NCCL WARN"); }

/// "[E916 08:53:53.7 ProcessGroupNCCL.cpp:633] …", "[F socket.cpp:1] …"; without brackets by torch's Python.
bool is_torch_log(std::string_view text) {
  const bool bracketed = text.starts_with('[');
  if (bracketed) text.remove_prefix(1);
  if (text.size() < 2 || (text[0] != 'E' && text[0] != 'F')) return false;
  const auto place = text.substr(0, text.find(']'));
  if (place.size() == text.size()) return false;
  const bool has_source = holds(place, ".cpp:") || holds(place, ".py:") || holds(place, ".cc:");
  if (bracketed) return has_source && (is_digit(text[1]) || text[1] == ' ');
  return is_digit(text[1]) && has_source && (text[0] == 'F' || holds(place, " torch/"));
}

/// Shells, and env, by whose names lines begin: "bash: ", "/bin/sh: ".
bool is_shell(std::string_view program) {
  static constexpr std::array<std::string_view, 7> k_shells = {"bash", "sh",  "zsh",         "dash",
                                                               "ksh",  "env", "slurm_script"};
  const auto name = program.substr(program.rfind('/') + 1); // npos + 1 is 0
  return std::find(k_shells.begin(), k_shells.end(), name) != k_shells.end();
}

/// Reasons for which shells do not run a command.
constexpr std::array<std::string_view, 6> k_shell_reasons = {
    "No such file or directory", "Permission denied", "not found", "cannot execute",
    "Exec format error",         "can't cd to "};

/// "bash: line 3: …" and "x.sh: line 3: …" of bash, "x.sh: 3: foo: not found" of dash, "bash: foo: Permission
/// denied", and missing commands of all shells.
bool is_shell_error(std::string_view text) {
  if (text.ends_with(": command not found") || text.ends_with(": Command not found.") ||
      holds(text, ": command not found: "))
    return true;
  constexpr std::string_view k_line = "line ";
  const auto end = text.find(": ");
  if (end == std::string_view::npos || text.substr(0, end).find(' ') != std::string_view::npos) return false;
  auto message = text.substr(end + 2);
  const bool has_line = message.starts_with(k_line);
  if (has_line) message.remove_prefix(k_line.size());
  const auto digits = std::min(message.find_first_not_of("0123456789"), message.size());
  const bool is_numbered = digits > 0 && message.substr(digits).starts_with(": ");
  if (has_line && is_numbered) return !message.substr(digits).starts_with(": warning: ");
  return (is_numbered || is_shell(text.substr(0, end))) && holds_any(message, k_shell_reasons);
}

/// Levels of loggers at which programs report errors.
constexpr std::array<std::string_view, 3> k_levels = {"ERROR", "CRITICAL", "FATAL"};

/// "ERROR: …", "ERROR:root:…", "10:00:00 - train - ERROR - …", "[ERROR] …", "| ERROR | …"
bool is_logged_error(std::string_view text) {
  constexpr std::size_t k_longest_head = 80;
  const auto head = text.substr(0, k_longest_head);
  return std::any_of(k_levels.begin(), k_levels.end(), [&](auto level) {
    const auto at = head.find(level);
    if (at == std::string_view::npos) return false;
    if (at > 0 && std::string_view(" [|-:(").find(head[at - 1]) == std::string_view::npos) return false;
    const auto rest = util::trim(text.substr(at + level.size()));
    return !rest.empty() && std::string_view(":-]|)").find(rest.front()) != std::string_view::npos &&
           !is_number(rest.substr(1));
  });
}

/// True for what shells print for a program that a signal has ended, if the line has nothing else. They are
/// silent after TERM, which srun reports of tasks that it stopped.
bool is_signal(std::string_view text) {
  return std::any_of(std::begin(failures::k_signal_texts), std::end(failures::k_signal_texts),
                     [&](const auto& signal) { return text == signal.text && signal.number != SIGTERM; });
}

/// Words by which programs and launchers end.
constexpr std::array<std::string_view, 16> k_last_lines = {"Fatal Python error: ",
                                                           "terminate called ",
                                                           "Segmentation fault",
                                                           "(core dumped)",
                                                           ": Assertion `",             // assert()
                                                           "double free or corruption", // glibc
                                                           "free(): invalid ",          // the same
                                                           "stack smashing detected",   // the same
                                                           "' panicked at ",            // Rust
                                                           ": *** [",                   // make
                                                           "failed to run command",     // timeout, nohup
                                                           "can't open file '",
                                                           "has detected the following error", // Lmod
                                                           "noticed that process rank",        // Open MPI
                                                           "UCX  ERROR ",
                                                           "Job not requeued because: "}; // submitit
bool has_last_word(std::string_view text) { return holds_any(text, k_last_lines); }

using IsKind = bool (*)(std::string_view text);
constexpr std::array<IsKind, 7> k_kinds = {is_program_error, is_nccl_warning, is_torch_log,   is_shell_error,
                                           has_last_word,    is_signal,       is_logged_error};

/// One of these, or of the lists above, is in each line that is looked for.
constexpr std::array<std::string_view, 11> k_marks = {
    "Error", "Exception", "Traceback (", "error: ", "fatal: ", "NCCL WARN",
    "[E",    "[F",        " torch/",     ".cc:",    ": line "};

} // namespace

void FirstErrorReader::begin_block(std::string_view block) {
  x_worth = x_open > 0 || holds_any(block, k_marks) || holds_any(block, k_last_lines) ||
            holds_any(block, k_shell_reasons) || holds_any(block, k_levels) ||
            std::any_of(std::begin(failures::k_signal_texts), std::end(failures::k_signal_texts),
                        [&](const auto& signal) { return holds(block, signal.text); });
}

void FirstErrorReader::add(LogFailure& failure, std::uint64_t number, std::string_view line,
                           std::optional<unsigned> rank) {
  if (rank && failure.ranks.size() < k_most_ranks) failure.ranks.insert(*rank);
  if (failure.count++ > 0) return;
  failure.line = number;
  failure.text = clipped(line);
  failure.hint = k_hint;
  if (const auto nccl = parse_nccl_line(line)) failure.host = nccl->writer.host;
  read_slurm_task(line, failure);
}

void FirstErrorReader::add_exception(std::uint64_t number, std::string_view line,
                                     std::optional<unsigned> rank, std::string_view text) {
  const auto same = std::find_if(x_exceptions.begin(), x_exceptions.end(),
                                 [&](const auto& known) { return known.first == text; });
  if (same != x_exceptions.end()) {
    add(same->second, number, line, rank);
  } else if (x_exceptions.size() < k_most_exceptions) {
    x_exceptions.emplace_back(text, LogFailure{});
    add(x_exceptions.back().second, number, line, rank);
  }
}

/// Returns true if the line belongs to a traceback or is an exception.
bool FirstErrorReader::read_traceback(std::uint64_t number, std::string_view line,
                                      std::optional<unsigned> rank, std::string_view text) {
  const bool is_header = util::trim(text) == "Traceback (most recent call last):";
  const bool is_ignored = text.starts_with("Exception ignored in");
  const auto exception = parse_exception(text);
  const bool alone = exception && is_alone(*exception);
  const auto open = x_tracebacks.find(rank);
  if (!is_header && !is_ignored && !alone && (open == x_tracebacks.end() || !open->second.is_open))
    return false;
  if (open == x_tracebacks.end() && x_tracebacks.size() >= k_most_ranks) return true;
  auto& traceback = x_tracebacks[rank];
  const auto set_open = [&](bool is_open) {
    x_open += static_cast<unsigned>(is_open) - static_cast<unsigned>(traceback.is_open);
    traceback.is_open = is_open;
    traceback.other_lines = 0;
  };
  if (is_ignored || is_header) {
    traceback.is_ignored =
        is_ignored || (traceback.is_open && traceback.is_ignored && traceback.other_lines == 0);
    set_open(true);
    return true;
  }
  if (text.empty() || text.starts_with(' ')) return true;
  if (!exception || !(alone || ends_traceback(*exception))) {
    if (++traceback.other_lines > k_most_other_lines) set_open(false);
    return false;
  }
  const bool ignored = traceback.is_open && traceback.is_ignored;
  set_open(false);
  traceback.is_ignored = false;
  if (ignored || is_harmless(text)) return true;
  if (is_wrapper(*exception)) {
    add(x_wrapper, number, line, rank);
    return true;
  }
  if (!traceback.is_reported) add_exception(number, line, rank, text);
  traceback.is_reported = true;
  return true;
}

void FirstErrorReader::read(std::uint64_t number, std::string_view line) {
  if (holds(line, "NCCL INFO")) return; // what it tries first, and does without
  const auto [rank, text] = split_prefix(line);
  if (read_traceback(number, line, rank, text) || is_harmless(text)) return;
  for (std::size_t kind = 0; kind < k_kinds.size(); ++kind)
    if (k_kinds[kind](text)) {
      add(x_lines[kind], number, line, rank);
      return;
    }
}

std::vector<LogFailure> FirstErrorReader::found() const {
  std::vector<LogFailure> list;
  for (const auto& [text, failure] : x_exceptions) list.push_back(failure);
  for (const auto& [kind, failure] : x_lines) list.push_back(failure);
  if (x_exceptions.empty() && x_wrapper.count > 0) list.push_back(x_wrapper);
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.line < b.line; });
  return list;
}

} // namespace hpcml::joblog
