// SPDX-License-Identifier: MIT
// Steps drawn by a seed whose ranks come late, die on the way or never come: nobody waits for ever, whoever
// starts has met the others at one place, and who is missing is named.
#include <catch2/catch.hpp>

#include <cstdio>
#include <memory>
#include <random>
#include <set>
#include <thread>

#include "core/util/text.hpp"
#include "run/launch/rendezvous_helper.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

/// What befalls one of a step's ranks; in a whole step some come late.
enum class Fault { none, missing, killed, killed_in_program };
constexpr unsigned k_faults = 4;

struct Step {
  unsigned ranks = 0;
  std::set<unsigned> missing, killed;
  bool all_received = false; ///< every launcher comes as far as its program
  bool taken = false;        ///< somebody else listens at the first port
  std::string store;
  std::vector<util::EnvSnapshot> tasks; ///< of those that come
  std::vector<unsigned> who;            ///< rank of each
  std::unique_ptr<Squatter> squatter = {};
  std::vector<Said> outputs = {};
};

/// Seconds between 0.5 and 40 ms: before a launcher is heard, on its way there, or as its program.
std::string draw_end(std::mt19937& random) {
  char text[16];
  std::snprintf(text, sizeof text, "0.%04u", static_cast<unsigned>(5 + random() % 396));
  return text;
}

Step draw(std::mt19937& random, Fault fault) {
  const auto below = [&](unsigned bound) { return static_cast<unsigned>(random() % bound); };
  Step step;
  step.ranks = 2 + below(5);
  step.store = below(2) == 0 ? "own" : "env";
  step.taken = below(3) == 0;
  step.all_received = fault == Fault::none || fault == Fault::killed_in_program;
  if (fault == Fault::missing) step.missing.insert(below(step.ranks));
  if (fault == Fault::killed || fault == Fault::killed_in_program) step.killed.insert(below(step.ranks));
  const auto job = new_job();
  if (step.taken) step.squatter = std::make_unique<Squatter>(port_of_job(job));
  const bool dead_address = below(4) == 0;
  for (unsigned rank = 0; rank < step.ranks; ++rank) {
    auto env = task(rank, step.ranks, job);
    env.set("HPCML_RENDEZVOUS_TIMEOUT", step.all_received ? "120" : "3");
    env.set("LATE", "0." + std::to_string(below(3)));
    if (step.killed.count(rank) > 0 && fault == Fault::killed) env.set("DIES", draw_end(random));
    if (step.killed.count(rank) > 0 && fault == Fault::killed_in_program) env.set("DIES_LATER", "1");
    if (dead_address) env.set("HPCML_STORE_ADDR", "127.0.0.1:9");
    if (step.missing.count(rank) > 0) continue;
    step.tasks.push_back(std::move(env));
    step.who.push_back(rank);
  }
  return step;
}

void check(const Step& step) {
  std::string all;
  std::set<std::string> places;
  bool zero_started = false;
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const auto& output = step.outputs[i];
    all += "rank " + std::to_string(step.who[i]) + ": code " + std::to_string(output.code) + " " +
           output.out + output.err;
    if (output.out.starts_with("started ")) places.insert(output.out);
    zero_started = zero_started || (step.who[i] == 0 && output.out.starts_with("started "));
  }
  CAPTURE(step.ranks, step.store, step.taken, step.missing, step.killed, all);
  CHECK(step.outputs.size() == step.tasks.size());
  CHECK(places.size() <= 1);
  for (std::size_t i = 0; i < step.outputs.size(); ++i) {
    const auto& output = step.outputs[i];
    if (step.killed.count(step.who[i]) > 0) continue;
    CHECK((output.code == 0 || output.code == 125));
    CHECK((output.code == 0) == output.out.starts_with("started "));
    if (step.all_received) CHECK(output.code == 0);
    if (zero_started) CHECK(output.code == 0); // it has heard of all, and so has each of it
    if (step.missing.count(0) > 0) CHECK_THAT(output.err, Contains("the launcher of rank 0 on "));
    if (step.who[i] == 0 && !step.missing.empty())
      CHECK_THAT(output.err, Contains("rendezvous timed out after 3 s: ") &&
                                 Contains("rank " + std::to_string(*step.missing.begin()) + "/" +
                                          std::to_string(step.ranks) + " (") &&
                                 Contains(" has not connected for "));
  }
  if (!step.missing.empty()) CHECK_FALSE(zero_started);
}

} // namespace

TEST_CASE("ranks come late or die or never come: nobody waits for ever, who starts has met the others") {
  std::mt19937 random(16);
  std::vector<Step> steps;
  for (unsigned i = 0; i < 32; ++i) steps.push_back(draw(random, static_cast<Fault>(i % k_faults)));
  const std::string begin =
      "sleep $LATE; if [[ ${DIES:-} ]]; then exec timeout -s KILL $DIES \"$@\"; fi; exec \"$@\"";
  std::vector<std::thread> runs;
  for (auto& step : steps)
    runs.emplace_back([&step, &begin] {
      std::vector<std::string> words = {"bash", "-c", begin, "task"};
      for (const auto& word :
           launch_words("echo started $MASTER_ADDR:$MASTER_PORT; if [[ ${DIES_LATER:-} ]]; then kill -KILL "
                        "$$; fi; sleep 0.3",
                        {"--store", step.store}))
        words.push_back(word);
      step.outputs = run_step(step.tasks, words);
    });
  for (auto& thread : runs) thread.join();
  for (const auto& step : steps) check(step);
}
