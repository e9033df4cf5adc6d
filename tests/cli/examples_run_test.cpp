// SPDX-License-Identifier: MIT
// The examples of every help, and the five tasks that hpcml alone shows: each of them runs.
#include <catch2/catch.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <set>

#include "cli/app_tree.hpp"
#include "cli/help/help_page.hpp"
#include "cli/workspace_helper.hpp"
#include "core/util/shell_quote.hpp"
#include "core/util/text.hpp"
#include "test_data.hpp"

using namespace hpcml;
using test::holds;
using test::Workspace;

namespace {

/// Where an example is run: those that begin with `start`.
struct Place {
  std::string_view start;
  enum Where {
    cluster,   ///< below, on an emulated cluster of LUMI
    rehearsal, ///< below: it brings up a cluster itself
    elsewhere, ///< not here: `why`
  } where;
  std::string_view why = {};
};

constexpr Place k_places[] = {
    {"hpcml submit --continue", Place::elsewhere, "a job that has saved: tests/emulate/survival_test.cpp"},
    {"hpcml submit", Place::cluster},
    {"hpcml emulate --site lumi --nodes 2 -- bash", Place::elsewhere, "a shell that waits for input"},
    {"hpcml emulate", Place::rehearsal},
    {"srun hpcml launch", Place::cluster},
    {"srun --ntasks-per-node=1 --ntasks=4 hpcml launch", Place::cluster},
    {"srun --ntasks-per-node=1 hpcml torchrun", Place::cluster},
    {"hpcml sites discover", Place::cluster},
    {"hpcml config detect", Place::cluster},
    {"srun hpcml preflight", Place::elsewhere, "needs LibTorch: tests/torch/helper"},
    {"srun --ntasks-per-node=1 hpcml preflight", Place::elsewhere, "needs LibTorch: tests/torch/helper"},
    {"hpcml preflight", Place::elsewhere, "needs LibTorch: tests/torch/helper"},
    {"hpcml torch build", Place::elsewhere, "compiles for minutes: .ci/full torch-build"},
    {"c++ train.cpp", Place::elsewhere, "what `hpcml torch build` has compiled: .ci/full torch-build"},
    {"hpcml watch 12345 --rank", Place::elsewhere, "a job with agents: submit_test.cpp"},
    {"hpcml watch", Place::cluster},
    {"hpcml store", Place::elsewhere, "a running job or store: tests/run/store"},
    {"hpcml internal stage", Place::elsewhere, "a job that runs: tests/run/batch"},
    {"hpcml internal batch", Place::elsewhere, "a job that runs: tests/run/batch, tests/emulate"},
    {"hpcml internal job-secret", Place::elsewhere, "a job that runs: tests/run/launch"},
    {"hpcml internal store-serve", Place::elsewhere,
     "serves until it is told to end, at a port that may be taken: tests/run/store"},
    {"srun --jobid 1234", Place::elsewhere, "a job that runs: tests/affinity, tests/run/launch"},
    {"srun -p gpu -t 5 lstopo", Place::elsewhere, "the topology of a node: tests/generate/discover"},
    {"hpcml doctor", Place::elsewhere, "ends with 0 where GPUs are seen: tests/diagnose/doctor"},
    {"srun --gpus-per-node=1 hpcml doctor", Place::elsewhere,
     "ends with 0 where GPUs are seen: tests/diagnose/doctor"},
    {"hpcml internal bad-nodes", Place::elsewhere, "a job that runs: tests/emulate"},
    {"hpcml checkpoint latest", Place::elsewhere,
     "a checkpoint that a training has written: checkpoint_test.cpp"},
    {"hpcml sites diff", Place::elsewhere, "a cluster that its profile describes: tests/generate/discover"},
};

const Place* place_of(const std::string& line) {
  const auto found = std::find_if(std::begin(k_places), std::end(k_places),
                                  [&](const Place& place) { return line.starts_with(place.start); });
  return found == std::end(k_places) ? nullptr : &*found;
}

/// The command lines of examples, without comments.
std::vector<std::string> lines_of(std::string_view examples) {
  std::vector<std::string> lines;
  for (const auto& line : util::split(util::replace_all(std::string(examples), "\\\n   ", ""), '\n'))
    if (!line.empty() && !line.starts_with("#")) lines.push_back(line);
  return lines;
}

void collect(const CLI::App& command, std::map<std::string, std::vector<std::string>>& found) {
  const auto path = cli::command_path(command);
  found[path == "hpcml" ? "" : path.substr(6)] = lines_of(cli::help_of(command).examples);
  for (const auto* sub : cli::commands_of(command)) collect(*sub, found);
}

/// By command.
const std::map<std::string, std::vector<std::string>>& all_examples() {
  static const auto c_found = [] {
    std::map<std::string, std::vector<std::string>> found;
    cli::with_app_tree({}, {}, [&](const CLI::App& app, const cli::Context&) { collect(app, found); });
    return found;
  }();
  return c_found;
}

std::vector<std::string> examples_at(Place::Where where) {
  std::vector<std::string> lines;
  for (const auto& [command, examples] : all_examples())
    for (const auto& line : examples)
      if (const auto* place = place_of(line); place != nullptr && place->where == where)
        lines.push_back(line);
  return lines;
}

/// A workspace with what the examples speak of.
void lay_out(Workspace& workspace) {
  workspace.set("PATH",
                (workspace / "bin").string() + ":" + HPCML_BINARY_DIR + "/bin:/usr/sbin:/usr/bin:/bin");
  std::filesystem::create_directory(workspace / "bin");
  workspace.put("bin/python", "#!/bin/sh\nexec python3 \"$@\"\n", 0755);
  for (const auto* name : {"sweep.py"}) workspace.put(name, "print('asks Slurm')\n");
  workspace.put("train.py", "import sys\nprint('trains', *sys.argv[1:])\n");
  for (const auto* program : {"train", "train_ddp"}) workspace.put(program, "#!/bin/sh\necho trains\n", 0755);
  workspace.put("slurm-1234.out",
                "NCCL INFO NET/OFI Using aws-ofi-rccl 1.4.0\nNCCL INFO NET/OFI Selected Provider is cxi\n");
  CHECK(workspace
            .hpcml({"gen", "--site", "lumi", "--nodes", "2", "--account", "project_1", "--time", "10", "-o",
                    "job.sh", "--", "./train"})
            .exit_code == 0);
  workspace.put("lumi_job.sh", "#!/bin/bash\n#SBATCH --account=project_1 --partition=standard-g --time=10\n"
                               "#SBATCH --nodes=2 --gpus-per-node=8 --ntasks-per-node=8\nsrun ./train\n");
  std::filesystem::copy(test::unpacked_topologies() / "coral-lassen.xml", workspace / "node.xml");
  std::filesystem::create_directories(workspace / ".config/hpcml/sites");
  CHECK(workspace.hpcml({"config", "set", "--site", "lumi", "partition", "small-g"}).exit_code == 0);
  workspace.put(".config/hpcml/sites/mycluster.json", R"({"id": "mycluster", "extends": ["generic"]})");
}

/// The example as it is typed in a job that fits it, or with what it needs before it.
std::string as_in_a_job(const std::string& line) {
  const std::string start = "hpcml init --site lumi --account project_1 --time 10 -- python train.py; ";
  if (line == "hpcml submit --test-only") return start + line + "; code=$?; rm hpcml.json; (exit $code)";
  if (holds(line, "watch 12345"))
    return util::replace_all(line, "12345",
                             "$(sbatch --parsable -A project_1 -p small-g -t 1 -n 1 -c 1 --wrap true)");
  if (!line.starts_with("srun ")) return line;
  const auto* nodes = holds(line, "--ntasks=4") ? "4" : holds(line, "--nnodes 2") ? "2" : "1";
  return "salloc -A project_1 -p standard-g -t 10 --gpus-per-node=8 -N " + std::string(nodes) + " bash -c " +
         util::shell_quote(line);
}

constexpr auto k_first_steps = 5U;

/// The commands that `hpcml` alone shows.
std::vector<std::string> first_steps(const std::string& text) {
  std::vector<std::string> lines;
  for (const auto& line : util::split(text, '\n'))
    if (line.starts_with("  hpcml ")) lines.push_back(std::string(util::trim(line)));
  return lines;
}

} // namespace

TEST_CASE("every command's help has examples") {
  for (const auto& [command, examples] : all_examples()) {
    CAPTURE(command);
    CHECK_FALSE(examples.empty());
    CHECK(std::any_of(examples.begin(), examples.end(),
                      [&, name = command](const auto& line) { return holds(line, "hpcml " + name); }));
  }
  CHECK(all_examples().size() >= 15);
}

TEST_CASE("an example that is run elsewhere is there, and says why") {
  for (const auto& place : k_places) {
    CAPTURE(std::string(place.start));
    bool used = false;
    for (const auto& [command, examples] : all_examples())
      for (const auto& line : examples) used = used || place_of(line) == &place;
    CHECK(used);
    CHECK((place.where == Place::elsewhere) == !place.why.empty());
  }
}

TEST_CASE("every example that needs no Slurm runs, and ends well") {
  unsigned count = 0;
  for (const auto& [command, examples] : all_examples())
    for (const auto& line : examples) {
      if (place_of(line) != nullptr) continue;
      Workspace workspace;
      lay_out(workspace);
      const auto result = workspace.program({"bash", "-c", line});
      CAPTURE(command, line, result.out, result.err);
      CHECK(result.exit_code == 0);
      ++count;
    }
  CHECK(count >= 25);
}

TEST_CASE("hpcml alone shows five things to do, and the first of them work as they are") {
  Workspace workspace;
  const auto shown = workspace.hpcml({});
  CHECK(shown.exit_code == 0);
  CHECK(shown.err.empty());
  const auto lines = first_steps(shown.out);
  REQUIRE(lines.size() == k_first_steps);
  lay_out(workspace);
  for (const auto& line : lines) {
    if (place_of(line) != nullptr) continue; // with a real Slurm, below
    const auto result = workspace.program({"bash", "-c", line});
    CAPTURE(line, result.out, result.err);
    CHECK(result.exit_code == 0);
  }
}

TEST_CASE("every example that needs a cluster runs on one", "[slurm]") {
  Workspace workspace;
  lay_out(workspace);
  auto lines = examples_at(Place::cluster);
  for (const auto& line : first_steps(workspace.hpcml({}).out))
    if (line.starts_with("hpcml submit")) lines.push_back(line);
  REQUIRE(lines.size() >= 10);
  std::string script;
  for (const auto& line : lines)
    script += "( " + as_in_a_job(line) + " ) >out 2>&1 || { echo " + util::shell_quote("FAILED: " + line) +
              "; cat out; }; ";
  const auto result = workspace.emulate("lumi", 4, script);
  CAPTURE(result.err);
  CHECK(result.out == "");
}

TEST_CASE("every example of a rehearsal rehearses", "[slurm]") {
  // What the job of the example asks for, by what its line says.
  const std::map<std::string, std::string> requests = {
      {"--site lumi", "--account project_1 --nodes 2"},
      {"--site vista", "--partition gh-dev --nodes 2"},
      {"--site jean_zay", "--account abc@v100 --partition gpu_p13"},
      {"--site narval", "--account def-me --mem 4G"},
      {"--site nibi", "--account def-me --mem 4G --gpu-type h100_1g.10gb"},
      {"--site generic", "--nodes 2 --gpus-per-node 4"}};
  auto lines = examples_at(Place::rehearsal);
  lines.insert(lines.end(),
               {"hpcml emulate --site lumi --nodes 2 -- sbatch -W job.sh",
                "hpcml emulate --site vista --partition gh-dev --nodes 2 --record calls.jsonl job.sh",
                "hpcml emulate --site jean_zay --accounts abc@h100,abc@v100 job.sh",
                "hpcml emulate --site narval --accounting -- python sweep.py",
                "hpcml emulate --site lumi --whole-site -- sbatch --test-only job.sh",
                "hpcml emulate --site nibi --node-type h100_1g.10gb job.sh",
                "hpcml emulate --site generic --nodes 2 --gpus-per-node a100:4 --cpus-per-node 48 job.sh"});
  for (const auto& line : lines) {
    Workspace workspace;
    lay_out(workspace);
    for (const auto& [site, request] : requests)
      if (holds(line, site + " "))
        CHECK(workspace
                  .program(
                      {"bash", "-c", "hpcml gen --time 10 -o job.sh " + site + " " + request + " -- ./train"})
                  .exit_code == 0);
    const auto result = workspace.program({"bash", "-c", line});
    CAPTURE(line, result.out, result.err);
    CHECK(result.exit_code == 0);
  }
}
