// SPDX-License-Identifier: MIT
// What stood around the old program: launchers' options, images, variables, environments. Kept, or said.
#include "generate/import_script/import_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {
const std::string k_four = "-N 2 --ntasks-per-node=1 --gres=gpu:4";
} // namespace

TEST_CASE("Options of a launcher that change the program's run keep the launcher") {
  const auto restarts = written(
      job(k_four, "srun torchrun --nnodes=2 --nproc_per_node=4 --max_restarts=3 --tee 3 x.py"), "narval");
  CHECK(has(restarts, "torchrun"));
  CHECK(has(restarts, "--max_restarts=3"));
  CHECK(has(restarts, "--tee=3"));
  const auto config = written(
      job(k_four, "srun accelerate launch --config_file fsdp.yaml --num_processes 8 --num_machines 2 x.py"),
      "narval");
  CHECK(has(config, "accelerate launch --num_machines=\"$SLURM_NNODES\""));
  CHECK(has(config, " --config_file=fsdp.yaml"));
  CHECK_FALSE(has(config, "--multi_gpu"));
}

TEST_CASE("A launch whose number of nodes may change stays so, in proportion to the new nodes") {
  const auto line = "srun torchrun --nnodes=1:2 --nproc_per_node=4 x.py";
  const auto same = ported(job(k_four, line), "narval");
  CHECK(reports(same, "port/launcher", "--nnodes=1:2"));
  CHECK(same.job.nodes->value == 2);
  const auto script = written(job(k_four, line), "narval");
  CHECK(has(script, "torchrun --nnodes=1:2 --nproc_per_node=4"));
  CHECK(has(script, "--kill-on-bad-exit=0"));
  const auto more = written(job("-N 2 --ntasks-per-node=1 --gres=gpu:8",
                                "srun torchrun --nnodes=1:$SLURM_NNODES --nproc_per_node=8 x.py"),
                            "narval");
  CHECK(has(more, "torchrun --nnodes=2:4 --nproc_per_node=4"));
  // ${N:-2} is no range; a range that is not known is said.
  CHECK_FALSE(has(written(job(k_four, "srun torchrun --nnodes=${N:-2} --nproc_per_node=4 x.py"), "narval"),
                  "--nnodes="));
  const auto unknown = ported(job(k_four, "srun torchrun --nnodes=$MIN:2 --nproc_per_node=4 x.py"), "narval");
  CHECK(reports(unknown, "port/launcher", "allows the number of nodes to change"));
}

TEST_CASE("The interpreter's own options are none of the launcher's") {
  const auto script = written(
      job(k_four, "srun python -u -m torch.distributed.run --nnodes=2 --nproc_per_node=4 --tee 3 x.py"),
      "narval");
  CHECK(has(script, "--tee=3 x.py"));
  CHECK_FALSE(has(script, "-u \\"));
  CHECK_FALSE(has(script, " -u --"));
  CHECK_FALSE(has(script, " -u x.py"));
}

TEST_CASE("A program in a variable whose value only the running job knows is the program") {
  const auto script = written(job(k_four, "if [ -d /opt/x ]; then T=a.py; else T=b.py; fi\n"
                                          "srun torchrun --nnodes=2 --nproc_per_node=4 $T --x 1"),
                              "narval");
  CHECK(has(script, "python $T --x 1"));
  CHECK(has(written(job(k_four, "A=(--x 1)\nexport T=${T:=../src/train.py}\n"
                                "srun torchrun --nnodes=2 --nproc_per_node=4 $T \"${A[@]}\""),
                    "narval"),
            "python $T --x 1"));
}

TEST_CASE("No option of a launcher is left out without a word") {
  const auto result = ported(
      job(k_four,
          "srun --label --mpi=pmi2 --foo=1 numactl --interleave=all torchrun --nnodes=2 --nproc_per_node=4 "
          "--rdzv_endpoint=$H:29500 x.py"),
      "narval");
  CHECK(reports(result, "port/launcher", "srun option '--mpi"));
  CHECK(reports(result, "port/launcher", "srun option '--foo' is removed"));
  CHECK(reports(result, "port/launcher", "--rdzv_endpoint"));
  CHECK(reports(result, "port/launcher", "numactl"));
  CHECK(has(written(job(k_four, "srun --label --output=log.%t torchrun --nnodes=2 --nproc_per_node=4 x.py"),
                    "narval"),
            "--label --output=log.%t"));
}

TEST_CASE("What the old step set for its program is set, or missed with a word, where the step is another") {
  const auto by_mpirun =
      ported(job(k_four, "mpirun -np 2 -x FOO=1 -x PATH -x MASTER_PORT=1 -x BAR=$Y python x.py"), "narval");
  CHECK(by_mpirun.job.env.size() == 1);
  CHECK(by_mpirun.job.env.at(0).first == "FOO");
  CHECK(by_mpirun.job.env.at(0).second.value == "1");
  CHECK(reports(by_mpirun, "port/variable", "FOO, set by mpirun -x, is set"));
  CHECK(reports(by_mpirun, "port/variable", "MASTER_PORT is removed"));
  CHECK(reports(
      by_mpirun, "port/variable",
      "BAR is not set in the script for narval: its value in mpirun -x is known only when the job runs"));
  CHECK_FALSE(reports(by_mpirun, "port/launcher", "'-x' is removed"));
  const auto by_ibrun = ported(job(k_four, "srun --export=ALL,FOO=1,TWO=a:b python x.py"), "vista");
  CHECK(by_ibrun.job.env.size() == 2);
  CHECK(reports(by_ibrun, "port/variable", "FOO, TWO, set by srun --export"));
  CHECK(has(written(job(k_four, "srun --export=ALL,FOO=1 python x.py"), "narval"), "--export=ALL,FOO=1"));
}

TEST_CASE("An image that was started with one maker's libraries is said at the other's GPUs") {
  const auto image = [](const std::string& flag, const std::string& at) {
    return reports(ported(job(k_four, "srun apptainer exec " + flag + " /x/pt.sif python x.py"), at),
                   "port/image-gpu", "starts image '/x/pt.sif' with " + flag);
  };
  CHECK(image("--nv", "lumi"));
  CHECK(image("--rocm", "leonardo"));
  CHECK_FALSE(image("--nv", "leonardo"));
  CHECK_FALSE(image("--rocm", "lumi"));
}

TEST_CASE("How an agent watches its processes stays with it, and goes with a word") {
  const std::string rendezvous = "--nnodes=2 --nproc_per_node=4 --rdzv_endpoint=$H:1 ";
  const auto kept = written(
      job(k_four, "srun torchrun " + rendezvous + "--max-restarts=4 --monitor_interval=3 --role=w x.py"),
      "narval");
  CHECK(has(kept, "--max-restarts=4 --monitor_interval=3 --role=w"));
  const auto gone =
      ported(job(k_four, "srun torchrun " + rendezvous + "--monitor-interval 3 x.py"), "narval");
  CHECK(reports(gone, "port/launcher", "--monitor-interval are removed"));
  CHECK_FALSE(has(written(job(k_four, "srun torchrun " + rendezvous + "--monitor-interval 3 x.py"), "narval"),
                  "monitor"));
}

TEST_CASE("The program keeps its settings, its Python and the option that tells its local rank") {
  struct Row {
    std::string line, part;
  };
  const std::vector<Row> rows = {
      {"srun env FOO=1 BAR=2 python x.py", "env FOO=1 BAR=2 python x.py"},
      {"srun ./pt/bin/torchrun --nnodes=2 --nproc_per_node=4 ddp.py --a 1", "./pt/bin/python ddp.py --a 1"},
      {"srun /opt/py/bin/python3 -m torch.distributed.run --nnodes=2 --nproc_per_node=4 ddp.py",
       "/opt/py/bin/python3 ddp.py"},
      {"S=${D:-/x}/t.py\nA=\"--lr 1\"\nsrun torchrun --nnodes=2 --nproc_per_node=4 $S $A",
       "python $S --lr 1"},
      {"export L=\"torchrun --nnodes=2 --nproc_per_node=4\"\nexport C=\"$L ${D:-/x}/t.py --lr 1\"\nsrun $C",
       "python ${D:-/x}/t.py --lr 1"},
      {"srun python -m torch.distributed.launch --nnodes=2 --nproc_per_node=4 old.py --a",
       "bash -c 'exec \"${@:1:2}\" --local_rank=\"$LOCAL_RANK\" \"${@:3}\"' rank python old.py --a\n"},
      {"srun bash -c 'python -m torch.distributed.launch --nnodes=2 --nproc_per_node=4 old.py --a $B'",
       "bash -c 'exec python old.py --local_rank=$LOCAL_RANK --a $B'"},
      {"srun env A=b torchrun --nnodes=2 --nproc_per_node=4 x.py", "\n  env A=b python x.py"},
      {"srun env A=b bash -c 'torchrun --nnodes=2 --nproc_per_node=4 x.py $A'",
       "\n  env A=b bash -c 'exec python x.py $A'"},
      {"srun env A=b singularity exec --nv a.sif python x.py", "env A=b python x.py"},
      {"srun env A=b numactl -l torchrun --nnodes=2 --nproc_per_node=4 x.py", "python x.py"},
      {"srun bash -c '$HOME/m/bin/torchrun --nnodes=2 --nproc_per_node=4 x.py'",
       "bash -c 'exec $HOME/m/bin/python x.py'"},
      {"T=$HOME/m/bin/torchrun\nsrun $T --nnodes=2 --nproc_per_node=4 x.py", "\n  $HOME/m/bin/python x.py"},
      {"srun bash -c 'echo $SLURM_PROCID; torchrun --nnodes=2 --nproc_per_node=4 x.py'",
       "bash -c 'echo $SLURM_NODEID; python x.py'"},
      {"srun bash -c 'cd src; torchrun --nnodes=2 --nproc_per_node=4 x.py --b'",
       "bash -c 'cd src; python x.py --b'"},
      {"srun uv run torchrun --nnodes=2 --nproc_per_node=4 x.py", "uv run python x.py"},
      {"srun /u/ann/.local/bin/torchrun --nnodes=2 --nproc_per_node=4 x.py", "\n  python x.py"},
      {"srun bash -c 'cd src; /u/ann/.local/bin/torchrun --nnodes=2 --nproc_per_node=4 x.py'",
       "bash -c 'cd src; python x.py'"},
      {"srun bash -c 'torchrun --nnodes=2 --nproc_per_node=4 x.py > /dev/null'",
       "bash -c 'python x.py > /dev/null'"},
      {"srun uv run bash -c 'torchrun --nnodes=2 --nproc_per_node=4 x.py'", "uv run python x.py"},
      {"L='uv run bash -c'\nsrun $L 'torchrun --nnodes=2 --nproc_per_node=4 x.py'", "uv run python x.py"},
      {"srun conda run -n e bash -c 'A=b torchrun --nnodes=2 --nproc_per_node=4 x.py'",
       "bash -c 'A=b conda run -n e python x.py'"},
      {"conda run -n e --no-capture-output /bin/bash -c \"torchrun --nproc_per_node=4 x.py\"",
       "conda run -n e --no-capture-output python x.py"},
  };
  for (const auto& row : rows) {
    INFO(row.line);
    CHECK(has(written(job(k_four, row.line), "narval"), row.part));
  }
}

TEST_CASE("another command of the program's shell needs a separate line") {
  const auto result = ported(
      job(k_four, "srun bash -c 'pip install .; torchrun --nnodes=2 --nproc_per_node=4 x.py; wandb sync'"));
  CHECK(reports(result, "port/launch", "also runs pip"));
  CHECK(reports(
      ported(job(k_four, "srun bash -c 'torchrun --nnodes=2 --nproc_per_node=4 x.py > $SLURM_NODEID'")),
      "port/launch", "also runs > $SLURM_NODEID"));
  CHECK(std::any_of(result.findings.begin(), result.findings.end(),
                    [](const auto& finding) { return has(finding.hint, "use a separate line"); }));
}

TEST_CASE("an environment of the request replaces conda run") {
  import_script::RequestOverrides chosen;
  chosen.environment = "--venv";
  for (const std::string start : {"conda run -n e", "srun conda run -n e --no-capture-output",
                                  "conda run -n e bash -c 'torchrun --nproc_per_node=1 x.py'"}) {
    INFO(start);
    const auto line = start + (start.ends_with("'") ? "" : " python x.py");
    const auto result = ported(job("--nodes=1 --ntasks=1 --gres=gpu:1", line), "narval", chosen);
    CHECK(result.job.command == std::vector<std::string>{"python", "x.py"});
    CHECK(reports(result, "port/environment", "'conda run' is removed"));
  }
}

TEST_CASE("An image is found wherever the script names it") {
  struct Row {
    std::string directives, line, site, image;
  };
  const std::vector<Row> rows = {
      {"", "srun singularity exec img.sif python x.py", "lumi", "img.sif"},
      {"",
       "A=(--container-image nvcr.io#nvidia/pytorch:24.01 --container-mounts /data:/data)\nsrun \"${A[@]}\" "
       "python x.py",
       "narval", "docker://nvcr.io/nvidia/pytorch:24.01"},
      {"--image=nersc/pytorch:24.08", "srun shifter python x.py", "narval", "docker://nersc/pytorch:24.08"},
      {"--container-image=/img/a.sqsh", "srun python x.py", "narval", "/img/a.sqsh"},
      {"", "apptainer exec docker://a/b:c python x.py", "perlmutter", "a/b:c"},
      {"", "srun --environment=/e/x.toml python x.py", "alps_daint", "/e/x.toml"},
  };
  for (const auto& row : rows) {
    INFO(row.directives << row.line);
    const auto result = ported(job("-N 1 --gres=gpu:1 " + row.directives, row.line), row.site);
    for (const auto& finding : result.findings) UNSCOPED_INFO(finding.message);
    REQUIRE(result.job.container);
    CHECK(result.job.container->value == row.image);
    CHECK_FALSE(diag::has_errors(result.findings));
  }
}

TEST_CASE("An image that the site's engine cannot run is refused, one for other hardware is said") {
  const auto file =
      ported(job("-N 1 --gres=gpu:1", "srun singularity exec img.sif python x.py"), "perlmutter");
  CHECK(reports(file, "port/container", "which shifter on perlmutter does not accept"));
  CHECK(diag::has_errors(file.findings));
  const auto edf = ported(job("-N 1 --gres=gpu:1", "srun --environment=x.toml python x.py"), "lumi");
  CHECK(diag::has_errors(edf.findings));
  CHECK(reports(
      ported(job("-N 1 --gres=gpu:1", "srun singularity exec /a/pytorch-rocm.sif python x.py"), "narval"),
      "port/image-gpu", "AMD"));
  CHECK(reports(
      ported(job("-N 1 --gres=gpu:1", "srun singularity exec docker://nvcr.io/a:b python x.py"), "lumi"),
      "port/image-gpu", "NVIDIA"));
  CHECK(reports(ported(job("-N 1 --gres=gpu:1", "srun singularity exec /a/pytorch.sif python x.py"), "vista"),
                "port/image-arch", "aarch64"));
}

TEST_CASE("binds stay with another image and are reported without") {
  const auto text = job("-N 1 --gres=gpu:4 --ntasks-per-node=4",
                        "srun singularity exec -B /data:/in -B $HOME/x:/y old.sif python x.py");
  import_script::RequestOverrides chosen;
  chosen.environment = "--container";
  chosen.container = true;
  const auto image = ported(text, "narval", chosen);
  CHECK_FALSE(image.job.container);
  REQUIRE(image.job.binds.size() == 1);
  CHECK(image.job.binds.front().value == "/data:/in");
  CHECK(reports(image, "port/container", "is kept: its directory must exist on narval"));
  chosen.container = false;
  const auto host = ported(text, "narval", chosen);
  CHECK(host.job.binds.empty());
  CHECK(reports(host, "port/container",
                "bind '/data:/in' is removed: the program runs outside of a container"));
  CHECK(reports(host, "port/container", "x:/y' is removed"));
  const auto shifter =
      ported(job("-N 1 --gres=gpu:4 --image=a/b:c", "srun shifter -V /d:/in python x.py"), "zurada", chosen);
  CHECK(reports(shifter, "port/container", "bind '/d:/in' is removed"));
}

TEST_CASE("binds with relative paths or image parts stay unchanged") {
  const auto text = job("-N 1 --gres=gpu:4 --ntasks-per-node=4",
                        "srun singularity exec -B ../env.sqsh:/user-software:image-src=/ a.sif python x.py");
  const auto result = ported(text, "narval");
  CHECK_FALSE(diag::has_errors(result.findings));
  CHECK(has(written(text, "narval"), "../env.sqsh:/user-software:image-src=/"));
}

TEST_CASE("a script in the working directory gets its path") {
  const auto script = written(job("-N 1 --gres=gpu:4 --ntasks-per-node=4", "srun train.sh 1"), "narval");
  CHECK(has(script, " ./train.sh 1"));
  CHECK_FALSE(
      has(written(job("-N 1 --gres=gpu:4 --ntasks-per-node=4", "srun train 1"), "narval"), "./train"));
}

TEST_CASE("tools and variables of another GPU vendor are reported") {
  const auto text = job("-N 1 --gres=gpu:4 --ntasks-per-node=4",
                        "nvidia-smi dmon > log &\nsrun python x.py --devices $CUDA_VISIBLE_DEVICES");
  CHECK(reports(ported(text, "lumi"), "port/gpus", "lumi has AMD GPUs: nvidia-smi does not exist there"));
  CHECK(reports(ported(text, "lumi"), "port/gpus", "CUDA_VISIBLE_DEVICES is set to the GPUs of the job"));
  const auto in_task = job("-N 1 --gres=gpu:4", "srun bash -c 'python x.py --devices $CUDA_VISIBLE_DEVICES'");
  CHECK(reports(ported(in_task, "lumi"), "port/gpus", "CUDA_VISIBLE_DEVICES is not set"));
  CHECK_FALSE(reports(ported(text, "narval"), "port/gpus", "nvidia-smi"));
  const auto table = job("-N 1 --gres=gpu:4 --ntasks-per-node=4", "nvidia-smi\nsrun python x.py");
  CHECK(reports(ported(table, "lumi"), "port/gpus", "nvidia-smi is replaced by rocm-smi"));
}

TEST_CASE("The program's own binds and settings of its image stay") {
  const auto script =
      written(job("-N 1 --gpus-per-node=8 --ntasks-per-node=8",
                  "srun singularity exec -B /a:/workdir -B \"$PWD/x\":/x --env A=1 img.sif /workdir/run.sh"),
              "lumi");
  CHECK(has(script, "/a:/workdir"));
  CHECK(has(script, "--bind \"$PWD/x:/x\""));
  CHECK(has(script, "--env A=1"));
  const auto shifter = written(job("-N 1 --gres=gpu:4 --ntasks-per-node=4 --image=a/b:c",
                                   "srun shifter -V '/d:/data;/l:/logs' python x.py"),
                               "narval");
  CHECK(has(shifter, "/d:/data"));
}

TEST_CASE("Binds and settings that only the running job knows are written for the new site's engine") {
  const auto script = written(job("-N 1 --gres=gpu:4 --ntasks-per-node=4 --image=a/b:c",
                                  "srun shifter -V ${LOGDIR}:/logs --env PYTHONUSERBASE=${BASE} python x.py"),
                              "narval");
  CHECK(has(script, "--bind ${LOGDIR}:/logs"));
  CHECK_FALSE(has(script, "-V"));
  CHECK(has(script, "--env PYTHONUSERBASE=${BASE}"));
  const auto shifter =
      written(job("-N 1 --gres=gpu:4 --ntasks-per-node=4",
                  "srun singularity exec -B ${LOGDIR}:/logs --cleanenv docker://a/b:c python x.py"),
              "perlmutter");
  CHECK(has(shifter, "--volume=${LOGDIR}:/logs"));
  CHECK_FALSE(has(shifter, "--cleanenv"));
  const auto pyxis = job("-N 1 --gres=gpu:4 --ntasks-per-node=4",
                         "A=(--container-image ${PWD}/pytorch.sqsh --container-mounts $(dirname \"$PWD\"))\n"
                         "srun \"${A[@]}\" python x.py");
  const auto file = written(pyxis, "narval");
  CHECK(has(file, " ${PWD}/pytorch.sqsh python x.py"));
  CHECK(has(file, "--bind $(dirname \"$PWD\") "));
  CHECK_FALSE(has(file, "A=("));
  const auto own = job("-N 1 --gres=gpu:4", "srun singularity exec --nv $IMAGE python x.py");
  CHECK(has(written(own, "narval"), " $IMAGE python x.py"));
  CHECK(diag::has_errors(ported(own, "perlmutter").findings));
  CHECK(reports(ported(job("-N 1 --gres=gpu:4", "srun --container-image=$IMAGE python x.py"), "narval"),
                "port/container", "known only when the script runs"));
}

TEST_CASE("import keeps an image below the job's directory") {
  for (const std::string image :
       {"$PWD/i/t.sqfs", "${SLURM_SUBMIT_DIR}/t.sif", "$(pwd)/t.sqsh", "`pwd`/t.sif", "./t.sif"})
    for (const auto& start : std::vector<std::string>{"--container-image=\"" + image + "\"",
                                                      "apptainer exec --nv \"" + image + "\""}) {
      CAPTURE(start);
      const auto quoted = image.starts_with("./") ? image : "\"" + image + "\"";
      CHECK_THAT(written(job(k_four, "srun " + start + " python x.py"), "narval"),
                 Catch::Contains("apptainer exec --nv " + quoted + " python x.py\n"));
    }
}

TEST_CASE("import keeps an environment's program before srun") {
  const auto text = job("-N 1 --ntasks-per-node=4 --gres=gpu:4", "poetry run srun -l python x.py");
  CHECK_THAT(written(text, "narval"), Catch::Contains("\npoetry run srun "));
  CHECK_THAT(written(text, "narval"), Catch::Contains("-- \\\n  python x.py\n"));
}

TEST_CASE("import reports unknown options of a launcher") {
  const auto lost = ported(job(k_four, "torchrun $A --nproc_per_node=4 x.py"), "narval");
  CHECK_FALSE(diag::has_errors(lost.findings));
  CHECK(reports(lost, "port/launcher",
                "torchrun options that are known only when the script runs are removed"));
  const auto result = ported(job(k_four, "accelerate launch $A x.py"), "narval");
  CHECK(diag::has_errors(result.findings));
  CHECK(reports(result, "port/launcher", "options that are known only when the script runs cannot be kept"));
}

TEST_CASE("A launcher that gen does not write is not kept, whatever its options") {
  const auto result = ported(job(k_four, "srun composer -n 4 --stdout log train.py"), "narval");
  CHECK_FALSE(result.job.launcher);
  CHECK(reports(result, "port/launcher", "composer options -n are replaced"));
  CHECK(reports(result, "port/launcher", "composer option '--stdout' is removed"));
}

TEST_CASE("torchrun's line stays with all of its options where torchrun is asked for, and a link serves it") {
  import_script::RequestOverrides chosen;
  chosen.launcher = "torchrun";
  const auto text =
      job(k_four, "srun torchrun --nnodes=1 --nproc-per-node=4 --max-restarts=4 --monitor_interval=3 x.py");
  auto result = ported(text, "narval", chosen);
  CHECK(reports(result, "port/launcher", "torchrun stays the launcher, as requested"));
  CHECK_FALSE(reports(result, "port/launcher", " removed"));
  const auto hint = std::any_of(result.findings.begin(), result.findings.end(), [](const auto& finding) {
    return finding.hint.find("a link named torchrun to hpcml") != std::string::npos;
  });
  CHECK(hint);
  result.job.launcher = model::Sourced<model::Launcher>{*model::Launcher::parse("torchrun"), {}};
  result.job.account = model::Sourced<std::string>{"def-me", {}};
  const auto target = shipped_site("narval");
  const auto plan = plan::make_plan(result.job, target);
  REQUIRE(plan.plan);
  CHECK(has(render::render_script(*plan.plan), "--max-restarts=4 --monitor_interval=3"));
  // Another launcher's options are nobody's.
  chosen.launcher = "accelerate";
  CHECK(reports(ported(text, "narval", chosen), "port/launcher", "'--max-restarts' is removed"));
}

TEST_CASE("A line that is come to again with other words keeps its variables, or is refused") {
  struct Row {
    std::string lines, part;
  };
  const std::vector<Row> rows = {
      {"run() { srun python a.py \"$@\"; }\nrun --lr 1\nrun --lr 2", "python a.py \"$@\""},
      {"run() { local name=$1; shift; srun torchrun --nnodes=2 --nproc_per_node=4 \"$@\"; }\nrun a pre.py "
       "--lr 1\nrun b tune.py",
       "python \"$@\""},
      {"run() { srun python \"$@\"; }\nif [ -f ckpt ]; then run a.py --resume; else run a.py; fi",
       "python \"$@\""},
      {"run() { srun python a.py $ARGS; }\nARGS='--lr 1 --b'\nrun\nARGS='--lr 2 --b'\nrun",
       "python a.py $ARGS"},
      {"run() { srun python a.py \"$@\"; }\nrun --lr 1", "python a.py --lr 1"},
  };
  for (const auto& row : rows) {
    INFO(row.lines);
    CHECK(has(written(job(k_four, row.lines), "narval"), row.part));
  }
  const auto kept = ported(job(k_four, rows[3].lines), "narval");
  CHECK_FALSE(reports(kept, "port/variable", "ARGS"));
  CHECK(
      reports(ported(job(k_four, "run() { srun bash -c \"torchrun --nnodes=2 --nproc_per_node=4 $*\"; }\nrun "
                                 "a.py --q\nrun b.py --r"),
                     "narval"),
              "port/launch", "several times with different arguments"));
}

TEST_CASE("What ends a starter's options is not the program's, nor is hpcml's own launch") {
  for (const std::string line :
       {"srun -- python a.py --q", "srun hpcml launch --site lumi -- python a.py --q",
        "srun \"$HPCML\" launch --site lumi --cpus-per-task 7 -- python a.py --q",
        "HPCML=/opt/hpcml\nsrun --kill-on-bad-exit=1 \\\n  \"$HPCML\" launch --site lumi -- \\\n  python "
        "a.py --q"}) {
    INFO(line);
    const auto script = written(job(k_four, line), "narval");
    INFO(script);
    CHECK(has(script, "  python a.py --q\n"));
    CHECK_FALSE(
        has(script.substr(script.rfind("\"$@\"")), "  -- ")); // after the line of hpcml internal batch
    CHECK_FALSE(has(script, "--site lumi"));
  }
}

TEST_CASE("Programs that a file lists for the old layout's ranks are refused") {
  const auto result = ported(job(k_four, "srun --multi-prog multi.conf"), "narval");
  CHECK(reports(result, "port/launch", "--multi-prog"));
}

TEST_CASE("gen --from imports programs of the working directory") {
  for (const std::string program : {"./run.sh", "$PWD/run.sh", "${PWD}/run.sh", "\"$PWD\"/run.sh",
                                    "`pwd`/run.sh", "$(pwd)/run.sh", "\"$(pwd)/run.sh\""})
    for (const std::string starter : {"mpirun -np 8 --hostfile hosts ", "srun "}) {
      INFO(starter << program);
      const auto text =
          written(job("-N 2 --ntasks-per-node=4 --gres=gpu:4", starter + program + " host"), "narval");
      CHECK(has(text, "\n  " + program + " host\n"));
      CHECK(has(text, "--ntasks-per-node=4"));
    }
  const auto unknown = ported(job("-N 1 --gres=gpu:4", "srun $PWD/$NAME.sh"));
  CHECK(reports(unknown, "port/no-program", "known only when the script runs"));
}

TEST_CASE("gen --from reports steps that keep a replaced image") {
  const auto text = job("--gres=gpu:1", "singularity exec --nv docker://a/b:1 nvidia-smi -l 5 &\n"
                                        "singularity exec --nv docker://a/b:1 python train.py");
  for (const bool container : {true, false}) {
    import_script::RequestOverrides chosen;
    chosen.environment = container ? "--container" : "--venv";
    chosen.container = container;
    const auto result = ported(text, "narval", chosen);
    CHECK(reports(result, "port/container", "line 3 still runs 'nvidia-smi -l 5' in image 'docker://a/b:1'"));
    CHECK_FALSE(reports(result, "port/container", "line 4"));
  }
  CHECK_FALSE(reports(ported(text), "port/container", "still runs"));
}
