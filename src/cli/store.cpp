// SPDX-License-Identifier: MIT
// hpcml store: the place where the ranks of a job meet.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/store_show.hpp"
#include "launch/meet.hpp"
#include "launch/rendezvous.hpp"
#include "slurm/step_env.hpp"
#include "store/client.hpp"
#include "store/meeting.hpp"
#include "util/host_names.hpp"
#include "util/process.hpp"
#include "util/text.hpp"

namespace hpcml::cli {
namespace {

struct ServeOptions {
  std::vector<std::string> addresses;
  std::uint16_t port = 0;
  unsigned patience = 20;
  std::string name; ///< by which the ranks are told of this node
  bool with_parent = false;
};

/// Becomes readable where the service is to end.
int end_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/// Leaves this process to its parent alone: it is killed when that ends, however it does, and by nothing that
/// the ranks are told to end by. False where the parent has ended already.
bool stay_with(pid_t parent) {
  for (int signal = 1; signal < 32; ++signal)
    if (signal != SIGCHLD) ::signal(signal, SIG_IGN);
  return util::end_with(parent);
}

/// Where the ranks find this node: its name, or, where that does not resolve, a number that others can reach.
struct Name {
  std::string text;
  std::vector<std::string> addresses;
};

Name find_name(const ServeOptions& options, const Context& context) {
  Name found{options.name, options.addresses};
  if (options.name.empty() || !options.addresses.empty()) return found;
  found.addresses = launch::serving_addresses(
      {options.name, context.env.get_or("SLURMD_NODENAME", ""), util::read_host_name()});
  if (!launch::addresses_of(options.name).empty()) return found;
  for (const auto& address : launch::local_addresses())
    if (!address.starts_with("127.") && address != "::1") {
      found.text = address;
      break;
    }
  return found;
}

/// The ports to try: a store with a name is found by a job's ranks at one of theirs, never at the first,
/// which is rank 0's program's where that serves.
std::vector<std::uint16_t> ports_of(const ServeOptions& options, const slurm::StepIdentity& identity) {
  if (options.port != 0 || options.name.empty()) return {options.port};
  launch::World world;
  world.in_job = true;
  world.identity = {identity.job, 0, identity.restart};
  auto ports = launch::meeting_ports(world);
  ports.front() = 0;
  std::rotate(ports.begin(), ports.begin() + 1, ports.end());
  return ports;
}

int run_serve(const ServeOptions& options, const Context& context) {
  const pid_t parent = ::getppid(); // before anything that takes time: it may be 1, and alive
  const auto identity = slurm::read_step_identity(context.env);
  const auto name = find_name(options, context);
  store::Meeting meeting(
      {launch::meeting_job(identity), "", std::chrono::seconds(options.patience)},
      [](const std::string& line) { std::fprintf(stderr, "hpcml store: %s\n", line.c_str()); });
  util::Result<std::unique_ptr<store::Server>> server = util::Error{"there is no port to serve at"};
  for (const auto port : ports_of(options, identity))
    if (server = store::make_server(name.addresses, port, {}, meeting); server) break;
  if (!server) {
    print_error(server.error(), context.colour);
    return k_world_failed;
  }
  const auto port = (*server)->port();
  meeting.set_port(port);
  if (options.with_parent && !stay_with(parent)) return k_ok;
  const int stop = options.with_parent ? -1 : end_signals();
  if (name.text.empty())
    std::printf("%u\n", unsigned{port});
  else
    std::printf("%s\n", store::place_text(name.text, port).c_str());
  std::fflush(stdout);
  const auto ended = (*server)->run(stop);
  if (stop >= 0) ::close(stop);
  if (ended) return k_ok;
  print_error(ended.error(), context.colour);
  return k_world_failed;
}

} // namespace

void add_store(CLI::App& app, Context& context, int& exit_code) {
  auto* command =
      app.add_subcommand("store", "The store where the ranks of a job meet, as torch's clients ask for it.");
  command->require_subcommand(1);
  auto* serve = command->add_subcommand(
      "serve", "Serve until SIGTERM. The first line on standard output is the port, once ranks can come.");
  const auto options = std::make_shared<ServeOptions>();
  serve->add_option("--listen", options->addresses,
                    "a numeric address of this node; may be repeated (all of them)");
  serve->add_option("--port", options->port, "the port; 0 is any that is free")->capture_default_str();
  serve->add_option("--patience", options->patience, "seconds after which it says who waits for whom")
      ->capture_default_str();
  serve
      ->add_option("--name", options->name,
                   "the name of this node that the ranks are told: the first line is then HOST:PORT, for "
                   "HPCML_STORE_ADDR, at a port of the job's")
      ->type_name("HOST");
  serve->add_flag("--with-parent", options->with_parent,
                  "end when the process that has started this one ends, however it does, and at no signal");
  serve->callback([options, &context, &exit_code] { exit_code = run_serve(*options, context); });
  add_store_show(*command, context, exit_code);
}

} // namespace hpcml::cli
