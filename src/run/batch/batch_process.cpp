// SPDX-License-Identifier: MIT
#include "run/batch/batch_process.hpp"

#include <array>
#include <csignal>
#include <ctime>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <utility>

#include "core/model/walltime.hpp"
#include "core/util/log.hpp"
#include "run/batch/job_nodes.hpp"
#include "run/batch/job_requeue.hpp"
#include "run/batch/job_time.hpp"
#include "run/batch/node_files.hpp"
#include "run/batch/run_cause.hpp"
#include "run/batch/script_environment.hpp"

namespace hpcml::batch {

namespace {

constexpr std::array<int, 9> k_signals = {SIGTERM, SIGUSR1, SIGUSR2, SIGINT, SIGHUP,
                                          SIGQUIT, SIGALRM, SIGCONT, SIGCHLD};

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

BatchProcess::BatchProcess(BatchRequest request, BatchJob job, util::EnvSnapshot env)
    : x_request(std::move(request)), x_job(std::move(job)), x_env(std::move(env)), x_commands(x_env),
      x_steps(x_request, x_job.name, x_env, x_commands),
      x_limit(x_request.save_before, end_time_of_environment(x_env)) {}

BatchProcess::~BatchProcess() {
  if (x_signals >= 0) ::close(x_signals);
}

util::Status BatchProcess::set_up() {
  TRY(auto env, prepare_script_environment(x_request, x_job, x_env));
  x_script.set_environment(std::move(env));
  if ((x_request.requeues || x_limit.is_on()) && x_job.command.size() >= 2)
    x_requeue.keep_script(x_request, x_job, x_env);
  return util::Success{};
}

JobStartFacts BatchProcess::read_facts() const {
  JobStartFacts facts;
  facts.job = x_job.name;
  facts.saves = x_limit.is_on();
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
  x_events.push_back({EventKind::started});
  while (!x_code) {
    if (x_events.empty()) {
      wait_for_events();
      continue;
    }
    const auto event = std::move(x_events.front());
    x_events.pop_front();
    for (const auto& action : decide(x_state, event)) perform(action);
  }
  return *x_code;
}

void BatchProcess::perform(const Action& action) {
  switch (action.kind) {
  case ActionKind::report: util::log_info(action.text); break;
  case ActionKind::choose_nodes: {
    const auto nodes = choose_program_nodes(x_request, x_script.env());
    if (is_pending(SIGTERM)) x_events.push_back({EventKind::job_ending}); // the check has taken a while
    x_events.push_back({EventKind::nodes_chosen, !nodes.empty(), 0, nodes});
    break;
  }
  case ActionKind::start_script: start_script(action.text); break;
  case ActionKind::ask_to_save:
    x_steps.ask_to_save();
    x_limit.note_saving(std::time(nullptr));
    look_at_steps();
    break;
  case ActionKind::end_script:
    if (x_script.pid() == 0) break;
    x_script.end();
    x_steps.release_script();
    break;
  case ActionKind::await_steps: x_steps.await_end(); break;
  case ActionKind::read_preemption:
    x_events.push_back({EventKind::preemption_known,
                        is_preempted(x_commands, x_job.name, x_env.get_or("SLURM_RESTART_COUNT", "0")),
                        0,
                        {}});
    break;
  case ActionKind::read_cause: x_events.push_back({EventKind::cause_known, false, 0, read_cause()}); break;
  case ActionKind::count_restart: count_restart(action.text); break;
  case ActionKind::requeue: requeue(); break;
  case ActionKind::end: end_job(action.code); break;
  }
}

void BatchProcess::count_restart(const std::string& line) {
  x_script.remove_node_files(x_request.node_launcher);
  if (!x_request.stage_dir.empty())
    x_script.set(k_stage_variable, stage_directory(x_request.stage_dir, x_state.facts.restarts, x_env));
  append_line(x_job.starts_file(), line);
  x_script.set("HPCML_RESTART_COUNT", std::to_string(x_state.facts.restarts));
  // Slurm waits for word from a lost node before it frees what the old step had on the others.
  x_script.set("SLURM_OVERLAP", "1");
}

void BatchProcess::start_script(const std::string& nodes) {
  if (!nodes.empty()) x_script.set(k_nodes_variable, nodes);
  const auto started = x_script.start(x_job.command, !x_request.stage_dir.empty(), count_bad_nodes());
  if (started) return;
  util::log_error(fmt::format("cannot start the script of the job: {}\n"
                              "hint: check that '{}' exists on this node",
                              started.error().what, x_job.command.front()));
  x_events.push_back({EventKind::script_ended, false, 127, {}});
}

void BatchProcess::requeue() {
  if (!x_state.job_ends) // else Slurm may kill this process before it has requeued the job
    x_script.remove_node_files(x_request.node_launcher);
  x_events.push_back(x_requeue.attempt(x_request, x_job, x_commands, x_env));
  if (x_events.back().kind == EventKind::requeue_accepted) x_request.is_expedited = false;
}

void BatchProcess::end_job(int code) {
  x_code = code;
  x_limit.stop();
  x_script.remove_node_files(x_request.node_launcher);
  if (code == 0 && !x_limit.is_saving() && !x_state.job_ends) x_requeue.forget_script(x_job, x_env);
  if (code != 0) forbid_requeue();
}

/// Slurm holds an expedited job that fails in its queue, unless it may not be requeued any more.
void BatchProcess::forbid_requeue() const {
  if (!x_request.is_expedited) return;
  const auto job = x_commands.ask({"scontrol", "-o", "show", "job", x_job.name});
  if (job.output.out.find(" JobState=RUNNING ") != std::string::npos)
    x_commands.ask({"scontrol", "update", "jobid=" + x_job.name, "Requeue=0"});
}

std::size_t BatchProcess::count_bad_nodes() const {
  const auto bad = read_bad_nodes(x_job.bad_nodes_file);
  return bad ? bad->size() : 0;
}

std::string BatchProcess::read_cause() const {
  auto cause = read_run_cause(x_request.log_dir, x_env);
  if (!cause.empty() && cause != "program") return cause;
  // A preflight that fails names the node, and the record says that a rank has failed.
  if (count_bad_nodes() != x_script.bad_nodes()) return "node";
  // After the loss of a node srun kills the agents of the others, perhaps before they can record why.
  return has_lost_node(x_commands, x_env.get_or("SLURM_JOB_NODELIST", "")) ? "node" : cause;
}

} // namespace hpcml::batch
