// SPDX-License-Identifier: MIT
// Clusters whose partition has several kinds of nodes, and nodes whose GPUs are cut into parts.
#include <catch2/catch.hpp>

#include <set>

#include "core/util/text.hpp"
#include "emulate/cluster_helper.hpp"
#include "emulate/cluster_layout.hpp"
#include "emulate/gpu_files.hpp"
#include "emulate/site_helper.hpp"

using namespace hpcml;
using test::Cluster;

namespace {

/// "2 h100, 1 h100 in parts" of a layout.
std::string kinds_of(const emulate::ClusterLayout& layout) {
  std::vector<std::string> kinds;
  for (const auto& kind : group_by_kind(layout))
    kinds.push_back(std::to_string(kind.size()) + " " + kind.front()->type->id +
                    (kind.front()->slices ? " in parts" : ""));
  return util::join(kinds, ", ");
}

bool is_in(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

} // namespace

TEST_CASE("nodes of each kind of the partition run, as many as asked for and the site has") {
  struct Case {
    const char *site, *partition, *node_type;
    unsigned nodes;
    const char* kinds;
  };
  for (const auto& [id, partition, node_type, nodes, kinds] :
       {Case{"killarney", "", "", 2, "2 l40s, 2 h100"}, Case{"lumi", "", "", 3, "3 lumi-g"},
        Case{"nibi", "", "", 2, "2 h100, 2 mi300a, 1 h100 in parts"},
        Case{"nibi", "", "mi300a", 2, "2 mi300a"}, Case{"nibi", "", "h100_1g.10gb", 2, "2 h100 in parts"},
        Case{"kebnekaise", "batch", "", 6, ""}}) {
    CAPTURE(id, partition, node_type);
    const auto site = test::shipped_site(id);
    emulate::ClusterRequest request{partition, nodes};
    request.node_type = node_type;
    const auto layout = make_cluster_layout(site, request);
    REQUIRE(layout);
    if (kinds[0] != '\0') CHECK(kinds_of(*layout) == kinds);
    std::set<std::string> names, addresses;
    for (const auto& node : layout->nodes) {
      names.insert(node.name);
      addresses.insert(node.address);
    }
    CHECK(names.size() == layout->nodes.size());
    CHECK(addresses.size() == layout->nodes.size());
    for (const auto& kind : group_by_kind(*layout))
      CHECK(kind.size() <= kind.front()->type->node_count.value_or(250));
  }
}

TEST_CASE("GPUs are cut into the parts that they have room for, each with a name of its own") {
  model::GpuShape gpu;
  gpu.per_node = 2;
  gpu.slices = {{"h_1g.10gb", {}, {}, {}, {}}, {"h_3g.40gb", {}, {}, {}, {}}, {"odd", {}, {}, {}, {}}};
  std::string text;
  std::set<std::string> uuids;
  for (const auto& part : emulate::cut_gpus(gpu)) {
    text += part.slice->name + "@" + std::to_string(part.gpu) + "." + std::to_string(part.number) + " ";
    uuids.insert(part_uuid(part, "n1"));
    uuids.insert(part_uuid(part, "n2"));
  }
  CHECK(text == "h_1g.10gb@0.0 h_1g.10gb@0.1 h_1g.10gb@0.2 h_1g.10gb@0.3 h_1g.10gb@0.4 h_1g.10gb@0.5 "
                "h_1g.10gb@0.6 odd@0.7 h_3g.40gb@1.0 h_3g.40gb@1.1 ");
  CHECK(uuids.size() == 20);
  for (const auto& uuid : uuids)
    CHECK(uuid.size() == std::string("MIG-41b36014-042a-5d3e-9b1a-c2e5d1f7a0b3").size());
}

TEST_CASE("a script for a partition's second kind of GPU runs on a node that has it", "[slurm]") {
  const Cluster nibi({"--site", "nibi"});
  const auto made =
      nibi.generate({"--site", "nibi", "--gpu-type", "mi300a", "--gpus-per-node", "4", "--account", "def-x",
                     "--time", "10", "--mem", "16G", "-o", "job.sh", "--", "bash", "-c",
                     "echo rank $RANK $(nproc --all) of $SLURM_NODEID amd=$ROCR_VISIBLE_DEVICES "
                     "nvidia=$CUDA_VISIBLE_DEVICES; nvidia-smi; rocm-smi | head -n 1; "
                     "cat /sys/bus/pci/devices/*/vendor | sort -u"});
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  const auto result = nibi.run("sbatch -W -o out.txt job.sh; cat out.txt");
  INFO(result.out + result.err);
  for (const auto* rank : {"0", "1", "2", "3"})
    CHECK(is_in(result.out, std::string("rank ") + rank + " 96 of 0 amd="));
  CHECK_FALSE(is_in(result.out, "nvidia=0"));
  CHECK(is_in(result.out, "nvidia-smi: command not found"));
  CHECK(is_in(result.out, "AMD MI300A"));
  CHECK(is_in(result.out, "0x1002"));
  CHECK_FALSE(is_in(result.out, "0x10de"));
}

TEST_CASE("a job sees the part of a GPU that it asked for, by Slurm's or another name, and no other",
          "[slurm]") {
  const Cluster nibi({"--site", "nibi"});
  const auto made =
      nibi.generate({"--site", "nibi", "--gpu-type", "h100_1g.10gb", "--gpus-per-node", "1", "--account",
                     "def-x", "--time", "10", "--mem", "16G", "-o", "job.sh", "--", "bash", "-c",
                     "echo rank $RANK of $WORLD_SIZE sees $CUDA_VISIBLE_DEVICES; nvidia-smi -L"});
  INFO(made.err);
  REQUIRE(made.exit_code == 0);
  const auto result =
      nibi.run("sbatch -W -o out.txt job.sh; cat out.txt; o='-A def-x -t 5 -n1 --mem=1G'; "
               "srun $o --gres=gpu:nvidia_h100_80gb_hbm3_3g.40gb:1 bash -c 'echo three "
               "$CUDA_VISIBLE_DEVICES; nvidia-smi -L'; "
               "srun $o --gpus-per-node=h100:1 bash -c 'echo whole $CUDA_VISIBLE_DEVICES; nvidia-smi -L'");
  INFO(result.out + result.err);
  CHECK(is_in(result.out, "rank 0 of 1 sees MIG-"));
  CHECK(is_in(result.out, "  MIG 1g.10gb      Device   0: (UUID: MIG-"));
  CHECK(is_in(result.out, "three MIG-"));
  CHECK(is_in(result.out, "  MIG 3g.40gb      Device   0: (UUID: MIG-"));
  CHECK(is_in(result.out, "whole 0\nGPU 0: NVIDIA H100 SXM 80 GB (emulated)\n"));
}

TEST_CASE("a part of a GPU that the nodes do not have is refused", "[slurm]") {
  for (const auto& [arguments, type] :
       {std::pair{std::vector<std::string>{"--site", "nibi"}, "h100_4g.40gb"},
        std::pair{std::vector<std::string>{"--site", "nibi", "--node-type", "h100"}, "h100_1g.10gb"},
        std::pair{std::vector<std::string>{"--site", "rorqual", "--node-type", "h100"}, "a100_1g.5gb"}}) {
    const auto result = Cluster(arguments).run(std::string("sbatch -A def-x -t 5 --mem=1G --gres=gpu:") +
                                               type + ":1 --wrap true");
    CAPTURE(type, result.err);
    CHECK(result.exit_code == 1);
    CHECK(is_in(result.err, "Requested node configuration is not available"));
  }
}
