// SPDX-License-Identifier: MIT
#include "store/meeting.hpp"

#include <algorithm>

#include "util/host_names.hpp"
#include "util/text.hpp"

namespace hpcml::store {

namespace {

void answer(ClientId client, std::string_view value, Answers& answers) {
  std::string bytes;
  put_bytes(bytes, value);
  answers.bytes(client, bytes);
}

} // namespace

Meeting::Meeting(MeetingRules rules, Say say)
    : x_rules(std::move(rules)), x_say(std::move(say)), x_roster(x_rules.patience) {}

void Meeting::connected(ClientId client, const std::string& peer, Time) {
  x_peers[client] = {peer};
  x_watch.connected(client, peer);
}

void Meeting::stay_for_others(std::vector<std::string> own_addresses) {
  x_own_addresses = std::move(own_addresses);
}

/// A program of torch speaks as soon as it has connected; who only listens for who is there does not.
void Meeting::note_program(ClientId client, Time now) {
  if (!x_own_addresses) return;
  Peer& peer = x_peers[client];
  if (!peer.elsewhere) {
    if (util::is_loopback_address(peer.address) || util::contains(*x_own_addresses, peer.address)) return;
    peer.elsewhere = true;
    ++x_programs_elsewhere;
  }
  x_heard_elsewhere = now;
}

void Meeting::say(const std::vector<std::string>& lines) const {
  for (const auto& line : lines) x_say(line);
}

void Meeting::welcome(ClientId client, Answers& answers) const {
  Welcome words{Refusal::none, {}, x_failure, x_decision.value_or(Decision{})};
  if (words.decision.port == 0) words.decision.port = x_port;
  answer(client, pack_welcome(words), answers);
}

std::optional<Welcome> Meeting::refusal(const Announcement& who) const {
  const auto refuse = [](Refusal why, std::string clause) { return Welcome{why, std::move(clause), {}, {}}; };
  if (who.job != x_rules.job) return refuse(Refusal::job, "is another job's store");
  if (!x_rules.step.empty() && who.step != x_rules.step)
    return refuse(Refusal::step, "serves another step of this job");
  const auto& members = x_roster.members();
  // Where no number tells two runs apart (mpirun twice in a script) the processes do.
  if (who.rank < members.size() && (members[who.rank].announced || !members[who.rank].failed.empty()) &&
      (members[who.rank].pid != who.pid || members[who.rank].host != who.host))
    return refuse(Refusal::run, "serves another run of this step");
  const auto size = members.size();
  if (x_roster.begun() && who.world_size != size)
    return refuse(Refusal::size,
                  "serves " + std::to_string(size) + " ranks, not " + std::to_string(who.world_size));
  return std::nullopt;
}

void Meeting::tell_complete() {
  if (x_complete && all_known()) std::exchange(x_complete, nullptr)();
}

void Meeting::announce(ClientId client, const Message& message, Answers& answers, Time now) {
  const auto who = unpack_announcement(message.values.size() == 2 ? message.values[1] : std::string_view());
  const auto refused =
      who ? refusal(*who) : Welcome{Refusal::words, "does not understand this hpcml", {}, {}};
  if (refused) return answer(client, pack_welcome(*refused), answers);
  x_rules.step = who->step;
  if (!x_roster.begun() && who->world_size > x_most_clients)
    x_say("the step has " + std::to_string(who->world_size) + " ranks, and this store can have " +
          std::to_string(x_most_clients) +
          " clients: raise the hard limit of open files (ulimit -Hn) on the node that serves");
  const auto news = x_roster.announce(*who, x_peers[client].address, now);
  if (who->failed.empty())
    say(news);
  else if (x_failure.empty()) // the rank itself says it, and whoever waits for it
    x_failure = news.front();
  if (who->decision && !x_decision) x_decision = who->decision;
  if (Peer& peer = x_peers[client]; who->rank == 0 && !peer.leads) {
    peer.leads = true;
    ++x_leaders;
  }
  tell_complete();
  x_wait_for_decision.push_back(client);
  if (x_decision || !x_failure.empty())
    for (const ClientId one : std::exchange(x_wait_for_decision, {})) welcome(one, answers);
  if (all_known())
    for (const ClientId one : std::exchange(x_wait_for_all, {})) answer(one, x_failure, answers);
}

bool Meeting::heard(ClientId client, const Message& message, Answers& answers, Time now) {
  if (message.op == Op::ping) {
    note_program(client, now);
    say(x_roster.program_came(client, x_peers[client].address, message.number, now));
    x_watch.heard(client, message, now);
    return false;
  }
  if (message.keys.empty() || !message.keys.front().starts_with(k_own_keys)) {
    note_program(client, now);
    if (x_activity != nullptr && changes_store(message)) x_activity->touch(now);
    x_watch.heard(client, message, now);
    return false;
  }
  if (Peer& peer = x_peers[client]; !peer.launcher) {
    peer.launcher = true;
    ++x_launchers;
  }
  if (message.op == Op::compare_set && message.keys.front() == k_announce_key) {
    announce(client, message, answers, now);
  } else if (message.op == Op::get && message.keys.front() == k_all_here_key) {
    if (all_known())
      answer(client, x_failure, answers);
    else
      x_wait_for_all.push_back(client);
  } else if (message.op == Op::get && message.keys.front() == k_missing_key) {
    answer(client, util::join(x_roster.missing(now, unknown()), "\n"), answers);
  } else if (message.op == Op::compare_set && message.keys.front() == k_show_key) {
    answer(client, pack_report(x_watch.report(x_roster, unknown(), now)), answers);
  } else {
    return false;
  }
  return true;
}

void Meeting::left(ClientId client, const std::string& peer, const std::string& why, Time now) {
  if (!why.empty())
    x_say("a client" + (peer.empty() ? std::string() : " at " + peer) + " is sent away: " + why);
  const auto found = x_peers.find(client);
  if (found == x_peers.end()) return;
  if (found->second.launcher) --x_launchers;
  if (found->second.elsewhere) --x_programs_elsewhere;
  // It waits for all; a rank that comes later would begin without it.
  if (found->second.leads && --x_leaders == 0 && !all_known()) {
    x_failure = x_roster.name(0) + " has ended before all ranks had come";
    tell_complete();
  }
  x_peers.erase(found);
  x_watch.left(client, x_roster, now);
  x_roster.client_left(client);
  for (auto* list : {&x_wait_for_decision, &x_wait_for_all})
    list->erase(std::remove(list->begin(), list->end(), client), list->end());
}

bool Meeting::tick(const Table&, Time now) {
  say(x_roster.overdue(now, unknown()));
  say(x_watch.overdue(x_roster, x_rules.patience, now));
  return x_is_over && x_is_over(*this, now);
}

} // namespace hpcml::store
