// SPDX-License-Identifier: MIT
// Learning a site's rules from tested requests, against made-up sites.
#include <catch2/catch.hpp>
#include <functional>

#include "core/util/text.hpp"
#include "generate/discover/discover_helper.hpp"
#include "generate/discover/trials.hpp"

using namespace hpcml;

namespace {

/// A Slurm whose site refuses requests by a rule of the test; keeps what it was asked.
class RuledSlurm : public slurm::Commands {
public:
  using Rule = std::function<std::string(const std::map<std::string, std::string>&)>;
  explicit RuledSlurm(Rule rule) : x_rule(std::move(rule)) {}
  slurm::Answer ask(const std::vector<std::string>& words) const override {
    std::map<std::string, std::string> options;
    for (const auto& word : words)
      if (const auto equals = word.find('='); word.starts_with("--") && equals != std::string::npos)
        options[word.substr(2, equals - 2)] = word.substr(equals + 1);
    all_tested = all_tested && words.size() > 2 && words[0] == "sbatch" && words[1] == "--test-only";
    slurm::Answer answer{words, true, {}, x_rule(options)};
    answer.output.exit_code = answer.why_not.empty() ? 0 : 1;
    return answer;
  }
  mutable bool all_tested = true;

private:
  Rule x_rule;
};

discover::DiscoveredSbatchRules tried(const RuledSlurm& site, const std::string& account = {}) {
  const auto facts = test::recorded_cluster("mixed");
  return discover::run_trials(site, facts, discover::make_node_kinds(facts.nodes), account);
}

std::string policies(const discover::DiscoveredSbatchRules& report) {
  std::string text;
  for (const auto& [name, rule] : report.flags)
    text += name + (rule.policy == model::OptionPolicy::required ? "+ " : "- ");
  return text;
}

} // namespace

TEST_CASE("options that a request cannot go without are required, those it cannot go with forbidden") {
  using Options = std::map<std::string, std::string>;
  struct Case {
    RuledSlurm::Rule rule;
    const char* found;
  };
  const Case cases[] = {
      {[](const Options&) { return ""; }, ""},
      {[](const Options& o) { return o.count("time") ? "" : "give a time"; }, "time+ "},
      {[](const Options& o) { return o.count("mem") ? "no mem here" : ""; }, "mem- "},
      {[](const Options& o) {
         return o.count("partition") ? "do not choose" : o.count("mem") ? "no mem" : "";
       },
       "mem- partition- "},
      {[](const Options& o) { return o.count("account") ? "" : "no account"; }, "account+ "},
      {[](const Options& o) { return o.count("gres") || o.count("gpus") ? "use --gpus-per-node" : ""; },
       "gpus- gres- "},
      {[](const Options& o) { return o.count("export") ? "no" : ""; }, "export- "},
  };
  for (const auto& test_case : cases) {
    const RuledSlurm site(test_case.rule);
    const auto report = tried(site, "big");
    CHECK(report.why_not.empty());
    CHECK(policies(report) == test_case.found);
    CHECK(report.partition == "gpu"); // it is up and has GPUs
    CHECK(site.all_tested);
  }
}

TEST_CASE("a site that wants the GPU's type gets it, one that refuses GPUs has none to ask for") {
  const auto named = tried(RuledSlurm([](const auto& o) {
    for (const char* option : {"gpus-per-node", "gres", "gpus", "gpus-per-task"})
      if (o.count(option) && o.at(option).find("h100") == std::string::npos) return "name the type";
    return "";
  }));
  CHECK(named.gpu_style == model::GpuOptionStyle::gpus_per_node);
  CHECK(named.gpu_type_required);
  CHECK(policies(named) == "");
  const auto only_gres = tried(RuledSlurm([](const auto& o) {
    return o.count("gpus-per-node") || o.count("gpus") || o.count("gpus-per-task") ? "use --gres" : "";
  }));
  CHECK(only_gres.gpu_style == model::GpuOptionStyle::gres);
  CHECK_FALSE(only_gres.gpu_type_required);
  const auto none = tried(RuledSlurm([](const auto& o) {
    return o.count("gres") || o.count("gpus-per-node") || o.count("gpus") || o.count("gpus-per-task")
               ? "comes with the node"
               : "";
  }));
  CHECK(none.gpu_style == model::GpuOptionStyle::none);
  CHECK(policies(none) == "gpus- gpus-per-node- gpus-per-task- gres- ");
}

TEST_CASE("a site that accepts nothing teaches nothing, and Slurm's words stay one plain line") {
  const auto closed = tried(RuledSlurm([](const auto&) { return "closed for maintenance"; }));
  CHECK(closed.why_not == "closed for maintenance");
  CHECK(closed.flags.empty());
  const auto rude = tried(RuledSlurm([](const auto& o) {
    return o.count("time") ? std::string() : "\033[31mno\n" + std::string(1000, 'x');
  }));
  const auto why = rude.flags.at("time").why;
  CHECK(why.find('\033') == std::string::npos);
  CHECK(why.size() < 250);
}

TEST_CASE("what was tried is in the profile") {
  discover::ProfileGenerationInput request;
  request.trials = tried(RuledSlurm([](const auto& o) {
    return o.count("partition") ? "do not choose" : !o.count("time") ? "time" : "";
  }));
  const auto site = test::discovered("mixed", request);
  CHECK(site.flags.at("partition").policy == model::OptionPolicy::forbidden);
  CHECK(site.flags.at("time").policy == model::OptionPolicy::required);
  CHECK(site.flags.at("time").why == "tried in partition gpu without it: time");
  for (const auto& partition : site.partitions) CHECK_FALSE(partition.nameable);
  CHECK(site.gpu_request.style == model::GpuOptionStyle::gpus_per_node);
}
