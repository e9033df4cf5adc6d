// SPDX-License-Identifier: MIT
// The scripts themselves: what stands in them, what explains them, what cannot be written.
#include <catch2/catch.hpp>

#include "core/util/file.hpp"
#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "generate/render/explain.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"
#include "generate/render/template.hpp"
#include "holds.hpp"

using namespace hpcml;
using test::holds;

TEST_CASE("a whole-node script has the documented masks, no CPU count, and unsets what would bring one") {
  const auto script = render::render_script(test::make_whole_node_plan());
  CHECK(holds(script, "--cpu-bind=mask_cpu:0xfe000000000000,0xfe00000000000000,0xfe0000,0xfe000000,0xfe,"
                      "0xfe00,0xfe00000000,0xfe0000000000 "));
  CHECK_FALSE(holds(script, "--cpus-per-task="));
  CHECK(holds(
      script,
      "\nunset SLURM_CPUS_PER_TASK SRUN_CPUS_PER_TASK SLURM_TRES_PER_TASK # srun would reject the masks\n"));
  CHECK(holds(script, "--bind verify --cpus-per-task 7 --gpus-per-task 1 --gpu-visibility own --"));
  CHECK(holds(script, "#SBATCH --exclusive\n"));
  CHECK(test::script_faults(script) == "");
}

TEST_CASE("where launch binds, srun is told not to and gets the header's CPU count") {
  auto plan = test::make_whole_node_plan();
  plan.binding = {};
  plan.directives.push_back({"--cpus-per-task", "7", {}});
  const auto script = render::render_script(plan);
  CHECK(holds(script, "srun --cpus-per-task=7 --cpu-bind=none --kill-on-bad-exit=1"));
  CHECK(holds(script, "--bind apply"));
  CHECK_FALSE(holds(script, "unset SLURM_CPUS_PER_TASK"));
}

TEST_CASE("a raw option of the request takes the place of the script's own") {
  auto plan = test::make_whole_node_plan();
  plan.launcher.step_args = {"--kill-on-bad-exit=0", "--label"};
  const auto script = render::render_script(plan);
  CHECK(holds(script, " --kill-on-bad-exit=0 --label"));
  CHECK_FALSE(holds(script, "--kill-on-bad-exit=1"));
}

TEST_CASE("agents start once per node and never name the interpreter") {
  struct Case {
    std::vector<std::string> command;
    std::string end;
  };
  const std::vector<Case> cases = {{{"train.py", "--x"}, " train.py --x\n"},
                                   {{"python", "-u", "train.py"}, " train.py\n"},
                                   {{"python3", "-m", "pkg.train", "a"}, " -m pkg.train a\n"},
                                   {{"python", "-O", "train.py"}, " --no_python python -O train.py\n"},
                                   {{"./train_ddp"}, " --no_python ./train_ddp\n"}};
  for (const auto& example : cases) {
    auto plan = test::make_plan_for("torchrun");
    plan.command = example.command;
    const auto script = render::render_script(plan);
    CAPTURE(script);
    CHECK(script.ends_with(example.end));
    CHECK(holds(script, "srun --ntasks-per-node=1 --cpu-bind=none"));
    CHECK(holds(script, "--nnodes=\"$SLURM_NNODES\" --nproc_per_node=8 --rdzv_id=\"$SLURM_JOB_ID\""));
    CHECK_FALSE(holds(script, "HPCML"));
    CHECK(test::script_faults(script) == "");
  }
}

TEST_CASE("an interface of the first node is the meeting place where the site says so") {
  auto plan = test::make_plan_for("torchrun");
  plan.rendezvous.interface = "bond0";
  CHECK(holds(render::render_script(plan), "ip -4 -o addr show dev bond0"));
  CHECK(test::script_faults(render::render_script(plan)) == "");
  plan = test::make_whole_node_plan();
  plan.rendezvous.interface = "bond0";
  CHECK(holds(render::render_script(plan), " --interface bond0 "));
  CHECK(test::script_faults(render::render_script(plan)) == "");
}

TEST_CASE("a script serves the store at the name that its ranks are told, where there are ranks that meet") {
  const auto served = [](const model::Plan& plan) {
    auto script = render::render_script(plan);
    CHECK(test::script_faults(script) == "");
    script = util::replace_all(script, " \\\n    ", " ");
    const std::string start = "\"$HPCML\" internal batch ";
    const auto at = script.find(start);
    const auto name = at + start.size();
    if (at == std::string::npos) return std::string("no store");
    return std::string(util::trim(script.substr(name, script.find("-- bash", name) - name)));
  };
  auto plan = test::make_whole_node_plan();
  CHECK(served(plan).empty());
  plan.rendezvous.suffix = "-ib";
  CHECK(served(plan) == "--host \"${SLURMD_NODENAME}-ib\"");
  plan.rendezvous.interface = "lo";
  CHECK(served(plan) == "--interface lo");
  plan.rendezvous.port = 29500; // the site's, for the programs alone
  CHECK(served(plan) == "--store rank0 --interface lo");
  plan.rendezvous.port = 0;
  plan.ranks.rendezvous_timeout = model::Sourced<unsigned>{0, {}};
  CHECK(served(plan) == "--store none --interface lo");
  plan.ranks.rendezvous_timeout.reset();
  plan.layout.nodes = plan.layout.tasks_per_node = 1;
  CHECK(served(plan) == "--store none --interface lo");
  CHECK(served(test::make_plan_for("torchrun")) == "no store");
}

TEST_CASE("a script explains the names in its lines") {
  auto plan = test::make_whole_node_plan();
  const auto has_comment = [&](const std::string& text) {
    const auto script = render::render_script(plan);
    CHECK(test::script_faults(script) == "");
    CAPTURE(script);
    return holds(script, "\n# " + text);
  };
  CHECK(has_comment("hpcml runs the lines below in a child and serves the ranks' rendezvous store. See "
                    "'hpcml internal batch -h'.\n"));
  CHECK(has_comment("One task per rank, with its CPU mask: hpcml launch checks that, sets RANK"));
  plan.rendezvous.suffix = "-ib";
  plan.rendezvous.port = 29500;
  CHECK(has_comment("hpcml runs the lines below in a child, with a secret for the ranks. See "));
  CHECK(has_comment("Ranks connect to the first node by --host above, its name in the fast network.\n"));
  CHECK(has_comment("Rank 0 serves the rendezvous store at --master-port, which the site prescribes.\n"));
  plan.binding = {};
  CHECK(has_comment("One task per rank: hpcml launch (not srun) binds it to --cpus-per-task cores near"));
  plan.launcher.spawns = true;
  plan.layout.tasks_per_node = 1;
  CHECK(has_comment("One agent per node: hpcml launch starts its ranks and binds each to "));
  CHECK(has_comment(
      "Rank 0's agent serves the rendezvous store at --master-port, which the site prescribes.\n"));
  plan = test::make_plan_for("srun");
  CHECK_FALSE(has_comment("One task per rank"));
}

TEST_CASE("a search path of a profile has no empty item") {
  auto plan = test::make_whole_node_plan();
  plan.env.push_back(
      {"LD_LIBRARY_PATH", "${FIRST_PATH}:${LD_LIBRARY_PATH}", true, model::ValueScope::batch, {}});
  plan.env.push_back({"MANPATH", "/opt/man:${MANPATH}", true, model::ValueScope::batch, {}});
  plan.env.push_back({"INFOPATH", "${INFOPATH}:/opt/a b", true, model::ValueScope::batch, {}});
  std::string lines;
  for (const auto& line : util::split(render::render_script(plan), '\n'))
    if (line.starts_with("export ") && holds(line, "PATH=")) lines += line + "\n";
  CAPTURE(lines);
  struct Case {
    const char *first, *before, *after;
  };
  for (const auto& [first, before, after] :
       {Case{"", "", "|/opt/man|/opt/a b"}, Case{"/x", "", "/x|/opt/man|/opt/a b"},
        Case{"", "/y:/z", "/y:/z|/opt/man:/y:/z|/y:/z:/opt/a b"},
        Case{"/x", "/y:/z", "/x:/y:/z|/opt/man:/y:/z|/y:/z:/opt/a b"}}) {
    CAPTURE(first, before);
    const auto program = "set -u; FIRST_PATH=" + std::string(first) + "; LD_LIBRARY_PATH=" + before +
                         "; MANPATH=" + before + "; INFOPATH=" + before + "\n" + lines +
                         "echo \"$LD_LIBRARY_PATH|$MANPATH|$INFOPATH\"";
    const auto output =
        util::run_process({"bash", "-c", program}, util::EnvSnapshot::of_process(), std::chrono::seconds(10));
    REQUIRE(output);
    CHECK(output->out == std::string(after) + "\n");
  }
}

TEST_CASE("a script never holds the key of its job") {
  // With set -x bash would print what is assigned.
  CHECK_FALSE(holds(render::render_script(test::make_whole_node_plan()), "HPCML_JOB_SECRET"));
}

TEST_CASE("the environment of an image is activated inside it, and only there") {
  auto plan = test::make_whole_node_plan();
  plan.container = model::PlannedContainer{model::ContainerEngine::singularity,
                                           "/images/torch.sif",
                                           model::ContainerGpuOption::rocm,
                                           {{"/opt/cray", "", false, {}}, {"/lib/x.so", "", true, {}}},
                                           "$WITH_CONDA",
                                           {}};
  plan.command = {"python", "-u", "train.py"};
  const auto script = render::render_script(plan);
  CHECK(holds(script,
              "--container -- \\\n  singularity exec --rocm \"${binds[@]}\" /images/torch.sif bash -c "
              "'$WITH_CONDA && exec \"$@\"' container \\\n  python -u train.py\n"));
  CHECK(test::script_faults(script) == "");
  plan.container->enter.clear();
  CHECK_FALSE(holds(render::render_script(plan), "bash -c"));
}

TEST_CASE("an environment is activated inside the image by every launcher, and never outside") {
  struct Case {
    model::PythonEnvironmentKind kind;
    const char* where; ///< behind the test's folder, unless it is a name
  };
  for (const auto* launcher : {"hpcml", "srun", "torchrun", "accelerate", "deepspeed", "ibrun"}) {
    for (const auto& example : {Case{model::PythonEnvironmentKind::venv, "/my env"},
                                Case{model::PythonEnvironmentKind::conda, "mine"}}) {
      CAPTURE(launcher, example.where);
      test::TempDirectory directory;
      // The image's own activation comes first: it is what puts conda and python into PATH.
      const std::string activation = "echo \"${SINGULARITY_NAME-outside} ${BASE-bare}\" >> activated\n";
      std::filesystem::create_directories(directory / "my env/bin");
      std::filesystem::create_directories(directory / "etc/profile.d");
      REQUIRE(util::write_file(directory / "my env/bin/activate",
                               activation + "VIRTUAL_ENV=mine; export VIRTUAL_ENV\n"));
      REQUIRE(util::write_file(directory / "etc/profile.d/conda.sh",
                               "conda() { [[ $1 == activate ]] && export VIRTUAL_ENV=$2; }\n" + activation));
      test::put_program(directory, "conda", "echo \"" + directory.path().string() + "\"\n");
      auto plan = test::make_plan_for(launcher);
      plan.hpcml_path.value = test::stand_in_hpcml(directory);
      plan.command = {test::word_writer(directory), "it's"};
      plan.container = model::PlannedContainer{model::ContainerEngine::singularity,
                                               "x.sif",
                                               model::ContainerGpuOption::none,
                                               {},
                                               "$WITH_CONDA",
                                               {}};
      plan.python = {example.kind,
                     example.where[0] == '/' ? directory.path().string() + example.where : example.where,
                     {},
                     {},
                     false};
      const auto script = render::render_script(plan);
      CHECK(test::script_faults(script) == "");
      const auto result = test::run_script(script, directory, {{"WITH_CONDA", "export BASE=image"}});
      INFO(script << result.err);
      REQUIRE(result.exit_code == 0);
      CHECK(*util::read_file(directory / "activated") == "x image\n");
      CHECK(test::seen_environment(directory)["VIRTUAL_ENV"] == "mine");
      CHECK(test::written_words(directory) == std::vector<std::string>{"it's"});
    }
  }
}

TEST_CASE("where the meeting place is no name of the node, torchrun is told which node holds the store") {
  auto plan = test::make_plan_for("torchrun");
  CHECK_FALSE(holds(render::render_script(plan), "is_host"));
  plan.rendezvous.interface = "lo";
  for (const bool first : {true, false}) {
    test::TempDirectory directory;
    test::put_program(directory, "torchrun", "echo \"$PET_RDZV_CONF\" > conf\n");
    const auto script = render::render_script(plan);
    CHECK(test::script_faults(script) == "");
    const auto result = test::run_script(script, directory, {{"SLURM_NODEID", first ? "0" : "1"}});
    INFO(script << result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(*util::read_file(directory / "conf") == (first ? "is_host=true\n" : "is_host=false\n"));
  }
}

TEST_CASE("accelerate gets the number of its node from whatever starts it") {
  for (const auto* step : {"srun", "ibrun"}) {
    CAPTURE(step);
    test::TempDirectory directory;
    auto plan = test::make_plan_for("accelerate");
    plan.launcher.step = step;
    if (plan.launcher.step == "ibrun") plan.launcher.rank_variable = "OMPI_COMM_WORLD_RANK";
    test::put_program(directory, "accelerate", "echo \"$1 $2\" > options\n");
    const auto result = test::run_script(
        render::render_script(plan), directory,
        {{"SLURM_NODEID", plan.launcher.step == "srun" ? "1" : "0"}, {"OMPI_COMM_WORLD_RANK", "1"}});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(*util::read_file(directory / "options") == "launch --machine_rank=1\n");
  }
}

TEST_CASE("modules, conda and a wheelhouse pass bash and shellcheck together with every launcher") {
  for (const auto* launcher : {"hpcml", "srun", "torchrun", "accelerate", "deepspeed", "ibrun"}) {
    for (const auto kind : {model::PythonEnvironmentKind::none, model::PythonEnvironmentKind::venv,
                            model::PythonEnvironmentKind::conda, model::PythonEnvironmentKind::wheelhouse}) {
      CAPTURE(launcher, static_cast<int>(kind));
      auto plan = test::make_plan_for(launcher);
      plan.modules = {{"/appl/modules", true, {}}, {"StdEnv/2023", false, {}}};
      plan.python = {kind,
                     kind == model::PythonEnvironmentKind::wheelhouse ? "$SLURM_TMPDIR/env" : "/home/me/env",
                     {"torch", "numpy"},
                     {}};
      plan.env.push_back({"FOLDER", "$HOME/${NOBODY_SETS_THIS}x", true, model::ValueScope::batch, {}});
      plan.env.push_back({"PER_TASK", "x$SLURM_LOCALID", true, model::ValueScope::task, {}});
      CHECK(test::script_faults(render::render_script(plan)) == "");
    }
  }
}

TEST_CASE("a profile's text may name variables that nobody has set") {
  const test::TempDirectory directory;
  auto plan = test::make_plan_for("srun");
  plan.caches.clear();
  plan.command = {test::word_writer(directory)};
  plan.env.push_back({"BATCH", "$NOBODY_SETS_THIS:${NOR_THIS}:$HOME/x", true, model::ValueScope::batch, {}});
  plan.env.push_back({"TASK", "${NOR_THIS}x$SLURM_LOCALID", true, model::ValueScope::task, {}});
  const auto result = test::run_script(render::render_script(plan), directory);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  auto env = test::seen_environment(directory);
  CHECK(env["BATCH"] == "::" + directory.path().string() + "/x");
  CHECK(env["TASK"] == "x3");
}

TEST_CASE("no per-task value is expanded in the batch part") {
  for (const auto* launcher : {"hpcml", "srun", "torchrun", "accelerate", "deepspeed"}) {
    std::string script;
    for (const auto& line : util::split(render::render_script(test::make_plan_for(launcher)), '\n'))
      if (!line.starts_with("#")) script += line + "\n";
    // What stands in single quotes is expanded by the task.
    std::string batch;
    bool quoted = false;
    for (const char c : script) {
      if (c == '\'')
        quoted = !quoted;
      else if (!quoted)
        batch += c;
    }
    CAPTURE(batch);
    for (const char* name : {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID"})
      CHECK_FALSE(holds(batch, name));
  }
}

TEST_CASE("the explanation holds every line of the script, its origin and what was superseded") {
  const auto plan = test::make_whole_node_plan();
  const auto text = render::render_explain(plan);
  for (const auto& line : util::split(render::render_script(plan), '\n')) CHECK(holds(text, line));
  CHECK(holds(text, "#SBATCH --nodes=2\n    <- flag --nodes\n"));
  CHECK(holds(text, "site profile partitions[0]; a page; checked 2026-01-02"));
  CHECK(holds(text, "NCCL_NET_GDR_LEVEL=PHB\n"));
  CHECK(holds(text, "instead of 3 (an older page): newer pages say PHB"));
}

TEST_CASE("explanation names an origin once for several variables") {
  auto plan = test::make_whole_node_plan();
  const auto origin = plan.env.front().origin;
  plan.env = {{"A", "1", false, model::ValueScope::task, origin},
              {"B", "2", false, model::ValueScope::task, origin}};
  plan.modules = {{"gcc", false, origin}, {"rocm", false, origin}, {"python", false, {}}};
  const auto text = render::render_explain(plan);
  const auto line = "    <- " + render::describe_origin(origin) + "\n";
  CHECK(holds(text, "\nA=1\nB=2\n" + line));
  CHECK(holds(text, "\n    <- gcc, rocm: " + render::describe_origin(origin) + "\n"));
}

TEST_CASE("what cannot be written is said before anything is written") {
  const auto fault_of = [](const model::Plan& plan) { return render::find_unwritable(plan); };
  CHECK(fault_of(test::make_whole_node_plan()).empty());
  auto plan = test::make_whole_node_plan();
  plan.directives[0].value = "a\nb";
  plan.directives.push_back({"--x y", std::nullopt, {}});
  plan.command.emplace_back("a\0b", 3);
  plan.env.push_back({"A-B", "", false, model::ValueScope::batch, {}});
  plan.shebang = "#!/bin/bash\nrm";
  const auto found = fault_of(plan);
  REQUIRE(found.size() == 5);
  CHECK(found[1].code == "usage/job-name");
}

TEST_CASE("accelerate starts several ranks without GPUs in one world") {
  auto plan = test::make_plan_for("accelerate");
  plan.layout.gpus_per_node = plan.layout.gpus_per_rank = 0;
  const auto step_of = [](const model::Plan& made) {
    const auto script = render::render_script(made);
    CHECK(test::script_faults(script) == "");
    return script.substr(script.find("accelerate"));
  };
  CHECK(holds(step_of(plan), "--multi_gpu"));
  CHECK_FALSE(holds(step_of(plan), "--cpu"));
  // A configuration for CPUs would start one process on each node.
  plan.launcher.agent_options = {"--config_file=cpu.yaml"};
  CHECK(holds(step_of(plan), "--multi_gpu"));
  CHECK_FALSE(holds(step_of(plan), "--mixed_precision"));
  plan.launcher.agent_options = {"--use_fsdp"};
  CHECK_FALSE(holds(step_of(plan), "--multi_gpu"));
  plan.launcher.agent_options.clear();
  plan.layout.nodes = plan.layout.ranks_per_node = 1;
  CHECK(holds(step_of(plan), "--cpu"));
  CHECK_FALSE(holds(step_of(plan), "--multi_gpu"));
}

TEST_CASE("a template that names something unknown is an error") {
  CHECK_THROWS_WITH(render::render_template("find_hpcml", {}), Catch::Contains("unknown name 'path'"));
  CHECK_THROWS_WITH(render::render_template("no_such_template", {}),
                    Catch::Contains("template no_such_template.mustache does not exist"));
  CHECK(holds(render::render_template("find_hpcml", {{"path", std::string("<&>")}}), "HPCML=<&>\n"));
}
