// SPDX-License-Identifier: MIT
// hpcml store: the rendezvous store of a job's ranks.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "cli/command.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "cli/other/job_store_addresses.hpp"
#include "core/slurm/commands.hpp"
#include "core/util/text.hpp"
#include "run/launch/job_key.hpp"
#include "run/launch/store_query.hpp"
#include "run/store/channel_key.hpp"

namespace hpcml::cli {

namespace {

// hpcml store show: who waits at a job's store for whom.

using nlohmann::json;
using util::Error;
using util::Result;

constexpr auto k_timeout = std::chrono::seconds(5);

struct ShowOptions {
  std::string place;
  bool as_json = false;
  unsigned every = 0;
};

/// The key of a job: of the one that this process belongs to, or of another of this user's.
Result<store::Credentials> find_credentials(const JobStoreAddresses& found, bool is_named,
                                            const util::EnvSnapshot& env) {
  const auto job = launch::rendezvous_job(found.job);
  auto own = env;
  if (job != launch::rendezvous_job(slurm::read_step_identity(env))) own.unset(store::k_job_secret_variable);
  TRY(const auto channel, launch::find_job_channel(own, found.job, false));
  if (!channel.is_shared)
    return Error{fmt::format("cannot query the store without a key of its job: {}", channel.origin),
                 "run 'hpcml config key' on a login node: the key works for jobs that start afterwards"};
  // The port that a user names may be one that ssh forwards.
  return store::Credentials{*channel.key, {store::PeerRole::viewer, job, "", 0}, !is_named};
}

Error explain(const launch::StoreQueryError& none, const JobStoreAddresses& found) {
  using store::SessionError;
  const auto job = std::to_string(found.job.job);
  switch (none.error) {
  case SessionError::wrong_key:
    return Error{none.what,
                 "run 'hpcml config key' on a login node before the next job starts (this job has a "
                 "random key), or run hpcml store show in the job's script"};
  case SessionError::malformed:
    return Error{none.what,
                 "check whether rank 0's program serves the store (--store env): such a store cannot be "
                 "shown"};
  case SessionError::other_job:
    if (found.job.job == 0) return Error{none.what, "set SLURM_JOB_ID to the number of the store's job"};
    [[fallthrough]];
  case SessionError::none:
    if (found.job.job != 0)
      return Error{fmt::format("no rendezvous store of job {} answers: {}", job, none.what),
                   fmt::format("run srun --jobid={} --overlap -n1 hpcml store show to query it in the job, "
                               "if hpcml launch starts its ranks",
                               job)};
    return Error{fmt::format("no rendezvous store answers: {}", none.what),
                 "check the address, and whether hpcml launch starts the ranks: other launchers have none"};
  default:
    return Error{none.what,
                 "check the address: only stores of hpcml can be shown, not those of torch programs"};
  }
}

Result<store::StoreReport> ask(const JobStoreAddresses& found, const store::Credentials& credentials) {
  auto answer = launch::query_stores(found.places, credentials, k_timeout);
  if (auto* report = std::get_if<store::StoreReport>(&answer)) return std::move(*report);
  return explain(std::get<launch::StoreQueryError>(answer), found);
}

std::string render_text(const store::StoreReport& report) {
  std::string text;
  if (report.ranks > 0)
    text += fmt::format("{}, {} started; ", util::counted(report.ranks, "rank"), report.announced);
  text += fmt::format("{} connected, {} disconnected, {} waiting; {}\n",
                      util::counted(report.connected, "program"), report.lost, report.waiting,
                      util::counted(report.keys, "key"));
  if (const auto worlds = report.worlds.worlds_of_one(); worlds > 0)
    text += fmt::format("{} programs have each set up a world of 1\n", worlds);
  for (const auto& line : report.missing) text += line + "\n";
  for (const auto& stall : report.stalls) text += stall.text + "\n";
  if (!report.stalls.empty()) return text;
  const bool is_used = report.connected + report.lost + report.keys > 0;
  text += is_used ? "no rank waits\n"
                  : "no program has connected: it has not reached init_process_group, or rank 0's program "
                    "provides another store, "
                    "which hpcml does not see (hpcml launch --store own replaces it)\n";
  return text;
}

std::string render_json(const store::StoreReport& report) {
  json out = {{"ranks", report.ranks},
              {"started", report.announced},
              {"connected", report.connected},
              {"disconnected", report.lost},
              {"waiting", report.waiting},
              {"keys", report.keys},
              {"bytes", report.bytes},
              {"missing", report.missing},
              {"worlds_of_one", report.worlds.worlds_of_one()},
              {"stalls", json::array()}};
  for (const auto& stall : report.stalls)
    out["stalls"].push_back({{"for", stall.what},
                             {"key", stall.key},
                             {"seconds", stall.waited.count()},
                             {"waiters", stall.waiters},
                             {"missing_ranks", stall.missing},
                             {"certain", stall.certain},
                             {"text", stall.text}});
  // A key may hold any bytes: in ASCII none is left for the terminal to obey.
  return out.dump(2, ' ', true, json::error_handler_t::replace) + "\n";
}

int run_show(const ShowOptions& options, const Context& context) {
  const auto found = find_store_places(options.place, context.env, slurm::LiveCommands(context.env));
  if (!found) {
    print_error(found.error(), context.colour);
    return k_usage;
  }
  const bool is_named = !options.place.empty() && !util::parse_unsigned(options.place);
  const auto credentials = find_credentials(*found, is_named, context.env);
  if (!credentials) {
    print_error(credentials.error(), context.colour);
    return k_world_failed;
  }
  for (;;) {
    const auto report = ask(*found, *credentials);
    if (!report) {
      print_error(report.error(), context.colour);
      return k_world_failed;
    }
    print_output(options.as_json ? render_json(*report) : render_text(*report));
    std::fflush(stdout);
    if (options.every == 0 || std::ferror(stdout)) return k_ok;
    std::this_thread::sleep_for(std::chrono::seconds(options.every));
  }
}

constexpr CommandHelp k_store_help = {
    .summary = "Inspect the rendezvous store (TCPStore) of a job",
    .examples = R"(# Which ranks of a running job are missing
hpcml store show 1234
hpcml store show localhost:29400)",
};

constexpr CommandHelp k_store_show_help = {
    .summary = "Show what ranks wait for and which ranks are missing",
    .examples = R"(# A running job, every five seconds
hpcml store show 1234 --every 5
# A store at a known address
hpcml store show localhost:29400)",
};

/// Adds `show` to the command `store`.
void add_store_show(CLI::App& store, Context& context, int& exit_code) {
  auto* show = add_command(store, "show", k_store_show_help);
  const auto options = std::make_shared<ShowOptions>();
  show->add_option("PLACE", options->place, "Job number, or HOST:PORT of a store")->default_str("this job");
  show->add_flag("--json", options->as_json, "Print JSON");
  show->add_option("--every", options->every, "Repeat in this interval until the store ends; 0 prints once")
      ->type_name("SECONDS")
      ->check(whole_number(0, 86400))
      ->capture_default_str();
  show->callback([options, &context, &exit_code] { exit_code = run_show(*options, context); });
}

} // namespace

void add_store(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "store", k_store_help);
  command->require_subcommand(1);
  add_store_show(*command, context, exit_code);
}

} // namespace hpcml::cli
