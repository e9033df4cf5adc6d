// SPDX-License-Identifier: MIT
// hpcml torchrun as a process: lines that torchrun takes, with programs that stand for training.
#include <catch2/catch.hpp>

#include <filesystem>
#include <future>

#include "cli/workspace_helper.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "free_port.hpp"
#include "run/torchrun/torchrun_page.hpp"
#include "sorted_lines.hpp"

using namespace hpcml;
using test::holds;
using test::sorted_lines;
using test::Workspace;
using Words = std::vector<std::string>;

namespace {

/// A program of the workspace, started by `program WORDS`; nothing of the machine's environment but PATH.
util::ProcessOutput run_program(const Workspace& workspace, const std::string& program, const Words& words,
                                const std::map<std::string, std::string>& more = {}) {
  const auto machine = util::EnvSnapshot::of_process();
  util::EnvSnapshot env;
  env.set("PATH", machine.get_or("PATH", "/usr/bin:/bin"));
  env.set("TMPDIR", (workspace / "").string());
  for (const auto& [name, value] : more) env.set(name, value);
  Words line = {program};
  line.insert(line.end(), words.begin(), words.end());
  const auto output = util::run_process(line, env, std::chrono::seconds(120));
  REQUIRE(output);
  return *output;
}

util::ProcessOutput torchrun(const Workspace& workspace, Words words,
                             const std::map<std::string, std::string>& more = {}) {
  words.insert(words.begin(), "torchrun");
  return run_program(workspace, HPCML_BINARY, words, more);
}

/// The same for `sh -c SCRIPT`, of which rank 0's program needs no torch.
util::ProcessOutput torchrun_sh(const Workspace& workspace, Words flags, const std::string& script,
                                const std::map<std::string, std::string>& more = {}) {
  flags.insert(flags.end(), {"--no-python", "sh", "-c", script});
  return torchrun(workspace, flags, more);
}

/// The files below a folder, by their last `parts` names.
std::vector<std::string> files_below(const std::filesystem::path& directory) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory))
    if (entry.is_regular_file()) files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  return files;
}

/// What stands in the one file whose path ends so; "none" where there is no such file.
std::string text_of(const std::filesystem::path& directory, const std::string& end) {
  for (const auto& file : files_below(directory))
    if (file.ends_with(end)) return util::read_file(file).value_or("unreadable");
  return "none";
}

} // namespace

TEST_CASE("hpcml torchrun says its flags, its table, and what is wrong with a line") {
  const Workspace workspace;
  for (const auto& words : {std::vector<std::string>{"--help"}, {"-h"}}) {
    const auto help = torchrun(workspace, words);
    CHECK(help.exit_code == 0);
    CHECK(holds(help.out, "Usage: hpcml torchrun [OPTIONS] SCRIPT [ARGS]..."));
    CHECK(holds(help.out, "--virtual-local-rank") == (words.front() == "--help"));
  }
  CHECK(torchrun(workspace, {"--help-markdown"}).out == torchrun::render_torchrun_table());
  const auto wrong = torchrun(workspace, {"--nnode-rank", "x.py"});
  CHECK(wrong.exit_code == 2);
  CHECK(holds(wrong.err, "unexpected argument '--nnode-rank'"));
  CHECK(holds(wrong.err, "Usage: hpcml torchrun [OPTIONS] SCRIPT [ARGS]..."));
  CHECK(holds(wrong.err, "use --node-rank"));
  CHECK(torchrun(workspace, {}).exit_code == 2);
  CHECK(torchrun(workspace, {"--nnodes=2", "--rdzv-backend=etcd", "x.py"}).exit_code == 2);
}

TEST_CASE("the ranks of torchrun find its variables, and those of another run count for nothing") {
  const Workspace workspace;
  const auto run =
      torchrun_sh(workspace, {"--nproc-per-node=2", "--max-restarts=1", "--role=trainer", "--rdzv-id=r7"},
                  "echo $RANK $LOCAL_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE $GROUP_RANK $ROLE_RANK "
                  "$ROLE_NAME $ROLE_WORLD_SIZE $TORCHELASTIC_RESTART_COUNT $TORCHELASTIC_MAX_RESTARTS "
                  "$TORCHELASTIC_RUN_ID $MASTER_ADDR",
                  {{"RANK", "5"}, {"WORLD_SIZE", "9"}, {"MASTER_ADDR", "elsewhere"}, {"MASTER_PORT", "1"}});
  CHECK(run.exit_code == 0);
  CHECK(sorted_lines(run.out) ==
        Words{"0 0 2 2 0 0 trainer 2 0 1 r7 127.0.0.1", "1 1 2 2 0 1 trainer 2 0 1 r7 127.0.0.1"});
}

TEST_CASE("a link named torchrun to hpcml is torchrun") {
  const Workspace workspace;
  std::filesystem::create_symlink(HPCML_BINARY, workspace / "torchrun");
  const auto run =
      run_program(workspace, (workspace / "torchrun").string(),
                  {"--standalone", "--nproc_per_node", "2", "--no_python", "sh", "-c", "echo $RANK"});
  CHECK(run.exit_code == 0);
  CHECK(sorted_lines(run.out) == Words{"0", "1"});
}

TEST_CASE("torchrun runs the Python next to its link") {
  const Workspace workspace;
  const auto bin = workspace / "env/bin";
  std::filesystem::create_directories(bin);
  std::filesystem::create_directories(workspace / "active/bin");
  std::filesystem::create_symlink(HPCML_BINARY, bin / "torchrun");
  workspace.put("env/bin/python", "#!/bin/sh\necho next to $0\n", 0755);
  workspace.put("active/bin/python", "#!/bin/sh\necho active\n", 0755);
  workspace.put("train.py", "");
  const auto run = [&](const std::string& program, const std::map<std::string, std::string>& env) {
    const auto output =
        run_program(workspace, program, {"--standalone", (workspace / "train.py").string()}, env);
    INFO(output.err);
    CHECK(output.exit_code == 0);
    return output.out;
  };
  const auto link = (bin / "torchrun").string(), next = "next to " + (bin / "python").string() + "\n";
  const std::map<std::string, std::string> active = {{"VIRTUAL_ENV", (workspace / "active").string()}};
  CHECK(run(link, {}) == next);
  CHECK(run(link, active) == "active\n"); // the link is not in an environment
  CHECK(run(link, {{"PYTHON_EXEC", (workspace / "active/bin/python").string()}}) == "active\n");
  workspace.put("env/pyvenv.cfg", "");
  CHECK(run(link, active) == next);
}

TEST_CASE("the ranks of torchrun find the signals to handle") {
  const Workspace workspace;
  const std::string show = "echo $TORCHELASTIC_SIGNALS_TO_HANDLE";
  CHECK(torchrun_sh(workspace, {"--standalone"}, show).out == "SIGTERM,SIGINT,SIGHUP,SIGQUIT\n");
  CHECK(torchrun_sh(workspace, {"--standalone", "--signals-to-handle=SIGTERM"}, show).out == "SIGTERM\n");
}

TEST_CASE("the code of the rank that fails is the run's") {
  const Workspace workspace;
  CHECK(torchrun_sh(workspace, {"--nproc-per-node=2"}, "test $RANK = 0 || exit 7; exec sleep 60").exit_code ==
        7);
}

TEST_CASE("all ranks start again, --max-restarts times") {
  const Workspace workspace;
  const auto run =
      torchrun_sh(workspace, {"--nproc-per-node=2", "--max-restarts=2"},
                  "echo $RANK.$TORCHELASTIC_RESTART_COUNT; test $TORCHELASTIC_RESTART_COUNT = 2");
  CHECK(run.exit_code == 0);
  CHECK(holds(run.out, "0.2"));
  CHECK(holds(run.out, "1.2"));
  CHECK(torchrun_sh(workspace, {"--max-restarts=1"}, "exit 3").exit_code == 3);
}

TEST_CASE("the script is Python's, with its arguments, a module or a program") {
  const Workspace workspace;
  workspace.put("python", "#!/bin/sh\necho \"$@\"\n", 0755);
  const std::map<std::string, std::string> env = {{"PYTHON_EXEC", (workspace / "python").string()}};
  CHECK(torchrun(workspace, {"t.py", "--lr", "${local_rank}", "$$x"}, env).out == "-u t.py --lr 0 $x\n");
  CHECK(torchrun(workspace, {"-m", "pkg.train", "-m"}, env).out == "-u -m pkg.train -m\n");
  CHECK(torchrun(workspace, {"--pass-local-rank", "t.py", "a"}, env).out == "-u t.py --local-rank=0 a\n");
  CHECK(sorted_lines(torchrun(workspace, {"--nproc", "2", "t.py", "r$local_rank"}, env).out) ==
        Words{"-u t.py r0", "-u t.py r1"});
  CHECK(holds(torchrun(workspace, {"/bin/sh"}, env).err, "hpcml torchrun --no-python"));
}

TEST_CASE("--virtual-local-rank makes every rank's local rank 0") {
  const Workspace workspace;
  const auto run =
      torchrun_sh(workspace, {"--nproc-per-node=2", "--virtual-local-rank"}, "echo $RANK $LOCAL_RANK");
  CHECK(sorted_lines(run.out) == Words{"0 0", "1 0"});
}

TEST_CASE("-r, -t, --log-dir and the filters put output where torchrun does") {
  const Workspace workspace;
  const auto logs = workspace / "logs";
  const auto run = torchrun_sh(workspace,
                               {"--nproc-per-node=2", "--role=trainer", "--rdzv-id=r7", "-r3", "-t0:1",
                                "--duplicate-stdout-filters=loss", "--log-dir", logs.string()},
                               "echo loss $RANK; echo other $RANK; echo bad $RANK >&2");
  CHECK(run.exit_code == 0);
  CHECK(run.out == "[trainer0]:loss 0\n[trainer0]:other 0\n");
  CHECK_FALSE(holds(run.err, "bad"));
  CHECK(text_of(logs, "attempt_0/0/stdout.log") == "loss 0\nother 0\n");
  CHECK(text_of(logs, "attempt_0/1/stdout.log") == "loss 1\nother 1\n");
  CHECK(text_of(logs, "attempt_0/1/stderr.log") == "bad 1\n");
  CHECK(holds(text_of(logs, "filtered_stdout.log"), "loss"));
  CHECK_FALSE(holds(text_of(logs, "filtered_stdout.log"), "other"));
}

TEST_CASE("without --log-dir the files are in a new folder of TMPDIR, which is said") {
  const Workspace workspace;
  const auto run = torchrun_sh(workspace, {"-r1"}, "echo hello");
  CHECK(run.out.empty());
  CHECK(holds(run.err, "the log files of -r, -t and the filters are written to " +
                           (workspace / "torchelastic_").string()));
  CHECK(text_of(workspace / "", "/0/stdout.log") == "hello\n");
  CHECK(torchrun_sh(workspace, {"-r3", "--log-dir=/dev/null"}, "echo shown").out == "shown\n");
}

TEST_CASE("what is shown has a prefix where it is teed, and --local-ranks-filter leaves the others out") {
  const Workspace workspace;
  const auto run = torchrun_sh(workspace, {"--nproc-per-node=2", "--local-ranks-filter=1"}, "echo $RANK");
  CHECK(run.out == "1\n");
  const auto teed = torchrun_sh(workspace, {"-t1"}, "echo x",
                                {{"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE", "<$rank/${role_name}> "}});
  CHECK(teed.out == "<0/default> x\n");
}

TEST_CASE("PET_ variables start what a line does") {
  const Workspace workspace;
  const auto run =
      torchrun_sh(workspace, {}, "echo $WORLD_SIZE", {{"PET_NPROC_PER_NODE", "2"}, {"PET_STANDALONE", "1"}});
  CHECK(run.out == "2\n2\n");
}

TEST_CASE(
    "two nodes meet at the endpoint, with c10d in the order of coming and with static as they are numbered") {
  const Workspace workspace;
  const auto run_two = [&](const std::function<Words(int)>& flags) {
    const auto start = [&](int node) {
      return torchrun_sh(workspace, flags(node),
                         "echo " + std::to_string(node) +
                             ": $RANK $WORLD_SIZE $GROUP_RANK $TORCHELASTIC_RUN_ID");
    };
    auto second = std::async(std::launch::async, start, 1);
    const auto first = start(0);
    const auto second_result = second.get();
    CAPTURE(first.err, second_result.err);
    CHECK(first.exit_code == 0);
    CHECK(second_result.exit_code == 0);
    return sorted_lines(first.out + second_result.out);
  };
  auto port = std::to_string(test::free_port());
  const auto c10d = run_two([&](int) {
    return Words{"--nnodes=2", "--nproc-per-node=2", "--rdzv-backend=c10d",
                 "--rdzv-endpoint=127.0.0.1:" + port, "--rdzv-id=r7"};
  });
  REQUIRE(c10d.size() == 4);
  Words ranks;
  for (const auto& line : c10d) ranks.push_back(line.substr(3));
  std::sort(ranks.begin(), ranks.end());
  CHECK(ranks == Words{"0 4 0 r7", "1 4 0 r7", "2 4 1 r7", "3 4 1 r7"});
  port = std::to_string(test::free_port());
  const auto fixed = run_two([&](int node) {
    return Words{"--nnodes=2", "--node-rank=" + std::to_string(node), "--master-addr=127.0.0.1",
                 "--master-port=" + port};
  });
  CHECK(fixed == Words{"0: 0 2 0 none", "1: 1 2 1 none"});
}

TEST_CASE("in a step of Slurm the nodes of torchrun meet, told of an endpoint or not", "[slurm]") {
  const Workspace workspace;
  workspace.put("say.sh", "echo $RANK $WORLD_SIZE $GROUP_RANK $MASTER_ADDR\n");
  const std::string step = "srun -N2 --ntasks-per-node=1 ",
                    line = "$H torchrun --nnodes 2 --nproc-per-node 2 ", program = "--no-python sh say.sh";
  const auto run = workspace.emulate(
      "generic", 2,
      "printf '#!/bin/bash\\nHEAD=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -1)\\n" + step + line +
          program + "\\n" + step + line +
          "--rdzv-backend=c10d --rdzv-id=$SLURM_JOB_ID --rdzv-endpoint=$HEAD:29400 " + program + "\\n" +
          step + "bash -c \"" + line + "--node-rank \\$SLURM_NODEID --master-addr $HEAD " + program +
          "\"\\n' > job.sh; sbatch -W --nodes=2 --ntasks-per-node=1 --time=5 --output=out.txt job.sh");
  CAPTURE(run.out, run.err, workspace.read("out.txt"));
  CHECK(run.exit_code == 0);
  std::map<std::string, int> times;
  for (const auto& text_line : util::split(workspace.read("out.txt"), '\n')) ++times[text_line];
  for (const auto* rank : {"0 4 0 node001", "1 4 0 node001", "2 4 1 node001", "3 4 1 node001"})
    CHECK(times[rank] == 3);
}
