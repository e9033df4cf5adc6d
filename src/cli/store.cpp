// SPDX-License-Identifier: MIT
// hpcml store: the place where the ranks of a job meet.
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <memory>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/command.hpp"
#include "cli/store_show.hpp"
#include "store/meeting.hpp"
#include "store/server.hpp"

namespace hpcml::cli {
namespace {

struct ServeOptions {
  std::vector<std::string> addresses;
  std::uint16_t port = 0;
  unsigned patience = 20;
};

/// Becomes readable where the service is to end.
int end_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return ::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int run_serve(const ServeOptions& options, const Context& context) {
  store::Meeting meeting(
      {context.env.get_or("SLURM_JOB_ID", ""), "", std::chrono::seconds(options.patience)},
      [](const std::string& line) { std::fprintf(stderr, "hpcml store: %s\n", line.c_str()); });
  auto server = store::make_server(options.addresses, options.port, {}, meeting);
  if (!server) {
    print_error(server.error(), context.colour);
    return k_world_failed;
  }
  const int stop = end_signals();
  std::printf("%u\n", static_cast<unsigned>((*server)->port()));
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
  serve->callback([options, &context, &exit_code] { exit_code = run_serve(*options, context); });
  add_store_show(*command, context, exit_code);
}

} // namespace hpcml::cli
