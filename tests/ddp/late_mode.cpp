// SPDX-License-Identifier: MIT
// Operations of c10d that end, or fail, just after the time of a wait was over.
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>

#include <torch/csrc/distributed/c10d/Work.hpp>

#include "ddp/timed_wait.hpp"
#include "hpcml/json_line.hpp"
#include "rank_modes.hpp"

namespace ddp_test {

namespace {

/// c10d's own waiting; what it is told once its time is over happens between that and the next question.
struct LateWork : c10d::Work {
  explicit LateWork(std::function<void(LateWork&)> then) : after_time(std::move(then)) {}
  bool wait(std::chrono::milliseconds limit) override {
    try {
      return c10d::Work::wait(limit);
    } catch (const std::exception&) {
      after_time(*this);
      throw;
    }
  }
  void end() { finish(); }
  void fail(const char* why) { finish(std::make_exception_ptr(std::runtime_error(why))); }
  std::function<void(LateWork&)> after_time;
};

std::string outcome_of(const std::function<void(LateWork&)>& after_time) {
  LateWork work(after_time);
  try {
    return hpcml::ddp::wait_at_most<c10d::Work>(work, std::chrono::milliseconds(1)) ? "done" : "not yet";
  } catch (const std::exception& error) {
    const std::string all = error.what(); // from the second line on a back trace
    return all.substr(0, all.find('\n'));
  }
}

} // namespace

int run_late() {
  std::printf("%s\n", hpcml::JsonLine()
                          .add("ends", outcome_of([](LateWork& work) { work.end(); }))
                          .add("fails", outcome_of([](LateWork& work) { work.fail("lost"); }))
                          .add("goes_on", outcome_of([](LateWork&) {}))
                          .text()
                          .c_str());
  return 0;
}

} // namespace ddp_test
