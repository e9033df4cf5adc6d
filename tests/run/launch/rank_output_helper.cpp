// SPDX-License-Identifier: MIT
#include "run/launch/rank_output_helper.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

#include "core/util/file.hpp"
#include "run/launch/launch.hpp"
#include "run/launch/process_helper.hpp"
#include "run/launch/supervisor.hpp"

namespace hpcml::testing {

namespace {

constexpr unsigned k_timeout = 300; ///< seconds, until the ranks are taken to hang

int run_overseen(const launch::LaunchRequest& request, const launch::RuntimeContext& context,
                 launch::RankObserver* overseer) {
  const auto planned = std::get<launch::ResolvedLaunch>(launch::resolve_ranks(request, context));
  const auto ranks = launch::prepare_ranks(request, context, planned.node->world, planned);
  const launch::SupervisionOptions oversight{overseer, {}, {}, {}};
  return launch::Supervisor(request, context, std::get<launch::PreparedRanks>(ranks).node, &oversight)
      .run()
      .code;
}

[[noreturn]] void become_launch(const RanksToStart& ranks) {
  ::alarm(k_timeout);
  launch::LaunchRequest request;
  request.processes_per_node = ranks.count;
  request.bind = launch::BindMode::none;
  request.rank_settings.rendezvous_timeout = model::Sourced<unsigned>{0, {}}; // they are alone
  request.output = ranks.output_options;
  request.command = ranks.command;
  launch::RuntimeContext context;
  context.env = bare_environment();
  context.host = context.machine = "here";
  context.program = util::own_executable().string();
  if (ranks.before) ranks.before();
  const int code =
      ranks.overseer ? run_overseen(request, context, ranks.overseer) : launch::run_launch(request, context);
  if (ranks.after) ranks.after();
  ::_exit(code);
}

/// Takes what is there; closes the descriptor at its end.
void read_part(int& fd, std::string& text) {
  char buffer[65536];
  const ssize_t count = ::read(fd, buffer, sizeof buffer);
  if (count > 0) text.append(buffer, static_cast<std::size_t>(count));
  if (count > 0 || (count < 0 && errno == EINTR)) return;
  ::close(fd);
  fd = -1;
}

} // namespace

std::vector<std::string> in_shell(const std::string& script) { return {"sh", "-c", script}; }

StartedRanks start_ranks(const RanksToStart& ranks) {
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) throw std::runtime_error("pipe");
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    for (const int fd : {out[0], out[1], err[0], err[1]}) ::close(fd);
    become_launch(ranks);
  }
  ::close(out[1]);
  ::close(err[1]);
  return {pid, out[0], err[0]};
}

util::ProcessOutput finish_ranks(StartedRanks launch) {
  util::ProcessOutput output;
  while (launch.out >= 0 || launch.err >= 0) {
    pollfd ends[] = {{launch.out, POLLIN, 0}, {launch.err, POLLIN, 0}};
    ::poll(ends, 2, -1);
    if (ends[0].revents != 0) read_part(launch.out, output.out);
    if (ends[1].revents != 0) read_part(launch.err, output.err);
  }
  int status = 0;
  ::waitpid(launch.pid, &status, 0);
  output.exit_code = util::exit_code_of_status(status);
  return output;
}

util::ProcessOutput run_ranks(const RanksToStart& ranks) { return finish_ranks(start_ranks(ranks)); }

} // namespace hpcml::testing
