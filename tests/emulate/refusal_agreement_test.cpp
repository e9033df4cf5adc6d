// SPDX-License-Identifier: MIT
// What an emulated site rejects, check reports for the same script, and what check calls an error the site
// rejects.
#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <regex>
#include <thread>

#include "check/check_script.hpp"
#include "check/rule_examples.hpp"
#include "core/config/site_store.hpp"
#include "core/util/date.hpp"
#include "core/util/process.hpp"
#include "emulate/cluster_layout.hpp"
#include "emulate/drawn_job_helper.hpp"
#include "emulate/site_helper.hpp"
#include "random_numbers.hpp"
#include "samples.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::emulate;
using diag::Severity;

namespace {

/// The rejections by the site's rules; others follow from the size of the emulated cluster.
std::vector<std::string> rejections(const model::Site& site, const ClusterLayout& layout,
                                    const test::DrawnJob& job) {
  auto list = evaluate_submission(site, layout, job.fields).refusals;
  std::erase_if(list, [](const std::string& sentence) {
    return sentence.starts_with("hint: ") || sentence.find("are not emulated") != std::string::npos ||
           sentence.find("exceed the emulated nodes") != std::string::npos;
  });
  return list;
}

bool has_warning(const check::Findings& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const auto& finding) { return finding.what.severity != Severity::note; });
}

/// Whether check is sure that the site rejects the job.
bool has_site_error(const check::Findings& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const auto& finding) {
    return finding.what.severity == Severity::error && finding.what.code.starts_with("site/");
  });
}

/// Sites that an emulated cluster can stand for.
std::vector<model::Site> emulated_sites() {
  std::vector<model::Site> sites;
  for (const auto& id : config::list_sites({})) {
    auto site = config::as_of(test::shipped_site(id), util::today(util::EnvSnapshot::of_process()));
    if (site.state != model::SiteState::retired && site.scheduler == model::Scheduler::slurm &&
        !site.node_types.empty() && !site.partitions.empty())
      sites.push_back(std::move(site));
  }
  return sites;
}

/// What sbatch answered for the scripts of a site. Nothing is asserted in threads: Catch has one.
struct QueriedSite {
  const model::Site* site = nullptr;
  std::vector<std::string> scripts = {};
  std::vector<std::string> refusals = {}; ///< for each script; empty if sbatch accepts it
  std::string failure = {};
};

void ask_sbatch(QueriedSite& queried) {
  const test::TempDirectory directory;
  for (std::size_t i = 0; i < queried.scripts.size(); ++i)
    if (!util::write_file(directory / std::to_string(i), queried.scripts[i]))
      queried.failure = "cannot write a script";
  queried.refusals.resize(queried.scripts.size());
  const auto sbatch = util::run_process(
      {HPCML_BINARY, "emulate", "--quiet", "--whole-site", "--site", queried.site->id, "--", "bash", "-c",
       "cd \"$1\"\nfor ((i = 0; i < $2; i++)); do answer=$(sbatch --test-only $i 2>&1) || "
       "printf '%s\t%s\n' $i \"${answer//$'\\n'/ }\"; done; echo done",
       "asking", directory.path().string(), std::to_string(queried.scripts.size())},
      util::EnvSnapshot::of_process(), std::chrono::seconds(900));
  if (!sbatch || !sbatch->out.ends_with("done\n")) {
    queried.failure = sbatch ? sbatch->err : sbatch.error().what;
    return;
  }
  for (const auto& line : util::split(sbatch->out, '\n'))
    if (const auto tab = line.find('\t'); tab != std::string::npos)
      queried.refusals[static_cast<std::size_t>(*util::parse_unsigned(line.substr(0, tab)))] =
          line.substr(tab + 1);
}

void ask_all(std::vector<QueriedSite>& sites) {
  std::atomic<std::size_t> next{0};
  std::vector<std::thread> workers;
  for (unsigned i = 0; i < 4; ++i)
    workers.emplace_back([&] {
      for (std::size_t mine = next++; mine < sites.size(); mine = next++) ask_sbatch(sites[mine]);
    });
  for (auto& worker : workers) worker.join();
}

/// True if sbatch does not know a name in the script, which the site itself may have: the profile describes
/// neither all partitions and features nor the names of the nodes.
bool is_unknown_name(const std::string& answer) {
  for (const auto* text :
       {"Invalid feature specification", "invalid partition specified", "Invalid node name specified"})
    if (answer.find(text) != std::string::npos) return true;
  return false;
}

/// True if the script names a type of GPU where the profile does not know what Slurm calls them.
bool names_unknown_gpus(const model::Site& site, const std::string& script) {
  static const std::regex k_typed("(gpu|gpus-per-node|gpus)[:=][a-z][a-z0-9_.]*:[0-9]");
  return std::any_of(site.node_types.begin(), site.node_types.end(),
                     [](const auto& node) { return node.gpu && node.gpu->slurm_type.empty(); }) &&
         std::regex_search(script, k_typed);
}

/// True if the script has a time limit that Slurm may shorten, which it does after the submission: whether it
/// accepts the job until then depends on EnforcePartLimits, which profiles do not have.
bool is_shortenable(const std::string& script) { return script.find("--time-min") != std::string::npos; }

/// True if the script is submitted as it is: it neither leaves an option to its user nor writes a job.
bool is_complete_job(const std::string& script) {
  for (const auto* text : {"##SBATCH", "--account=\n", "sbatch <<"})
    if (script.find(text) != std::string::npos) return false;
  return true;
}

/// The scripts for the site among the examples of check, and the site's documented ones.
std::vector<std::string> corpus_of(const model::Site& site) {
  std::vector<std::string> scripts;
  for (const auto& [rule, examples] : test::rule_examples())
    for (const auto& example : examples)
      if (example.site == site.id && example.version.empty() && is_complete_job(example.script))
        scripts.push_back(example.script);
  for (const auto& entry :
       std::filesystem::directory_iterator(HPCML_SOURCE_DIR "/tests/emulate/site_examples"))
    if (entry.path().filename().string().starts_with(site.id + "."))
      scripts.push_back(util::read_file(entry.path()).value_or(""));
  return scripts;
}

} // namespace

TEST_CASE("check reports what an emulated site rejects") {
  std::mt19937 random(44);
  unsigned rejected = 0, without_partition = 0;
  const auto sites = emulated_sites();
  for (const auto& site : sites)
    for (const bool whole : {false, true}) {
      const auto layout = make_cluster_layout(site, {"", 1, whole});
      if (!layout) continue; // nothing of it can be emulated
      for (unsigned i = 0; i < test::sampled(200); ++i) {
        const bool named = test::chance(random, 50);
        const auto job = test::draw_job(random, site, named);
        const auto reasons = rejections(site, *layout, job);
        if (reasons.empty()) continue;
        ++(named ? rejected : without_partition);
        INFO(site.id << (whole ? ", all nodes\n" : "\n") << job.script << reasons[0]);
        CHECK(has_warning(check::check_script("job.sh", job.script, {std::nullopt, &site})));
      }
    }
  CHECK(rejected > 100);
  CHECK(without_partition > 100);
}

TEST_CASE("check and the sbatch of a whole site agree", "[slurm]") {
  std::mt19937 random(45);
  const auto sites = emulated_sites();
  std::vector<QueriedSite> queried;
  for (const auto& site : sites) {
    queried.push_back({&site, corpus_of(site)});
    for (unsigned i = 0; i < test::sampled(60); ++i)
      queried.back().scripts.push_back(test::draw_job(random, site, i % 3 == 0).script);
  }
  ask_all(queried);
  unsigned refused = 0, errors = 0;
  for (const auto& [site, scripts, refusals, failure] : queried) {
    CAPTURE(site->id);
    REQUIRE(failure == "");
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      const auto findings = check::check_script("job.sh", scripts[i], {std::nullopt, site});
      const bool is_error = has_site_error(findings), is_refused = !refusals[i].empty();
      refused += is_refused ? 1 : 0;
      errors += is_error ? 1 : 0;
      std::string found;
      for (const auto& finding : findings) found += finding.what.message + "\n";
      INFO(scripts[i] << refusals[i] << "\n" << found);
      if (!is_unknown_name(refusals[i]) && !names_unknown_gpus(*site, scripts[i]) &&
          !is_shortenable(scripts[i]))
        CHECK((!is_refused || has_warning(findings)));
      CHECK((!is_error || is_refused));
    }
  }
  CHECK(refused > 200);
  CHECK(errors > 50);
}
