// SPDX-License-Identifier: MIT
// What lines of torchrun mean for an agent: how many ranks, where the nodes meet, where output goes.
#include "run/torchrun/torchrun_request.hpp"

#include <catch2/catch.hpp>

#include "core/util/text.hpp"

using namespace hpcml;
using namespace hpcml::agent;
using Words = std::vector<std::string>;

namespace {

const torchrun::TorchrunNodeFacts k_gpu_node{4, model::GpuVendor::nvidia, 64, false, 1, "fresh"};
const torchrun::TorchrunNodeFacts k_cpu_node{0, model::GpuVendor::unknown, 16, false, 1, "fresh"};
const torchrun::TorchrunNodeFacts k_step_node{4, model::GpuVendor::amd, 64, true, 2, "fresh"};

util::Result<torchrun::TorchrunPlan> plan_of(Words words, const torchrun::TorchrunNodeFacts& node,
                                             std::map<std::string, std::string> env = {}) {
  words.emplace_back("train.py");
  const util::EnvSnapshot snapshot(std::move(env));
  const auto line = torchrun::read_torchrun_line(words, snapshot);
  if (!line.errors.empty()) return line.errors.front();
  return torchrun::plan_torchrun(line.request, node, snapshot);
}

torchrun::TorchrunPlan good_plan(const Words& words, const torchrun::TorchrunNodeFacts& node = k_cpu_node,
                                 std::map<std::string, std::string> env = {}) {
  auto plan = plan_of(words, node, std::move(env));
  if (!plan) FAIL(plan.error().what);
  return std::move(*plan);
}

std::string error_of(const Words& words, const torchrun::TorchrunNodeFacts& node = k_cpu_node) {
  const auto plan = plan_of(words, node);
  return plan ? "" : plan.error().what;
}

unsigned ranks_of(const Words& words, const torchrun::TorchrunNodeFacts& node) {
  return good_plan(words, node).request.launch.processes_per_node.value_or(0);
}

bool reports(const torchrun::TorchrunPlan& plan, const std::string& text) {
  return util::join(plan.notes, "\n").find(text) != std::string::npos;
}

} // namespace

TEST_CASE("a node has as many ranks as the line counts") {
  CHECK(ranks_of({"--nproc-per-node=3"}, k_cpu_node) == 3);
  CHECK(ranks_of({"--nproc-per-node=gpu"}, k_gpu_node) == 4);
  CHECK(ranks_of({"--nproc-per-node=cpu"}, k_gpu_node) == 64);
  CHECK(ranks_of({"--nproc-per-node=auto"}, k_gpu_node) == 4);
  CHECK(ranks_of({"--nproc-per-node=auto"}, k_cpu_node) == 16);
  const torchrun::TorchrunNodeFacts intel{6, model::GpuVendor::intel, 96, false, 1, ""};
  CHECK(ranks_of({"--nproc-per-node=xpu"}, intel) == 6);
  CHECK(error_of({"--nproc-per-node=gpu"}, intel).find("does not count Intel GPUs") != std::string::npos);
  CHECK(error_of({"--nproc-per-node=gpu"}).find("no GPU is visible") != std::string::npos);
  CHECK(error_of({"--nproc-per-node=xpu"}, k_gpu_node).find("no Intel GPU is visible") != std::string::npos);
}

TEST_CASE("without --nproc-per-node there is one rank, and where it leaves GPUs idle that is said") {
  CHECK(ranks_of({}, k_gpu_node) == 1);
  CHECK(reports(good_plan({}, k_gpu_node), "starting 1 rank on this node, the default of torchrun"));
  CHECK(good_plan({}, k_cpu_node).notes.empty());
}

TEST_CASE("one node alone meets nobody, and has a name of its own") {
  for (const auto& words :
       {Words{}, Words{"--standalone"}, Words{"--rdzv-backend=c10d"}, Words{"--master-addr=n1"},
        Words{"--standalone", "--rdzv-endpoint=n1:5", "--rdzv-backend=c10d"}}) {
    const auto request = good_plan(words).request;
    CHECK_FALSE(request.place);
    CHECK(request.max_nodes == 1);
    CHECK(request.run_id == "fresh");
    CHECK_FALSE(request.launch.master_port);
  }
  CHECK(good_plan({"--standalone", "--rdzv-id=7"}).request.run_id == "7");
}

TEST_CASE("one node with a port has its ranks meet there") {
  CHECK(good_plan({"--master-port=1234"}).request.launch.master_port == 1234U);
  CHECK(good_plan({"--rdzv-backend=c10d", "--rdzv-endpoint=localhost:1235"}).request.launch.master_port ==
        1235U);
  CHECK_FALSE(good_plan({"--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0"}).request.launch.master_port);
}

TEST_CASE("several nodes meet at the endpoint, with torch's ports and times") {
  const auto c10d =
      good_plan({"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=n1", "--rdzv-id=7"}).request;
  REQUIRE(c10d.place);
  CHECK(c10d.place->host == "n1");
  CHECK(c10d.place->port == 29400);
  CHECK(c10d.place->run_id == "7");
  CHECK_FALSE(c10d.place->node_rank);
  CHECK(c10d.place->join_timeout == std::chrono::seconds(600));
  CHECK(c10d.place->extra_nodes_timeout == std::chrono::seconds(30));
  CHECK(c10d.min_nodes == 2);
  const auto fixed = good_plan({"--nnodes=2", "--node-rank=1", "--master-addr=n1"}).request;
  REQUIRE(fixed.place);
  CHECK(fixed.place->port == 29500);
  CHECK(fixed.place->node_rank == 1U);
  CHECK(fixed.place->join_timeout == std::chrono::seconds(900));
  CHECK(fixed.place->run_id == "none");
}

TEST_CASE("the range of nodes is obeyed with c10d, and with static the largest counts") {
  const auto elastic = good_plan({"--nnodes=1:4", "--rdzv-backend=c10d", "--rdzv-endpoint=n1:5"}).request;
  CHECK(elastic.min_nodes == 1);
  CHECK(elastic.max_nodes == 4);
  CHECK(good_plan({"--nnodes=1:4", "--master-addr=n1"}).request.min_nodes == 4);
}

TEST_CASE("--rdzv-conf is obeyed, or what is not is said") {
  const Words c10d = {"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=n1:5"};
  const auto with = [&](const std::string& conf) {
    auto words = c10d;
    words.push_back("--rdzv-conf=" + conf);
    return words;
  };
  const auto plan =
      good_plan(with("join_timeout=60,last_call_timeout=5,is_host=1,read_timeout=3,colour=red"));
  CHECK(plan.request.place->join_timeout == std::chrono::seconds(60));
  CHECK(plan.request.place->extra_nodes_timeout == std::chrono::seconds(5));
  CHECK(plan.request.place->node_rank == 0U);
  CHECK_FALSE(reports(plan, "read_timeout"));
  CHECK(reports(plan, "colour has no effect: it is unknown to torchrun and hpcml"));
  CHECK(good_plan({"--nnodes=2", "--master-addr=n1", "--rdzv-conf=timeout=20"}).request.place->join_timeout ==
        std::chrono::seconds(20));
  CHECK(plan.request.heartbeat.interval == std::chrono::seconds(5));
  CHECK(plan.request.heartbeat.timeout == std::chrono::seconds(30));
  const auto heartbeat = good_plan(with("keep_alive_interval=2,keep_alive_max_attempt=10")).request.heartbeat;
  CHECK(heartbeat.interval == std::chrono::seconds(2));
  CHECK(heartbeat.timeout == std::chrono::seconds(20));
  CHECK(good_plan(with("keep_alive_interval=10")).request.heartbeat.timeout == std::chrono::seconds(30));
  CHECK(good_plan(with("keep_alive_max_attempt=1")).request.heartbeat.timeout == std::chrono::seconds(15));
  CHECK(error_of(with("keep_alive_interval=0")).find("must be a number of seconds") != std::string::npos);
  CHECK(error_of(with("join_timeout=soon")).find("must be a number of seconds") != std::string::npos);
  CHECK(good_plan(with("key_file=/home/me/key")).request.key_file == "/home/me/key");
  CHECK(error_of(with("store_type=file")).find("must be tcp") != std::string::npos);
  CHECK(error_of(with("heartbeat_timeout=soon")).find("must be a whole number") != std::string::npos);
}

TEST_CASE("--rdzv-conf ignores settings of the other backend") {
  // PyTorch's own launcher tests pass such a timeout with c10d.
  const auto c10d = good_plan({"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=n1:5",
                               "--rdzv-conf=last_call_timeout=5,timeout=not_a_number"});
  CHECK(c10d.request.place->extra_nodes_timeout == std::chrono::seconds(5));
  CHECK_FALSE(reports(c10d, "timeout"));
  const Words fixed = {"--nnodes=2", "--master-addr=n1", "--rdzv-conf=join_timeout=soon,store_type=file"};
  CHECK_FALSE(reports(good_plan(fixed), "join_timeout"));
  CHECK(error_of({"--nnodes=2", "--master-addr=n1", "--rdzv-conf=timeout=soon"})
            .find("timeout must be a number of seconds") != std::string::npos);
  CHECK(good_plan({"--standalone", "--rdzv-conf=timeout=soon"}).request.max_nodes == 1);
}

TEST_CASE("an endpoint that cannot be found by others is an error, one of this machine alone is said") {
  CHECK(error_of({"--nnodes=2", "--rdzv-backend=c10d", "--rdzv-endpoint=n1:0"}).find("must not be 0") !=
        std::string::npos);
  CHECK(error_of({"--nnodes=2", "--rdzv-endpoint=n1"}).find("has no port") != std::string::npos);
  const auto plan = good_plan({"--nnodes=2"});
  CHECK(plan.request.place->host == "127.0.0.1");
  CHECK(reports(plan, "is on this machine"));
}

TEST_CASE("in a step of Slurm the endpoint may be left out") {
  for (const auto& words : {Words{"--nnodes=2"}, Words{"--nnodes=2", "--rdzv-backend=c10d"},
                            Words{"--nnodes=2", "--rdzv-backend=etcd-v2", "--rdzv-endpoint=etcd:2379"}}) {
    const auto request = good_plan(words, k_step_node).request;
    CHECK_FALSE(request.place);
    CHECK(request.max_nodes == 2);
    CHECK(request.run_id.empty());
  }
  CHECK(good_plan({"--nnodes=2", "--master-addr=n1"}, k_step_node).request.place);
  CHECK(good_plan({"--nnodes=1:4"}, k_step_node).request.max_nodes == 2);
  CHECK(error_of({"--nnodes=3"}, k_step_node).find("this step has 2") != std::string::npos);
  CHECK(reports(good_plan({"--nnodes=2", "--node-rank=1"}, k_step_node), "the Slurm step numbers its nodes"));
  CHECK(reports(good_plan({}, k_step_node), "set --nnodes 2 to join them"));
  CHECK(error_of({"--nnodes=2", "--rdzv-backend=etcd"}).find("requires a server") != std::string::npos);
}

TEST_CASE("output goes where -r, -t, --log-dir and the filters say") {
  const auto plan = good_plan({"-r3", "-t", "0:1", "--local-ranks-filter=0", "--role=trainer",
                               "--duplicate-stdout-filters=loss", "--log-dir=logs"});
  const auto& output = plan.request.launch.output;
  CHECK(plan.request.log_directory == "logs");
  CHECK_FALSE(plan.needs_directory);
  CHECK(output.redirects.others == launch::OutputStreams{true, true});
  CHECK(output.tee.of(0) == launch::OutputStreams{true, false});
  CHECK(output.shown == std::set<unsigned>{0});
  CHECK(output.out_filters == Words{"loss"});
  CHECK(output.role == "trainer");
  CHECK(plan.request.role == "trainer");
  CHECK(output.prefix == "[${role_name}${local_rank}]:");
  CHECK(good_plan({}, k_cpu_node, {{"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE", "<${rank}> "}})
            .request.launch.output.prefix == "<${rank}> ");
  CHECK(good_plan({"-t1"}).needs_directory);
  CHECK_FALSE(good_plan({"-t0"}).needs_directory);
  const auto none = good_plan({"-r3", "--log-dir=/dev/null"});
  CHECK(none.request.log_directory.empty());
  CHECK(none.request.launch.output.redirects.others == launch::OutputStreams{});
}

TEST_CASE("restarts, the time until KILL and the ranks' GPUs are what the line says") {
  const auto request = good_plan({"--max-restarts=3", "--shutdown-timeout=5"}).request;
  CHECK(request.max_restarts == 3);
  CHECK(request.launch.grace == std::chrono::seconds(5));
  CHECK(good_plan({}, k_cpu_node, {{"TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "7"}}).request.launch.grace ==
        std::chrono::seconds(7));
  CHECK(request.launch.gpu_visibility == model::GpuVisibilityMode::all);
  const auto own = good_plan({"--virtual-local-rank", "--nproc-per-node=2"}, k_gpu_node).request.launch;
  CHECK(own.virtual_local_rank);
  CHECK(own.gpu_visibility == model::GpuVisibilityMode::own);
  CHECK(own.gpus_per_task == 1U);
}

TEST_CASE("the command is Python's, a module's or the program itself") {
  const auto command = [](const Words& words) {
    util::EnvSnapshot env;
    env.set("PYTHON_EXEC", "/opt/python");
    const auto line = torchrun::read_torchrun_line(words, env);
    const auto found = torchrun::find_torchrun_command(line.request, env, "hpcml");
    return found ? *found : Words{found.error().what};
  };
  CHECK(command({"t.py", "-x"}) == Words{"/opt/python", "-u", "t.py", "-x"});
  CHECK(command({"-m", "pkg.train"}) == Words{"/opt/python", "-u", "-m", "pkg.train"});
  CHECK(command({"--no-python", "./train", "-x"}) == Words{"./train", "-x"});
  CHECK(command({"--run-path", "--no-python", "-m", "/a/t.py"}) == Words{"/opt/python", "-u", "/a/t.py"});
  CHECK(command({"--pass-local-rank", "t.py", "a"}) ==
        Words{"/opt/python", "-u", "t.py", "--local-rank=${local_rank}", "a"});
  CHECK(command({"/bin/sh"}).front().find("is a compiled program") != std::string::npos);
}
