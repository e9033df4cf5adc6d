// SPDX-License-Identifier: MIT
// The submission policy, run by the Lua library that Slurm's plugin uses.
#include <catch2/catch.hpp>

#include "core/util/text.hpp"
#include "emulate/lua_helper.hpp"
#include "emulate/site_helper.hpp"
#include "emulate/slurm_policy.hpp"
#include "emulate/submitted_job.hpp"

using namespace hpcml;
using namespace hpcml::emulate;

namespace {

/// The policy with Slurm's constants and a job as the plugin would hand it over; `fields` are Lua assignments
/// to the job. What it writes for the judge is in `written`; what the judge says is `answer`.
std::string submit_chunk(const std::string& fields, const std::string& answer) {
  return "slurm = {NO_VAL=4294967294, NO_VAL16=65534, NO_VAL64=1.8446744073709552e19, SUCCESS=0, "
         "ESLURM_ACCESS_DENIED=2002}\n"
         "local said, written, asked = '', '', ''\n"
         "slurm.log_user = function(...) said = said .. string.format(...) end\n"
         "local function lines(text)\n"
         "  local rest = text\n"
         "  return {read=function(_, form)\n"
         "    local line, more = rest:match('^([^\\n]*)\\n?(.*)$')\n"
         "    if form == '*a' then line, more = rest, '' end\n"
         "    rest = more\n"
         "    return line end, close=function() end}\n"
         "end\n"
         "io.open = function() return {write=function(_, ...) written = written .. table.concat({...}) end, "
         "close=function() end} end\n"
         "io.popen = function(command) asked = command return lines(" +
         lua_quote(answer) +
         ") end\n"
         "os.remove = function() end\n"
         "local function load_policy()\n" +
         make_job_policy("'/opt/hpcml' emulate --evaluate-job", "/state") +
         "\nend\nload_policy()\n"
         "local d = {time_limit=slurm.NO_VAL, min_nodes=slurm.NO_VAL, num_tasks=slurm.NO_VAL, "
         "ntasks_per_node=slurm.NO_VAL16,\n"
         "  cpus_per_task=slurm.NO_VAL16, pn_min_memory=slurm.NO_VAL64, shared=slurm.NO_VAL16, "
         "environment={}}\n" +
         fields + "\nlocal code = slurm_job_submit(d, {}, 0)\n";
}

/// The job as the filter hands it over to the judge; nothing where this machine has no Lua.
std::optional<SubmittedFields> handed_over(const std::string& fields) {
  const auto written = test::run_lua(submit_chunk(fields, "taken \n") + "return written");
  if (!written) return std::nullopt;
  INFO(*written);
  auto parsed = parse_submission(*written);
  REQUIRE(parsed);
  return std::move(*parsed);
}

std::string joined(const std::vector<std::string>& sentences) { return util::join(sentences, "\n"); }

/// What a person who submits would read; empty when the job is taken.
std::string refusal(const model::Site& site, const std::string& fields, unsigned nodes = 2) {
  const auto job = handed_over(fields);
  if (!job) return "liblua5.1 is not installed";
  const auto layout = test::layout_of(site, {}, nodes);
  return joined(evaluate_submission(site, layout, *job).refusals);
}

model::SbatchOptionRule rule(model::OptionPolicy policy, const std::string& why = {}) {
  model::SbatchOptionRule made;
  made.policy = policy;
  made.why = why;
  return made;
}

} // namespace

TEST_CASE("any text survives as a Lua string") {
  std::string every;
  for (int byte = 0; byte < 256; ++byte) every += static_cast<char>(byte);
  const std::string texts[] = {"",
                               "plain",
                               "\"",
                               "\\",
                               "]]",
                               "\"..os.execute('touch /tmp/x')..\"",
                               "a\nb\r\nc",
                               "\\\"",
                               every,
                               every + "1" + every,
                               std::string("a\0b", 3),
                               "ü€",
                               "%s%n",
                               "--[[ ]]"};
  for (const auto& text : texts) {
    CAPTURE(text);
    const auto read = test::run_lua("return " + lua_quote(text));
    REQUIRE(read);
    CHECK(*read == text);
  }
}

TEST_CASE("a hostile profile cannot leave its strings") {
  auto site = test::small_site();
  const std::string evil = "\"}} os.execute('false') error('left') --";
  site.name = evil;
  site.partitions[1].name = "dev\"]=error('left')";
  site.flags["account"] = rule(model::OptionPolicy::required, evil);
  site.flags["account"].pattern_hint = evil;
  const auto refused = refusal(site, "");
  CHECK(refused == evil + " requires --account: " + evil + "\nhint: use --account=" + evil);
}

TEST_CASE("the site's flag rules refuse what they forbid and ask for what they need") {
  auto site = test::small_site();
  site.gpu_request.style = model::GpuOptionStyle::gres;
  site.flags["account"] = rule(model::OptionPolicy::required, "jobs are billed");
  site.flags["account"].pattern = "^project_[0-9]+$";
  site.flags["account"].pattern_hint = "project_<number>";
  site.flags["mem"] = rule(model::OptionPolicy::forbidden, "memory comes with the node");
  site.flags["gpus-per-task"] = rule(model::OptionPolicy::forbidden);
  site.flags["time"] = rule(model::OptionPolicy::required);
  site.flags["nodelist"] = rule(model::OptionPolicy::ignored);
  const std::string good = "d.account='project_1' d.time_limit=10 ";
  struct Case {
    std::string fields;
    std::string refused;
  };
  const Case cases[] = {
      {good, ""},
      {good + "d.req_nodes='g001'", ""},
      {"d.account='project_1'", "Small requires --time"},
      {"d.time_limit=10", "Small requires --account: jobs are billed\nhint: use --account=project_<number>"},
      {"d.account='me' d.time_limit=10", "--account=me does not have the form that Small expects: jobs are "
                                         "billed\nhint: use --account=project_<number>"},
      {"", "Small requires --account: jobs are billed\nhint: use --account=project_<number>\nSmall requires "
           "--time"},
      {good + "d.pn_min_memory=4096", "Small rejects --mem: memory comes with the node"},
      {good + "d.pn_min_memory=0", "Small rejects --mem: memory comes with the node"},
      {good + "d.tres_per_task='gres:gpu:1'", "Small rejects --gpus-per-task"},
  };
  for (const auto& [fields, refused] : cases) {
    CAPTURE(fields);
    CHECK(refusal(site, fields) == refused);
  }
}

TEST_CASE("a site that asks for the tasks takes either way to say it") {
  auto site = test::small_site();
  site.flags["ntasks-per-node"] = rule(model::OptionPolicy::required);
  CHECK(refusal(site, "") == "Small requires --ntasks-per-node");
  CHECK(refusal(site, "d.num_tasks=4") == "");
  CHECK(refusal(site, "d.ntasks_per_node=4") == "");
}

TEST_CASE("a rule for some partitions holds only there") {
  auto site = test::small_site();
  site.flags["mem"] = rule(model::OptionPolicy::required);
  site.flags["mem"].when.partitions = {"dev"};
  CHECK(refusal(site, "d.partition='main'") == "");
  CHECK(refusal(site, "d.partition='main,dev'") == "Small requires --mem");
  CHECK(refusal(site, "d.partition='dev' d.mem_per_tres='gres:gpu:5'") == "");
}

TEST_CASE("--gres and --gpus-per-node are told apart by the script, else by the site's own way") {
  auto site = test::small_site();
  site.flags["gres"] = rule(model::OptionPolicy::forbidden);
  const std::string requested = "d.tres_per_node='gres:gpu:2' ";
  site.gpu_request.style = model::GpuOptionStyle::gpus_per_node;
  CHECK(refusal(site, requested) == "");
  CHECK(refusal(site, requested + "d.script='#!/bin/bash\\n#SBATCH --gres=gpu:2\\n'") ==
        "Small rejects --gres");
  CHECK(refusal(site, requested + "d.script='#!/bin/bash\\n#SBATCH --gpus-per-node 2\\n'") == "");
  CHECK(refusal(site, requested + "d.script='#!/bin/bash\\nhostname\\n#SBATCH --gres=gpu:2\\n'") == "");
  site.gpu_request.style = model::GpuOptionStyle::none;
  CHECK(refusal(site, requested) == "Small rejects --gres");
}

TEST_CASE("jobs that could never start here are refused with what to do") {
  const auto site = test::small_site();
  CHECK(refusal(site, "d.min_nodes=2") == "");
  CHECK(refusal(site, "d.min_nodes=3") ==
        "Small: the 3 nodes of the job exceed the emulated nodes (2), so it "
        "cannot start\nhint: use hpcml emulate --site small --nodes 3");
  CHECK(refusal(site, "d.min_nodes=7") == ""); // over the partition's limit: Slurm's own answer
  CHECK(refusal(site, "d.partition='other'") ==
        "Small: the nodes of partition other are not emulated, so this job cannot start\n"
        "hint: use hpcml emulate --site small --partition other");
}

TEST_CASE("where the site chooses the partition, the job's QoS chooses it") {
  auto site = test::small_site();
  for (auto& partition : site.partitions) partition.nameable = false;
  model::Qos qos;
  qos.name = "short";
  qos.partitions = {"dev"};
  site.qos = {qos};
  site.partitions[1].min_time =
      model::Sourced<model::Walltime>{model::Walltime::of(std::chrono::minutes(10)), {}};
  CHECK(refusal(site, "d.time_limit=5") == "");
  CHECK(refusal(site, "d.qos='short' d.time_limit=5") ==
        "time limit 00:05:00 is below the minimum of Small (00:10:00)");
  CHECK(refusal(site, "d.qos='other' d.time_limit=5") == "");
  const auto layout = test::layout_of(site, {}, 2);
  CHECK(evaluate_submission(site, layout, {{"qos", "short"}}).partition == "dev");
  CHECK(evaluate_submission(site, layout, {}).partition.empty());
}

TEST_CASE("limits that depend on the number of nodes and least times hold") {
  auto site = test::small_site();
  const auto minutes = [](int count) { return model::Walltime::of(std::chrono::minutes(count)); };
  site.partitions[0].max_time_by_nodes = {{1, 1, minutes(120)}, {2, 0, minutes(60)}};
  site.partitions[0].min_time = model::Sourced<model::Walltime>{minutes(10), {}};
  CHECK(refusal(site, "d.min_nodes=1 d.time_limit=120") == "");
  CHECK(refusal(site, "d.min_nodes=2 d.time_limit=60") == "");
  CHECK(refusal(site, "d.min_nodes=2 d.time_limit=61") ==
        "time limit 01:01:00 exceeds the maximum of partition main (01:00:00)");
  CHECK(refusal(site, "d.min_nodes=2 d.time_limit=61 d.time_min=30") == ""); // Slurm shortens it
  CHECK(refusal(site, "d.time_limit=9") ==
        "time limit 00:09:00 is below the minimum of partition main (00:10:00)");
}

TEST_CASE("a site's GPU counts and its wish for a type hold") {
  auto site = test::small_site();
  site.gpu_request.allowed_counts = {1, 4};
  CHECK(refusal(site, "d.tres_per_node='gres:gpu:4'") == "");
  CHECK(refusal(site, "d.tres_per_node='gres:gpu:a100:4'") == "");
  CHECK(refusal(site, "d.tres_per_node='gres:gpu:2'") ==
        "2 GPUs per node are not allowed on Small (only 1 or 4)");
  CHECK(refusal(site, "d.tres_per_node='gres:gpu:a100:3'") ==
        "3 GPUs per node are not allowed on Small (only 1 or 4)");
  site.gpu_request.type = model::OptionPolicy::required;
  // Of the one type that there is every job gets GPUs: that it is not named is advice, and no site refuses
  // it.
  CHECK(refusal(site, "d.tres_per_node='gres:gpu:4'") == "");
  site.node_types[0].gpu->slices = {model::MigInstanceType{"a100_1g", {}, {}, {}, {}}};
  CHECK(refusal(site, "d.tres_per_node='gres:gpu:4'") == "Small requires the type of the GPUs");
  CHECK(refusal(site, "d.tres_per_node='gres:gpu:a100:4'") == "");
  site.gpu_request.accepts_untyped = true;
  CHECK(refusal(site, "d.tres_per_node='gres:gpu:4'") == "");
}

TEST_CASE("the filter hears of all that a job's size hangs on") {
  auto site = test::small_site();
  site.partitions[0].exclusive = false;
  site.node_types[0].cpus_per_gpu = 4;
  site.node_types[0].share_policy = model::CpusPerGpuPolicy::max;
  const std::string one_gpu = "d.min_nodes=1 d.tres_per_node='gres:gpu:1' d.num_tasks=9 d.ntasks_per_node=9 ";
  const std::string over = "9 CPUs for 1 GPU exceed the share of node type gpu (4 cores per GPU)";
  CHECK(refusal(site, one_gpu + "d.min_cpus=9") == over);
  CHECK(refusal(site, one_gpu + "d.min_cpus=1") == ""); // sbatch --overcommit
  const std::string few =
      "d.min_nodes=1 d.tres_per_node='gres:gpu:1' d.num_tasks=1 d.cpus_per_task=8 d.min_cpus=8 ";
  CHECK(refusal(site, few) == ""); // two threads of each of four cores
  CHECK(refusal(site, few + "d.threads_per_core=1") ==
        "8 CPUs for 1 GPU exceed the share of node type gpu (4 cores per GPU)");
  CHECK(refusal(site, few + "d.threads_per_core=1 d.shared=0") == ""); // the nodes are its own
  site.gpu_request.allowed_counts = {4};
  CHECK(refusal(site, "d.min_nodes=1 d.max_nodes=2 d.num_tasks=4 d.tres_per_task='gres:gpu:1'") == "");
  CHECK(refusal(site, "d.min_nodes=2 d.max_nodes=2 d.num_tasks=4 d.tres_per_task='gres:gpu:1'") ==
        "2 GPUs per node are not allowed on Small (only 4)");
}

TEST_CASE("the filter hands a job over unchanged and does what the judge says") {
  const auto job =
      handed_over("d.comment='a\\nb 3\\n' d.account='x' d.min_nodes=3 d.environment.SLURM_EXPORT_ENV='NONE'");
  if (!job) return;
  CHECK(job->at("comment") == "a\nb 3\n");
  CHECK(job->at("min_nodes") == "3");
  CHECK(job->at("export") == "NONE");
  CHECK_FALSE(parse_submission("account 9\nshort\n"));
  CHECK_FALSE(parse_submission("account"));
  struct Case {
    const char* answer;
    const char* outcome; ///< code, partition, what is said
  };
  const Case cases[] = {
      {"taken \n", "0|nil|"},
      {"taken dev\n", "0|dev|"},
      {"refused\nSmall: no\nSmall: never\n", "2002|nil|Small: no\nSmall: never"},
      {"", "2002|nil|hpcml: cannot evaluate the site's rules: "},
      {"Segmentation fault\n", "2002|nil|hpcml: cannot evaluate the site's rules: "},
  };
  for (const auto& [answer, outcome] : cases) {
    CAPTURE(answer);
    const auto result = test::run_lua(submit_chunk("", answer) +
                                      "return code .. '|' .. tostring(d.partition) .. '|' .. said");
    CHECK(*result == outcome);
  }
  CHECK(*test::run_lua(submit_chunk("d.account='$(id)'", "taken \n") + "return asked") ==
        "'/opt/hpcml' emulate --evaluate-job /state/submitted1");
}

TEST_CASE(
    "what check knows the filter knows: multiples, whole nodes, suffixes, jobs without GPUs, conditions") {
  auto site = test::small_site();
  site.gpu_request.multiple_of = 2;
  CHECK(refusal(site, "d.tres_per_node='gres:gpu:2'") == "");
  CHECK(refusal(site, "d.tres_per_node='gres:gpu:3'") ==
        "3 GPUs in total are not a multiple of 2, which Small requires");
  site.gpu_request.multiple_of = 1;
  site.gpu_request.whole_nodes_if_several = true;
  CHECK(refusal(site, "d.min_nodes=2 d.tres_per_node='gres/gpu:4'") == "");
  CHECK(refusal(site, "d.min_nodes=2 d.tres_per_node='gres/gpu:2'") ==
        "a job on several nodes of Small must use all 4 GPUs of each node");
  site.gpu_request = {};
  site.gpu_request.must_request = true;
  CHECK(refusal(site, "d.tres_per_node='gres:gpu:1'") == "");
  CHECK(refusal(site, "d.min_nodes=1") == "Small rejects jobs without GPUs here");
  site.gpu_request = {};
  site.flags["account"].suffix = "@a100";
  CHECK(refusal(site, "d.account='me@a100' d.tres_per_node='gres:gpu:1'") == "");
  CHECK(refusal(site, "d.account='me' d.tres_per_node='gres:gpu:1'") ==
        "--account=me does not end with @a100");
  site.flags["account"].when.node_types = {"cpu"};
  CHECK(refusal(site, "d.account='me' d.tres_per_node='gres:gpu:1'") == "");
}

TEST_CASE("no rule and no regular expression stands in the filter") {
  const auto lua = make_job_policy("judge", "/state");
  CHECK(std::count(lua.begin(), lua.end(), '\n') < 70);
  for (const auto* word : {"required", "forbidden", "pattern", "partitions", "max_time"}) {
    CAPTURE(word);
    CHECK(lua.find(word) == std::string::npos);
  }
}
