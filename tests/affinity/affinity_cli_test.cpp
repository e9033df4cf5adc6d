// SPDX-License-Identifier: MIT
// The command as people call it: what it prints, and its exit codes.
#include <catch2/catch.hpp>

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "core/topo/live_ranks.hpp"
#include "skip.hpp"
#include "test_data.hpp"

using namespace hpcml;

namespace {

struct Run {
  int code = -1;
  std::string text; // stdout and stderr
};

Run run(const std::string& arguments, const std::string& before = {}) {
  Run result;
  FILE* pipe = ::popen((before + HPCML_BINARY + " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    result.text.append(buffer.data(), count);
  const int status = ::pclose(pipe);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

Run run_in(const std::string& directory, const std::string& arguments) {
  return run(arguments, "cd '" + directory + "' && ");
}

bool reports(const Run& result, const std::string& text) {
  return result.text.find(text) != std::string::npos;
}

bool has_two_cpus() {
  return std::system("taskset -c 0 true 2>/dev/null && taskset -c 1 true 2>/dev/null") == 0;
}

std::string topologies() { return test::unpacked_topologies().string() + "/"; }

} // namespace

TEST_CASE("hpcml affinity prints LUMI's documented masks for srun") {
  const auto result = run("affinity --site lumi --cpus-per-rank 7 --format cpu-bind");
  CHECK(result.code == 0);
  CHECK(result.text == "mask_cpu:0xfe000000000000,0xfe00000000000000,0xfe0000,0xfe000000,0xfe,0xfe00,"
                       "0xfe00000000,0xfe0000000000\n");
}

TEST_CASE("hpcml affinity gives the same plan for a profile and a recorded node of the same board") {
  const std::string reserved =
      " --cpus-per-rank 6 --format json --reserved 0,8,16,24,32,40,48,56,64,72,80,88,96,104,112,120";
  const auto profile = nlohmann::json::parse(run("affinity --site lumi" + reserved).text);
  const auto recorded =
      nlohmann::json::parse(run("affinity --topology " + topologies() + "eas-tioga.xml" + reserved).text);
  REQUIRE(profile.at("ranks").size() == 8);
  for (std::size_t i = 0; i < 8; ++i)
    for (const char* key : {"cpus", "mask", "gpus", "numa", "memory", "omp_places"})
      CHECK(profile.at("ranks")[i].at(key) == recorded.at("ranks")[i].at(key));
  CHECK(profile.at("ranks")[0].at("omp_num_threads") == 6);
}

TEST_CASE("hpcml affinity says what it cannot do, with its own exit codes") {
  struct Refused {
    const char* arguments;
    int code;
    const char* reports;
  };
  for (const auto& refused : std::vector<Refused>{
           {"affinity --site lumi --cpus-per-rank 20", 4, "does not have 20 cores for each of 8 ranks"},
           {"affinity --site lumi --ranks 100", 4, "some share a core"},
           {"affinity --site lumi --ranks 8 --gpus-per-rank 2", 4, "but the node has 8"},
           {"affinity --site lumi --order 0,9", 4, "names GPU 9, but there are only 8 GPUs"},
           {"affinity --site lumi --order 1,1", 4, "names GPU 1 twice"},
           {"affinity --site lumi --gpus c1,ff", 4, "no GPU at ff"},
           {"affinity --topology coral-lassen.xml --gpus 04", 4,
            "several GPUs: 0004:04:00.0 and 0035:04:00.0"},
           {"affinity --topology eas-tioga.xml --allowed 0-3,300", 4, "the node has no CPUs 300"},
           {"affinity --site lumi --allowed 0-7 --ranks 8", 4, "does not have one core for each of 8 ranks"},
           {"affinity --site lumi --allowed 0-500", 4, "the node has no CPUs 128-500"},
           {"affinity --site lumi --allowed 0,8", 4, "no core of the node is left for ranks"},
           {"affinity --site lumi --policy torch-exclusiv", 2, "use 'torch-exclusive'"},
           {"affinity --site lumi --policy torch-node --gpus-per-rank 2 --idle-cores package", 2,
            "--gpus-per-rank, --idle-cores"},
           {"affinity --site lumi --policy mpibind --ranks-per-gpu 2 --rank-order cpu", 2,
            "--ranks-per-gpu, --rank-order"},
           {"affinity --site lumi --policy nvidia-all --balanced --domain numa --whole-domain", 2,
            "--domain, --whole-domain, --balanced"},
           {"affinity --site lumi --policy torch-exclusive --cpus-per-rank 3 --threads-per-core 2", 2,
            "cannot be used with --cpus-per-rank, --threads-per-core"},
           {"affinity --site lumi --policy mpibind --cpus-per-rank 3", 2,
            "cannot be used with --cpus-per-rank"},
           {"affinity --site lumi --policy nvidia-single --cpus-per-rank 3", 2,
            "cannot be used with --cpus-per-rank"},
           {"affinity --site lumi --policy nvidia-unique-contiguous --cpus-per-rank 8", 4,
            "GPU 0 has 7 cores near it"},
           {"affinity --topology coral-lassen.xml --policy nvidia-all --threads-per-core 2", 4,
            "one hardware thread of each core or all 4"},
           {"affinity --site lumi --policy torch-node --gpus c1,ff", 4, "no GPU at ff"},
           {"affinity --site lumi --policy torch-node --verify", 2,
            "--verify and --policy cannot be used together"},
           {"affinity --site lumi --gpus-per-rank 2 --ranks-per-gpu 2", 2, "cannot be used with"},
           {"affinity --site lumi --gpus-per-rank 9", 4, "but the node has 8"},
           {"affinity --site lumi --ranks 17 --ranks-per-gpu 2", 4, "17 ranks need 9 GPUs"},
           {"affinity --site lumi --allowed ''", 2, "--allowed must not be empty"},
           {"affinity --site lumi --reserved ' '", 2, "--reserved must not be empty"},
           {"affinity --site lumi --gpus ','", 2, "--gpus must not be empty"},
           {"affinity --site lumi --gpus ''", 2, "--gpus must not be empty"},
           {"affinity --site lumi --threads-per-core 3", 4,
            "but the cores of the node have 2 hardware threads"},
           {"affinity --site lumi --rank-order 0,1,2", 4, "names 3 GPUs, but 8 ranks need 8"},
           {"affinity --site lumi --rank-order 0,1,2,3 --ranks 4 --gpus-per-rank 2", 4,
            "names 4 GPUs, but 4 ranks need 8"},
           {"affinity --site ''", 2, "--site must not be empty"},
           {"affinity --topology ''", 2, "--topology must not be empty"},
           {"affinity --site lumi --partition ''", 2, "--partition must not be empty"},
           {"affinity --site lumi --ranks 5000", 2, "1 to 4096"},
           {"affinity --site lumi --cpus-per-rank 0", 2, "1 to 4096"},
           {"affinity --all-sites --format json", 2, "cannot be used with"},
           {"affinity --all-sites --verify", 2, "cannot be used with"},
           {"affinity --site lumi --reserved 500", 4, "the node has no CPUs 500"},
           {"affinity --site lumi --partition standardg", 4,
            "use 'standard-g' or another of standard-g, small-g, dev-g, bench"},
           {"affinity --site lumi --order both", 2, "neither gpu, cpu, ring nor a list"},
           {"affinity --topology /no/such/file.xml", 3, "/no/such/file.xml"},
           {"affinity elsewhere", 2, "invalid value 'elsewhere' for NODE"},
       }) {
    INFO(refused.arguments);
    const auto result = run_in(topologies(), refused.arguments);
    INFO(result.text);
    CHECK(result.code == refused.code);
    CHECK(reports(result, refused.reports));
  }
}

TEST_CASE("hpcml affinity counts GPUs as the runtime does, in whatever order a person names them") {
  const auto result =
      run_in(topologies(), "affinity --topology eas-tioga.xml --gpus ce,c9,ce --format cpu-bind");
  CHECK(result.text == "mask_cpu:0xff0000,0xff000000\n");
}

TEST_CASE("hpcml affinity has as many ranks as GPUs per rank, or ranks per GPU, leave") {
  const auto ranks = [](const std::string& flags) {
    return nlohmann::json::parse(run("affinity --site lumi --format json " + flags).text).at("ranks");
  };
  const auto pairs = ranks("--gpus-per-rank 2");
  REQUIRE(pairs.size() == 4);
  CHECK(pairs[3].at("gpus") == std::vector<unsigned>{6, 7});
  const auto halves = ranks("--ranks-per-gpu 2");
  REQUIRE(halves.size() == 16);
  CHECK(halves[15].at("gpus") == std::vector<unsigned>{7});
  CHECK(ranks("--ranks 6 --ranks-per-gpu 2 --rank-order 0,1,2").size() == 6);
  CHECK(ranks("--ranks 3 --rank-order 0,1,2").size() == 3);
}

TEST_CASE("hpcml affinity --gpus leaves out GPUs for other tools' policies and in drawings, too") {
  const std::string tioga = "affinity --topology eas-tioga.xml --gpus c9,ce ";
  // As for one that sees only these: torchrun's rank 0 is by the first of them, in NUMA node 1.
  const auto two = run_in(topologies(), tioga + "--policy torch-node --format json");
  INFO(two.text);
  const auto plan = nlohmann::json::parse(two.text);
  REQUIRE(plan.at("ranks").size() == 2);
  CHECK(plan.at("ranks")[0].at("numa") == std::vector<unsigned>{1});
  const auto tree = run_in(topologies(), tioga + "--format tree");
  INFO(tree.text);
  CHECK(reports(tree, "GPU 0 at 0000:c9:00.0 -> rank 0"));
  CHECK(reports(tree, "GPU 1 at 0000:ce:00.0 -> rank 1"));
}

TEST_CASE("hpcml affinity warns of shared cores only where ranks share one") {
  // Seven cores for two ranks with four GPUs each: enough, but not near every GPU.
  const auto result = run("affinity --site lumi --allowed 0-7 --ranks 2");
  CHECK(result.code == 0);
  CHECK(reports(result, "GPU not local"));
  CHECK_FALSE(reports(result, "share a core"));
}

TEST_CASE("A topology file that is no use is refused with the line, or with how to get one that is") {
  struct Damaged {
    const char* command;
    const char* reports;
  };
  for (const auto& damaged : std::vector<Damaged>{
           {"head -c 30000 eas-tioga.xml", "line 266: the file ends here"},
           {"sed 's/<topology version=\"[^\"]*\"/<topology version=\"3.0\"/' eas-tioga.xml",
            "hwloc XML of version 3.0, but hpcml reads versions 1 and 2"},
           {"echo hello", "neither JSON nor XML"},
           {"yes '<!-- a topology without end -->'", "more than 64 MiB"},
           {"echo '{\"cores\": 4,'", "is not valid JSON"},
           {"echo '{\"cores\": -1, \"gpu\": {\"0\": {}}}'",
            "'cores' in the topology file must be a number from 0 to 65535"},
           {"echo '{}'", "neither CPUs nor GPUs"},
       }) {
    INFO(damaged.command);
    const auto result =
        run("affinity --topology /dev/stdin", "cd '" + topologies() + "' && " + damaged.command + " | ");
    CHECK(result.code == 3);
    CHECK(reports(result, damaged.reports));
  }
}

TEST_CASE(
    "hpcml affinity says beside a list of masks where srun would not take it, and prints none without CPUs") {
  const auto bind = [](const std::string& arguments) {
    return run("affinity --format cpu-bind " + arguments);
  };
  const std::string shared =
      "hpcml: warning: srun accepts these masks only if the step has the whole node, but ";
  CHECK(bind("--site lumi --partition standard-g").text == bind("--site lumi").text);
  CHECK_FALSE(reports(bind("--site lumi"), "warning"));
  CHECK(reports(bind("--site lumi --partition small-g"),
                shared + "the profile does not state that partition small-g allocates whole nodes"));
  CHECK(reports(bind("--site deltaai"),
                shared + "the profile names no partition that allocates such nodes whole"));
  CHECK_FALSE(reports(bind("--site perlmutter"), "warning"));
  CHECK(reports(bind("--site perlmutter --partition shared_gpu_ss11"),
                shared + "the profile does not state that partition shared_gpu_ss11 allocates whole nodes"));
  CHECK(reports(bind("--site leonardo"),
                "hpcml: warning: the NUMA nodes of GPUs 0-3 are unknown, so cores may be far from them"));
  CHECK_FALSE(reports(bind("--site frontier"), "warning"));
  for (const std::string flags : {"--ranks 1", "live --site lumi --ranks 1"}) {
    const auto part = run("affinity --format cpu-bind " + flags, "taskset -c 0 ");
    INFO(part.text);
    CHECK(part.code == 0);
    if (has_two_cpus()) CHECK(reports(part, shared + "this process has only CPUs 0"));
  }
  const auto none = bind("--site alvis");
  CHECK(none.code == 4);
  CHECK_FALSE(reports(none, "0x0"));
  CHECK(reports(none, "the CPUs of the node are unknown"));
  const auto places = run("affinity --site alvis");
  CHECK(places.code == 0);
  CHECK_FALSE(reports(places, "one core"));
}

TEST_CASE("A JSON node whose number of cores is not that of its lists is planned by the lists, with a note") {
  const auto notes = [](const std::string& json) {
    return run("affinity --topology /dev/stdin", "echo '" + json + "' | ");
  };
  CHECK(reports(
      notes(R"({"cores": 2, "numa": {"0": "0-3"}})"),
      "note: 'cores' in the topology file is 2, but its CPU lists have 4 cores with 1 hardware thread "
      "each: hpcml uses the lists"));
  CHECK_FALSE(
      reports(notes(R"({"cores": 2, "smt": 2, "numa": {"0": "0-3"}, "gpu": {"0": {"numa": -1}}})"), "note"));
}

TEST_CASE("A topology that is no regular file is refused at once, with what it is") {
  const std::string directory = std::string(HPCML_BINARY_DIR) + "/odd_topologies";
  REQUIRE(std::system(("mkdir -p " + directory + " && cd " + directory +
                       " && rm -f pipe huge && mkfifo pipe && truncate -s 20G huge")
                          .c_str()) == 0);
  struct Row {
    const char* path;
    const char* reports;
  };
  for (const auto& row : std::vector<Row>{{"pipe", "a named pipe, not a file with the topology"},
                                          {".", "a directory, not a file with the topology"},
                                          {"/dev/zero", "a device, not a file with the topology"},
                                          {"huge", "more than 64 MiB"}}) {
    INFO(row.path);
    const auto result = run_in(directory, std::string("affinity --topology ") + row.path);
    CHECK(result.code == 3);
    INFO(result.text);
    CHECK(reports(result, row.reports));
    CHECK(reports(result, row.path));
  }
  CHECK(std::system(("rm -r " + directory).c_str()) == 0);
  // What a shell puts in place of <(lstopo --of xml) is a pipe, too.
  CHECK(run("affinity --format cpu-bind --ranks 1 --topology <(cat eas-tioga.xml)'",
            "cd '" + topologies() + "' && bash -c '")
            .code == 0);
}

TEST_CASE("hpcml affinity shows other tools' faults beside their placement") {
  // torchrun's binding takes CPUs that LUMI reserves only where the job may use them.
  const auto result =
      run("affinity --topology " + topologies() + "eas-tioga.xml --policy torch-exclusive --allowed 1-63");
  CHECK(result.code == 0);
  CHECK(reports(result, "rank 4: CPUs 1-8, GPU 4\n  wrong: CPU 8 is not in L3 0 of its GPU"));
}

TEST_CASE("hpcml affinity --policy takes cores and threads per rank where the tool has such a setting") {
  const auto first = [](const std::string& flags) {
    return nlohmann::json::parse(run("affinity --site lumi --format json " + flags).text)
        .at("ranks")[0]
        .at("cpus");
  };
  // gpu_affinity's max_physical_cores and multithreading.
  CHECK(first("--policy nvidia-unique-contiguous") == "49-55,113-119");
  CHECK(first("--policy nvidia-unique-contiguous --cpus-per-rank 3") == "49-51,113-115");
  CHECK(first("--policy nvidia-unique-contiguous --cpus-per-rank 3 --threads-per-core 1") == "49-51");
  CHECK(first("--policy nvidia-unique-contiguous --threads-per-core 2") == "49-55,113-119");
  // mpibind's smt; srun's -c and --threads-per-core, with a socket per L3 as Frontier documents for these
  // nodes.
  CHECK(first("--policy mpibind") == "1-7");
  CHECK(first("--policy mpibind --threads-per-core 2") == "1-7,65-71");
  CHECK(first("--policy slurm-closest --cpus-per-rank 7") == "1-7");
  const auto closest = nlohmann::json::parse(run("affinity --site lumi --policy slurm-closest "
                                                 "--cpus-per-rank 3 --threads-per-core 2 --format json")
                                                 .text)
                           .at("ranks");
  REQUIRE(closest.size() == 8);
  CHECK(closest[1].at("cpus") == "9-11,73-75");
  CHECK(closest[1].at("gpus") == std::vector<unsigned>{5});
}

TEST_CASE("hpcml affinity draws the node as text and as SVG that an XML reader accepts") {
  const auto tree = run("affinity --site lumi --cpus-per-rank 7 --format tree");
  CHECK(reports(tree, "    L3 6: 48 reserved, 49-55 rank 0\n      GPU 0 at 0000:c1:00.0 -> rank 0\n"));
  const std::string drawn =
      "affinity --format tree --topology " + std::string(HPCML_SOURCE_DIR) + "/tests/affinity/nodes/";
  CHECK(reports(run(drawn + "lumi.json"), "\nlinks between GPUs (width): 0-1 (4), 0-2 (1), 0-6 (2), "));
  CHECK(reports(run(drawn + "gh200.json"), "\nevery GPU is linked with every other, all alike\n"));
  const auto svg = run("affinity --site lumi --format svg | python3 -c 'import sys, xml.dom.minidom as d;"
                       "x = d.parse(sys.stdin); print(len(x.getElementsByTagName(\"rect\")) > 64)'");
  CHECK(svg.text == "True\n");
  // The legend names only what is drawn, and the page fits a phone.
  const auto drawing = run("affinity --site lumi --format svg");
  CHECK(reports(drawing, ">reserved core<"));
  CHECK_FALSE(reports(drawing, ">core without a rank<"));
  CHECK(reports(run("affinity --site lumi --cpus-per-rank 6 --format svg"), ">core without a rank<"));
  // Parts of a GPU have its address.
  const std::string parts =
      "echo '{\"numa\": {\"0\": \"0-3\"}, \"gpu\": {\"0\": {\"numa\": 0, \"pci\": \"0000:c1:00.0\"}, \"1\": "
      "{\"numa\": 0, \"pci\": \"0000:c1:00.0\", \"partition\": 1}}}' | ";
  CHECK(reports(run("affinity --topology /dev/stdin --format tree", parts),
                "GPU 1 at 0000:c1:00.0 part 1 -> rank 1"));
  CHECK(reports(run("affinity --topology /dev/stdin --format svg", parts),
                ">GPU 0 for rank 0</text>\n<text x=\"6\" y=\"28\" style=\"fill:#111\">0000:c1:00.0 part 0<"));
}

TEST_CASE("Links between GPUs cross no label of the drawing") {
  // Arcs of an ellipse lie in the box from their ends up to its radius; a label is as wide as its letters.
  const std::string check = R"PY(
import re, sys, xml.etree.ElementTree as tree
labels, arcs = [], []
def walk(element, x, y):
    for dx, dy in re.findall(r"translate\((\d+),(\d+)\)", element.get("transform", "")): x, y = x + int(dx), y + int(dy)
    name = element.tag.split("}")[1]
    if name == "text":
        left, top, long = x + int(element.get("x")), y + int(element.get("y")), 6 * len(element.text)
        if "core" in element.get("class", ""): left -= long // 2
        labels.append((left, top - 9, left + long, top, element.text))
    if name == "path":
        n = [int(v) for v in re.findall(r"-?\d+", element.get("d"))]
        top = n[1] - n[3] if "A" in element.get("d") else min(n[1::2])
        arcs.append((x + min(n[0], n[-2]), y + top, x + max(n[0::2]) if "C" in element.get("d") else x + max(n[0], n[-2]), y + max(n[1], n[-1])))
    for child in element: walk(child, x, y)
walk(tree.parse(sys.stdin).getroot(), 0, 0)
crossed = [l[4] for l in labels for a in arcs if l[0] < a[2] and a[0] < l[2] and l[1] < a[3] and a[1] < l[3]]
print(len(arcs), sorted(set(crossed)))
)PY";
  const std::string file = std::string(HPCML_BINARY_DIR) + "/crossings.py";
  std::ofstream(file) << check;
  CHECK(run("affinity --topology " + std::string(HPCML_SOURCE_DIR) +
            "/tests/affinity/nodes/lumi.json --format svg | python3 " + file)
            .text == "12 []\n");
  CHECK(std::remove(file.c_str()) == 0);
}

TEST_CASE("drawings of nodes fit the width of a phone") {
  const std::string directory = std::string(HPCML_SOURCE_DIR) + "/tests/affinity/nodes/";
  for (const std::string name : {"lumi", "perlmutter", "gh200", "dgx_a100"}) {
    const auto svg = run("affinity --topology " + directory + name + ".json --format svg").text;
    CAPTURE(name);
    std::smatch width;
    REQUIRE(std::regex_search(svg, width, std::regex("viewBox=\"0 0 ([0-9]+) ")));
    CHECK(std::stoi(width[1]) <= 420);
  }
  // The node in the file is the one that the profile describes.
  CHECK(run("affinity --topology " + directory + "lumi.json --format cpu-bind").text ==
        run("affinity --site lumi --format cpu-bind").text);
}

TEST_CASE("affinity --all-sites prints a table for every described node") {
  const auto text = run("affinity --all-sites").text;
  // Rank 0 of LUMI has the cores of GCD 0's L3 without the reserved one (LUMI user guide).
  CHECK(text.find("| 0 | 0 | 7 | 49-55 | 3 | 3 | hsn0 |") != std::string::npos);
  CHECK(text.find("## Perlmutter (NERSC): a100\n") != std::string::npos);
}

TEST_CASE("hpcml affinity says where this node is not what the site's profile says, and uses the node") {
  const auto result = run("affinity live --site lumi --ranks 1");
  CHECK(result.code == 0);
  CHECK(reports(result, "this node: "));
  CHECK(reports(result, "number of GPUs: "));
  CHECK(reports(result, "the site profile states 8: hpcml uses the value of the node"));
  CHECK_FALSE(reports(result, "reserved")); // those CPUs of another kind of node
}

TEST_CASE("hpcml affinity says on a node without GPUs that a list names some") {
  if (std::system("test -e /proc/driver/nvidia/gpus || test -e /sys/class/kfd || test -e "
                  "/sys/bus/pci/drivers/nvidia") == 0)
    return test::skip("this machine has GPUs");
  CHECK(reports(run("affinity live --ranks 1", "CUDA_VISIBLE_DEVICES=0,1 "),
                "note: CUDA_VISIBLE_DEVICES=0,1 names GPUs, but no driver shows one here"));
  for (const char* none : {"", "-1", "NoDevFiles"})
    CHECK_FALSE(
        reports(run("affinity live --ranks 1", "CUDA_VISIBLE_DEVICES=" + std::string(none) + " "), "note"));
}

TEST_CASE("hpcml affinity orders ranks along the links between GPUs: LUMI's documented ring") {
  const std::string node = std::string(HPCML_SOURCE_DIR) + "/tests/affinity/nodes/lumi.json";
  // GCDs 0,1,3,2,4,5,7,6 with the masks that LUMI documents for each.
  CHECK(run("affinity --topology " + node + " --cpus-per-rank 7 --rank-order ring --format cpu-bind").text ==
        "mask_cpu:0xfe000000000000,0xfe00000000000000,0xfe000000,0xfe0000,0xfe,0xfe00,0xfe0000000000,"
        "0xfe00000000\n");
  const auto unknown = run("affinity --topology " + topologies() + "g4dnmetal.xml --rank-order ring");
  CHECK(unknown.code == 4);
  CHECK(reports(unknown, "has no links between its GPUs"));
}

namespace {

/// A process that is a rank: its variables, and the CPU that it has.
struct Rank {
  std::string env;
  unsigned cpu = 0;
};

/// What `affinity --verify` says of these ranks on the node of a JSON file, for each of `flags`; "code N"
/// behind each.
std::string verify(const std::string& node, const std::vector<Rank>& ranks,
                   const std::vector<std::string>& flags) {
  const std::string directory = std::string(HPCML_BINARY_DIR) + "/affinity_verify";
  REQUIRE(std::system(("mkdir -p " + directory).c_str()) == 0);
  std::ofstream(directory + "/node.json") << node;
  std::string script = "pids=()\n", wait, look;
  for (const auto& rank : ranks)
    script += "SLURM_JOB_ID=t77 " + rank.env + " taskset -c " + std::to_string(rank.cpu) +
              " sleep 30 >/dev/null & pids+=($!)\n" + "until grep -q 'Cpus_allowed_list:.'" +
              std::to_string(rank.cpu) + "$ /proc/$!/status && grep -q sleep /proc/$!/comm; do :; done\n";
  for (const auto& flag : flags)
    script += "SLURM_JOB_ID=t77 " HPCML_BINARY " affinity --topology node.json --verify " + flag +
              " 2>&1; echo code $?\n";
  std::ofstream(directory + "/ranks.sh") << "cd " + directory + "\n" + script + "kill ${pids[@]}\n";
  FILE* pipe = ::popen(("bash " + directory + "/ranks.sh 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> buffer{};
  while (const std::size_t count = std::fread(buffer.data(), 1, buffer.size(), pipe))
    text.append(buffer.data(), count);
  ::pclose(pipe);
  REQUIRE(std::system(("rm -r " + directory).c_str()) == 0);
  return text;
}

// Two cores, each in a NUMA node with two GPUs.
const char* const k_four_gpus =
    R"({"numa": {"0": "0", "1": "1"}, "gpu": {"0": {"numa": 0}, "1": {"numa": 0}, "2": {"numa": 1}, "3": {"numa": 1}}})";

} // namespace

TEST_CASE("hpcml affinity --verify reads the CPUs that running ranks really have") {
  // Rank 0 is where it belongs on this invented node with one core per NUMA node, rank 1 is on rank 0's core.
  const auto text = verify(R"({"numa": {"0": "0", "1": "1"}, "gpu": {"0": {"numa": 0}, "1": {"numa": 1}}})",
                           {{"LOCAL_RANK=0", 0}, {"LOCAL_RANK=1", 0}}, {"", "--format svg"});
  INFO(text);
  CHECK(text.find("rank 0: CPUs 0, GPU 0\n  note: it shares CPU 0 with rank 1\n") != std::string::npos);
  CHECK(text.find("rank 1: CPUs 0, GPU 1\n  wrong: none of its CPUs is in NUMA 1 of its GPU") !=
        std::string::npos);
  CHECK(text.find("rank 1: hpcml would give it CPUs 1") != std::string::npos);
  CHECK(text.find("code 1") != std::string::npos);
  // The picture shows what the ranks have, and marks where that is not the plan.
  CHECK(
      text.find("CPUs 0: ranks 0-1, planned: rank 0</title><rect x=\"0\" y=\"0\" width=\"22\" height=\"22\" "
                "rx=\"3\" class=\"rank off\"") != std::string::npos);
  CHECK(text.find("CPUs 1: no rank, planned: rank 1</title>") != std::string::npos);
}

TEST_CASE("hpcml affinity --verify takes all entries of a rank's own list for its GPUs, and a part of one "
          "that all ranks see") {
  if (!has_two_cpus()) return test::skip("the test needs CPUs 0 and 1");
  struct Row {
    std::vector<Rank> ranks;
    const char* reports;
    int code;
  };
  const std::string ok = "rank 0: CPUs 0, GPU 0,1: ok\nrank 1: CPUs 1, GPU 2,3: ok\nscore 100 of 100";
  for (const auto& row : std::vector<Row>{
           {{{"LOCAL_RANK=0 ROCR_VISIBLE_DEVICES=0,1", 0}, {"LOCAL_RANK=1 ROCR_VISIBLE_DEVICES=2,3", 1}},
            ok.c_str(),
            0},
           {{{"LOCAL_RANK=0 CUDA_VISIBLE_DEVICES=0,1,2,3", 0},
             {"LOCAL_RANK=1 CUDA_VISIBLE_DEVICES=0,1,2,3", 1}},
            ok.c_str(),
            0},
           {{{"LOCAL_RANK=0", 0}, {"LOCAL_RANK=1", 1}}, ok.c_str(), 0},
           {{{"LOCAL_RANK=0 ROCR_VISIBLE_DEVICES=2,3", 1}, {"LOCAL_RANK=1 ROCR_VISIBLE_DEVICES=0,1", 0}},
            "rank 0: CPUs 1, GPU 2,3: ok\nrank 1: CPUs 0, GPU 0,1: ok\nscore 100",
            0},
           {{{"LOCAL_RANK=0 ROCR_VISIBLE_DEVICES=0,1", 1}, {"LOCAL_RANK=1 ROCR_VISIBLE_DEVICES=2,3", 1}},
            "rank 0: CPUs 1, GPU 0,1\n  wrong: none of its CPUs is in NUMA 0 of its GPU",
            1}}) {
    const auto text = verify(k_four_gpus, row.ranks, {""});
    INFO(text);
    CHECK(text.find(row.reports) != std::string::npos);
    CHECK(text.find("code " + std::to_string(row.code)) != std::string::npos);
    CHECK((text.find("would give") != std::string::npos) == (row.code == 1));
    CHECK((text.find("fix: ") != std::string::npos) == (row.code == 1));
  }
}

TEST_CASE("hpcml affinity --verify names ranks that should run and do not") {
  if (!has_two_cpus()) return test::skip("the test needs CPUs 0 and 1");
  const std::string task = "SLURM_PROCID=0 SLURM_STEP_ID=0 SLURM_STEP_NODELIST=n1 SLURMD_NODENAME=n1 "
                           "SLURM_NODEID=0 SLURM_STEP_NUM_TASKS=3 SLURM_NTASKS=3 "
                           "SLURM_STEP_NUM_NODES=1 SLURM_STEP_TASKS_PER_NODE=3 SLURM_LOCALID=";
  for (const auto& [first, second] : std::vector<std::pair<std::string, std::string>>{
           {"LOCAL_RANK=0 LOCAL_WORLD_SIZE=3", "LOCAL_RANK=2 LOCAL_WORLD_SIZE=3"},
           {task + "0", task + "2"}}) {
    const auto text = verify(R"({"cores": 2})", {{first, 0}, {second, 1}}, {"", "--format json"});
    INFO(text);
    CHECK(text.find("rank 0: CPUs 0, GPU -: ok\nrank 2: CPUs 1, GPU -: ok\nrank 1 is not running\n") !=
          std::string::npos);
    CHECK(text.find("fix: ") == std::string::npos); // binding brings nobody back
    CHECK(text.find("code 1\n{") != std::string::npos);
    CHECK(nlohmann::json::parse(text.substr(text.find('{'), text.rfind('}') - text.find('{') + 1))
              .at("missing") == std::vector<unsigned>{1});
  }
}

TEST_CASE("hpcml affinity --verify plans nothing else for ranks that are right") {
  if (!has_two_cpus()) return test::skip("the test needs CPUs 0 and 1");
  // Both have one of the two cores beside their GPUs, which they take the other way round.
  const auto text =
      verify(R"({"numa": {"0": "0,2", "1": "1,3"}, "gpu": {"0": {"numa": 0}, "1": {"numa": 1}}})",
             {{"LOCAL_RANK=0 ROCR_VISIBLE_DEVICES=1", 1}, {"LOCAL_RANK=1 ROCR_VISIBLE_DEVICES=0", 0}},
             {"", "--format tree", "--format svg", "--format json"});
  INFO(text);
  CHECK(text.find("rank 0: CPUs 1, GPU 1: ok\nrank 1: CPUs 0, GPU 0: ok\nscore 100") != std::string::npos);
  for (const char* contradiction : {"would give", "fix: ", "(!", "rank off", ", planned: ", "\"planned\""}) {
    CAPTURE(contradiction);
    CHECK(text.find(contradiction) == std::string::npos);
  }
  CHECK(text.find("\"fix\": \"\"") != std::string::npos);
  CHECK(text.find("code 1") == std::string::npos);
}
