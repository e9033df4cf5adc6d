// SPDX-License-Identifier: MIT
// The layouts of layouts_test.cpp without a cluster: what a launch resolves in each task of a modelled step
// is what the step's label and host say of the task.
#include <catch2/catch.hpp>

#include <algorithm>
#include <ctime>
#include <map>
#include <set>

#include "core/util/text.hpp"
#include "run/launch/layouts_helper.hpp"
#include "run/launch/step_model_helper.hpp"
#include "run/resolve/agreement.hpp"
#include "run/resolve/recorded_node.hpp"
#include "run/resolve/resolve.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using namespace hpcml::testing;

namespace {

launch::NodeView node_of_layouts() {
  launch::NodeView node;
  for (unsigned cpu = 0; cpu < 32; ++cpu) node.cpus.core_threads.push_back(model::IdSet::of({cpu}));
  node.cpus.cores = 32;
  node.cpus.sockets = node.cpus.threads_per_core = 1;
  node.mask = model::IdSet::range(0, 31);
  return node;
}

/// What the ranks of a layout are to have: those that the launch of each task becomes or starts.
class ResolvedLayout {
public:
  ResolvedLayout(const DrawnLayout& layout, ModelledStep step, std::optional<model::Site> site)
      : x_layout(layout), x_step(std::move(step)) {
    x_request.site = std::move(site);
    x_request.bind = launch::BindMode::none;
    x_request.command = {"./show.sh"};
    if (layout.per_task > 0) x_request.processes_per_node = layout.per_task;
    x_queries.nodes = x_step.nodes;
    x_queries.host_file = x_step.host_file;
  }

  /// Resolves each task's launch, with `outer` below its own variables.
  void resolve(const util::EnvSnapshot& outer) {
    for (const auto& task : x_step.tasks) {
      launch::ProcessContext environment;
      auto env = outer;
      for (const auto& [name, value] : task.env.variables()) env.set(name, value);
      environment.env = launch::without_outer_rank(std::move(env));
      environment.host = environment.machine = task.host;
      environment.ancestors = x_step.ancestors;
      x_decisions.push_back(launch::resolve(x_request, environment, node_of_layouts(), x_queries));
      if (const auto* resolved = std::get_if<launch::ResolvedLaunch>(&x_decisions.back()))
        for (auto& rank : resolved->make_ranks(x_request)) x_ranks.push_back(std::move(rank));
    }
  }

  /// Compares them with the step.
  void check() const {
    for (const auto& decision : x_decisions)
      if (const auto* error = std::get_if<launch::LaunchError>(&decision))
        FAIL_CHECK(error->phase << ": " << error->error.what);
    const unsigned each = std::max(1U, x_layout.per_task);
    CHECK(x_ranks.size() == std::size_t{x_layout.tasks} * each);
    std::set<std::string> ports;
    for (const auto& rank : x_ranks) check_rank(rank, each, ports);
    CHECK((ports.size() == 1 || x_ranks.empty()));
  }

  /// The port of the step; empty if a launcher chooses it for its node.
  std::string port() const {
    return x_ranks.empty() || is_on_one_node() ? std::string()
                                               : x_ranks.front().env.get_or("MASTER_PORT", "");
  }

  std::size_t rank_count() const { return x_ranks.size(); }

private:
  bool is_on_one_node() const { return x_layout.per_task > 0 && x_step.nodes.names.size() == 1; }

  void check_rank(const launch::RankSetup& rank, unsigned each, std::set<std::string>& ports) const {
    const bool starts = x_layout.per_task > 0;
    const auto value = [&](const char* name) { return rank.env.get_or(name, "(none)"); };
    const auto& task =
        *std::find_if(x_step.tasks.begin(), x_step.tasks.end(), [&](const ModelledTask& candidate) {
          return candidate.env.get("SLURM_PROCID") == rank.env.get("SLURM_PROCID");
        });
    const unsigned local = rank.world.layout.local_rank;
    CHECK(value("RANK") == std::to_string(starts ? task.node_rank * each + local : task.rank));
    CHECK(value("LOCAL_RANK") == std::to_string(starts ? local : task.local_rank));
    CHECK(value("WORLD_SIZE") == std::to_string(x_layout.tasks * each));
    CHECK(value("LOCAL_WORLD_SIZE") == std::to_string(starts ? each : task.local_world_size));
    CHECK(value("NODE_RANK") == std::to_string(task.node_rank));
    CHECK(value("GROUP_RANK") == std::to_string(task.node_rank));
    const auto suffix = x_request.site ? x_request.site->network.master.suffix : std::string();
    const auto& first = starts ? x_step.nodes.names.front() : x_step.tasks.front().host;
    CHECK(value("MASTER_ADDR") == (is_on_one_node() ? "127.0.0.1" : first + suffix));
    ports.insert(value("MASTER_PORT"));
  }

  const DrawnLayout& x_layout;
  ModelledStep x_step;
  launch::LaunchRequest x_request;
  RecordedNode x_queries;
  std::vector<launch::LaunchDecision> x_decisions;
  std::vector<launch::RankSetup> x_ranks;
};

/// The environment of a rank of another step of the job.
util::EnvSnapshot outer_rank(const util::EnvSnapshot& task) {
  launch::LaunchRequest request;
  request.command = {"sh", "nested"};
  launch::ProcessContext environment;
  environment.env = task;
  for (const auto* name : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_STEP_TASKS_PER_NODE"})
    environment.env.set(name, "1");
  for (const auto* name : {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"}) environment.env.set(name, "0");
  const auto host = environment.env.get_or("SLURMD_NODENAME", "");
  environment.env.set("SLURM_STEP_NODELIST", host);
  environment.env.set("SLURM_STEP_ID", "99");
  environment.host = host;
  const auto decision = launch::resolve(request, environment, node_of_layouts(), RecordedNode());
  return std::get<launch::ResolvedLaunch>(decision).make_ranks(request).front().env;
}

} // namespace

TEST_CASE("390 drawn layouts resolve in one process in two seconds") {
  const auto jobs = draw_layouts(16, 390, false);
  std::vector<std::optional<model::Site>> sites = {std::nullopt};
  for (const auto* id : {"generic", "lumi", "juwels_booster", "perlmutter", "leonardo", "snellius"})
    sites.emplace_back(test::shipped_site(id));
  std::size_t layouts = 0, ranks = 0;
  std::clock_t spent = 0;
  for (const auto& job : jobs) {
    std::map<std::string, std::string> lines; // by port
    for (unsigned i = 0; i < job.layouts.size(); ++i, ++layouts) {
      const auto& layout = job.layouts[i];
      INFO(job.request << ": " << layout.line);
      auto step = model_step(job, layout, i);
      const auto outer = step.is_nested ? outer_rank(step.tasks.front().env) : util::EnvSnapshot();
      ResolvedLayout resolved(layout, std::move(step), sites[layouts % sites.size()]);
      const auto begin = std::clock();
      resolved.resolve(outer);
      spent += std::clock() - begin;
      resolved.check();
      ranks += resolved.rank_count();
      if (const auto port = resolved.port(); !port.empty()) {
        INFO("also of " << lines[port]);
        CHECK(lines[port].empty());
        lines[port] = layout.line;
      }
    }
  }
  CHECK(layouts == 390);
  CHECK(ranks > 1500);
  const double seconds = static_cast<double>(spent) / CLOCKS_PER_SEC;
  INFO(ranks << " ranks of " << layouts << " layouts");
  CHECK(seconds <= 2.0);
}

TEST_CASE("a launch asks only what its decisions need") {
  launch::LaunchRequest request;
  request.command = {"./train"};
  launch::ProcessContext environment;
  environment.host = "n1";
  RecordedNode queries;
  const auto alone = launch::resolve(request, environment, node_of_layouts(), queries);
  REQUIRE(std::holds_alternative<launch::ResolvedLaunch>(alone));
  CHECK(queries.queried == std::vector<std::string>{"free_port", "network"});

  environment.env = util::EnvSnapshot({{"SLURM_JOB_ID", "12"},
                                       {"SLURM_STEP_ID", "0"},
                                       {"SLURM_PROCID", "1"},
                                       {"SLURM_LOCALID", "0"},
                                       {"SLURM_NODEID", "1"},
                                       {"SLURM_STEP_NODELIST", "n[1-2]"},
                                       {"SLURM_STEP_NUM_TASKS", "2"},
                                       {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
                                       {"SLURMD_NODENAME", "n2"}});
  queries.queried.clear();
  const auto task = launch::resolve(request, environment, node_of_layouts(), queries);
  REQUIRE(std::holds_alternative<launch::ResolvedLaunch>(task));
  CHECK(queries.queried == std::vector<std::string>{"job_channel", "network", "torch"});

  queries.key = store::SecretKey::parse(std::string(64, 'a')); // then rank 0 decides for all
  queries.queried.clear();
  const auto with_key = launch::resolve(request, environment, node_of_layouts(), queries);
  REQUIRE(std::holds_alternative<launch::ResolvedLaunch>(with_key));
  CHECK(queries.queried == std::vector<std::string>{"job_channel", "network"});

  environment.env.set("MASTER_ADDR", "10.0.0.1");
  queries.queried.clear();
  const auto refused = launch::resolve(request, environment, node_of_layouts(), queries);
  REQUIRE(std::holds_alternative<launch::LaunchError>(refused));
  CHECK(std::get<launch::LaunchError>(refused).phase == "layout");
  CHECK(queries.queried == std::vector<std::string>{"may_be_host"});
  queries.aliases = {"10.0.0.1"};
  const auto accepted = launch::resolve(request, environment, node_of_layouts(), queries);
  REQUIRE(std::holds_alternative<launch::ResolvedLaunch>(accepted));
  CHECK(std::get<launch::ResolvedLaunch>(accepted).node->world.address == "10.0.0.1");
}

TEST_CASE("an attempt in the same world keeps the plan") {
  launch::LaunchRequest request;
  request.site = test::shipped_site("lumi"); // has caches
  request.command = {"./train"};
  request.processes_per_node = 4;
  launch::ProcessContext environment;
  environment.env = util::EnvSnapshot({{"USER", "ada"}, {"SLURM_TMPDIR", "/tmp"}});
  environment.host = "n1";
  environment.process_id = 7;
  RecordedNode queries;
  const auto decision = launch::resolve(request, environment, node_of_layouts(), queries);
  REQUIRE(std::holds_alternative<launch::ResolvedLaunch>(decision));
  const auto& resolved = std::get<launch::ResolvedLaunch>(decision);
  auto attempt = resolved.node->world;
  attempt.port = 41000;
  attempt.agent = launch::TorchelasticFacts{1, 1, "r", "default", "/tmp/r", 1, {}};
  const auto kept = launch::adopt_world(resolved, request, environment, attempt);
  REQUIRE(kept);
  const auto again = launch::resolve(request, environment, node_of_layouts(), queries, attempt);
  const auto kept_ranks = kept->make_ranks(request),
             again_ranks = std::get<launch::ResolvedLaunch>(again).make_ranks(request);
  REQUIRE(kept_ranks.size() == 4);
  REQUIRE(again_ranks.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(kept_ranks[i].env.variables() == again_ranks[i].env.variables());
    CHECK(kept_ranks[i].env.get_or("TORCHELASTIC_RESTART_COUNT", "") == "1");
    CHECK(kept_ranks[i].plan.binding.cpus == again_ranks[i].plan.binding.cpus);
    CHECK(kept_ranks[i].node->cache_paths == again_ranks[i].node->cache_paths);
  }

  auto smaller = attempt;
  smaller.layout.local_world_size = smaller.layout.world_size = 3;
  smaller.layout.tasks_per_node = {3};
  CHECK_FALSE(launch::adopt_world(resolved, request, environment, smaller));
  auto moved = attempt;
  moved.address = "10.0.0.1";
  CHECK_FALSE(launch::adopt_world(resolved, request, environment, moved));
}
