// SPDX-License-Identifier: MIT
#include "run/store/store_search.hpp"

#include <algorithm>
#include <memory>
#include <poll.h>

namespace hpcml::store {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds k_first_pause{5}, k_longest_pause{250};
/// The unlikely places are asked after this.
constexpr milliseconds k_others_after{25};
/// Where a likely place has taken the connection it is ours as a rule, and answers when rank 0 has come.
constexpr milliseconds k_others_after_silence{200};
/// A store that belongs to another job is not asked again for this time.
constexpr milliseconds k_after_refusal{2000};
/// The kernel repeats a connection's first packet ever later: begun again it goes out sooner.
constexpr milliseconds k_connect_limit{3000};

/// One place, asked again and again.
struct Attempt {
  StoreAddress place;
  std::unique_ptr<Client> client = nullptr;
  Clock::time_point again, begun{};
  milliseconds pause = k_first_pause;
  std::string reason = "not queried yet";
  JoinError refusal = JoinError::none; ///< by a store that is for others

  bool is_taken() const { return client && (client->wanted() & POLLOUT) == 0; }
  void put_off(Clock::time_point now, milliseconds by, std::string why) {
    client.reset();
    again = now + by;
    reason = std::move(why);
  }
};

/// Postpones unlikely endpoints if a likely one answers, because many ranks would query many endpoints in
/// vain.
void spare_the_others(std::vector<Attempt>& attempts, std::size_t likely, Clock::time_point until) {
  const auto others = attempts.begin() + static_cast<std::ptrdiff_t>(std::min(likely, attempts.size()));
  if (std::none_of(attempts.begin(), others, [](const Attempt& attempt) { return attempt.is_taken(); }))
    return;
  for (auto attempt = others; attempt != attempts.end(); ++attempt)
    if (!attempt->client) attempt->again = std::max(attempt->again, until);
}

std::string describe_attempts(const std::vector<Attempt>& attempts) {
  std::string text;
  for (const auto& attempt : attempts)
    text += (text.empty() ? "" : "; ") + place_text(attempt.place.address, attempt.place.port) + " " +
            attempt.reason;
  return text;
}

/// Puts a place off whose store did not prove the key.
void put_off_unproven(Attempt& attempt, Clock::time_point now) {
  const auto error = attempt.client->session_error();
  attempt.refusal = error == SessionError::other_job ? JoinError::job : JoinError::key;
  attempt.put_off(now, k_after_refusal, attempt.client->fault());
}

/// Returns nothing for an answer of another program. A store of another version of hpcml refuses.
std::optional<JoinReply> read_reply(std::string_view bytes) {
  const auto reply = unpack_message<JoinReply>(bytes);
  if (reply) return *reply;
  if (!other_version(bytes)) return std::nullopt;
  return JoinReply{JoinError::words, reply.error().what, {}, {}};
}

/// Continues with one endpoint; true if it has accepted us.
bool try_place(Attempt& attempt, const std::string& announcement,
               const std::optional<Credentials>& credentials, Clock::time_point now, JoinReply& welcome) {
  if (!attempt.client) {
    if (now < attempt.again) return false;
    attempt.client = std::make_unique<Client>(attempt.place.address, attempt.place.port, credentials);
    attempt.client->put_compare_set(k_announce_key, "?", announcement);
    attempt.begun = now;
    // A place that has refused is asked again, and its reason applies until it answers otherwise.
    if (attempt.refusal == JoinError::none) attempt.reason = "did not answer";
  }
  const bool on = attempt.client->advance();
  if (const auto value = attempt.client->take_value()) {
    const auto found = read_reply(*value);
    if (!found) {
      attempt.put_off(now, k_after_refusal, "belongs to another program");
      return false;
    }
    if (found->refusal == JoinError::none || (!credentials && found->refusal != JoinError::key)) {
      welcome = *found;
      return true;
    }
    attempt.refusal = found->refusal;
    attempt.put_off(now, k_after_refusal, found->refused);
    return false;
  }
  if (attempt.client->session_error() != SessionError::none) {
    put_off_unproven(attempt, now);
  } else if (!on || attempt.client->fd() < 0) {
    attempt.put_off(now, attempt.pause, attempt.client->fault());
    attempt.pause = std::min(attempt.pause * 2, k_longest_pause);
  } else if ((attempt.client->wanted() & POLLOUT) != 0 && now - attempt.begun > k_connect_limit) {
    attempt.put_off(now, k_first_pause, "cannot be reached");
  }
  return false;
}

/// True if the step can begin at this store. Without a key a refusal is an answer too: it delays only.
bool is_welcome(const JoinReply& welcome) {
  return welcome.failed.empty() && welcome.refusal == JoinError::none;
}

void wait_for_any(const std::vector<Attempt>& attempts, Clock::time_point now, Clock::time_point until) {
  std::vector<pollfd> ends;
  until = std::min(until, now + milliseconds(500));
  for (const auto& attempt : attempts) {
    if (attempt.client)
      ends.push_back({attempt.client->fd(), attempt.client->wanted(), 0});
    else
      until = std::min(until, attempt.again);
  }
  const auto left = std::chrono::duration_cast<milliseconds>(until - now).count();
  ::poll(ends.data(), ends.size(), static_cast<int>(std::clamp<long long>(left, 1, 500)));
}

} // namespace

StoreSearchResult find_store(const JoinRequest& announcement, const StoreSearchOptions& search) {
  if (search.places.empty()) return {{}, "no address to query"};
  const std::string words = pack_message(announcement);
  const auto start = Clock::now();
  auto report_at = start + search.warn_after;
  std::vector<Attempt> attempts;
  for (const auto& place : search.places) {
    attempts.emplace_back().place = place;
    attempts.back().again = attempts.size() <= search.likely ? start : start + k_others_after;
  }
  auto deadline = search.deadline;
  std::optional<FoundStore> failed;
  for (auto now = start;; now = Clock::now()) {
    JoinReply welcome;
    for (auto& attempt : attempts) {
      if (!try_place(attempt, words, search.credentials, now, welcome)) continue;
      FoundStore found{std::move(*attempt.client), attempt.place, std::move(welcome)};
      if (is_welcome(found.welcome) || search.failure_retry_window.count() == 0)
        return {std::move(found), {}};
      attempt.put_off(now, k_after_refusal, "reports that the step cannot start");
      if (failed) continue;
      failed.emplace(std::move(found));
      deadline = std::min(deadline, now + search.failure_retry_window);
    }
    if (failed && now >= deadline) return {std::move(failed), {}};
    JoinError refusal = JoinError::none;
    for (const auto& attempt : attempts)
      if (attempt.refusal != JoinError::none) refusal = attempt.refusal;
    if (now >= deadline || (refusal != JoinError::none && search.stop_on_refusal))
      return {{}, describe_attempts(attempts), refusal};
    if (search.slow && now >= report_at) {
      search.slow(std::chrono::duration_cast<std::chrono::seconds>(now - start), describe_attempts(attempts));
      report_at += 3 * (report_at - start);
    }
    spare_the_others(attempts, search.likely, start + k_others_after_silence);
    wait_for_any(attempts, now, deadline);
  }
}

} // namespace hpcml::store
