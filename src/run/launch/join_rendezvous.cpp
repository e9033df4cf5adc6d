// SPDX-License-Identifier: MIT
#include "run/launch/join_rendezvous.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <thread>
#include <unistd.h>

#include "core/util/host_names.hpp"
#include "core/util/log.hpp"
#include "core/util/text.hpp"
#include "run/launch/job_key.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/launch/rendezvous_decision.hpp"
#include "run/launch/serve_ranks.hpp"
#include "run/store/store_search.hpp"

namespace hpcml::launch {

using store::StoreAddress;
using util::Error;
using util::Result;
using Clock = std::chrono::steady_clock;

namespace {

/// Of the ports where rank 0 may serve its own store: the first, or the next where its program needs that.
constexpr std::size_t k_likely_ports = 2;
/// The number of addresses that are tried for a name.
constexpr std::size_t k_addresses_tried = 3;
/// The time in which a failed rank notifies the others.
constexpr auto k_failure_timeout = std::chrono::seconds(2);
/// The store of a failed step exists for this long, so that another run may reach it.
constexpr auto k_failure_retry_window = std::chrono::seconds(5);
/// Without a key no answer is trusted: a refusal delays a rank by this time, and changes nothing.
constexpr auto k_keyless_retry_window = std::chrono::seconds(10);
/// A store that started before the step answers at once, or never.
constexpr auto k_script_store_timeout = std::chrono::seconds(2);

std::chrono::seconds rendezvous_timeout(const LaunchRequest& request) {
  const auto& timeout = request.rank_settings.rendezvous_timeout;
  return timeout ? std::chrono::seconds(timeout->value) : k_rendezvous_timeout;
}

/// The client of a rank in a rendezvous.
class RendezvousClient {
public:
  RendezvousClient(RankSetup& setup, const LaunchRequest& request, const RuntimeContext& context,
                   std::chrono::seconds timeout)
      : x_setup(setup), x_request(request), x_context(context), x_deadline(Clock::now() + timeout),
        x_timeout(timeout), x_ports(ports_of(setup.world)) {
    if (has_key()) x_served = store::parse_place(setup.env.get_or(k_store_variable, ""));
  }

  /// This rank's program will not start: the others need not wait for it.
  void give_up(const std::string& why) {
    auto who = announcement();
    who.failed = why;
    if (who.rank != 0) {
      const auto where = places().all;
      (void)search_at(who, where, where.size(), Clock::now() + k_failure_timeout);
      return;
    }
    if (!has_key()) return; // the others would ignore it
    if (x_served && search_served(who).found) return;
    if (const auto own = serve(x_ports)) // the others will ask here
      (void)search_at(who, {*own}, 1, Clock::now() + k_failure_timeout);
  }

  util::Status join() {
    if (!has_key()) return x_setup.world.layout.rank == 0 ? lead_without_key() : follow_without_key();
    return x_setup.world.layout.rank == 0 ? lead() : follow();
  }

private:
  bool has_key() const { return x_setup.world.channel.is_shared; }

  store::JoinRequest announcement() const {
    const auto& layout = x_setup.world.layout;
    return {rendezvous_job(x_setup.world.identity),
            rendezvous_step(x_setup.world),
            layout.rank,
            layout.world_size,
            layout.local_rank,
            x_context.host,
            ::getpid()};
  }

  store::StoreSearchResult search_at(const store::JoinRequest& who, std::vector<StoreAddress> places,
                                     std::size_t likely, Clock::time_point deadline,
                                     bool stop_on_refusal = false) const {
    store::StoreSearchOptions search;
    search.credentials = find_rank_credentials(x_setup.world);
    search.places = std::move(places);
    search.likely = likely;
    search.stop_on_refusal = stop_on_refusal;
    search.deadline = std::min(deadline, x_deadline);
    if (may_be_of_another_run() && who.rank != 0 && who.failed.empty())
      search.failure_retry_window = k_failure_retry_window;
    if (!search.credentials) search.failure_retry_window = k_keyless_retry_window;
    if (x_setup.world.layout.local_rank == 0)
      search.slow = [this](std::chrono::seconds waited, const std::string& status) {
        util::log_info(
            fmt::format("{0} has waited {1} s for the launcher of rank 0 on {2}: {3}\n"
                        "hint: check the log for errors of rank 0, and that {4} can connect to {2}",
                        rank_label(location_of(x_setup.world.layout, x_context.host)), waited.count(),
                        x_setup.world.first_node, status, x_context.host));
      };
    return store::find_store(who, search);
  }

  /// Whether a store may be that of a run before this one, whatever it says of its step.
  bool may_be_of_another_run() const { return x_setup.world.identity.one_of_many; }

  static util::Status cannot_begin(const std::string& why) {
    return Error{fmt::format("the step cannot start: {}", why),
                 "check the first error of the named rank in this log"};
  }

  static util::Status silent_store(const store::StoreSearchResult& result) {
    return Error{fmt::format("the rendezvous store of rank 0 does not answer: {}", result.reason),
                 "check the node of rank 0 for a lack of memory or processes, and run the step again"};
  }

  std::vector<StoreAddress> served_places() const {
    std::vector<StoreAddress> places;
    if (!x_served) return places;
    for (const auto& address : addresses_of(x_served->first)) {
      if (places.size() == k_addresses_tried) break;
      places.push_back({address, x_served->second});
    }
    return places;
  }

  util::Status lead() {
    auto who = announcement();
    who.decision = decide_rendezvous(x_setup, x_request, x_context, x_ports);
    // Programs look up the name of rank 0's node, which has none.
    if (addresses_of(x_setup.world.address).empty())
      who.decision->address =
          find_own_address({x_served ? x_served->first : std::string(), launch_node_address()});
    who.nodes = x_setup.world.layout.nodes;
    who.tasks_per_node = x_setup.world.layout.tasks_per_node;
    if (x_served) {
      auto result = search_served(who);
      if (result.found && !result.found->welcome.failed.empty() && may_be_of_another_run())
        return lead_in_spite_of(result.found->welcome.failed, std::move(who));
      if (result.found) {
        notify_program(*result.found);
        return wait_for_all(*result.found);
      }
      // A later step of the job is expected; a store that does not answer is not.
      if (result.refusal != store::JoinError::step && result.refusal != store::JoinError::run)
        util::log_info(fmt::format(
            "rank 0 starts the rendezvous store, because the one in {} cannot be used: {}; the step "
            "works without it",
            k_store_variable, result.reason));
    }
    return lead_own(std::move(who));
  }

  std::string launch_node_address() const { return x_context.env.get_or("SLURM_LAUNCH_NODE_IPADDR", ""); }

  /// Searches the given store for rank 0, which starts its own if that one cannot be used.
  store::StoreSearchResult search_served(const store::JoinRequest& who) const {
    const auto served = served_places();
    return search_at(who, served, served.size(), Clock::now() + k_script_store_timeout, true);
  }

  /// Leaves a store at the first of these ports that is free.
  Result<StoreAddress> serve(std::vector<std::uint16_t> ports) const {
    TRY(const auto port, leave_store(order_of(x_setup.world, x_context, std::move(ports))));
    return own_place(port);
  }

  StoreAddress own_place(std::uint16_t port) const {
    const auto addresses = own_addresses(x_setup.world, x_context);
    return {addresses.empty() ? std::string("127.0.0.1") : addresses.front(), port};
  }

  util::Status lead_own(store::JoinRequest who) {
    auto ports = x_ports;
    const auto program = who.decision->port;
    ports.erase(std::remove(ports.begin(), ports.end(), program), ports.end());
    const auto own = serve(std::move(ports));
    if (!own) return util::with_context(own.error(), "cannot start the rendezvous store");
    auto result = search_at(who, {*own}, 1, x_deadline);
    if (!result.found) return silent_store(result);
    x_served.reset();
    notify_program(*result.found);
    return wait_for_all(*result.found);
  }

  /// Without a key each rank computes the same decision. Rank 0 uses the announcements only to report missing
  /// ranks.
  util::Status lead_without_key() {
    if (!x_setup.env.get_or(k_store_variable, "").empty())
      util::log_info(fmt::format(
          "rank 0 starts a rendezvous store, because the ranks have no key for the one in {}: {}\n"
          "hint: run 'hpcml config key' once on a login node to use the store of the script",
          k_store_variable, x_setup.world.channel.origin));
    const auto program = x_ports.front();
    TRY(const auto decision, decide_alone(x_setup, x_request, x_context, program));
    const auto ports =
        serves_programs(decision) ? std::vector{program} : std::vector(x_ports.begin() + 1, x_ports.end());
    const auto own = x_setup.node->store_port != 0 ? Result<StoreAddress>(own_place(x_setup.node->store_port))
                                                   : serve_in_time(ports);
    if (!own && serves_programs(decision)) return port_in_use(program, "the rendezvous store", own.error());
    if (!own) return util::with_context(own.error(), "cannot start the rendezvous store");
    auto who = announcement();
    who.nodes = x_setup.world.layout.nodes;
    who.tasks_per_node = x_setup.world.layout.tasks_per_node;
    who.decision = decision;
    auto result = search_at(who, {*own}, 1, x_deadline);
    if (!result.found) return silent_store(result);
    apply_alone(decision);
    return wait_for_all(*result.found);
  }

  util::Status follow_without_key() {
    TRY(const auto decision, decide_alone(x_setup, x_request, x_context, x_ports.front()));
    const auto everywhere = places();
    const auto result = search_at(announcement(), everywhere.all, everywhere.likely, x_deadline);
    if (!result.found) return not_found(result, everywhere.all.empty());
    apply_alone(decision);
    return util::Success{};
  }

  void apply_alone(const store::MasterEndpoint& decision) {
    apply_decision(x_setup, x_request, decision,
                   serves_programs(decision) ? store::place_text(decision.address, decision.port)
                                             : std::string());
  }

  static bool serves_programs(const store::MasterEndpoint& decision) {
    return decision.agent_store != store::AgentStoreUse::unset;
  }

  /// If no number distinguishes two runs, the store of the previous one may still use the port.
  Result<StoreAddress> serve_in_time(const std::vector<std::uint16_t>& ports) const {
    const auto until = std::min(x_deadline, Clock::now() + k_keyless_retry_window);
    for (;;) {
      auto own = serve(ports);
      if (own || !may_be_of_another_run() || Clock::now() >= until) return own;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
  }

  /// The others of this run, if it is another than the one that failed, come within the time that they doubt
  /// it for.
  util::Status lead_in_spite_of(const std::string& failure, store::JoinRequest who) {
    x_deadline = std::min(x_deadline, Clock::now() + k_failure_retry_window);
    auto led = lead_own(std::move(who));
    return led ? std::move(led) : cannot_begin(failure);
  }

  util::Status wait_for_all(store::FoundStore& found) {
    found.client.put_get(store::k_all_here_key);
    const auto all = found.client.wait_for_value(x_deadline);
    if (all && !all->empty()) return cannot_begin(*all);
    if (all) return util::Success{};
    if (!found.client.fault().empty()) return all.error();
    found.client.put_get(store::k_missing_key);
    const auto missing = found.client.wait_for_value(Clock::now() + std::chrono::seconds(2));
    return Error{fmt::format("rendezvous timed out after {} s: {}", x_timeout.count(),
                             missing && !missing->empty() ? util::join(util::split(*missing, '\n'), "; ")
                                                          : "some ranks did not connect to the store"),
                 "check what these tasks do before hpcml launch, and their nodes (log, sacct, file systems); "
                 "set --rendezvous-timeout SECONDS to wait longer (0: do not wait)"};
  }

  util::Status follow() {
    const auto everywhere = places();
    const auto result = search_at(announcement(), everywhere.all, everywhere.likely, x_deadline);
    const auto& found = result.found;
    if (found && !found->welcome.failed.empty()) return cannot_begin(found->welcome.failed);
    if (found) {
      notify_program(*found);
      return util::Success{};
    }
    return not_found(result, everywhere.all.empty());
  }

  util::Status not_found(const store::StoreSearchResult& result, bool has_no_place) const {
    if (has_no_place)
      return Error{
          fmt::format("the name of rank 0's node, '{}', does not resolve on this node",
                      x_setup.world.address),
          "set MASTER_ADDR to an address of that node, or --rendezvous-timeout 0 for independent ranks"};
    return Error{fmt::format("the launcher of rank 0 on {} did not answer within {} s: {}",
                             x_setup.world.first_node, x_timeout.count(), result.reason),
                 "check the log for errors of rank 0, or set --rendezvous-timeout SECONDS to wait longer"};
  }

  /// Where rank 0's launcher may have a store, the likeliest first.
  struct Places {
    std::vector<StoreAddress> all;
    std::size_t likely = 0; ///< the number that is asked at the same time
  };

  Places places() const {
    Places places{served_places()};
    auto names = addresses_of(x_setup.world.address);
    if (names.empty()) { // srun was run on rank 0's node, as a rule
      const auto node = launch_node_address();
      if (!node.empty()) names.push_back(node);
    }
    if (names.size() > k_addresses_tried) names.resize(k_addresses_tried);
    places.likely = x_served ? places.all.size() : k_likely_ports * names.size();
    for (const auto port : x_ports)
      for (const auto& name : names) places.all.push_back({name, port});
    return places;
  }

  void notify_program(const store::FoundStore& found) {
    auto decision = found.welcome.decision;
    const bool at_store = decision.port == found.place.port;
    // Its port is the one that was dialled: a store that proves the key proves that as well.
    const bool by_script = x_served && x_served->second == found.place.port;
    if (at_store && by_script) decision.address = x_served->first;
    apply_decision(
        x_setup, x_request, decision,
        by_script ? store::place_text(x_served->first, x_served->second)
                  : store::place_text(decision.address.empty() ? x_setup.world.address : decision.address,
                                      found.place.port));
  }

  RankSetup& x_setup;
  const LaunchRequest& x_request;
  const RuntimeContext& x_context;
  Clock::time_point x_deadline;
  std::chrono::seconds x_timeout;
  std::vector<std::uint16_t> x_ports;
  std::optional<std::pair<std::string, std::uint16_t>> x_served; ///< by another process
};

} // namespace

std::optional<store::Credentials> find_rank_credentials(const World& world) {
  const auto& channel = world.channel;
  if (!channel.key || (!channel.is_shared && world.layout.rank != 0)) return std::nullopt;
  return store::Credentials{*channel.key,
                            {store::PeerRole::rank, rendezvous_job(world.identity),
                             store::identity_text(rendezvous_step(world)), world.layout.rank}};
}

bool needs_rendezvous(const World& world, const LaunchRequest& request) {
  return model::needs_rendezvous(request.rank_settings, world.layout.world_size);
}

util::Status join_rendezvous(RankSetup& setup, const LaunchRequest& request, const RuntimeContext& context) {
  if (!needs_rendezvous(setup.world, request)) return util::Success{};
  return RendezvousClient(setup, request, context, rendezvous_timeout(request)).join();
}

void notify_failure(const World& world, const LaunchRequest& request, const RuntimeContext& context,
                    const std::string& why) {
  if (!needs_rendezvous(world, request)) return;
  RankSetup setup;
  setup.world = world;
  setup.env = context.env;
  RendezvousClient(setup, request, context, rendezvous_timeout(request)).give_up(why);
}

} // namespace hpcml::launch
