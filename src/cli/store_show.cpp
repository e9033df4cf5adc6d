// SPDX-License-Identifier: MIT
#include "cli/store_show.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "launch/rendezvous.hpp"
#include "store/client.hpp"
#include "store/own_words.hpp"
#include "store/watch.hpp"
#include "util/text.hpp"

namespace hpcml::cli {
namespace {

using nlohmann::json;
using util::Error;
using util::Result;

constexpr auto k_patience = std::chrono::seconds(5);

struct ShowOptions {
  std::string place;
  bool as_json = false;
  unsigned every = 0;
};

/// The store's place: as it was said, else as the job's variables tell it.
Result<std::string> find_place(const ShowOptions& options, const util::EnvSnapshot& env) {
  if (!options.place.empty()) return options.place;
  if (const auto told = env.get_or("HPCML_STORE_ADDR", ""); !told.empty()) return told;
  const auto address = env.get_or("MASTER_ADDR", ""), port = env.get_or("MASTER_PORT", "");
  if (!address.empty() && !port.empty())
    return (address.find(':') == std::string::npos ? address : "[" + address + "]") + ":" + port;
  return Error{
      "nothing here tells where the store is: neither HPCML_STORE_ADDR nor MASTER_ADDR and MASTER_PORT "
      "are set",
      "type hpcml store show ADDRESS:PORT, or ask within the job: srun --jobid=ID --overlap -n1 hpcml "
      "store show"};
}

Result<store::StoreReport> ask(const std::string& place) {
  const auto where = store::parse_place(place);
  if (!where) return Error{"'" + place + "' is no place of a store", "type ADDRESS:PORT, or [ADDRESS]:PORT"};
  const auto addresses = launch::addresses_of(where->first);
  if (addresses.empty()) return Error{"the name " + where->first + " does not resolve here"};
  Error last{"the store at " + place + " cannot be reached"};
  for (const auto& address : addresses) {
    store::Client client(address, where->second);
    client.put_compare_set(store::k_show_key, store::k_not_ours, "");
    const auto answer = client.wait_for_value(std::chrono::steady_clock::now() + k_patience);
    if (!answer) {
      last = answer.error();
      continue;
    }
    if (auto report = store::unpack_report(*answer)) return std::move(*report);
    return Error{"the store at " + place + " is not served by this hpcml, and cannot tell who waits",
                 *answer == store::k_not_ours ? "it is torch's own: rank 0's program serves it (--store env)"
                                              : ""};
  }
  return last;
}

std::string render_text(const store::StoreReport& report) {
  std::string text = report.ranks == 0 ? ""
                                       : util::counted(report.ranks, "rank") + ", " +
                                             std::to_string(report.announced) + " started; ";
  text += util::counted(report.here, "program") + " here, " + std::to_string(report.gone) + " gone, " +
          std::to_string(report.waiting) + " waiting; " + util::counted(report.keys, "key") + "\n";
  for (const auto& line : report.missing) text += line + "\n";
  for (const auto& stall : report.stalls) text += stall.text + "\n";
  if (report.stalls.empty()) text += "nobody waits\n";
  return text;
}

std::string render_json(const store::StoreReport& report) {
  json out = {{"ranks", report.ranks}, {"started", report.announced}, {"here", report.here},
              {"gone", report.gone},   {"waiting", report.waiting},   {"keys", report.keys},
              {"bytes", report.bytes}, {"missing", report.missing},   {"stalls", json::array()}};
  for (const auto& stall : report.stalls)
    out["stalls"].push_back({{"for", stall.what},
                             {"key", stall.key},
                             {"seconds", stall.waited.count()},
                             {"waiters", stall.waiters},
                             {"missing_ranks", stall.missing},
                             {"certain", stall.certain},
                             {"text", stall.text}});
  // A key may hold any bytes.
  return out.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

int run_show(const ShowOptions& options, const Context& context) {
  const auto place = find_place(options, context.env);
  if (!place) {
    print_error(place.error(), context.colour);
    return k_usage;
  }
  for (;;) {
    const auto report = ask(*place);
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

} // namespace

void add_store_show(CLI::App& store, Context& context, int& exit_code) {
  auto* show = store.add_subcommand(
      "show",
      "Who waits at a job's store for whom, and which ranks have not come. In the job: srun --jobid=ID "
      "--overlap -n1 hpcml store show.");
  const auto options = std::make_shared<ShowOptions>();
  show->add_option("place", options->place,
                   "ADDRESS:PORT of the store (HPCML_STORE_ADDR, else MASTER_ADDR and MASTER_PORT)");
  show->add_flag("--json", options->as_json, "for programs");
  show->add_option("--every", options->every, "again after so many seconds, until it is gone; 0 is once")
      ->capture_default_str();
  show->callback([options, &context, &exit_code] { exit_code = run_show(*options, context); });
}

} // namespace hpcml::cli
