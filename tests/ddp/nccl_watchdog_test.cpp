// SPDX-License-Identifier: MIT
// Operations that a GPU waits for, and no thread: whether they ended is seen, and said once.
#include <catch2/catch.hpp>

#include <atomic>
#include <future>
#include <stdexcept>

#include "ddp/nccl_watchdog.hpp"
#include "ddp/run_within.hpp"

using namespace hpcml::ddp;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds k_long{60000};

/// What a watch told, and what it is to hear.
struct WatchCalls {
  std::atomic<bool> called{false}, received{false}, given_up{false};
  std::atomic<int> failures{0};
  std::promise<std::string> failure;

  NcclWatchdog::Calls calls(milliseconds grace = k_long) {
    NcclWatchdog::Calls all;
    all.is_called = [this] { return called.load(); };
    all.on_failure = [this](const Operation& operation, const std::string& why) {
      if (++failures == 1) failure.set_value(operation.name + ": " + why);
    };
    all.is_received = [this] { return received.load(); };
    all.give_up = [this] { given_up = true; };
    all.grace = grace;
    return all;
  }
};

bool fails() { throw std::runtime_error("the other side is gone"); }
bool never() { return false; }

} // namespace

TEST_CASE("a group that ends waits for all operations, and hears of nothing if they end well") {
  WatchCalls result;
  std::atomic<bool> done{false};
  NcclWatchdog watch(k_long, result.calls());
  for (int i = 0; i < 3; ++i) watch.add({"all_reduce"}, [&] { return done.load(); });
  auto all = std::async(std::launch::async, [&] { watch.wait_for_all(); });
  CHECK(all.wait_for(milliseconds(300)) == std::future_status::timeout);
  done = true;
  all.get();
  CHECK(result.failures == 0);
}

TEST_CASE("an operation that fails, or does not end in time, is told once, and nobody waits for the others") {
  WatchCalls result;
  result.received = true;
  const bool in_time = GENERATE(true, false);
  NcclWatchdog watch(in_time ? k_long : milliseconds(1000), result.calls());
  watch.add({"broadcast"}, in_time ? fails : never);
  watch.add({"all_reduce"}, never);
  CHECK(result.failure.get_future().get() ==
        (in_time ? "broadcast: the other side is gone" : "broadcast: not done within 1 s"));
  watch.wait_for_all();
  watch.add({"all_reduce"}, fails);
  watch.wait_for_all();
  CHECK(result.failures == 1);
}

TEST_CASE("what runs when another rank has called all to account is told with nothing of its own") {
  WatchCalls result;
  result.called = result.received = true;
  NcclWatchdog watch(k_long, result.calls());
  watch.add({"all_reduce"}, never);
  CHECK(result.failure.get_future().get() == "all_reduce: ");
}

TEST_CASE("a program that does not come by to hear of the trouble is given up, one that ends is not") {
  WatchCalls result;
  {
    NcclWatchdog watch(k_long, result.calls(milliseconds(200)));
    watch.add({"all_reduce"}, fails);
    while (!result.given_up) std::this_thread::sleep_for(milliseconds(1));
  }
  WatchCalls second_report;
  {
    NcclWatchdog watch(k_long, second_report.calls());
    watch.add({"all_reduce"}, fails);
    watch.wait_for_all();
  }
  CHECK_FALSE(second_report.given_up);
}

TEST_CASE("what may never return holds up nobody") {
  std::promise<void> release;
  const auto held = release.get_future().share();
  CHECK_FALSE(run_within(milliseconds(50), [held] { held.wait(); }));
  release.set_value();
  CHECK(run_within(k_long, [held] { held.wait(); }));
}
