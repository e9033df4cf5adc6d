// SPDX-License-Identifier: MIT
// Topology files as they come, whole and broken.
#include <catch2/catch.hpp>

#include <filesystem>
#include <random>

#include "core/topo/affinity.hpp"
#include "core/topo/nearest_nic.hpp"
#include "core/topo/read_node.hpp"
#include "core/util/file.hpp"
#include "random_node_helper.hpp"
#include "test_data.hpp"

using namespace hpcml;
using model::IdSet;

namespace {

topo::Node loaded(const std::string& file) {
  auto node = topo::load_node(test::unpacked_topologies() / file);
  if (!node) FAIL(node.error().what);
  return *node;
}

std::vector<unsigned> gpu_numa(const topo::Node& node) {
  std::vector<unsigned> numa;
  for (const auto& gpu : node.gpus) numa.push_back(gpu.place.numa.value_or(999));
  return numa;
}

bool reports(const util::Error& error, const std::string& text) {
  return error.what.find(text) != std::string::npos;
}

} // namespace

TEST_CASE("Recorded machines have the GPUs and fast NICs that their sites document") {
  struct Machine {
    const char* file;
    std::vector<unsigned> gpu_numa;
    std::vector<std::string> nics; // for the job's traffic
  };
  const std::vector<Machine> machines = {
      {"eas-tioga.xml", {3, 3, 1, 1, 0, 0, 2, 2}, {"hsi0", "hsi1", "hsi2", "hsi3"}},
      {"coral-lassen.xml", {0, 0, 8, 8}, {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"}},
      {"cts1-pascal.xml", {0, 0}, {"mlx5_0"}},
      {"cts1-quartz-smt1.xml", {}, {"hfi1_0"}},
      {"g4dnmetal.xml",
       {0, 0, 0, 0, 1, 1, 1, 1},
       {"rdmap197s0"}}, // CUDA, OpenCL and NVML devices: one GPU each
      {"epyc-corona-p2.xml", {0, 0, 0, 0, 1, 1, 1, 1}, {"mlx5_0"}},
      {"test-topo2.xml", {3}, {"mlx5_0"}}, // the BMC's display is no GPU
      {"azure-ndv4-topo.xml", {1, 1, 0, 0, 3, 3, 2, 2}, {}},
      {"aws-p4d-24xl-topo.xml", {0, 0, 0, 0, 1, 1, 1, 1}, {}},
  };
  for (const auto& machine : machines) {
    INFO(machine.file);
    const topo::Node node = loaded(machine.file);
    CHECK(gpu_numa(node) == machine.gpu_numa);
    if (machine.nics.empty()) continue;
    std::vector<std::string> nics;
    for (const auto& nic : node.nics)
      if (!nic.management) nics.push_back(nic.name);
    CHECK(nics == machine.nics);
  }
}

TEST_CASE("On the LUMI-G board each GPU has its L3 and the NIC of its module") {
  const topo::Node node = loaded("eas-tioga.xml");
  const std::vector<unsigned> l3 = {6, 7, 2, 3, 0, 1, 4, 5};
  const std::vector<std::string> nics = {"hsi0", "hsi0", "hsi1", "hsi1", "hsi2", "hsi2", "hsi3", "hsi3"};
  const auto choices = topo::nearest_nics(node.gpus, node.nics);
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(node.gpus[i].place.l3 == l3[i]);
    CHECK(choices[i].nic == nics[i]);
  }
}

TEST_CASE("NCCL files give NUMA nodes, threads, GPUs by address and NICs behind the same switch") {
  const topo::Node aws = loaded("aws-p4d-24xl-topo.xml");
  CHECK(aws.cpus.core_threads.size() == 48);
  CHECK(aws.cpus.threads_per_core == 2);
  CHECK(aws.cpus.numa[0].cpus.to_list() == "0-23,48-71");
  const auto choices = topo::nearest_nics(aws.gpus, aws.nics);
  for (const auto& choice : choices) CHECK(choice.why == "same PCIe switch");
  const topo::Node azure = loaded("azure-ndv4-topo.xml");
  CHECK(azure.cpus.core_threads.size() == 96);
  CHECK(azure.gpus.front().place.pci == "0001:00:00.0");
}

TEST_CASE("A topology file that breaks off anywhere is refused with the line") {
  for (const char* file : {"cts1-pascal.xml", "azure-ndv4-topo.xml"}) {
    const std::string whole = util::read_file(test::unpacked_topologies() / file).value();
    const std::size_t end = whole.rfind('>');
    for (std::size_t cut = 1; cut < end; cut += end / 150 + 1) {
      const std::string part = whole.substr(0, cut);
      const auto node =
          std::string(file) == "cts1-pascal.xml" ? topo::parse_hwloc_xml(part) : topo::parse_nccl_xml(part);
      INFO(file << " cut at " << cut << (node ? "" : ": " + node.error().what));
      REQUIRE_FALSE(node.ok());
      CHECK((reports(node.error(), "is incomplete") || reports(node.error(), "does not start")));
      CHECK(reports(node.error(), "line "));
    }
  }
}

TEST_CASE("Foreign and contradictory topology files are refused with what is wrong") {
  struct Bad {
    std::string text, reports;
  };
  std::string deep, many;
  for (int i = 0; i < 5000; ++i) deep = "<object type=\"Group\">" + deep + "</object>";
  for (int i = 0; i < 5000; ++i) many += " a" + std::to_string(i) + "=\"\"";
  const std::vector<Bad> xml = {
      {"<topology version=\"3.0\"></topology>", "version 3.0, but hpcml reads versions 1 and 2"},
      {"<html><body/></html>", "starts with <html>, not with <topology>"},
      {"<topology version=\"2.0\"></topology>", "the topology file contains no CPU"},
      {"<topology version=\"2.0\"><object type=\"PU\"/></topology>",
       "line 1: a PU of the topology file has no valid os_index"},
      {"<topology version=\"2.0\"><object type=\"Machine\" cpuset=\"0xzz\"/></topology>",
       "is not part of a CPU mask"},
      {"<topology version=\"2.0\"><object a=\"1\" a=\"2\"/></topology>", "attribute a appears twice"},
      {"<topology version=\"2.0\"><object></topology>", "Start-end tags mismatch"},
      {"<!DOCTYPE topology [<!ENTITY x SYSTEM \"/etc/passwd\">]><topology/>", "with definitions"},
      {"<topology version=\"2.0\"/><topology version=\"2.0\"/>", "after the root element"},
      {"x <topology version=\"2.0\"/>", "does not start with an element"},
      {std::string("<topology version=\"2.0\"/>\0", 26), "zero byte"},
      {"<topology" + many + "/>", "more than 256 attributes"},
      {"<topology>" + deep + "</topology>", "elements are nested more than 256 levels deep"},
      {"<topology version=\"2.0\"><object type=\"Core\" cpuset=\"0x3\"><object type=\"PU\" os_index=\"0\" "
       "cpuset=\"0x1\"/></object>"
       "<object type=\"Core\" cpuset=\"0x2\"><object type=\"PU\" os_index=\"1\" "
       "cpuset=\"0x2\"/></object></topology>",
       "CPU 1 is in two cores of the topology file"},
  };
  for (const auto& bad : xml) {
    INFO(bad.text.substr(0, 100));
    const auto node = topo::parse_hwloc_xml(bad.text);
    REQUIRE_FALSE(node.ok());
    INFO(node.error().what);
    CHECK(reports(node.error(), bad.reports));
  }
  const auto nccl = topo::parse_nccl_xml("<system version=\"2\"></system>");
  REQUIRE_FALSE(nccl.ok());
  CHECK(reports(nccl.error(), "version 1"));
}

TEST_CASE("A JSON node with mistakes gets all of them told at once") {
  const auto node = topo::parse_node_json(R"({"cores": "eight", "smt": 99, "numa": {"a": "0-3", "1": 5},
    "gpu": {"0": {"numa": 7, "pci": 12}}, "reserved": "x-y"})");
  REQUIRE_FALSE(node.ok());
  INFO(node.error().what);
  for (const char* part :
       {"'cores' in the topology file must be a number", "'smt' in the topology file must be from 1 to 16",
        "'numa.a' in the topology file must have a number from 0 to 65535 as its key, not 'a'",
        "'numa.1' in the topology file must be a list of CPUs",
        "'gpu.0.pci' in the topology file must be a string",
        "'reserved' in the topology file is not a list of CPUs: the list of numbers has \"x-y\""})
    CHECK(reports(node.error(), part));
  const auto broken = topo::parse_node_json("{\"cores\": 4,");
  REQUIRE_FALSE(broken.ok());
  CHECK(reports(broken.error(), "is incomplete or invalid at byte"));
  const auto contradiction = topo::parse_node_json(R"({"numa": {"0": "0-3"}, "gpu": {"0": {"numa": 7}}})");
  REQUIRE_FALSE(contradiction.ok());
  CHECK(contradiction.error().what ==
        "GPU 0 is under NUMA 7, which the topology file does not define; add NUMA 7, or change GPU 0");
}

TEST_CASE("Damaged topology files are read or refused, never more") {
  std::mt19937 random(8);
  const std::string xml = test::render_hwloc_xml(test::random_node(random));
  const std::string nccl = util::read_file(test::unpacked_topologies() / "aws-p4d-24xl-topo.xml").value();
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text = round % 3 == 0   ? xml
                       : round % 3 == 1 ? nccl
                                        : test::render_json(test::random_node(random));
    for (unsigned i = random() % 4 + 1; i > 0; --i) {
      const std::size_t at = random() % text.size();
      if (random() % 2)
        text[at] = static_cast<char>(random() % 256);
      else
        text.erase(at, random() % 20);
      if (text.empty()) text = "x";
    }
    const auto node = round % 3 == 0   ? topo::parse_hwloc_xml(text)
                      : round % 3 == 1 ? topo::parse_nccl_xml(text)
                                       : topo::parse_node_json(text);
    if (!node)
      ++refused;
    else if (topo::AffinityRequest request; !node->cpus.core_threads.empty()) {
      request.ranks = 3;
      (void)topo::plan_affinity(*node, request);
    }
  }
  CHECK(refused > 500);
}

TEST_CASE("Memory of GPUs is never a place for a rank's memory") {
  // GH200: further NUMA nodes are the GPUs' memory.
  const auto node =
      topo::parse_node_json(R"({"sockets": 2, "numa": {"0": "0-3", "1": "4-7", "4": "", "12": ""},
    "gpu": {"0": {"numa": 0, "gpu_memory_numa": 4}, "1": {"numa": 1, "gpu_memory_numa": 12}}})");
  if (!node) FAIL(node.error().what);
  topo::AffinityRequest request;
  request.ranks = 2;
  const auto plan = topo::plan_affinity(*node, request);
  REQUIRE(plan.ok());
  CHECK(plan->ranks[0].memory.to_list() == "0");
  CHECK(plan->ranks[1].memory.to_list() == "1");
}

TEST_CASE("CPUs without memory of their own take it from the nearest node of their package") {
  const auto node = topo::parse_node_json(
      R"({"sockets": 2, "numa": {"0": "0-1", "1": "2-3", "2": "4-5", "3": "6-7"}, "numa_without_memory": "1,3"})");
  REQUIRE(node.ok());
  topo::AffinityRequest request;
  request.ranks = 4;
  const auto plan = topo::plan_affinity(*node, request);
  REQUIRE(plan.ok());
  CHECK(plan->ranks[1].memory.to_list() == "0");
  CHECK(plan->ranks[3].memory.to_list() == "2");
}

TEST_CASE("A profile adds to a live node what only it knows, and says where the node is another") {
  const auto profile = topo::load_node(std::string(HPCML_SOURCE_DIR) + "/tests/affinity/nodes/lumi.json");
  REQUIRE(profile);
  topo::Node live = *profile; // as the kernel shows it: no reserved cores, no L3 of a GPU
  live.cpus.reserved = {};
  live.notes.clear();
  for (auto& gpu : live.gpus) gpu.place.l3.reset();
  topo::Node changed = live;
  topo::complete_from_profile(live, *profile);
  CHECK(live.notes.empty());
  CHECK(live.cpus.reserved == profile->cpus.reserved);
  CHECK(live.gpus[0].place.l3 == 6u);

  changed.gpus.pop_back();
  changed.gpus[0].place.numa = 0;
  changed.gpus[1].place.pci = "0000:c7:00.0";
  changed.nics.pop_back();
  changed.cpus.numa[2].cpus.remove(32);
  topo::complete_from_profile(changed, *profile);
  CHECK(changed.notes ==
        std::vector<std::string>{
            "CPUs of NUMA 2: 33-47,96-111 on this node, but the site profile states 32-47,96-111: hpcml uses "
            "the value of the node",
            "number of GPUs: 7 on this node, but the site profile states 8: hpcml uses the value of the node",
            "NUMA node of GPU 0: 0 on this node, but the site profile states 3: hpcml uses the value of the "
            "node",
            "address of GPU 1: 0000:c7:00.0 on this node, but the site profile states 0000:c6:00.0: hpcml "
            "uses the value of the node",
            "hpcml ignores interface hsn3 of the site profile, because this node does not have it"});
  CHECK_FALSE(changed.gpus[0].place.l3);
  CHECK(changed.gpus[2].place.l3 == 2u);
}

TEST_CASE("The GPUs of a list of visible devices are found by number and by UUID, and one that is not there "
          "is named") {
  auto node = topo::load_node(std::string(HPCML_SOURCE_DIR) + "/tests/affinity/nodes/lumi.json");
  REQUIRE(node);
  node->gpus[5].uuid = "GPU-abc5";
  CHECK(*topo::listed_gpus(*node, "2,0") == std::vector<std::string>{"0000:c9:00.0", "0000:c1:00.0"});
  CHECK(*topo::listed_gpus(*node, "GPU-abc5") == std::vector<std::string>{"0000:d6:00.0"});
  for (const char* list : {"0,9", "-1", "GPU-x,0", "0,,1"}) {
    INFO(list);
    const auto none = topo::listed_gpus(*node, list);
    REQUIRE_FALSE(none);
    CHECK(none.error().what.find("is not one of the node's 8 GPUs") != std::string::npos);
  }
}
