// SPDX-License-Identifier: MIT
// Reading what Slurm's commands print: recorded outputs of ten versions.
#include <catch2/catch.hpp>
#include <filesystem>

#include "core/slurm/accounts.hpp"
#include "core/slurm/cluster_records.hpp"
#include "core/slurm/commands.hpp"
#include "core/util/file.hpp"

using namespace hpcml;
namespace fs = std::filesystem;

namespace {

std::string recorded(const std::string& name) {
  const auto text = util::read_file(fs::path(HPCML_SOURCE_DIR) / "tests/core/slurm/recorded" / name);
  REQUIRE(text);
  return *text;
}

std::string entries(const std::string& gres) {
  std::string text;
  for (const auto& record : slurm::read_gres_records(gres))
    text += record.name + "/" + record.type + "/" + std::to_string(record.count) + " ";
  return text;
}

} // namespace

TEST_CASE("a partition reads the same from every Slurm version") {
  for (const char* version : {"20.11", "22.05", "23.02", "24.05", "26.05"}) {
    CAPTURE(version);
    const auto partitions = slurm::parse_partitions(recorded(std::string("partition-") + version + ".txt"));
    REQUIRE(partitions);
    REQUIRE(partitions->size() == 1);
    const auto& partition = partitions->front();
    CHECK(partition.name == "standard-g");
    CHECK(partition.nodes == "nid[001-004]");
    CHECK(partition.is_default);
    CHECK(partition.whole_nodes); // 26.05 says Exclusive=NODE and OverSubscribe=NO
    CHECK(partition.up);
    REQUIRE(partition.max_time);
    CHECK(partition.max_time->to_slurm() == "2-00:00:00");
    CHECK_FALSE(partition.default_time);
    CHECK_FALSE(partition.max_nodes);
    CHECK(partition.qos.empty());
    CHECK(partition.allow_accounts.empty());
  }
}

TEST_CASE("a partition's limits, shares and permissions are read") {
  const auto partitions = slurm::parse_partitions(
      "PartitionName=gpu\n   AllowGroups=ALL DenyAccounts=guests,test AllowQos=normal,high\n"
      "   AllocNodes=ALL Default=NO QoS=gpu_part\n   DefaultTime=00:30:00 DisableRootJobs=NO "
      "ExclusiveUser=NO\n"
      "   MaxNodes=8 MaxTime=UNLIMITED MinNodes=2 LLN=NO MaxCPUsPerNode=124\n   Nodes=gh[101-132],gx1\n"
      "   RootOnly=NO OverSubscribe=YES:4\n   State=DRAIN TotalCPUs=4096 TotalNodes=33\n"
      "   JobDefaults=DefCpuPerGPU=16,DefMemPerGPU=250000\n   DefMemPerCPU=12000 MaxMemPerNode=500000\n\n"
      "PartitionName=CPU nodes (amd) AllowGroups=ALL AllowAccounts=a Default=NO Nodes=(null) RootOnly=YES "
      "State=UP\n");
  REQUIRE(partitions);
  REQUIRE(partitions->size() == 2);
  const auto& gpu = partitions->front();
  CHECK(gpu.deny_accounts == std::vector<std::string>{"guests", "test"});
  CHECK(gpu.allow_qos == std::vector<std::string>{"normal", "high"});
  CHECK(gpu.qos == "gpu_part");
  CHECK(gpu.default_time->to_slurm() == "00:30:00");
  CHECK_FALSE(gpu.max_time);
  CHECK(gpu.max_nodes == 8u);
  CHECK(gpu.min_nodes == 2);
  CHECK(gpu.max_cpus_per_node == 124u);
  CHECK(gpu.def_cpus_per_gpu == 16u);
  CHECK(gpu.def_mem_per_gpu_mib == 250000u);
  CHECK_FALSE(gpu.whole_nodes);
  CHECK_FALSE(gpu.up);
  const auto& odd = partitions->back();
  CHECK(odd.name == "CPU nodes (amd)");
  CHECK(odd.nodes.empty());
  CHECK(odd.root_only);
  CHECK(odd.allow_accounts == std::vector<std::string>{"a"});
}

TEST_CASE("the nodes of a real Slurm read as the site's nodes are") {
  const auto nodes = slurm::parse_nodes(recorded("node-22.05.txt"));
  REQUIRE(nodes);
  REQUIRE(nodes->size() == 1);
  const auto& node = nodes->front();
  CHECK(node.name == "nid000001");
  CHECK(node.arch == "x86_64");
  CHECK(node.sockets == 1);
  CHECK(node.cores_per_socket == 64);
  CHECK(node.threads_per_core == 2);
  CHECK(node.cpus == 128);
  CHECK(node.memory_mib == 491520);
  CHECK(node.reserved_cores == 8);
  CHECK(node.reserved_cpus == "0-1,16-17,32-33,48-49,64-65,80-81,96-97,112-113");
  CHECK(node.partitions == std::vector<std::string>{"standard-g", "small-g", "dev-g", "bench"});
  REQUIRE(node.gres.size() == 1);
  CHECK(node.gres[0].count == 8);
}

TEST_CASE("nodes over several lines, drained, down and with MIG slices are read") {
  const auto nodes = slurm::parse_nodes(recorded("node-23.11-lines.txt"));
  REQUIRE(nodes);
  REQUIRE(nodes->size() == 2);
  const auto& first = nodes->front();
  CHECK(first.name == "gpu-a-01");
  CHECK(first.features == std::vector<std::string>{"h100", "location=row3", "GPU"});
  CHECK(first.state == "MIXED+DRAIN"); // not the one in the reason
  CHECK(first.memory_mib == 1031000);
  CHECK(first.system_memory_mib == 8192);
  CHECK(first.reserved_cores == 4);
  REQUIRE(first.gres.size() == 3);
  CHECK(first.gres[1].type == "h100_3g.40gb");
  const auto& second = nodes->back();
  CHECK(second.arch.empty());
  CHECK(second.gres.empty());
  CHECK(second.cores_per_socket == 28);
}

TEST_CASE("the beginning of a node's record is enough for what it says") {
  for (const char* version : {"20.11", "26.05"}) {
    CAPTURE(version);
    const auto nodes = slurm::parse_nodes(recorded(std::string("node-") + version + "-begin.txt"));
    REQUIRE(nodes);
    CHECK(nodes->front().name == "nid001");
    CHECK(nodes->front().features == std::vector<std::string>{"a", "b"});
    CHECK(entries("gpu:mi250:8") == "gpu/mi250/8 ");
    CHECK(nodes->front().gres.front().type == "mi250");
    CHECK(nodes->front().cpus == 128);
  }
}

TEST_CASE("sinfo tells of nodes what scontrol tells, but for what is reserved") {
  // As Slurm 22.05 prints it.
  const auto nodes = slurm::parse_sinfo_nodes("nid000001|standard-g|1|64|2|128|491520|gpu:8(S:0)|(null)"
                                              "\nnid000001|small-g|1|64|2|128|491520|gpu:8(S:0)|(null)\n"
                                              "c1|batch|2|24|1|48|510000|(null)|a,b\nbroken|x|0|0|0|0|0|("
                                              "null)|(null)\nhuge|x|99999|99999|9|0|0|(null)|(null)\n");
  REQUIRE(nodes);
  REQUIRE(nodes->size() == 2);
  CHECK(nodes->front().partitions == std::vector<std::string>{"standard-g", "small-g"});
  CHECK(nodes->front().threads_per_core == 2);
  CHECK(nodes->front().gres.front().count == 8);
  CHECK(nodes->front().features.empty());
  CHECK(nodes->back().features == std::vector<std::string>{"a", "b"});
  CHECK(nodes->back().memory_mib == 510000);
  CHECK_FALSE(slurm::parse_sinfo_nodes("sinfo: error: no\n"));
}

TEST_CASE("GRES texts of all kinds are read") {
  const std::pair<const char*, const char*> cases[] = {
      {"gpu:8(S:0)", "gpu//8 "},
      {"gpu:a100:4", "gpu/a100/4 "},
      {"gpu:a100:4(S:0,1)", "gpu/a100/4 "},
      {"gpu:a100:no_consume:4,shard:16(S:0-1)", "gpu/a100/4 shard//16 "},
      {"gres:gpu:4", "gpu//4 "},
      {"gpu", "gpu//1 "},
      {"gpu:tesla", "gpu/tesla/1 "},
      {"nvme:2K,lustre:1M", "nvme//2048 lustre//1048576 "},
      {"gpu:nvidia_a100_3g.20gb:2(S:0)", "gpu/nvidia_a100_3g.20gb/2 "},
      {"(null)", ""},
      {"", ""},
      {",,gpu:1", "gpu//1 "},
  };
  for (const auto& [text, wanted] : cases) {
    CAPTURE(text);
    CHECK(entries(text) == wanted);
  }
}

TEST_CASE("the configuration's facts for requests are read") {
  const auto config = slurm::parse_cluster_config(recorded("config-22.05.txt"));
  REQUIRE(config);
  CHECK(config->cluster == "lumi");
  CHECK(config->version == "22.05.8");
  CHECK_FALSE(config->has_accounting);
  CHECK(config->enforced.empty());
  CHECK(config->submit_plugins == std::vector<std::string>{"lua"});
  const auto strict = slurm::parse_cluster_config(
      "ClusterName = x\nAccountingStorageEnforce = associations,limits,qos,safe\n"
      "AccountingStorageType = accounting_storage/slurmdbd\nSLURM_VERSION = 24.05.4\n");
  REQUIRE(strict);
  CHECK(strict->has_accounting);
  CHECK(strict->enforced.size() == 4);
}

TEST_CASE("what is no record is refused with what was said instead") {
  CHECK(slurm::parse_partitions("slurm_load_partitions: Unable to contact slurm controller\n")
            .error()
            .what.find("Unable to contact") != std::string::npos);
  CHECK_FALSE(slurm::parse_nodes(""));
  CHECK_FALSE(slurm::parse_nodes("PartitionName=x Nodes=y\n"));
  CHECK_FALSE(slurm::parse_cluster_config("garbage"));
}

/// Printed by sacctmgr 22.05.8 with slurmdbd on MariaDB 10.11, asked with the words of ask_accounts and
/// qos_command. Made before with: sacctmgr add qos gpu maxwall=1-00:00:00 maxtresperjob=node=4,cpu=64
/// mintresperjob=gres/gpu=2; add qos short maxwall=00:30:00; add user ME account=def-me qos=normal,short; add
/// user ME account=rrg-me partition=gpu qos=gpu,normal.
TEST_CASE("accounts and QoS limits are read as a real sacctmgr printed them") {
  const auto accounts = slurm::read_accounts(recorded("sacctmgr-user-22.05.txt"));
  CHECK(accounts.default_account == "def-me");
  CHECK(accounts.names() == std::vector<std::string>{"def-me", "rrg-me"});
  REQUIRE(accounts.associations.size() == 2);
  CHECK(accounts.associations[0].qos == std::vector<std::string>{"normal", "short"});
  CHECK(accounts.associations[1].partition == "gpu");
  const auto qos = slurm::read_qos_records(recorded("sacctmgr-qos-22.05.txt"));
  REQUIRE(qos.size() == 3);
  CHECK(qos.at("gpu").max_nodes_per_job == 4u);
  CHECK(qos.at("gpu").min_gpus_per_job == 2u);
  CHECK(qos.at("short").max_wall->to_slurm() == "00:30:00");
}

TEST_CASE("the account that Slurm itself makes for root is none to choose where there are others") {
  CHECK(slurm::read_accounts("root|root||normal\nroot|me||normal\n").names() ==
        std::vector<std::string>{"me"});
  CHECK(slurm::read_accounts("root|root||normal\n").names() == std::vector<std::string>{"root"});
}

TEST_CASE("accounts and QoS limits are read from sacctmgr") {
  const auto accounts = slurm::read_accounts("def-me|def-me||\ndef-me|rrg-me|gpu|high,normal\n");
  CHECK(accounts.default_account == "def-me");
  CHECK(accounts.names() == std::vector<std::string>{"def-me", "rrg-me"});
  CHECK(accounts.associations[1].partition == "gpu");
  CHECK(accounts.associations[1].qos == std::vector<std::string>{"high", "normal"});
  CHECK(slurm::read_accounts("").names().empty());
  const auto qos = slurm::read_qos_records("normal|||\ngpu|1-00:00:00|cpu=64,node=4|gres/gpu=2\n");
  REQUIRE(qos.size() == 2);
  CHECK_FALSE(qos.at("normal").max_wall);
  CHECK(qos.at("gpu").max_wall->to_slurm() == "1-00:00:00");
  CHECK(qos.at("gpu").max_nodes_per_job == 4u);
  CHECK(qos.at("gpu").min_gpus_per_job == 2u);
}

TEST_CASE(
    "commands are asked without the variables that change what they print, and a missing one is named") {
  util::EnvSnapshot env(
      {{"PATH", "/usr/bin:/bin"}, {"SINFO_FORMAT", "%N"}, {"SLURM_TIME_FORMAT", "relative"}});
  const slurm::LiveCommands client(env);
  const auto variables = client.ask({"env"});
  REQUIRE(variables.ok());
  CHECK(variables.output.out.find("SINFO_FORMAT") == std::string::npos);
  CHECK(variables.output.out.find("SLURM_TIME_FORMAT=standard") != std::string::npos);
  const auto missing = client.ask({"no-such-command", "show"});
  CHECK_FALSE(missing.executed);
  CHECK(missing.why_not == "no-such-command is not in PATH");
  const auto refused = client.ask({"sh", "-c", "echo 'scontrol: error: no controller' >&2; exit 3"});
  CHECK_FALSE(refused.ok());
  CHECK(refused.why_not == "no controller");
  const auto late =
      slurm::LiveCommands(env, std::chrono::milliseconds(20)).ask({"sh", "-c", "sleep 1000 | cat"});
  CHECK_FALSE(late.executed);
  CHECK(late.why_not == "sh exceeded its time limit of 20 ms and was stopped");
  CHECK(slurm::k_answer_timeout <= std::chrono::seconds(10));
  CHECK(slurm::record_name({"/opt/slurm/bin/sacctmgr", "-nP", "show", "qos", "format=name,flags"}) ==
        "sacctmgr-nP-show-qos.txt");
}
