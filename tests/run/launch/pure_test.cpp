// SPDX-License-Identifier: MIT
// The parts of launch that are functions of values: ports, addresses, GPU lists, masks, lines, records.
#include <catch2/catch.hpp>

#include <nlohmann/json.hpp>
#include <set>

#include "core/config/site_store.hpp"
#include "core/launch_chain/started_launcher.hpp"
#include "core/util/text.hpp"
#include "run/launch/bind_check.hpp"
#include "run/launch/cpu_bind.hpp"
#include "run/launch/launcher_failure.hpp"
#include "run/launch/output_lines.hpp"
#include "run/launch/planned_rank.hpp"
#include "run/launch/preflight_check.hpp"
#include "run/launch/rendezvous.hpp"
#include "run/resolve/bind_decision.hpp"
#include "run/resolve/gpus.hpp"
#include "run/resolve/interfaces.hpp"
#include "run/resolve/rendezvous_ports.hpp"
#include "run/resolve/world.hpp"

using namespace hpcml;
using launch::BindMode;
using model::IdSet;
using util::EnvSnapshot;

namespace {
EnvSnapshot env_of(std::map<std::string, std::string> variables) { return EnvSnapshot(std::move(variables)); }
} // namespace

TEST_CASE("steps of a job get different ports, all below the ephemeral ones") {
  std::set<unsigned> ports;
  for (unsigned long long step = 0; step < 2000; ++step) ports.insert(launch::step_port({4242, step, 0}));
  CHECK(ports.size() == 2000);
  CHECK(*ports.begin() >= 15000);
  CHECK(*ports.rbegin() <= 31999);
  CHECK(launch::step_port({4242, 0, 0}) != launch::step_port({4242, 0, 1}));
  CHECK(launch::step_port({4242, 0, 0}) != launch::step_port({4243, 0, 0}));
  CHECK(launch::step_port({~0ULL, ~0ULL, ~0ULL}) <= 31999);
  for (unsigned port = 1; port < 65536; ++port) {
    const unsigned side = launch::side_port(port);
    if (side == port || side < 15000 || side > 31999) FAIL("port " << port << " has the side port " << side);
  }
}

TEST_CASE("the address of another step's first node is not taken") {
  const auto env = env_of({{"HPCML_MASTER_ADDR", "10.1.0.4"}, {"HPCML_MASTER_NODE", "nid001"}});
  CHECK(launch::step_address(env, "nid001", "") == "10.1.0.4");
  CHECK(launch::step_address(env, "nid002", "") == "nid002");
  CHECK(launch::step_address({}, "jwb0001", "i") == "jwb0001i");
}

TEST_CASE("visible-device lists are kept as text and end where the runtimes end them") {
  using Entries = std::vector<std::string>;
  CHECK(launch::split_visible_list("0,1,2") == Entries{"0", "1", "2"});
  CHECK(launch::split_visible_list("GPU-8932f937, MIG-GPU-1/2/3") ==
        Entries{"GPU-8932f937", "MIG-GPU-1/2/3"});
  CHECK(launch::split_visible_list("0,-1,2") == Entries{"0"});
  for (const auto* text : {"", "-1", "NoDevFiles", ","}) CHECK(launch::split_visible_list(text).empty());
}

TEST_CASE("each rank gets its own entries of the visible list") {
  struct Row {
    const char* list;
    unsigned local_rank, ranks, per_rank;
    const char* own;
  };
  const Row rows[] = {
      {"0,1,2,3,4,5,6,7", 5, 8, 1, "5"},   {"4,5,6,7", 1, 4, 1, "5"},
      {"0,1,2,3,4,5,6,7", 1, 4, 2, "2,3"}, {"3", 3, 8, 1, "3"},
      {"GPU-a,GPU-b", 1, 2, 1, "GPU-b"},   {"0,1", 3, 4, 1, "1"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.list, row.local_rank);
    CHECK(launch::gpus_of_local_rank({launch::split_visible_list(row.list), "", ""}, row.local_rank,
                                     row.ranks, row.per_rank) == row.own);
  }
}

TEST_CASE("of a list of interfaces what the node has is kept, as Gloo and NCCL read the list") {
  const std::vector<std::string> present = {"lo", "eth0", "hsn0", "hsn1"};
  struct Row {
    const char* variable;
    const char* value;
    const char* kept;
  };
  const Row rows[] = {
      {"GLOO_SOCKET_IFNAME", "hsn0,hsn1", "hsn0,hsn1"},
      {"GLOO_SOCKET_IFNAME", "hsn0,hsn2", "hsn0"},
      {"GLOO_SOCKET_IFNAME", "hsn", ""},
      {"NCCL_SOCKET_IFNAME", "hsn", "hsn"},
      {"NCCL_SOCKET_IFNAME", "ib", ""},
      {"NCCL_SOCKET_IFNAME", "=hsn", ""},
      {"NCCL_SOCKET_IFNAME", "=hsn1,ib0", "=hsn1"},
      {"NCCL_SOCKET_IFNAME", "^lo", "^lo"},
      {"NCCL_SOCKET_IFNAME", "ib,hsn", "hsn"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.variable, row.value);
    CHECK(launch::present_interfaces(row.variable, row.value, present) == row.kept);
    CHECK(launch::present_interfaces(row.variable, row.value, {}) == row.value); // not known is no reason
  }
  CHECK(launch::names_interfaces("NCCL_SOCKET_IFNAME"));
  CHECK_FALSE(launch::names_interfaces("NCCL_DEBUG"));
}

TEST_CASE("the node's GPUs tell the vendor, whatever the profile says") {
  launch::LaunchRequest request;
  request.site = model::Site{};
  model::NodeType type;
  type.gpu = model::GpuShape{};
  type.gpu->vendor = model::GpuVendor::amd;
  request.site->node_types.push_back(type);
  request.gpu_visibility = model::GpuVisibilityMode::own;
  request.command = {"true"};
  launch::NodeView node;
  node.cpus = model::make_regular_cpus(1, 4, 1, 1, 0);
  node.mask = node.cpus.all();
  node.gpus.places.resize(2);
  node.gpus.places[1].index = 1;
  node.gpus.vendor = model::GpuVendor::nvidia;
  launch::World world;
  world.layout.local_rank = world.layout.rank = 1;
  world.layout.local_world_size = world.layout.world_size = 2;
  world.layout.nodes = {"n1"};
  world.layout.tasks_per_node = {2};
  const auto setup = testing::planned_rank(request, world, node, {});
  REQUIRE(setup);
  CHECK(setup->env.get_or("CUDA_VISIBLE_DEVICES", "") == "1");
  CHECK(setup->env.get_or("CUDA_DEVICE_ORDER", "") == "PCI_BUS_ID");
  CHECK_FALSE(setup->env.get("ROCR_VISIBLE_DEVICES"));
}

TEST_CASE("missing GPUs are a sentence with numbers") {
  const auto check = [](const EnvSnapshot& env, unsigned ranks, unsigned per_rank) {
    return launch::check_gpus(launch::find_visible_gpus(env, "ROCR_VISIBLE_DEVICES", 0), env, ranks,
                              per_rank);
  };
  const auto eight = env_of({{"ROCR_VISIBLE_DEVICES", "0,1,2,3,4,5,6,7"}, {"SLURM_GPUS_ON_NODE", "8"}});
  CHECK(check(eight, 8, 1));
  CHECK(check(eight, 4, 2));
  CHECK_FALSE(check(eight, 8, 2));
  CHECK(
      check(env_of({{"ROCR_VISIBLE_DEVICES", "3"}, {"SLURM_GPUS_ON_NODE", "8"}}), 8, 1)); // --gpus-per-task=1
  CHECK_FALSE(check(env_of({{"ROCR_VISIBLE_DEVICES", "0"}, {"SLURM_GPUS_ON_NODE", "1"}}), 8, 1));
  const auto none = check(env_of({{"ROCR_VISIBLE_DEVICES", ""}}), 1, 1);
  REQUIRE_FALSE(none);
  CHECK_THAT(none.error().what, Catch::Contains("none is visible"));
  CHECK(
      check(env_of({{"SLURM_STEP_GPUS", "0,1"}}), 2, 1)); // --gpu-bind=none sets no runtime variable in 22.05
}

TEST_CASE(
    "a GPU that the node does not have ends the visible list, is said, and is missed where it is needed") {
  launch::NodeView node;
  node.cpus = model::make_regular_cpus(1, 4, 1, 1, 0);
  node.mask = node.cpus.all();
  for (unsigned i = 0; i < 4; ++i) node.gpus.places.push_back({i, 0U, {}, {}, {}});
  node.gpus.vendor = model::GpuVendor::nvidia;
  launch::World world;
  world.layout.nodes = {"n1"};
  world.layout.tasks_per_node = {1};
  const auto setup = [&](const std::string& list, std::optional<unsigned> demanded) {
    launch::LaunchRequest request;
    request.command = {"true"};
    request.gpus_per_task = demanded;
    return testing::planned_rank(request, world, node, env_of({{"CUDA_VISIBLE_DEVICES", list}}));
  };
  const std::string expected = "CUDA_VISIBLE_DEVICES=1,4,0 names GPU 4, but this node has GPUs 0-3: the "
                               "runtime ignores this entry and the following ones";
  const auto cut = setup("1,4,0", {});
  REQUIRE(cut);
  CHECK(cut->gpus == "1");
  CHECK_THAT(cut->node->node_warnings, Catch::VectorContains(expected));
  const auto missed = setup("1,4,0", 2);
  REQUIRE_FALSE(missed);
  CHECK(missed.error().what == "this rank requires 2 GPUs, but only 1 is visible (" + expected + ")");
  const auto none = setup("9", {});
  REQUIRE_FALSE(none);
  CHECK_THAT(none.error().what,
             Catch::StartsWith("CUDA_VISIBLE_DEVICES=9 names GPU 9, but this node has GPUs 0-3"));
  CHECK(setup("9", 0)); // no GPU is wanted
  for (const auto* good : {"0,1,2,3", "3", "GPU-8932f937", "MIG-GPU-1/2/3", "-1"}) {
    CAPTURE(good);
    const auto fine = setup(good, {});
    REQUIRE(fine);
    CHECK(fine->node->node_warnings.empty());
  }
  // Which GPU a MIG instance is a part of is not known here: its place is not guessed where it matters.
  node.cpus = model::make_regular_cpus(1, 8, 1, 2, 0);
  node.mask = node.cpus.all();
  CHECK(setup("MIG-1,MIG-2", {})->node->plan.node.gpus.at(1).place.numa == 0U);
  node.gpus.places[0].numa = 1;
  CHECK_FALSE(setup("MIG-1,MIG-2", {})->node->plan.node.gpus.at(0).place.numa);
  node.gpus.places.clear(); // where the drivers show none, nothing tells
  CHECK(setup("9", 1));
}

TEST_CASE("who binds is decided from the mask and from what srun did") {
  const IdSet node = IdSet::range(0, 127), slice = IdSet::range(49, 55);
  const auto masks = env_of({{"SLURM_CPU_BIND_LIST", "0x00FE000000000000,0xFE00000000000000"}});
  const auto same = env_of({{"SLURM_CPU_BIND_LIST", "0xFFFF"}});
  CHECK(launch::decide_binding(BindMode::automatic, slice, node, masks, 8).mode == BindMode::verify);
  CHECK(launch::decide_binding(BindMode::apply, slice, node, masks, 8).mode == BindMode::verify);
  CHECK(launch::decide_binding(BindMode::automatic, node, node, masks, 8).mode == BindMode::apply);
  CHECK(launch::decide_binding(BindMode::automatic, IdSet::range(0, 15), node, same, 2).mode ==
        BindMode::apply);
  CHECK(launch::decide_binding(BindMode::automatic, IdSet::range(0, 15), node, same, 1).mode ==
        BindMode::none);
  CHECK(launch::decide_binding(BindMode::apply, IdSet::range(0, 15), node, same, 2).plan_from ==
        IdSet::range(0, 15));
  CHECK(launch::decide_binding(BindMode::verify, slice, node, masks, 8).plan_from == node);
  CHECK(launch::decide_binding(BindMode::none, slice, node, masks, 8).mode == BindMode::none);
}

namespace {

/// Two ranks of four cores on a node of eight with two threads each (n, n+8) and two NUMA nodes; `local`:
/// which of them.
struct TwoRanks {
  launch::NodeSetup node;
  launch::RankSetup rank;
  launch::RankSetup setup() const {
    auto setup = rank;
    setup.node = std::make_shared<const launch::NodeSetup>(node);
    return setup;
  }
};

TwoRanks two_ranks(unsigned local, BindMode mode) {
  TwoRanks two;
  two.node.cpus = model::make_regular_cpus(1, 8, 2, 2, 0);
  two.rank.world.layout.local_rank = local;
  two.node.binding.mode = mode;
  auto& plan = two.node.plan;
  for (unsigned rank = 0; rank < 2; ++rank) {
    model::PlannedRankBinding binding;
    binding.local_rank = rank;
    binding.gpus = {rank};
    binding.cpus = IdSet::range(rank * 4, rank * 4 + 3);
    plan.ranks.push_back(binding);
    model::GpuLocality place;
    place.index = place.numa.emplace(rank);
    plan.node.gpus.emplace_back();
    plan.node.gpus.back().place = place;
  }
  plan.node.cpus = two.node.cpus;
  plan.node.cpus.reserved = IdSet::of({0, 8});
  plan.node.allowed = IdSet::range(0, 14);
  two.rank.plan.binding = plan.ranks[local];
  return two;
}

} // namespace

TEST_CASE(
    "what a rank has after binding is judged: inside, local, its own, whole cores, as planned, enough") {
  struct Row {
    const char* cpus;
    unsigned wanted;
    const char* fault; // of rank 1, planned are CPUs 4-7; empty: none
  };
  for (const auto& row :
       {Row{"4-7", 4, ""}, Row{"4-7", 0, ""}, Row{"4-7", 5, "the rank has only 4 of 5 requested cores"},
        Row{"4-6", 0, "another rank has 4"}, Row{"3-7", 0, "it shares CPU 3 with rank 0"},
        Row{"3-7", 0, "CPU 3 is not in NUMA 1 of its GPU"}, Row{"1-3", 0, "none of its CPUs is in NUMA 1"},
        Row{"4-7,11", 0, "belong to different ranks"}, Row{"5-7,15", 0, "CPU 15 must not be used"},
        Row{"5-8", 0, "CPU 8 is reserved"}, Row{"4-7,12", 0, "hpcml planned CPUs 4-7"},
        Row{"4-7,99", 0, "the node has no CPU 99"}}) {
    CAPTURE(row.cpus, row.fault);
    const auto faults = launch::check_binding(two_ranks(1, BindMode::apply).setup(),
                                              {IdSet::parse_list(row.cpus).value()}, row.wanted);
    if (*row.fault == '\0')
      CHECK(faults.empty());
    else
      CHECK_THAT(util::join(faults, "; "), Catch::Contains(row.fault));
  }
  // Where nobody binds the others have what they were started with, or in a job nobody knows what.
  auto alone = two_ranks(1, BindMode::none);
  alone.node.mask = IdSet::range(4, 6);
  CHECK(launch::check_binding(alone.setup(), {IdSet::range(4, 6)}, 0) ==
        std::vector<std::string>{"it shares CPUs 4-6 with rank 0"});
  alone.rank.world.in_job = true;
  CHECK(launch::check_binding(alone.setup(), {IdSet::range(4, 6)}, 0).empty());
  CHECK(launch::check_binding(alone.setup(), {IdSet::range(3, 6)}, 0) ==
        std::vector<std::string>{"CPU 3 is not in NUMA 1 of its GPU"});
  // What the plan itself could not give better is no fault of the binding: here two ranks share the only
  // core.
  auto shared = two_ranks(1, BindMode::apply);
  for (auto& rank : shared.node.plan.ranks) rank.cpus = IdSet::range(4, 7);
  shared.rank.plan.binding = shared.node.plan.ranks[1];
  CHECK(launch::check_binding(shared.setup(), {IdSet::range(4, 7)}, 0).empty());
  // Memory of its own node is right, in whatever way, and that of another is not.
  const auto memory = [&](topo::MemoryPolicyMode mode, unsigned node) {
    return util::join(launch::check_binding(two_ranks(1, BindMode::apply).setup(),
                                            {IdSet::range(4, 7), topo::MemoryPolicy{mode, IdSet::of({node})}},
                                            0),
                      "; ");
  };
  CHECK(memory(topo::MemoryPolicyMode::preferred, 1).empty());
  CHECK(memory(topo::MemoryPolicyMode::bound, 0) == "its memory bound to NUMA 0, its CPUs are in NUMA 1");
  CHECK(launch::check_binding(two_ranks(1, BindMode::apply).setup(),
                              {IdSet::range(4, 7), topo::MemoryPolicy{}}, 0)
            .empty());
  auto far_nic = two_ranks(1, BindMode::apply);
  far_nic.rank.plan.env.push_back({"UCX_NET_DEVICES", "mlx5_1:1", false, model::ValueScope::task, {}});
  far_nic.rank.env.set("UCX_NET_DEVICES", "mlx5_0:1");
  CHECK(launch::check_binding(far_nic.setup(), {IdSet::range(4, 7)}, 0) ==
        std::vector<std::string>{
            "UCX_NET_DEVICES=mlx5_0:1, but the NIC nearest to the rank's GPU is mlx5_1:1"});
}

TEST_CASE("a node of which only the site's reserved CPUs are missing is a whole one") {
  const auto load = config::load_site("lumi", config::site_directories({}, {}));
  REQUIRE(load.site);
  const auto* type = load.site->find_node_type("lumi-g");
  launch::NodeView node;
  node.cpus = type->cpu;
  node.cpus.reserved = {}; // the kernel knows of none
  node.gpus = {model::GpuVendor::amd, type->gpu->places};
  launch::LaunchRequest request;
  request.site = *load.site;
  request.partition = "standard-g";
  request.command = {"true"};
  request.gpus_per_task = 1;
  request.cpus_per_task = 7;
  launch::World world;
  world.in_job = true;
  world.layout.nodes = {"n1"};
  world.layout.tasks_per_node = {1};
  node.mask = type->cpu.all() - type->cpu.reserved;
  const auto whole = testing::planned_rank(request, world, node, {});
  REQUIRE(whole);
  CHECK(whole->node->binding.mode == BindMode::apply);
  CHECK(whole->node->binding.owns_node);
  CHECK(whole->plan.binding.cpus.to_list() == "49-55");
  node.mask.remove(127);
  const auto part = testing::planned_rank(request, world, node, {});
  REQUIRE(part);
  CHECK(part->node->binding.mode == BindMode::none);
  CHECK_FALSE(part->node->binding.owns_node);
}

TEST_CASE("every rank gets the site's interfaces that its node has, in one order") {
  struct Row {
    unsigned rank;
    std::vector<std::string> present;
    const char* gloo;
  };
  const auto load = config::load_site("lumi", config::site_directories({}, {}));
  REQUIRE(load.site);
  for (const auto& row : {Row{0, {"lo", "hsn0", "hsn1", "hsn2", "hsn3"}, "hsn0,hsn1,hsn2,hsn3"},
                          Row{3, {"lo", "hsn0", "hsn1", "hsn2", "hsn3"}, "hsn0,hsn1,hsn2,hsn3"},
                          Row{7, {}, "hsn0,hsn1,hsn2,hsn3"}, Row{7, {"hsn0", "hsn1"}, "hsn0,hsn1"},
                          Row{2, {"hsn1", "hsn0"}, "hsn0,hsn1"}}) {
    CAPTURE(row.rank, row.present);
    launch::LaunchRequest request;
    request.site = load.site;
    request.partition = "standard-g";
    request.command = {"true"};
    launch::NodeView node;
    node.cpus = model::make_regular_cpus(1, 64, 2, 4, 8);
    node.mask = node.cpus.all();
    node.gpus = {model::GpuVendor::amd, load.site->find_node_type("lumi-g")->gpu->places};
    node.interfaces = row.present;
    launch::World world;
    world.in_job = true;
    world.layout.local_rank = world.layout.rank = row.rank;
    world.layout.local_world_size = world.layout.world_size = 8;
    world.layout.nodes = {"n1"};
    world.layout.tasks_per_node = {8};
    const auto setup = testing::planned_rank(request, world, node, {});
    REQUIRE(setup);
    CHECK(setup->env.get_or("GLOO_SOCKET_IFNAME", "") == row.gloo);
    CHECK(setup->env.get_or("NCCL_SOCKET_IFNAME", "") ==
          (row.present.size() == 2 ? "hsn0,hsn1" : "hsn0,hsn1,hsn2,hsn3"));
    const auto kept = testing::planned_rank(request, world, node, env_of({{"GLOO_SOCKET_IFNAME", "eth0"}}));
    REQUIRE(kept);
    CHECK(kept->env.get_or("GLOO_SOCKET_IFNAME", "") == "eth0");
  }
}

TEST_CASE("differences between mask and plan are named") {
  CHECK(launch::compare_masks(IdSet::range(1, 7), IdSet::range(1, 7)).empty());
  const auto differences = launch::compare_masks(IdSet::range(0, 3), IdSet::range(1, 7));
  REQUIRE(differences.size() == 1);
  CHECK_THAT(differences[0], Catch::Contains("missing: 4-7") && Catch::Contains("not planned: 0"));
}

TEST_CASE("profile expressions are expanded without a shell, or not at all") {
  const auto env = env_of({{"USER", "ada"}, {"SLURM_TMPDIR", "/local/7"}});
  CHECK(launch::expand_variables("/tmp/$USER/x", env) == "/tmp/ada/x");
  CHECK(launch::expand_variables("${SLURM_TMPDIR:-/tmp}/e", env) == "/local/7/e");
  CHECK(launch::expand_variables("${NOTHING:-/tmp}/e", env) == "/tmp/e");
  for (const auto* text : {"$(hostname)", "`id`", "${A:=x}", "${A", "$", "$1", "a\\b", "${A:-$(id)}"}) {
    CAPTURE(text);
    CHECK_FALSE(launch::expand_variables(text, env));
  }
}

TEST_CASE("commands that start the ranks themselves are known") {
  CHECK(launch_chain::find_started_launcher({"torchrun", "--nproc-per-node=8", "train.py"}));
  CHECK(launch_chain::find_started_launcher({"singularity", "exec", "a.sif", "/opt/bin/torchrun", "x.py"}));
  CHECK(launch_chain::find_started_launcher({"python", "-u", "-m", "torch.distributed.run", "x.py"}));
  CHECK_FALSE(launch_chain::find_started_launcher({"python", "train.py", "torchrun"}));
  CHECK_FALSE(launch_chain::find_started_launcher({"./train"}));
}

TEST_CASE("lines of several ranks are merged whole and continued where nobody came between") {
  launch::LineInterleaver lines({"[4] ", "[5] "});
  CHECK(lines.add(0, "one\ntw") == "[4] one\n");
  CHECK(lines.add(1, "first\n") == "[5] first\n");
  CHECK(lines.add(0, "o\n") == "[4] two\n");
  CHECK(lines.add(0, "10%") == "");
  CHECK(lines.flush(0) == "[4] 10%");
  CHECK(lines.add(0, " 20%\n") == " 20%\n");
  CHECK(lines.add(0, "prompt") == "");
  CHECK(lines.flush(0) == "[4] prompt");
  CHECK(lines.add(1, "x\n") == "\n[5] x\n");
  CHECK(lines.finish(0) == "");
  CHECK(lines.add(1, std::string("a\0b", 3)) == "");
  CHECK(lines.finish(1) == std::string("[5] a\0b\n", 8));
}

TEST_CASE("an error record is JSON whatever the text holds") {
  launch::LauncherFailure failure{
      126,
      "exec",
      {"cannot execute \"\xff\n\t\\ \xc3\xa9\x01", "\xed\xa0\x80\xe0\x80\xaf\xf4\x90\x80\x80\xe2\x82"},
      RankLocation{3},
      "nid001"};
  const auto record = nlohmann::json::parse(launch::render_record(failure));
  CHECK(record["rank"] == 3);
  CHECK(record["host"] == "nid001");
  CHECK(record["phase"] == "exec");
  CHECK(record["exit_code"] == 126);
  // A surrogate, a longer form than need be, a number beyond the last, a sequence that breaks off: none is
  // UTF-8.
  const auto hint = record["hint"].get<std::string>();
  for (std::size_t at = 0; at < hint.size(); at += 3) CHECK(hint.substr(at, 3) == "\xef\xbf\xbd");
  CHECK(hint.size() == 3 * 12);
  CHECK(record["what"].get<std::string>() == "cannot execute \"\xef\xbf\xbd\n\t\\ \xc3\xa9\x01");
}

TEST_CASE("launch waits for the helper for longer than the helper takes to end by itself") {
  for (const unsigned seconds :
       {1U, 60U, 120U, 86400U}) // src/torch/helper/preflight.cpp: six times the timeout and 30 s
    CHECK(launch::preflight_limit(seconds) > std::chrono::seconds(6ULL * seconds + 30));
}

TEST_CASE("the preflight's verdict is the last culprit's sentence") {
  const auto result = launch::preflight_result(
      "noise\n{\"event\":\"cause\",\"what\":\"rank 3 is missing\",\"hint\":\"look\"}\n");
  CHECK(result.what == "rank 3 is missing");
  CHECK(result.hint == "look");
  CHECK(launch::preflight_result("").what.empty());
}
