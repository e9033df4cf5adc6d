// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "emulate/accounting.hpp"
#include "emulate/assumed_nodes.hpp"
#include "emulate/preemption.hpp"
#include "emulate/site_helper.hpp"
#include "emulate/slurm_files.hpp"
#include "emulate/slurm_install.hpp"
#include "temp_directory.hpp"

using namespace hpcml;
using namespace hpcml::emulate;

namespace {

std::map<std::string, std::string> files_of(const model::Site& site, const ClusterLayout& layout,
                                            bool whole_sockets = false) {
  SlurmFileOptions options;
  options.state_dir = "/run/x";
  options.whole_sockets = whole_sockets;
  return make_slurm_files(site, layout, options);
}

/// The line of `text` that begins with `start`.
std::string line_of(const std::string& text, const std::string& start) {
  for (const auto& line : util::split(text, '\n'))
    if (line.starts_with(start)) return line;
  return "no line begins with " + start;
}

} // namespace

TEST_CASE("a plugin of Slurm that opens a library which is not there is none to count on") {
  const test::TempDirectory directory;
  const auto path = directory.path().string();
  const auto plugin = [&](const std::string& name) {
    return std::string("\x7f"
                       "ELF\0x\0",
                       7) +
           path + std::string("\0", 1) + name + std::string("\0", 1);
  };
  CHECK_FALSE(emulate::finds_its_library(plugin("libhpcml-none.so"), "libhpcml-none.so"));
  CHECK(emulate::finds_its_library(plugin("other"), "libhpcml-none.so")); // it is linked, or needs none
  REQUIRE(util::write_file(path + "/libhpcml-none.so", "x"));
  CHECK(emulate::finds_its_library(plugin("libhpcml-none.so"), "libhpcml-none.so"));
}

TEST_CASE("where Slurm wants whole sockets near a GPU it gets them, and no more of them") {
  auto site = test::small_site();
  const auto cores_of_last = [&](bool whole_sockets) {
    const auto gres = files_of(site, test::layout_of(site), whole_sockets).at("gres.conf");
    const auto at = gres.rfind(" Cores=");
    return gres.substr(at, gres.find(' ', at + 1) - at);
  };
  CHECK(cores_of_last(true) == " Cores=8-15"); // the second of two sockets
  for (auto& type : site.node_types) type.cpu.sockets = 1;
  CHECK(cores_of_last(false) == " Cores=8-15");
  CHECK(cores_of_last(true) == " Cores=0-15");
  for (const auto& [version, wants] :
       {std::pair{"22.05.8", false}, {"24.05.4", false}, {"24.11.0", true}, {"26.05.3", true}, {"", false}}) {
    SlurmInstall slurm;
    slurm.version = version;
    CHECK(wants_whole_sockets(slurm) == wants);
  }
}

TEST_CASE("login node has a short MinJobAge") {
  const auto site = test::small_site();
  const auto files = files_of(site, test::layout_of(site));
  CHECK(files.at("login.conf") == files.at("slurm.conf") + "MinJobAge=4\n");
  CHECK(line_of(files.at("slurm.conf"), "MinJobAge") == "no line begins with MinJobAge");
}

TEST_CASE("a partition becomes a line of slurm.conf with its limits") {
  const auto site = test::small_site();
  const auto conf = files_of(site, test::layout_of(site)).at("slurm.conf");
  CHECK(line_of(conf, "PartitionName=main") == "PartitionName=main Nodes=g[001-002] Default=YES MaxTime=2880 "
                                               "MaxNodes=6 OverSubscribe=EXCLUSIVE State=UP");
  CHECK(line_of(conf, "PartitionName=dev") ==
        "PartitionName=dev Nodes=g[001-002] MaxTime=180 DefaultTime=60 State=UP");
  CHECK(line_of(conf, "PartitionName=other") == "PartitionName=other MaxTime=UNLIMITED State=UP");
}

TEST_CASE("memory is limited only where that is asked for") {
  const auto site = test::small_site();
  const auto files = files_of(site, test::layout_of(site));
  CHECK(line_of(files.at("slurm.conf"), "TaskPlugin=") == "TaskPlugin=task/affinity");
  CHECK(files.at("cgroup.conf").empty());
  SlurmFileOptions options;
  options.state_dir = "/run/x";
  options.limits_jobs = true;
  options.cgroup_conf = "ConstrainRAMSpace=yes\n";
  const auto limited = make_slurm_files(site, test::layout_of(site), options);
  CHECK(line_of(limited.at("slurm.conf"), "TaskPlugin=") == "TaskPlugin=task/affinity,task/cgroup");
  CHECK(limited.at("cgroup.conf") == options.cgroup_conf);
}

TEST_CASE("a Slurm that limits nothing is told to leave control groups alone, in its version's words") {
  SlurmInstall slurm;
  for (const auto& [version, conf] : {std::pair{"20.11.9", ""},
                                      {"22.05.8", "CgroupPlugin=cgroup/v1\n"},
                                      {"23.11.10", "CgroupPlugin=cgroup/v1\n"},
                                      {"24.05.4", "CgroupPlugin=disabled\n"},
                                      {"26.05.3", "CgroupPlugin=disabled\n"}}) {
    slurm.version = version;
    CHECK(make_idle_cgroup_conf(slurm) == conf);
  }
}

TEST_CASE("jobs are preempted only where that is asked for, and all by one partition") {
  const auto site = test::small_site();
  CHECK(files_of(site, test::layout_of(site)).at("slurm.conf").find("reempt") == std::string::npos);
  SlurmFileOptions options;
  options.faults = parse_faults({"preempt:cancel@3s"}, FaultValidationContext{2}).faults;
  const auto conf = make_slurm_files(site, test::layout_of(site), options).at("slurm.conf");
  CHECK(line_of(conf, "PreemptMode") == "PreemptMode=CANCEL");
  CHECK(line_of(conf, "PartitionName=hpcml-preempt").find(" Nodes=ALL PriorityTier=1000 ") !=
        std::string::npos);
  CHECK(line_of(conf, "PartitionName=main").find("OverSubscribe=EXCLUSIVE") != std::string::npos);
  options.faults = parse_faults({"preempt:suspend@3s"}, FaultValidationContext{2}).faults;
  const auto shared = make_slurm_files(site, test::layout_of(site), options).at("slurm.conf");
  CHECK(line_of(shared, "PreemptMode") == "PreemptMode=SUSPEND,GANG");
  CHECK(line_of(shared, "SelectTypeParameters") == "SelectTypeParameters=CR_Core");
  CHECK(line_of(shared, "PartitionName=main").find("OverSubscribe=FORCE:1") != std::string::npos);
}

TEST_CASE("where QoS decide one of hpcml's own preempts those that the profile calls preemptible, else all") {
  auto site = test::small_site();
  SlurmFileOptions options;
  options.faults = parse_faults({"preempt:qos-cancel:20s@3s"}, FaultValidationContext{2}).faults;
  const auto conf = make_slurm_files(site, test::layout_of(site), options).at("slurm.conf");
  CHECK(line_of(conf, "PreemptType") == "PreemptType=preempt/qos");
  CHECK(line_of(conf, "PreemptMode") == "PreemptMode=CANCEL");
  CHECK(line_of(conf, "PartitionName=hpcml-preempt").find("PreemptMode") == std::string::npos);
  CHECK(conf.find("GraceTime") == std::string::npos); // it is the QoS's
  using Entries = std::vector<std::vector<std::string>>;
  CHECK(make_preemption_entries(site, {}, true).empty());
  site.qos.clear();
  CHECK(make_preemption_entries(site, options.faults, false) ==
        Entries{{"modify", "qos", "where", "name=normal", "set", "gracetime=20"},
                {"add", "qos", "name=hpcml-preempt", "preempt=normal"}});
  site.qos.resize(2);
  site.qos[0].name = "debug";
  site.qos[1].name = "besteffort";
  CHECK(list_preempted_qos(site) == std::vector<std::string>{"normal", "debug", "besteffort"});
  site.qos[1].preemptible = true;
  CHECK(list_preempted_qos(site) == std::vector<std::string>{"besteffort"});
  CHECK(make_preemption_entries(site, parse_faults({"preempt:qos@3s"}, FaultValidationContext{2}).faults,
                                true) ==
        Entries{{"add", "qos", "name=hpcml-preempt", "preempt=besteffort"},
                {"modify", "cluster", "where", "name=" + site.id, "set", "qos+=hpcml-preempt"}});
  options.faults = parse_faults({"preempt:20s@3s"}, FaultValidationContext{2}).faults;
  const auto graced = make_slurm_files(site, test::layout_of(site), options).at("slurm.conf");
  CHECK(line_of(graced, "PartitionName=main").find(" GraceTime=20 ") != std::string::npos);
  CHECK(line_of(graced, "PartitionName=hpcml-preempt").find("GraceTime") == std::string::npos);
}

TEST_CASE("requeues are expedited where the profile says so") {
  auto site = test::small_site();
  CHECK(files_of(site, test::layout_of(site)).at("slurm.conf").find("expedited") == std::string::npos);
  site.flags["requeue"].default_value = "expedite";
  CHECK(line_of(files_of(site, test::layout_of(site)).at("slurm.conf"), "SlurmctldParameters") ==
        "SlurmctldParameters=enable_expedited_requeue");
}

TEST_CASE("what Slurm enforces decides about exclusive use, not what the site asks for") {
  auto site = test::small_site();
  site.partitions[0].slurm_exclusive = false;
  const auto conf = files_of(site, test::layout_of(site)).at("slurm.conf");
  CHECK(line_of(conf, "PartitionName=main").find("EXCLUSIVE") == std::string::npos);
}

TEST_CASE("there is no default partition where the site wants it named") {
  auto site = test::small_site();
  site.flags["partition"].policy = model::OptionPolicy::required;
  const auto conf = files_of(site, test::layout_of(site)).at("slurm.conf");
  CHECK(conf.find("Default=YES") == std::string::npos);
}

TEST_CASE("a partition that cannot be named is the one that jobs get") {
  auto site = test::small_site();
  for (auto& partition : site.partitions) partition.nameable = false;
  const auto conf = files_of(site, test::layout_of(site, "dev")).at("slurm.conf");
  CHECK(line_of(conf, "PartitionName=dev").find(" Default=YES") != std::string::npos);
  CHECK(line_of(conf, "PartitionName=main").find(" Default=YES") == std::string::npos);
}

TEST_CASE("a node's shape is the profile's") {
  const auto site = test::small_site();
  const auto conf = files_of(site, test::layout_of(site)).at("slurm.conf");
  CHECK(line_of(conf, "NodeName=g002") == "NodeName=g002 NodeHostname=g002 NodeAddr=10.66.1.2 Port=6818 "
                                          "Sockets=2 CoresPerSocket=8 ThreadsPerCore=2 "
                                          "RealMemory=100000 Gres=gpu:a100:4 State=UNKNOWN");
}

TEST_CASE("jobs can ask for the features that a node's profile names") {
  auto site = test::small_site();
  for (auto& type : site.node_types) {
    type.features = {"nvme", "a100"};
    type.constraint = "gpu&(a100|hbm80g)";
    type.local_disk_option = "--constraint=bigdisk";
  }
  const auto conf = files_of(site, test::layout_of(site)).at("slurm.conf");
  CHECK(line_of(conf, "NodeName=g002").find(" Feature=nvme,a100,gpu,hbm80g,bigdisk ") != std::string::npos);
}

TEST_CASE("nodes have the constraints of the whole site") {
  auto site = test::small_site();
  site.node_types[0].features = {"a100"};
  site.node_types[1].features = {"milan"};
  site.constraints = {"a100", "milan", "scratch", "GPU_SKU:*"};
  const auto conf = files_of(site, test::layout_of(site)).at("slurm.conf");
  CHECK(line_of(conf, "NodeName=g002").find(" Feature=a100,scratch ") != std::string::npos);
}

TEST_CASE("a QoS extends the time limit of its partition") {
  auto site = test::small_site();
  model::Qos qos;
  qos.name = "long";
  qos.partitions = {"dev"};
  qos.max_time = model::Sourced<model::Walltime>{model::Walltime::of(std::chrono::hours(96)), {}};
  site.qos = {qos};
  const auto conf = files_of(site, test::layout_of(site)).at("slurm.conf");
  CHECK(line_of(conf, "PartitionName=dev").find(" MaxTime=5760 ") != std::string::npos);
  CHECK(line_of(conf, "PartitionName=main").find(" MaxTime=2880 ") != std::string::npos);
  // Where Slurm enforces QoS, other jobs keep the partition's limit.
  SlurmFileOptions enforced;
  enforced.state_dir = "/run/x";
  enforced.accounting = enforced.enforced = true;
  const auto strict = make_slurm_files(site, test::layout_of(site), enforced).at("slurm.conf");
  CHECK(line_of(strict, "PartitionName=dev").find(" MaxTime=5760 ") == std::string::npos);
}

TEST_CASE("emulate assumes and reports missing facts of nodes") {
  auto site = test::small_site();
  CHECK(complete_nodes(site, "").empty());
  site.node_types[1].cpu = {};
  CHECK(complete_nodes(site, "main").empty()); // whose nodes are known
  CHECK(complete_nodes(site, "other") ==
        std::vector<std::string>{
            "the profile does not state the cores of node type cpu: assuming 256 cores per node"});
  CHECK(test::layout_of(site, "other").type->cpu.cores == 256);
  site.partitions[1].node_types.clear();
  CHECK(complete_nodes(site, "dev") ==
        std::vector<std::string>{
            "the profile does not describe the nodes of partition dev: assuming nodes with 64 CPUs, 4 "
            "GPUs and 256G of memory"});
  CHECK(test::layout_of(site, "dev").type->gpu->per_node == 4);
}

TEST_CASE("emulate reports unknown memory and an unknown default partition") {
  auto site = test::small_site();
  CHECK(describe_assumptions(site, test::layout_of(site)).empty());
  for (auto& type : site.node_types) type.memory.reset();
  CHECK(describe_assumptions(site, test::layout_of(site)) ==
        std::vector<std::string>{
            "the profile does not state the memory of node type gpu: assuming 4096G per node"});
  site.partitions[0].slurm_default = false;
  CHECK(describe_assumptions(site, test::layout_of(site)).back() ==
        "the profile does not state Slurm's default partition: jobs that name none get main");
  for (auto& partition : site.partitions) partition.is_default = false;
  CHECK(describe_assumptions(site, test::layout_of(site)).back() ==
        "the profile states no default partition: jobs that name none are rejected");
  site.flags["partition"].policy = model::OptionPolicy::required;
  CHECK(describe_assumptions(site, test::layout_of(site)).size() == 1);
}

TEST_CASE("a whole site has the default partition of the profile") {
  auto site = test::small_site();
  ClusterRequest request;
  request.whole_site = true;
  CHECK(make_cluster_layout(site, request)->default_partition == "main");
  site.partitions[0].slurm_default = false; // hpcml's choice
  CHECK(make_cluster_layout(site, request)->default_partition == k_unknown_partition);
  for (auto& partition : site.partitions) partition.is_default = false;
  CHECK(make_cluster_layout(site, request)->default_partition == k_unknown_partition);
}

TEST_CASE("a node whose number of cores is not known cannot be emulated, and that is said") {
  auto site = test::small_site();
  for (auto& type : site.node_types) type.cpu = {};
  const auto layout = make_cluster_layout(site, {});
  REQUIRE_FALSE(layout);
  CHECK(layout.error().what.find("does not state how many cores") != std::string::npos);
}

TEST_CASE("a site with several ways to ask for GPUs has them") {
  auto site = test::small_site();
  site.gpu_request.more.push_back(site.gpu_request);
  site.gpu_request.style = model::GpuOptionStyle::none;
  CHECK(files_of(site, test::layout_of(site)).at("slurm.conf").find("Gres=gpu:a100:4") != std::string::npos);
}

TEST_CASE("GPUs are devices with their vendor's variables and the cores near them") {
  const auto site = test::small_site();
  const auto gres = files_of(site, test::layout_of(site)).at("gres.conf");
  const auto lines = util::split(gres, '\n');
  REQUIRE(lines.size() >= 5);
  CHECK(lines[1] ==
        "NodeName=g[001-002] Name=gpu Type=a100 File=/run/x/dev/gpu0 Cores=0-7 Flags=nvidia_gpu_env");
  CHECK(lines[4] ==
        "NodeName=g[001-002] Name=gpu Type=a100 File=/run/x/dev/gpu3 Cores=8-15 Flags=nvidia_gpu_env");
}

TEST_CASE("a site whose Slurm does not know its GPUs has none in gres.conf") {
  auto site = test::small_site();
  site.gpu_request.style = model::GpuOptionStyle::none;
  site.flags["gres"].policy = model::OptionPolicy::forbidden;
  const auto files = files_of(site, test::layout_of(site));
  CHECK(files.at("gres.conf").find("Name=gpu") == std::string::npos);
  CHECK(files.at("slurm.conf").find("Gres=") == std::string::npos);
}

TEST_CASE("nodes have GPUs when only steps request them") {
  auto site = test::small_site();
  site.gpu_request.style = model::GpuOptionStyle::none;
  CHECK(files_of(site, test::layout_of(site)).at("slurm.conf").find("Gres=gpu:a100:4") != std::string::npos);
}

TEST_CASE("node names lead to the first high-speed interface") {
  const auto site = test::shipped_site("lumi");
  const auto layout = test::layout_of(site);
  CHECK(layout.nodes[1].name == "nid000002");
  REQUIRE(layout.nodes[1].interfaces.size() == 4);
  CHECK(layout.nodes[1].interfaces[3].name == "hsn3");
  CHECK(layout.nodes[1].interfaces[3].ipv4 == "10.69.1.2");
  CHECK(render_hosts(layout).find("\n10.66.1.2 nid000002\n") != std::string::npos);
}

TEST_CASE("the names that a site's suffix makes lead to the nodes") {
  const auto booster = test::layout_of(test::shipped_site("juwels_booster"));
  const auto hosts = render_hosts(booster);
  const auto& node = booster.nodes[1];
  CHECK(hosts.find("\n" + node.address + " " + node.name + "i\n") != std::string::npos);
  CHECK(render_hosts(on_loopback(booster, 20000)).find("\n127.0.0.1 " + node.name + "i\n") !=
        std::string::npos);
  const auto jupiter = test::layout_of(test::shipped_site("jupiter"));
  CHECK(render_hosts(jupiter).find(jupiter.nodes[0].name + "-interconnect-1.jupiter.internal\n") !=
        std::string::npos);
}

TEST_CASE("nodes on loopback are told apart by their ports") {
  const auto site = test::small_site();
  const auto layout = on_loopback(test::layout_of(site), 20000);
  CHECK(layout.controller_port == 20000);
  CHECK(layout.nodes[0].port == 20001);
  CHECK(layout.nodes[1].port == 20002);
  CHECK(layout.nodes[1].interfaces.empty());
}

TEST_CASE("a kind of node is chosen by its id, its GPUs' type or a feature, with the partition that has it") {
  struct Case {
    const char *site, *partition, *name, *type, *in;
  };
  for (const auto& [id, partition, name, type, in] :
       {Case{"kebnekaise", "", "mi100", "mi100", "batch"},
        Case{"kebnekaise", "batch", "zen4", "a6000", "batch"},
        Case{"kebnekaise", "batch", "", "v100", "batch"}, Case{"killarney", "", "h100", "h100", "gpu"},
        Case{"mila", "", "dgx-a100", "dgx-a100", "long"},
        Case{"mila", "", "hopper", "h100", "short-unkillable"}, Case{"tamia", "", "cpu", "cpu", "cpu"}}) {
    CAPTURE(id, partition, name);
    const auto site = test::shipped_site(id);
    ClusterRequest request{partition, 1};
    request.node_type = name;
    const auto layout = make_cluster_layout(site, request);
    REQUIRE(layout);
    CHECK(layout->type->id == type);
    CHECK(layout->partition->name == in);
  }
  const auto site = test::shipped_site("kebnekaise");
  ClusterRequest request{"batch", 1};
  request.node_type = "mi1000";
  const auto refused = make_cluster_layout(site, request);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().what == "partition batch of " + site.short_name() + " has no nodes of type 'mi1000'");
  CHECK(refused.error().hint == "use 'mi100', or run hpcml sites show kebnekaise");
}

TEST_CASE("accounts and QoS are entered with the profile's limits") {
  const auto site = test::shipped_site("jean_zay");
  const auto entries = make_accounting_entries(site, {"abc@h100", "abc@v100"}, "me");
  std::string text;
  for (const auto& words : entries) text += util::join(words, " ") + "\n";
  CAPTURE(text);
  const auto holds = [&](const std::string& line) { return text.find(line + "\n") != std::string::npos; };
  CHECK(holds("add qos name=qos_gpu_h100-dev MaxWall=120 MaxTRESPerJob=gres/gpu=32 MaxSubmitJobsPerUser=10 "
              "Flags=DenyOnLimit,PartitionTimeLimit"));
  CHECK(holds("add account name=abc@h100,abc@v100 cluster=jean_zay"));
  CHECK(holds("add user name=me account=abc@h100,abc@v100 defaultaccount=abc@h100 cluster=jean_zay"));
  REQUIRE(site.find_partition("gpu_p13") != nullptr);
  CHECK(deny_qos(site, *site.find_partition("gpu_p13")).find("qos_gpu_h100-dev") != std::string::npos);
  CHECK(deny_qos(site, *site.find_partition("gpu_p6")).find("qos_gpu_h100-dev") == std::string::npos);
}

TEST_CASE("what cannot be emulated is refused with a reason") {
  const auto site = test::small_site();
  struct Case {
    ClusterRequest request;
    const char* what;
    const char* hint;
  };
  const Case cases[] = {
      {{"mainn", 1}, "has no partition 'mainn'", "use 'main' or another of "},
      {{"", 0}, "at least one node", "--nodes"},
      {{"", 10}, "cannot emulate 10 nodes", "use --nodes 9 or fewer"},
  };
  for (const auto& [request, what, hint] : cases) {
    const auto layout = make_cluster_layout(site, request);
    REQUIRE_FALSE(layout);
    CHECK(layout.error().what.find(what) != std::string::npos);
    CHECK(layout.error().hint.find(hint) != std::string::npos);
  }
}

TEST_CASE("the installed Slurm is compared with the site's by release") {
  CHECK(find_slurm_version("slurm-wlm 22.05.8\n") == "22.05.8");
  CHECK(find_slurm_version("slurm 24.11.0-rc1\n") == "24.11.0-rc1");
  CHECK(find_slurm_version("nonsense") == "");
  CHECK(describe_version_difference("22.05.8", "X", "22.05.3") == "");
  CHECK(describe_version_difference("22.05.8", "X", "23.11").find("runs 23.11") != std::string::npos);
  CHECK(describe_version_difference("22.05.8", "X", "").find("is unknown") != std::string::npos);
}
