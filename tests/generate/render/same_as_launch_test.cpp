// SPDX-License-Identifier: MIT
// What a plain script computes in the shell is what `hpcml launch` computes in the task: one recipe, two
// readers.
#include <catch2/catch.hpp>

#include <algorithm>
#include <regex>
#include <set>

#include "core/config/site_store.hpp"
#include "core/model/gpu_vendor.hpp"
#include "core/util/file.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "generate/plan/planner.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"
#include "run/launch/cache_dirs.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/resolve/cache_paths.hpp"
#include "run/resolve/interfaces.hpp"
#include "run/resolve/rank_setup.hpp"
#include "run/resolve/rendezvous_ports.hpp"
#include "samples.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

/// The environment of a rank of a plain script, run by real bash with these variables.
std::map<std::string, std::string> rank_environment(model::Plan plan, const test::TempDirectory& directory,
                                                    const std::map<std::string, std::string>& variables) {
  plan.command = {test::word_writer(directory)};
  const auto script = render::render_script(plan);
  const auto result = test::run_script(script, directory, variables);
  INFO(script << result.err);
  REQUIRE(result.exit_code == 0);
  return test::seen_environment(directory);
}

model::Plan plain_plan() {
  auto plan = test::make_plan_for("srun");
  plan.caches.clear();
  return plan;
}

} // namespace

TEST_CASE("script and launch use the same port in the first step") {
  for (const unsigned long long job :
       {1ULL, 175ULL, 4711ULL, 16999ULL, 17000ULL, 123456ULL, 67108863ULL, 4294967293ULL}) {
    CAPTURE(job);
    test::TempDirectory directory;
    slurm::StepIdentity identity;
    identity.job = job;
    CHECK(rank_environment(plain_plan(), directory, {{"SLURM_JOB_ID", std::to_string(job)}})["MASTER_PORT"] ==
          std::to_string(launch::step_port(identity)));
  }
}

TEST_CASE("script and launch use the first node's address") {
  for (const std::string suffix : {"", "i", "-ib.site.example"}) {
    CAPTURE(suffix);
    const test::TempDirectory directory;
    auto plan = plain_plan();
    plan.rendezvous.suffix = suffix;
    CHECK(rank_environment(plan, directory, {{"SLURMD_NODENAME", "nid000012"}})["MASTER_ADDR"] ==
          launch::step_address(util::EnvSnapshot(), "nid000012", suffix));
  }
}

TEST_CASE("script and launch find the same address of an interface") {
  test::TempDirectory directory;
  auto plan = plain_plan();
  plan.rendezvous.interface = "lo";
  const auto address = launch::interface_address("lo");
  REQUIRE(address);
  CHECK(rank_environment(plan, directory, {})["MASTER_ADDR"] == *address);
}

TEST_CASE("a cache has the same variables and the same folders inside, and launch does not take a script's "
          "for its own leavings") {
  test::TempDirectory directory;
  auto plan = test::make_plan_for("srun");
  plan.caches[0].base = "${NO_SUCH_VARIABLE:-" + directory.path().string() + "}/$SLURM_NODEID";
  plan.caches[0].variables = {{"A", ""}, {"B", "one"}, {"C", "one/two.d"}, {"D", "one"}};
  fs::create_directory(directory / "1");
  auto script_env = rank_environment(plan, directory, {{"SLURM_NODEID", "1"}});

  util::EnvSnapshot env;
  env.set("SLURM_NODEID", "1");
  const auto base = launch::expand_variables(plan.caches[0].base, env);
  REQUIRE(base);
  CHECK(*base == (directory / "1").string());
  const auto path = launch::cache_path(plan.caches[0], *base, "job4711-step0-node1");
  REQUIRE(path);
  auto cache = launch::open_cache(plan.caches[0], *path);
  REQUIRE(cache);
  for (const auto& [variable, below] : plan.caches[0].variables) {
    CAPTURE(variable);
    const auto mine = launch::path_inside(*path, below);
    CHECK(fs::relative(script_env[variable], script_env["A"]) == fs::relative(mine, *path));
  }
  launch::release_cache(*cache);
  const fs::path own = script_env["A"];
  CHECK(own.parent_path() == fs::path(*base));
  const auto leavings =
      fs::path(*path).filename().string(); // launch removes what begins like its own, up to the job's number
  CHECK_FALSE(own.filename().string().starts_with(leavings.substr(0, leavings.find("4711"))));
}

namespace {

/// What `hpcml launch --dry-run` says it would set in the first rank of the script's step, under real bash.
std::map<std::string, std::string> launched_environment(const model::Plan& planned, const model::Site& site,
                                                        const test::TempDirectory& directory,
                                                        const std::map<std::string, std::string>& more = {}) {
  auto plan = planned;
  plan.hpcml_path.value = (directory / "hpcml").string();
  plan.shebang = "#!/bin/bash"; // a login shell would set this machine's PATH
  REQUIRE(util::write_file(plan.hpcml_path.value,
                           std::string("#!/bin/bash\n") + test::k_batch_stand_in +
                               "words=()\n"
                               "while [[ $1 != launch ]]; do words+=(\"$1\"); shift; done\nexec " HPCML_BINARY
                               " \"${words[@]}\" launch --dry-run \"${@:2}\" > seen\n",
                           0755));
  for (const auto& name : {"module", "conda"}) test::put_program(directory, name, "echo /dev/null/x\n");
  test::put_program(directory, "getent", "echo 10.0.0.1 STREAM\n");
  test::put_program(directory, "srun", "until [[ $1 == */hpcml ]]; do shift; done\nexec \"$@\"\n");
  const auto& layout = plan.layout;
  const auto nodes =
      layout.nodes == 1 ? std::string("node1") : "node[1-" + std::to_string(layout.nodes) + "]";
  const auto tasks = std::to_string(layout.tasks_per_node) + "(x" + std::to_string(layout.nodes) + ")";
  const auto all = std::to_string(layout.nodes * layout.tasks_per_node);
  std::map<std::string, std::string> env{{"SLURM_PROCID", "0"},
                                         {"SLURM_LOCALID", "0"},
                                         {"SLURM_NODEID", "0"},
                                         {"SLURM_JOB_NODELIST", nodes},
                                         {"SLURM_STEP_NODELIST", nodes},
                                         {"SLURM_TASKS_PER_NODE", tasks},
                                         {"SLURM_STEP_TASKS_PER_NODE", tasks},
                                         {"SLURM_STEP_NUM_TASKS", all},
                                         {"SLURM_NTASKS", all}};
  for (const auto& rule : site.launchers) {
    test::put_program(directory, rule.name, "until [[ $1 == */hpcml ]]; do shift; done\nexec \"$@\"\n");
    if (!rule.rank_variable.empty()) env[rule.rank_variable] = "0";
    if (!rule.local_rank_variable.empty()) env[rule.local_rank_variable] = "0";
    if (!rule.world_size_variable.empty()) env[rule.world_size_variable] = all;
  }
  std::string gpus;
  for (unsigned gpu = 0; gpu < layout.gpus_per_node; ++gpu)
    gpus += (gpu > 0 ? "," : "") + std::to_string(gpu);
  const auto visible = model::visible_devices_variable(plan.gpu_vendor);
  if (!gpus.empty()) env[visible.empty() ? "CUDA_VISIBLE_DEVICES" : visible] = gpus;
  static const std::regex k_variable(R"(\$\{?(\w+))"); // the site's nodes have what it mounts and caches in
  const auto offer = [&](const std::string& path) {
    for (std::sregex_iterator it(path.begin(), path.end(), k_variable), end; it != end; ++it)
      env.emplace((*it)[1], directory.path().string());
  };
  if (plan.container)
    for (const auto& bind : plan.container->binds) offer(bind.source + bind.target);
  for (const auto& cache : plan.caches) offer(cache.base);
  const auto& master = site.network.master;
  if (!master.from_env.empty()) env[master.from_env] = "node1";
  if (!master.port_from_env.empty()) env[master.port_from_env] = "23456";
  for (const auto& [name, value] : more) env[name] = value;
  const auto script = render::render_script(plan);
  const auto result = test::run_script(script, directory, env);
  INFO(script << result.out << result.err);
  REQUIRE(result.exit_code == 0);
  std::map<std::string, std::string> seen;
  for (const auto& line : util::split(util::read_file(directory / "seen").value(), '\n')) {
    if (line.starts_with("binding:")) break;
    if (const auto equals = line.find('='); equals != std::string::npos)
      seen[line.substr(0, equals)] = line.substr(equals + 1);
  }
  return seen;
}

/// The rules of the profile that hold for the script hold for its ranks, and no others.
void check_same_rules(const model::Plan& plan, const model::Site& site) {
  const test::TempDirectory directory;
  const auto seen = launched_environment(plan, site, directory);
  const auto is_planned = [&](const std::string& name) {
    return std::any_of(plan.env.begin(), plan.env.end(),
                       [&](const auto& variable) { return variable.name == name; });
  };
  for (const auto& variable : plan.env) {
    // Threads are counted on the live node, which has other cores here than the site's.
    static const std::set<std::string> k_counted = {"OMP_NUM_THREADS", "HPCML_INTEROP_THREADS",
                                                    "HPCML_DATALOADER_WORKERS"};
    if (variable.expression || variable.scope != model::ValueScope::task ||
        k_counted.contains(variable.name) || launch::names_interfaces(variable.name))
      continue;
    CAPTURE(variable.name);
    REQUIRE(seen.count(variable.name) == 1);
    CHECK(seen.at(variable.name) == util::shell_quote(variable.value));
  }
  for (const auto& rule : site.env) {
    CAPTURE(rule.name);
    CHECK((is_planned(rule.name) || seen.count(rule.name) == 0));
  }
  for (const auto& rule : site.caches)
    for (const auto& [name, below] : rule.variables) {
      CAPTURE(name);
      const bool planned = std::any_of(plan.caches.begin(), plan.caches.end(),
                                       [&](const auto& cache) { return cache.name == rule.name; });
      CHECK((seen.count(name) == 1) == (planned && !is_planned(name)));
    }
  const auto& master = site.network.master;
  if (master.port)
    CHECK(seen.at("MASTER_PORT") == std::to_string(*master.port));
  else if (!master.port_from_env.empty())
    CHECK(seen.at("MASTER_PORT") == "23456");
}

model::Site site_from(const test::TempDirectory& directory, const std::string& members) {
  std::filesystem::create_directory(directory / "sites");
  const auto path = directory / "sites" / "rules.json";
  REQUIRE(util::write_file(path, R"({"id": "rules", )" + members + "}"));
  auto load = config::load_site_file(path.string(), {});
  for (const auto& finding : load.diagnostics) UNSCOPED_INFO(diag::render_text(finding, load.source, false));
  REQUIRE(load.site);
  return std::move(*load.site);
}

} // namespace

TEST_CASE("the profile's rules that hold for a script hold for its ranks, on every site") {
  std::size_t combination = 0;
  const auto number = [](unsigned value) { return model::Sourced<unsigned>{value, {}}; };
  for (const auto& id : config::list_sites({})) {
    const auto load = config::load_site(id, {});
    REQUIRE(load.site);
    if (load.site->state == model::SiteState::retired || load.site->scheduler == model::Scheduler::none)
      continue;
    unsigned run = 0;
    for (const unsigned nodes : {2U, 1U}) {
      for (const unsigned gpus : {0U, 1U, 1000U}) { // the last: as many as there are
        for (const bool container : {false, true}) {
          if (container && load.site->containers.empty()) continue;
          auto job = test::request_for(*load.site);
          job.command = {"./train"};
          job.nodes = number(nodes);
          if (gpus < 1000) job.gpus_per_node = number(gpus);
          if (container) job.container = model::Sourced<std::string>{"/i.sif", {}};
          test::choose_partition(job, *load.site);
          CAPTURE(id, nodes, gpus, container);
          const auto planned = plan::make_plan(job, *load.site);
          if (!planned.plan || (gpus == 0 && run > 1) || (run > 0 && !test::is_sample(combination++)))
            continue;
          check_same_rules(*planned.plan, *load.site);
          ++run;
        }
      }
    }
    CAPTURE(id);
    CHECK(run > 0);
  }
}

TEST_CASE("a rank judges the profile's conditions by what the script says of the job") {
  const test::TempDirectory directory;
  const auto site = site_from(
      directory,
      R"("node_types": [{"id": "big", "cpu": {"sockets": 1, "cores": 8}, "gpu": {"per_node": 4, "vendor": "nvidia", "slurm_type": "h100", "aliases": ["h100_80gb"],
        "mig": [{"name": "h100_1g", "cpus": 2}]}}, {"id": "small", "gpu": {"per_node": 2, "vendor": "nvidia", "slurm_type": "a100"}}],
      "partitions": [{"name": "p", "node_types": ["big", "small"], "default": true}], "qos": [{"name": "long", "default": true}, {"name": "debug"}],
      "env": [{"name": "LONG", "value": "1", "when": {"qos": ["long"]}}, {"name": "DEBUG", "value": "1", "when": {"qos": ["debug"]}},
        {"name": "H100", "value": "1", "when": {"gpu_types": ["h100"]}}, {"name": "PART", "value": "1", "when": {"gpu_types": ["h100_1g"]}},
        {"name": "SMALL", "value": "1", "when": {"node_types": ["small"]}}, {"name": "THREE", "value": "1", "when": {"min_gpus": 3, "max_gpus": 3}},
        {"name": "WHOLE", "value": "1", "when": {"whole_nodes": true}}, {"name": "SHARED", "value": "1", "when": {"whole_nodes": false}}])");
  struct Row {
    unsigned gpus;
    unsigned tasks;
    const char* type;
    const char* qos;
    std::set<std::string> rules;
  };
  for (const auto& row : {Row{4, 4, "", "", {"LONG", "H100", "WHOLE"}},
                          {4, 4, "h100_80gb", "debug", {"DEBUG", "H100", "WHOLE"}},
                          {3, 1, "", "", {"LONG", "H100", "THREE", "SHARED"}},
                          {2, 2, "a100", "", {"LONG", "SMALL", "WHOLE"}},
                          {1, 1, "h100_1g", "", {"LONG", "PART", "SHARED"}},
                          {1, 1, "", "other", {"H100", "SHARED"}}}) {
    model::JobSpec job;
    job.command = {"./train"};
    job.gpus_per_node = model::Sourced<unsigned>{row.gpus, {}};
    job.tasks_per_node = model::Sourced<unsigned>{row.tasks, {}};
    if (*row.type) job.gpu_type = model::Sourced<std::string>{row.type, {}};
    if (*row.qos) job.qos = model::Sourced<std::string>{row.qos, {}};
    CAPTURE(row.gpus, row.tasks, row.type, row.qos);
    const auto planned = plan::make_plan(job, site);
    REQUIRE(planned.plan);
    std::set<std::string> rules;
    for (const auto& variable : planned.plan->env)
      for (const auto& rule : site.env)
        if (rule.name == variable.name) rules.insert(rule.name);
    CHECK(rules == row.rules);
    auto plan = *planned.plan;
    plan.sites_dirs = {(directory / "sites").string()};
    check_same_rules(plan, site);
  }
}

TEST_CASE("a task of MPI's launcher knows its rank where the profile names no variables for it") {
  // Two agents, started by srun, with four tasks each: what Slurm says is the agent's.
  const std::map<std::string, std::string> agent{{"SLURM_PROCID", "1"},
                                                 {"SLURM_LOCALID", "0"},
                                                 {"SLURM_NODEID", "1"},
                                                 {"SLURMD_NODENAME", "node2"},
                                                 {"SLURM_NTASKS", "8"},
                                                 {"SLURM_STEP_NUM_TASKS", "2"},
                                                 {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
                                                 {"OMPI_COMM_WORLD_RANK", ""},
                                                 {"OMPI_COMM_WORLD_LOCAL_RANK", ""}};
  const std::map<std::string, std::string> families[] = {
      {{"PMI_RANK", "5"}, {"MPI_LOCALRANKID", "1"}, {"PMI_SIZE", "8"}},
      {{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}},
      {{"PMI_RANK", "5"}}, // the job says how many tasks there are
      {{"OMPI_COMM_WORLD_RANK", "5"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}, {"OMPI_COMM_WORLD_SIZE", "8"}},
      {{"MV2_COMM_WORLD_RANK", "5"}, {"MV2_COMM_WORLD_LOCAL_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "8"}}};
  const std::pair<std::string, bool> sites[] = {{"stampede3", false}, {"lonestar6", true}};
  for (const auto& [id, only_pmi] : sites) {
    const auto load = config::load_site(id, {});
    REQUIRE(load.site);
    for (const auto& family : families) {
      if (only_pmi && family.count("PMI_RANK") == 0) continue; // that site's page names it
      if (!only_pmi && family.size() == 1) continue; // a rank alone may be left over from something else
      for (const std::string launcher : {"hpcml", "ibrun"}) {
        CAPTURE(id, launcher, family.begin()->first);
        auto job = test::request_for(*load.site);
        job.gpus_per_node = model::Sourced<unsigned>{0, {}};
        job.tasks_per_node = model::Sourced<unsigned>{4, {}};
        job.launcher = model::Sourced<model::Launcher>{model::Launcher::parse(launcher).value(), {}};
        job.command = {"./train"};
        test::choose_partition(job, *load.site);
        const auto planned = plan::make_plan(job, *load.site);
        for (const auto& finding : planned.diagnostics) UNSCOPED_INFO(diag::render_text(finding, "", false));
        REQUIRE(planned.plan);
        const test::TempDirectory directory;
        auto env = agent;
        for (const auto& [name, value] : family) env[name] = value;
        std::map<std::string, std::string> seen;
        if (launcher == "hpcml") {
          seen = launched_environment(*planned.plan, *load.site, directory, env);
        } else {
          env["SLURM_TASKS_PER_NODE"] = "4(x2)";
          test::put_program(directory, "module", ":\n");
          seen = rank_environment(*planned.plan, directory, env);
        }
        CHECK(seen["RANK"] == "5");
        CHECK(seen["LOCAL_RANK"] == "1");
        CHECK(seen["WORLD_SIZE"] == "8");
      }
    }
  }
}
