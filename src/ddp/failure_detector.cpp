// SPDX-License-Identifier: MIT
#include "ddp/failure_detector.hpp"

#include <algorithm>
#include <exception>

#include "ddp/format_message.hpp"
#include "ddp/network.hpp"

namespace hpcml::ddp {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// In which every rank that lives answers. Its thread needs a processor and the store, no more.
constexpr milliseconds k_answer{5000};
/// After this time the other ranks decide by themselves, because the first one may be lost as well.
constexpr milliseconds k_result{8000};
/// How long the rank that serves the store stays for those that end after it: they would only print that it
/// is gone, so it is not worth more.
constexpr milliseconds k_shutdown_timeout{2000};
/// The pause between two queries to the store: not noticeable, but long compared with a query, so that the
/// store can answer many ranks.
constexpr milliseconds k_pause{10};
/// Of the wait to be called: longer than a job may run. LibTorch's store knows no wait without an end.
constexpr milliseconds k_for_ever{std::chrono::hours(24 * 365)};

// Keys of the group in the store; those of a rank end in "/RANK".
constexpr const char* k_host_key = "host";
constexpr const char* k_call_key = "call"; ///< set: the rank is to answer, or its thread to end
constexpr const char* k_report_key = "report";
constexpr const char* k_result_key = "result";
constexpr const char* k_received_key = "received"; ///< set: the rank no longer needs the store
constexpr const char* k_callers_key =
    "called";                                 ///< the number of ranks that have called: the first one decides
constexpr const char* k_ended_key = "ended";  ///< how many have ended well
constexpr const char* k_arrived_key = "come"; ///< the number of ranks that have arrived
constexpr const char* k_all_key = "all";      ///< set: all have

/// "3 5\nclause": the ranks at fault, and the clause.
std::string pack_cause(const FailureCause& cause) {
  std::string text;
  for (const int rank : cause.ranks) text += std::to_string(rank) + " ";
  return text + "\n" + cause.clause;
}

FailureCause unpack_cause(const std::string& text) {
  FailureCause cause;
  const auto end = text.find('\n');
  for (std::size_t at = 0; at < end && end != std::string::npos;) {
    std::size_t used = 0;
    cause.ranks.push_back(std::stoi(text.substr(at), &used));
    at += used + 1;
  }
  cause.clause = end == std::string::npos ? text : text.substr(end + 1);
  return cause;
}

} // namespace

FailureDetector::FailureDetector(std::shared_ptr<Store> store, std::shared_ptr<Store> second,
                                 std::string prefix, const RankEnv& env, bool serves)
    : x_store(std::move(store)), x_second(std::move(second)), x_prefix(std::move(prefix)), x_rank(env.rank),
      x_size(env.world_size), x_serves(serves),
      x_master(env.master_addr + ":" + std::to_string(env.master_port)), x_since(steady_clock::now()) {
  x_store->set(key(k_host_key, x_rank), host_name());
  x_thread = std::thread([this] {
    try {
      x_second->get(key(k_call_key, x_rank), k_for_ever);
      if (!x_ends) answer();
    } catch (const std::exception&) {
      // Without the store no rank can be queried; a rank that fails then reports that the store is
      // gone.
    }
  });
}

FailureDetector::~FailureDetector() {
  x_ends = true;
  const bool threw = std::uncaught_exceptions() != 0;
  const bool well = !is_called() && !threw;
  try {
    if (well) {
      auto last = report();
      last.state = RankReport::State::left;
      x_store->set(key(k_report_key, x_rank), pack(last));
    } else if (!is_called()) {
      ask_for_cause(
          {report().operation},
          "an exception of the program ended the process group of this rank; check its log for the exception",
          true);
    } else if (x_serves) {
      linger_for_peers();
    }
    x_store->set(key(k_received_key, x_rank), "left");
    if (!x_answered) x_store->set(key(k_call_key, x_rank), "end");
  } catch (const std::exception&) {
    // The store may have ended with rank 0, which has ended the thread's wait as well.
  }
  x_thread.join();
  try {
    if (well) end_with_the_others();
  } catch (const std::exception&) {
    // The same.
  }
}

std::string FailureDetector::key(const std::string& what, int rank) const {
  return x_prefix + what + "/" + std::to_string(rank);
}

void FailureDetector::connect_ranks(milliseconds timeout) {
  // Not a key per rank: each would be read by all.
  const bool last = x_store->add(x_prefix + k_arrived_key, 1) == x_size;
  if (last)
    x_store->set(x_prefix + k_all_key, "come");
  else
    x_store->get(x_prefix + k_all_key, timeout);
}

void FailureDetector::begin(const Operation& operation) {
  const std::lock_guard<std::mutex> lock(x_mutex);
  // Exchanges differ from rank to rank: only what all begin can be counted against the others.
  if (operation.is_exchange()) return;
  ++x_report.operations;
  x_report.operation = operation.name;
}

void FailureDetector::wait_for(const Operation& operation) {
  const std::lock_guard<std::mutex> lock(x_mutex);
  x_report.exchange = operation;
  x_report.state = RankReport::State::waiting;
  x_since = steady_clock::now();
}

void FailureDetector::end_wait() {
  const std::lock_guard<std::mutex> lock(x_mutex);
  x_report.state = RankReport::State::computing;
  x_since = steady_clock::now();
}

RankReport FailureDetector::report() const {
  const std::lock_guard<std::mutex> lock(x_mutex);
  RankReport now = x_report;
  now.seconds = std::chrono::duration<double>(steady_clock::now() - x_since).count();
  return now;
}

void FailureDetector::end_with_the_others() {
  // Clients print errors if the server ends first. Most ranks end at the same time, and the wait for the
  // others is short.
  x_store->add(x_prefix + k_ended_key, 1);
  const auto end = steady_clock::now() + k_shutdown_timeout;
  while (x_serves && x_store->add(x_prefix + k_ended_key, 0) < x_size && steady_clock::now() < end)
    std::this_thread::sleep_for(k_pause);
}

void FailureDetector::on_query() {
  const std::lock_guard<std::mutex> lock(x_mutex);
  if (!x_called) x_call_time = steady_clock::now();
  x_called = true;
}

void FailureDetector::answer() {
  x_answered = true;
  x_second->set(key(k_report_key, x_rank), pack(report()));
  on_query();
  // The program may compute for long before it asks, and the store be gone by then.
  const std::string result = x_prefix + k_result_key;
  const auto end = steady_clock::now() + k_result + k_answer;
  while (!x_second->has(result)) {
    if (x_ends || steady_clock::now() > end) return;
    std::this_thread::sleep_for(k_pause);
  }
  const auto text = x_second->get(result, k_answer);
  {
    const std::lock_guard<std::mutex> lock(x_mutex);
    x_result = text;
  }
  x_second->set(key(k_received_key, x_rank), k_result_key);
}

std::string FailureDetector::kept_result() const {
  const std::lock_guard<std::mutex> lock(x_mutex);
  return x_result;
}

void FailureDetector::query_all_ranks() {
  for (int rank = 0; rank < x_size; ++rank)
    if (rank != x_rank) x_store->set(key(k_call_key, rank), "answer");
}

std::string FailureDetector::find_result(const std::string& phase, bool first) {
  const auto start = steady_clock::now();
  const std::string result = x_prefix + k_result_key;
  if (!first) {
    while (steady_clock::now() - start < k_result) {
      if (x_store->has(result)) return x_store->get(result, k_answer);
      std::this_thread::sleep_for(k_pause);
    }
  }
  std::vector<std::optional<RankReport>> reports(static_cast<std::size_t>(x_size));
  std::vector<std::string> hosts(reports.size());
  for (int rank = 0; rank < x_size; ++rank) {
    auto& report = reports[static_cast<std::size_t>(rank)];
    while (!x_store->has(key(k_report_key, rank)) && steady_clock::now() - start < k_answer)
      std::this_thread::sleep_for(k_pause);
    if (x_store->has(key(k_report_key, rank)))
      report = unpack_report(x_store->get(key(k_report_key, rank), k_answer));
    if (x_store->has(key(k_host_key, rank)))
      hosts[static_cast<std::size_t>(rank)] = x_store->get(key(k_host_key, rank), k_answer);
  }
  const auto cause = phase == k_rendezvous ? find_missing_ranks(reports, hosts) : find_cause(reports, hosts);
  const auto text = pack_cause(cause);
  x_store->set(result, text);
  return text;
}

void FailureDetector::linger_for_peers() {
  // The store ends with this process, so that the others must read the result first. Running ranks answer
  // the call in time; the others will not read it.
  if (x_stayed.exchange(true)) return;
  const auto end = steady_clock::now() + k_answer;
  const auto all_have_answered = [this] {
    const std::lock_guard<std::mutex> lock(x_mutex);
    return x_call_time + k_answer;
  }();
  for (int rank = 0; rank < x_size; ++rank) {
    if (rank == x_rank) continue;
    while (!x_store->has(key(k_received_key, rank)) && steady_clock::now() < end &&
           (steady_clock::now() < all_have_answered || x_store->has(key(k_report_key, rank))))
      std::this_thread::sleep_for(k_pause);
  }
}

FailureCause FailureDetector::ask_for_cause(const Operation& operation, const std::string& why, bool own) {
  auto mine = report();
  mine.exchange = operation; // not the one that was waited for last: this one may not have begun
  mine.state = own ? RankReport::State::failed : RankReport::State::waiting;
  if (own) mine.why = why;
  on_query();
  x_store->set(key(k_report_key, x_rank), pack(mine));
  const bool first = x_store->add(x_prefix + k_callers_key, 1) == 1;
  if (first) query_all_ranks();
  FailureCause cause;
  if (own) {
    cause = {{x_rank}, format_message("rank {} ({}) failed: {}", x_rank, host_name(), why)};
    if (first) x_store->set(x_prefix + k_result_key, pack_cause(cause));
  } else {
    cause = unpack_cause(find_result(operation.name, first));
  }
  x_store->set(key(k_received_key, x_rank), k_result_key);
  if (x_serves) linger_for_peers();
  return cause;
}

void FailureDetector::fail(const Operation& operation, const std::string& why, bool own) {
  const std::lock_guard<std::mutex> lock(x_error_mutex);
  if (!x_error || own) throw error_of(operation, why, own);
  x_last_received = true;
  throw *x_error;
}

void FailureDetector::attribute_failure(const Operation& operation, const std::string& why) {
  const std::lock_guard<std::mutex> lock(x_error_mutex);
  if (!x_error) x_error = error_of(operation, why, false);
}

std::string FailureDetector::pending_error() const {
  const std::lock_guard<std::mutex> lock(x_error_mutex);
  return x_error && !x_last_received ? x_error->what() : "";
}

Error FailureDetector::error_of(const Operation& operation, const std::string& why, bool own) {
  FailureCause cause;
  try {
    cause = ask_for_cause(operation, why, own);
  } catch (const std::exception& error) {
    if (const auto result = kept_result(); !result.empty())
      cause = unpack_cause(result);
    else
      cause = {
          {0},
          format_message("the store at {} exited with rank 0 or its launcher ({})", x_master, error.what())};
  }
  const auto reason = own           ? why
                      : why.empty() ? cause.clause
                                    : format_message("{}; this rank reports: {}", cause.clause, why);
  const auto ranks = own ? std::vector<int>{x_rank} : cause.ranks;
  const bool is_victim = std::any_of(ranks.begin(), ranks.end(), [this](int rank) { return rank != x_rank; });
  return Error(format_message(
                   ranks.empty() ? "rank {} ({}): {} failed: {}" // the cause names no rank
                   : is_victim ? "rank {} ({}): {} failed because of other ranks; check their logs first: {}"
                               : "rank {} ({}): {} failed on this rank; fix this first: {}",
                   x_rank, host_name(), text_of(operation), reason),
               x_rank, operation.name, ranks);
}

} // namespace hpcml::ddp
