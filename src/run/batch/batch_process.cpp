// SPDX-License-Identifier: MIT
#include "run/batch/batch_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include "core/model/walltime.hpp"
#include "core/util/child.hpp"
#include "core/util/log.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "run/batch/job_nodes.hpp"
#include "run/batch/job_requeue.hpp"
#include "run/batch/job_time.hpp"
#include "run/batch/node_files.hpp"
#include "run/batch/resubmission_record.hpp"
#include "run/batch/run_cause.hpp"
#include "run/batch/script_environment.hpp"
#include "run/batch/step_processes.hpp"

namespace hpcml::batch {

namespace {

constexpr std::array<int, 9> k_signals = {SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP,
                                          SIGQUIT, SIGALRM, SIGCONT, SIGCHLD};
constexpr std::chrono::seconds k_trap_limit(20); ///< for EXIT traps of the script

sigset_t signal_set() {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : k_signals) ::sigaddset(&set, signal);
  return set;
}

bool is_pending(int signal) {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && ::sigismember(&pending, signal) == 1;
}

} // namespace

BatchProcess::BatchProcess(BatchRequest request, BatchJob job, util::EnvSnapshot env, std::string hpcml)
    : x_request(std::move(request)), x_job(std::move(job)), x_env(std::move(env)), x_hpcml(std::move(hpcml)),
      x_commands(x_env) {}

BatchProcess::~BatchProcess() {
  if (x_signals >= 0) ::close(x_signals);
}

util::Status BatchProcess::set_up() {
  TRY(x_script, prepare_script_environment(x_request, x_job, x_env));
  if (!x_request.requeues && x_request.save_before.count() == 0) return util::Success{};
  if (x_job.command.size() < 2) return util::Success{};
  const ResubmissionRecord kept{x_job.name,
                                x_job.first,
                                x_job.restarts - x_job.starts_here,
                                x_job.array_task,
                                x_env.get_or("PWD", "/"),
                                x_request.submit_command,
                                script_arguments(x_job.command),
                                {}};
  const auto copy = keep_job(kept, script_of(x_job.command), saved_job_directories(x_env, kept.directory));
  if (copy)
    x_kept_script = *copy;
  else
    util::log_warning(
        fmt::format("cannot copy the script for 'hpcml submit --continue', so that the job runs "
                    "without a copy: {}\n"
                    "hint: set XDG_STATE_HOME, or check the quota of your home directory",
                    copy.error().what));
  return util::Success{};
}

JobStartFacts BatchProcess::read_facts() const {
  JobStartFacts facts;
  facts.job = x_job.name;
  facts.saves = x_request.save_before.count() > 0;
  facts.lead_time = model::Walltime::of(x_request.save_before).to_slurm();
  facts.requeues = x_request.requeues;
  facts.max_restarts = x_job.max_restarts;
  facts.restarts = x_job.restarts;
  facts.requeue_on = x_request.requeue_on;
  facts.has_spare_nodes = x_request.program_nodes > 0;
  facts.continued_by = read_successor(x_job);
  // Slurm itself may have started the job again, and its exclude list could not be changed before.
  if (const auto bad = read_bad_nodes(x_job.bad_nodes_file); facts.requeues && bad && !bad->empty())
    if (const auto exclusion = find_exclusion(x_commands, x_job.name, *bad))
      facts.starts_on_bad_node = concerns(x_env.get_or("SLURM_JOB_NODELIST", ""), *exclusion);
  return facts;
}

util::Result<int> BatchProcess::run() {
  const auto set = signal_set();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  x_signals = ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  // The commands that this process runs when Slurm ends the job inherit it: elsewhere than with cgroups Slurm
  // also signals them. A signal that is blocked is read from the descriptor nevertheless.
  ::signal(SIGTERM, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (auto ready = set_up(); !ready) {
    forbid_requeue();
    return ready.error();
  }
  x_state.facts = read_facts();
  x_end_time = end_time_of_environment(x_env);
  x_next_question = Clock::now();
  x_events.push_back({EventKind::started});
  while (!x_is_over) {
    if (x_events.empty()) {
      wait_for_events();
      continue;
    }
    const auto event = std::move(x_events.front());
    x_events.pop_front();
    for (const auto& action : decide(x_state, event)) perform(action);
  }
  return x_code;
}

void BatchProcess::perform(const Action& action) {
  switch (action.kind) {
  case ActionKind::report: util::log_info(action.text); break;
  case ActionKind::choose_nodes: {
    const auto nodes = choose_program_nodes(x_request, x_hpcml, x_script);
    if (is_pending(SIGTERM)) x_events.push_back({EventKind::job_ending}); // the check has taken a while
    x_events.push_back({EventKind::nodes_chosen, !nodes.empty(), 0, nodes});
    break;
  }
  case ActionKind::start_script: start_script(action.text); break;
  case ActionKind::ask_to_save: ask_to_save(); break;
  case ActionKind::end_script: end_script(); break;
  case ActionKind::await_steps: x_awaits_steps = true; break;
  case ActionKind::read_preemption:
    x_events.push_back({EventKind::preemption_known, read_preemption(), 0, {}});
    break;
  case ActionKind::read_cause: x_events.push_back({EventKind::cause_known, false, 0, read_cause()}); break;
  case ActionKind::count_restart:
    remove_node_files();
    if (!x_request.stage_dir.empty())
      x_script.set(k_stage_variable, stage_directory(x_request.stage_dir, x_state.facts.restarts, x_env));
    append_line(x_job.starts_file(), action.text);
    x_script.set("HPCML_RESTART_COUNT", std::to_string(x_state.facts.restarts));
    // Slurm waits for word from a lost node before it frees what the old step had on the others.
    x_script.set("SLURM_OVERLAP", "1");
    break;
  case ActionKind::requeue: requeue(); break;
  case ActionKind::end:
    x_code = action.code;
    end_job();
    break;
  }
}

void BatchProcess::start_script(const std::string& nodes) {
  if (!nodes.empty()) x_script.set(k_nodes_variable, nodes);
  x_bad_nodes = count_bad_nodes();
  util::ChildOptions options;
  options.death_signal = SIGKILL; // Slurm ends the steps with this process: so must the script
  options.default_signals = {SIGTERM};
  options.mask = util::no_signals();
  auto script = util::ChildProcess::run(x_job.command, x_script, options);
  x_has_node_files = !x_request.stage_dir.empty();
  if (script) {
    x_script_pid = script->release();
    return;
  }
  util::log_error(fmt::format("cannot start the script of the job: {}\n"
                              "hint: check that '{}' exists on this node",
                              script.error().what, x_job.command.front()));
  x_script_pid = 0;
  x_events.push_back({EventKind::script_ended, false, 127, {}});
}

void BatchProcess::ask_to_save() {
  x_holds_script = true;
  x_signalled.clear();
  x_saving_since = std::time(nullptr);
  look_at_steps();
}

void BatchProcess::end_script() {
  if (x_script_pid == 0) return;
  const auto found = find_steps(read_processes(), ::getpid(), x_script_pid);
  for (const pid_t shell : found.shells) {
    ::kill(shell, SIGTERM);
    ::kill(shell, SIGCONT);
  }
  x_holds_script = false;
  x_kill_time = Clock::now() + k_trap_limit;
}

void BatchProcess::requeue() {
  if (!x_state.job_ends)
    remove_node_files(); // else Slurm may kill this process before it has requeued the job
  // SIGTERM may be a user's scancel, or the time limit, which passes while Slurm does not answer.
  const bool is_repeated = std::exchange(x_retries_requeue, false);
  if (is_repeated && is_cancelled(x_commands, x_job.name)) {
    x_events.push_back({EventKind::requeue_refused, false, 0, "it was cancelled"});
    return;
  }
  const auto result = requeue_job(x_request, x_job, x_kept_script, x_commands, x_env);
  x_retries_requeue = result.answer == RequeueAnswer::unreachable;
  x_next_try = Clock::now() + k_retry_interval;
  if (x_retries_requeue) {
    util::log_debug(fmt::format("slurmctld does not answer: {}", result.why));
    x_events.push_back({EventKind::requeue_delayed});
    return;
  }
  const bool accepted = result.answer == RequeueAnswer::accepted;
  if (accepted) x_request.is_expedited = false;
  x_kept_script.clear(); // it stays for the next start
  x_events.push_back(
      {accepted ? EventKind::requeue_accepted : EventKind::requeue_refused, false, 0, result.why});
}

void BatchProcess::end_job() {
  x_is_over = true;
  x_question.stop();
  remove_node_files();
  const bool is_complete = x_code == 0 && x_saving_since == 0 && !x_state.job_ends;
  const auto directories = saved_job_directories(x_env, x_env.get_or("PWD", "/"));
  if (is_complete && !x_kept_script.empty())
    for (const auto& job : {x_job.name, x_job.first}) forget_job(job, directories);
  if (x_code != 0) forbid_requeue();
}

/// Steps that still run may read them: Slurm ends these with the job.
void BatchProcess::remove_node_files() {
  if (!x_has_node_files || x_script_pid > 0) return;
  if (const auto found = find_steps(read_processes(), ::getpid(), 0); !found.steps.empty()) return;
  x_has_node_files = false;
  remove_stage(x_request.node_launcher, x_script);
}

/// Slurm holds an expedited job that fails in its queue, unless it may not be requeued any more.
void BatchProcess::forbid_requeue() const {
  if (!x_request.is_expedited) return;
  const auto job = x_commands.ask({"scontrol", "-o", "show", "job", x_job.name});
  if (job.output.out.find(" JobState=RUNNING ") != std::string::npos)
    x_commands.ask({"scontrol", "update", "jobid=" + x_job.name, "Requeue=0"});
}

bool BatchProcess::read_preemption() const {
  return is_preempted(x_commands, x_job.name, x_env.get_or("SLURM_RESTART_COUNT", "0"));
}

std::size_t BatchProcess::count_bad_nodes() const {
  const auto bad = read_bad_nodes(x_job.bad_nodes_file);
  return bad ? bad->size() : 0;
}

std::string BatchProcess::read_cause() const {
  auto cause = read_run_cause(x_request.log_dir, x_env);
  if (!cause.empty() && cause != "program") return cause;
  // A preflight that fails names the node, and the record says that a rank has failed.
  if (count_bad_nodes() != x_bad_nodes) return "node";
  // After the loss of a node srun kills the agents of the others, perhaps before they can record why.
  return has_lost_node(x_commands, x_env.get_or("SLURM_JOB_NODELIST", "")) ? "node" : cause;
}

} // namespace hpcml::batch
