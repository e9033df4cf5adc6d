// SPDX-License-Identifier: MIT
#include "cli/run/submit_watch.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <ctime>
#include <fmt/format.h>
#include <map>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/run/job_end.hpp"
#include "cli/run/job_output.hpp"
#include "core/diag/visible_text.hpp"
#include "core/slurm/jobs.hpp"
#include "core/util/text.hpp"

namespace hpcml::cli {

namespace {

using Clock = std::chrono::steady_clock;
using slurm::JobPhase;
using slurm::JobRecord;

volatile std::sig_atomic_t g_stopped = 0;
void stop(int signal) { g_stopped = signal; }

/// While it lives, Ctrl-C and the like only set g_stopped, and a closed pipe is an error of write.
class SignalGuard {
public:
  SignalGuard() {
    g_stopped = 0;
    struct sigaction action {};
    action.sa_handler = stop; // without SA_RESTART: poll must end at once
    for (std::size_t i = 0; i < std::size(k_signals); ++i) ::sigaction(k_signals[i], &action, &x_old[i]);
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    ::sigaction(SIGPIPE, &ignore, &x_old_pipe);
  }
  ~SignalGuard() {
    for (std::size_t i = 0; i < std::size(k_signals); ++i) ::sigaction(k_signals[i], &x_old[i], nullptr);
    ::sigaction(SIGPIPE, &x_old_pipe, nullptr);
  }
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

private:
  static constexpr int k_signals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction x_old[3]{};
  struct sigaction x_old_pipe {};
};

std::string local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::localtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return text;
}

/// The messages on stderr: lasting lines, and on a terminal a status line that is rewritten.
class Screen {
public:
  explicit Screen(bool is_quiet) : x_quiet(is_quiet), x_terminal(::isatty(STDERR_FILENO) != 0) {}
  ~Screen() { clear(); }
  void note(const std::string& sentence) {
    if (!x_quiet) failure(sentence);
  }
  /// Prints the sentence even if notes are not wanted.
  void failure(const std::string& sentence) {
    clear();
    print_note(sentence);
  }
  void progress(const std::string& text) {
    // A line of the log that has no end yet must not be overwritten.
    if (!x_terminal || !x_line_ended || x_quiet) return;
    winsize size{};
    const std::size_t width =
        ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 10 ? size.ws_col : 80;
    const auto shown = diag::visible_text(fmt::format("hpcml: {}", text)).substr(0, width - 1);
    std::fprintf(stderr, "\r\033[K%s", shown.c_str());
    std::fflush(stderr);
    x_shown = true;
  }
  /// False when the output can no longer be written.
  bool log(const OutputPiece& piece) {
    clear();
    x_line_ended = piece.text.back() == '\n';
    auto* const stream = piece.is_error ? stderr : stdout;
    return std::fwrite(piece.text.data(), 1, piece.text.size(), stream) == piece.text.size() &&
           std::fflush(stream) == 0;
  }

private:
  void clear() {
    if (x_shown) std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    x_shown = false;
  }
  bool x_quiet;
  bool x_terminal;
  bool x_shown = false;
  bool x_line_ended = true;
};

/// Between two looks at a log.
constexpr std::chrono::milliseconds k_log_interval(300);

/// Exit code of srun if the kernel killed a task because it was out of memory.
constexpr int k_of_out_of_memory = 1;

/// One job from the queue to its end.
class Watch {
public:
  Watch(const AcceptedBatchJob& job, const slurm::Commands& commands, Screen& screen, const Context& context,
        const FollowOptions& options)
      : x_job(job), x_commands(commands), x_screen(screen), x_context(context), x_options(options),
        x_output(options.earlier_log) {
    if (!job.array && !options.rank_logs) x_output.follow(job.log);
  }
  /// Returns the exit code; nothing if the user stopped watching, or the reader of the log exited.
  std::optional<int> run();

private:
  enum class Outlook { open, done, lost };
  Outlook ask();
  Outlook evaluate(const std::vector<JobRecord>& records);
  Outlook evaluate_array(const std::vector<JobRecord>& records);
  void report_start(const JobRecord& job);
  void follow_output(const JobRecord& job);
  bool print(const std::vector<OutputPiece>& pieces);
  std::string describe_missing_log() const;
  void finish_log();
  void name_faulty_rank();
  void name_class();
  std::chrono::milliseconds interval() const;

  const AcceptedBatchJob& x_job;
  const slurm::Commands& x_commands;
  Screen& x_screen;
  const Context& x_context;
  const FollowOptions& x_options;
  JobOutput x_output;
  FailedTaskSearch x_end_search;
  Clock::time_point x_changed = Clock::now(); // when the job last did something
  std::string x_last_report;
  std::map<std::string, int> x_ended; // tasks of an array and their exit codes
  unsigned x_failures = 0;
  int x_code = 0;
  std::optional<model::FailureClass> x_class; // why it failed, as reported by Slurm
};

/// Often at first, when most happens; a job that waits for hours is asked after twice a minute.
std::chrono::milliseconds Watch::interval() const {
  const auto quiet = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - x_changed);
  return std::clamp(quiet / 10, x_options.min_interval, x_options.max_interval);
}

/// A sentence about a job or a task that has ended.
bool is_failure(const JobRecord& job) { return job.phase() == JobPhase::ended && job.state != "COMPLETED"; }

void Watch::report_start(const JobRecord& job) {
  // The estimate moves all the time: only what is left of the sentence without it is news.
  auto news = job;
  news.start.clear();
  const auto text = slurm::describe_job(news, "");
  if (text != x_last_report) {
    x_last_report = text;
    x_changed = Clock::now();
    const auto sentence = fmt::format("job {} {}", x_job.id, slurm::describe_job(job, local_time()));
    if (is_failure(job))
      x_screen.failure(sentence);
    else
      x_screen.note(sentence);
  } else if (job.phase() == JobPhase::running) {
    x_screen.progress(fmt::format("job {} {}, {} of {}", x_job.id, text, job.run_time, job.time_limit));
  } else {
    x_screen.progress(fmt::format("job {} {}", x_job.id, slurm::describe_job(job, local_time())));
  }
}

void Watch::follow_output(const JobRecord& job) {
  if (x_options.rank_logs) {
    for (const auto& log : find_rank_logs(*x_options.rank_logs, job.id))
      x_output.follow(log.path, log.is_error);
    return;
  }
  if (job.phase() == JobPhase::waiting) return;
  // The first node's name was not known when the job was submitted.
  if (!x_job.array && x_job.log.find("%N") != std::string::npos) x_output.follow(job.log);
  if (!x_options.copies_all) return;
  x_output.follow(job.log);
  x_output.follow(job.error_log, true);
}

/// Of the components of a heterogeneous job one that has not ended, else the one that ended worst.
const JobRecord& choose_component(const std::vector<JobRecord>& records) {
  return *std::max_element(records.begin(), records.end(), [](const JobRecord& a, const JobRecord& b) {
    const auto rank = [](const JobRecord& job) {
      return job.phase() != JobPhase::ended ? 256 : slurm::exit_code_of(job);
    };
    return rank(a) < rank(b);
  });
}

Watch::Outlook Watch::evaluate(const std::vector<JobRecord>& records) {
  const auto& job = choose_component(records);
  follow_output(records.front());
  report_start(job);
  if (job.phase() == JobPhase::ended) {
    x_code = slurm::exit_code_of(job);
    x_class = slurm::class_of_end(job);
    return Outlook::done;
  }
  if (job.phase() != JobPhase::waiting || !slurm::explain_reason(job.reason).hopeless) return Outlook::open;
  print_error(fmt::format("job {} is queued, but can never start: {}", x_job.id,
                          slurm::explain_reason(job.reason).text),
              fmt::format("remove it with {}{}, and submit it again with a request that can start",
                          reach(x_job, "scancel "), x_job.id),
              x_context.colour);
  x_code = k_world_failed;
  return Outlook::lost;
}

Watch::Outlook Watch::evaluate_array(const std::vector<JobRecord>& records) {
  std::size_t running = 0, waiting = 0;
  const JobRecord* first_waiting = nullptr;
  for (const auto& task : records) {
    follow_output(task);
    if (task.phase() == JobPhase::running) ++running;
    if (task.phase() == JobPhase::waiting) {
      ++waiting;
      first_waiting = &task;
    }
    if (task.phase() != JobPhase::ended ||
        !x_ended.emplace(task.array_tasks, slurm::exit_code_of(task)).second)
      continue;
    x_changed = Clock::now();
    const auto why = slurm::class_of_end(task);
    const auto sentence = fmt::format("task {} of job {} {}{}{}", task.array_tasks, x_job.id,
                                      slurm::describe_job(task, local_time()),
                                      why ? fmt::format(" ({})", model::word_of(*why)) : "",
                                      task.log.empty() ? "" : fmt::format("; log {}", task.log));
    if (is_failure(task))
      x_screen.failure(sentence);
    else
      x_screen.note(sentence);
  }
  for (const auto& [task, code] : x_ended) x_code = std::max(x_code, code);
  if (running + waiting == 0) return Outlook::done;
  std::string text = fmt::format("job {}: {} tasks running, {} ended", x_job.id, running, x_ended.size());
  if (first_waiting != nullptr)
    text +=
        fmt::format(", {} {}", first_waiting->array_tasks, slurm::describe_job(*first_waiting, local_time()));
  const auto news = fmt::format("{} {}", running, x_ended.size());
  if (news != x_last_report)
    x_screen.note(text);
  else
    x_screen.progress(text);
  x_last_report = news;
  return Outlook::open;
}

Watch::Outlook Watch::ask() {
  const auto records = slurm::find_job(x_commands, x_job.id, x_job.cluster);
  if (!records) {
    // Slurm's controller is restarted now and then, under a job that runs on.
    if (g_stopped != 0) return Outlook::open;
    if (++x_failures == 1) x_screen.note(fmt::format("{}; asking again", records.error().what));
    if (x_failures < x_options.max_failures) return Outlook::open;
    print_error(
        fmt::format("stopped following job {}: Slurm did not answer {} queries", x_job.id, x_failures),
        fmt::format("run {}{} to follow the job again: the job may still run", reach(x_job, "hpcml watch "),
                    x_job.id),
        x_context.colour);
    x_code = k_world_failed;
    return Outlook::lost;
  }
  x_failures = 0;
  if (!records->empty()) return x_job.array ? evaluate_array(*records) : evaluate(*records);
  if (!x_ended.empty()) return Outlook::done;
  print_error(fmt::format("Slurm has no record of job {} any more, so its exit code is unknown", x_job.id),
              x_job.log.empty() ? "check the file of the job's --output for its result"
                                : fmt::format("check the job's log for its result: {}", x_job.log),
              x_context.colour);
  x_code = k_world_failed;
  return Outlook::done;
}

/// False when the output can no longer be written.
bool Watch::print(const std::vector<OutputPiece>& pieces) {
  for (const auto& piece : pieces) {
    if (!x_job.array && !piece.is_error) x_end_search.read(piece.text);
    if (!x_screen.log(piece)) return false;
  }
  return true;
}

/// If the job's exit code is that of tasks that srun stopped, uses the exit code of the task that failed.
void Watch::name_faulty_rank() {
  if (x_code == k_ok && x_end_search.trained_separately()) {
    // With a task per rank no process of hpcml remains that could have exited with this code.
    x_code = k_cannot_set_up;
    return x_screen.failure(
        fmt::format("job {} ended with exit code 0, but its ranks did not train together", x_job.id));
  }
  const auto& faulty_rank = x_end_search.found();
  if (!faulty_rank) return;
  if (faulty_rank->out_of_memory && x_code != 0) {
    x_screen.failure(
        fmt::format("task {} on {} {}", faulty_rank->tasks, faulty_rank->node, faulty_rank->how));
    if (x_code == k_of_out_of_memory || x_code == 128 + SIGTERM) x_code = faulty_rank->exit_code;
    return;
  }
  if (faulty_rank->exit_code == x_code) return;
  if (x_code != 128 + SIGTERM && x_code != 128 + SIGKILL) return;
  x_screen.failure(
      fmt::format("task {} on {} {} first; {} is the exit code of the others, which srun then stopped",
                  faulty_rank->tasks, faulty_rank->node, faulty_rank->how, x_code));
  x_code = faulty_rank->exit_code;
}

void Watch::name_class() {
  if (const auto why = class_of_job(x_class, x_code, x_end_search))
    x_screen.failure(
        fmt::format("job {} ended with exit code {}: {}", x_job.id, x_code, model::word_of(*why)));
}

std::string Watch::describe_missing_log() const {
  if (const auto& logs = x_options.rank_logs)
    return fmt::format("no log of rank {} was found in {}", logs->rank, logs->directory);
  return x_job.log.empty() ? "the location of the log is unknown"
                           : fmt::format("no log was written to {}", x_job.log);
}

/// What the nodes wrote last may reach this machine a moment after the job's end.
void Watch::finish_log() {
  const bool is_copied = !x_job.array || x_options.copies_all;
  for (int quiet = 0; quiet < 4 && g_stopped == 0 && is_copied; ++quiet) {
    const auto pieces = x_output.read_more();
    if (!print(pieces)) return;
    if (!pieces.empty()) quiet = 0;
    ::poll(nullptr, 0, static_cast<int>(x_options.log_delay.count()));
  }
  print(x_output.read_rest());
  if (!x_output.found() && !x_job.array) x_screen.note(describe_missing_log());
}

std::optional<int> Watch::run() {
  auto next = Clock::now();
  for (;;) {
    if (g_stopped != 0) return std::nullopt;
    if (Clock::now() >= next) {
      const auto outlook = ask();
      if (outlook == Outlook::done) finish_log();
      if (outlook == Outlook::done && !x_job.array) {
        name_faulty_rank();
        name_class();
      }
      if (outlook != Outlook::open) return x_code;
      next = Clock::now() + interval();
    }
    if (!print(x_output.read_more())) return std::nullopt;
    ::poll(nullptr, 0, static_cast<int>(std::min(k_log_interval, x_options.min_interval).count()));
  }
}

void print_detached(const std::vector<AcceptedBatchJob>& jobs, std::size_t from, Screen& screen) {
  std::vector<std::string> ids;
  for (auto i = from; i < jobs.size(); ++i) ids.push_back(jobs[i].id);
  screen.note(fmt::format("detached: {} {} queued or running; follow: {} {}; cancel: {} {}",
                          (ids.size() == 1 ? "job " : "jobs ") + util::join(ids, ", "),
                          ids.size() == 1 ? "is" : "are", reach(jobs[from], "hpcml watch"), ids.front(),
                          reach(jobs[from], "scancel"), util::join(ids, " ")));
}

} // namespace

int run_watch(const std::vector<AcceptedBatchJob>& jobs, const Context& context,
              const FollowOptions& options) {
  const SignalGuard guard;
  const slurm::LiveCommands commands(context.env);
  Screen screen(options.is_quiet);
  int code = k_ok;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const auto ended = Watch(jobs[i], commands, screen, context, options).run();
    if (!ended) {
      if (!options.ends_jobs) print_detached(jobs, i, screen);
      return k_detached;
    }
    code = *ended;
  }
  return code;
}

std::vector<AcceptedBatchJob> find_running(const std::string& id, const Context& context, int& exit_code) {
  const auto records = slurm::find_job(slurm::LiveCommands(context.env), id);
  if (!records || records->empty()) {
    exit_code = k_world_failed;
    if (!records)
      print_error(records.error(), context.colour);
    else
      print_error(fmt::format("Slurm has no job {}, or the job ended some time ago", id),
                  "run squeue --me to list your jobs, or check the log of an ended one with hpcml why LOG",
                  context.colour);
    return {};
  }
  const auto& first = records->front();
  const bool array = !first.array_id.empty() && first.array_id == id;
  return {{id,
           "",
           first.name,
           first.log, // Slurm has filled the pattern in
           array,
           {},
           first.work_dir}};
}

} // namespace hpcml::cli
