// SPDX-License-Identifier: MIT
// Every site, with every workload, launcher and partition that its profile allows: real sbatch accepts the
// script on a Slurm that has all of the site's nodes, limits, GPUs, features and rules.
#include <catch2/catch.hpp>

#include <atomic>
#include <cstdio>
#include <map>
#include <set>
#include <thread>

#include "core/config/site_store.hpp"
#include "core/util/date.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "generate/plan/planner.hpp"
#include "generate/render/coverage_helper.hpp"
#include "generate/render/random_request_helper.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"
#include "generate/render/site_cases_helper.hpp"
#include "samples.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

const std::string k_drawn = "drawn ";

/// The accounts that the scripts of people name, with commas; where the site's jobs need no account but a
/// QoS, one of any name.
std::string accounts_of(const std::vector<Case>& cases, const model::Site& site) {
  constexpr std::string_view k_line = "#SBATCH --account=";
  std::set<std::string> accounts;
  for (const auto& written : cases)
    for (const auto& line : util::split(written.script, '\n'))
      if (line.starts_with(k_line) && written.over != "wrong account")
        accounts.insert(line.substr(k_line.size()));
  if (accounts.empty() && !site.qos.empty()) accounts.insert("me");
  return util::join({accounts.begin(), accounts.end()}, ",");
}

/// A site's scripts, and what its sbatch said of them.
struct SiteRequests {
  std::string site;
  std::string accounts;
  std::vector<Case> cases;
  std::string failure;                         ///< why they could not be asked
  std::map<std::string, std::string> refusals; ///< by a case's name; nothing for those that it takes
};

/// Asks the site's sbatch. Asserts nothing: several sites are asked at once, and Catch has one thread.
void ask(SiteRequests& asking) {
  const TempDirectory directory;
  const auto& [site, accounts, cases, failure, refusals] = asking;
  for (std::size_t i = 0; i < cases.size(); ++i)
    if (!util::write_file(directory / std::to_string(i), cases[i].script)) {
      asking.failure = "cannot write a script";
      return;
    }
  std::vector<std::string> words = {HPCML_BINARY, "emulate", "--quiet", "--whole-site", "--site", site};
  if (!accounts.empty()) words.insert(words.end(), {"--accounts", accounts});
  words.insert(words.end(), {"--", "bash", "-c",
                             "cd \"$1\"\nfor ((i = 0; i < $2; i++)); do answer=$(sbatch --test-only $i 2>&1) "
                             "|| printf '%s\\t%s\\n' $i \"${answer//$'\\n'/ }\"; done; echo asked",
                             "asking", directory.path().string(), std::to_string(cases.size())});
  const auto sbatch = util::run_process(words, util::EnvSnapshot::of_process());
  if (!sbatch || !sbatch->out.ends_with("asked\n")) {
    asking.failure = sbatch ? "emulate ended early: " + sbatch->err : sbatch.error().what;
    return;
  }
  for (const auto& line : util::split(sbatch->out, '\n'))
    if (const auto tab = line.find('\t'); tab != std::string::npos)
      asking.refusals[cases[static_cast<std::size_t>(*util::parse_unsigned(line.substr(0, tab)))].name] =
          line.substr(tab + 1);
}

/// Some at a time: bringing a site up is mostly waiting.
void ask_all(std::vector<SiteRequests>& sites) {
  constexpr unsigned k_at_once = 4;
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < k_at_once; ++i)
    workers.emplace_back([&] {
      for (std::size_t mine = next++; mine < sites.size(); mine = next++) ask(sites[mine]);
    });
  for (auto& worker : workers) worker.join();
}

/// Requests by seed that gen accepts, but for those that ask for what no emulated site has (a reservation, a
/// job to wait for, another cluster) and for what only the site itself knows: how many threads its cores
/// show, how large its arrays are, how many nodes it has and how many CPUs each, what it calls its GPUs.
void add_drawn(std::vector<Case>& cases, const model::Site& site, RequestMaker& maker) {
  const unsigned most = tests_all_samples() ? 13 : 5;
  const auto wants_more = [](const std::string& description) {
    for (const auto* word : {"--sbatch", "--dependency", "--threads-per-core '2'", "0-40000", "--nodes '64'",
                             "--gpu-type 'normal'", "--cpus-per-task 300"})
      if (description.find(word) != std::string::npos) return true;
    return false;
  };
  unsigned drawn = 0;
  for (unsigned tries = 0; drawn < most && tries < 20 * most; ++tries) {
    const auto planned = plan::make_plan(maker.next(site), site);
    if (!planned.plan || wants_more(maker.description()) ||
        diag::has_errors(render::find_unwritable(*planned.plan)))
      continue;
    cases.push_back({k_drawn + std::to_string(++drawn) + ": " + maker.description(),
                     render::render_script(*planned.plan),
                     {},
                     {}});
  }
}

} // namespace

TEST_CASE("real sbatch accepts what is written for every site", "[slurm]") {
  Coverage coverage;
  std::set<std::string> sites, all;
  unsigned with_accounts = 0, scripts = 0, refused = 0, drawn = 0;
  RequestMaker maker(771005);
  std::vector<SiteRequests> answers;
  for (const auto& id : config::list_sites({})) {
    auto load = config::load_site(id, {});
    REQUIRE(load.site);
    load.site = config::as_of(*load.site, util::today(util::EnvSnapshot::of_process())); // as emulate has it
    if (load.site->state == model::SiteState::retired || load.site->scheduler != model::Scheduler::slurm)
      continue;
    all.insert(id);
    if (load.site->node_types.empty() || load.site->partitions.empty())
      continue; // untested: there is nothing to emulate
    auto cases = cases_of(*load.site, refused, coverage);
    add_drawn(cases, *load.site, maker);
    auto accounts = accounts_of(cases, *load.site);
    answers.push_back({id, std::move(accounts), std::move(cases), {}, {}});
  }
  ask_all(answers);
  for (auto& [id, accounts, cases, failure, refusals] : answers) {
    CAPTURE(id, accounts);
    REQUIRE(failure == "");
    CHECK(cases.size() >= 4);
    for (const auto& test_case : cases) {
      CAPTURE(test_case.name, refusals[test_case.name]);
      CHECK(refusals[test_case.name].empty() == test_case.over.empty());
      CHECK(refusals[test_case.name].find(test_case.words) != std::string::npos);
      if (test_case.over.empty()) {
        ++scripts;
        drawn += test_case.name.starts_with(k_drawn) ? 1 : 0;
        continue;
      }
      coverage.tried(test_case.over, id);
    }
    sites.insert(id);
    with_accounts += accounts.empty() ? 0 : 1;
  }
  CHECK(drawn >= (tests_all_samples() ? 500 : 200));
  CHECK(sites.size() >= 46); // the others' nodes or partitions are not known
  std::printf(
      "%u scripts for %zu sites (%u with slurmdbd) accepted; %u more requests refused by the planner\n",
      scripts, sites.size(), with_accounts, refused);
  std::printf("Scripts just over a limit, or with a name that nobody has, that Slurm refuses\n%s",
              coverage.render(all).c_str());
  CHECK(coverage.sites("wrong account") >= 30);
  CHECK(coverage.sites("wrong QoS") >= 5);
  CHECK(coverage.count("most nodes of a QoS", "perlmutter") >= 2); // it has limits of its QoS only
}
