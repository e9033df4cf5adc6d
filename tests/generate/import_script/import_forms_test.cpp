// SPDX-License-Identifier: MIT
// Scripts without a launcher that is read: what stays in the batch script, and what is rejected with a
// reason.
#include "generate/import_script/import_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {
const std::string k_one = "--nodes=1 --ntasks=1 --gres=gpu:1";

/// The one error of an import: "line: message"; empty if there is none.
std::string error_of(const import_script::ImportResult& result) {
  for (const auto& finding : result.findings)
    if (finding.severity == diag::Severity::error)
      return std::to_string(finding.location.line) + ": " + finding.message;
  return {};
}
} // namespace

TEST_CASE("a project's script without srun stays in the batch script") {
  for (const std::string line :
       {"sh configs/train.sh", "bash -x run.sh --a 1", "./sbin/run.sh main.py --b", "source ./train.sh a b",
        "t2t-decoder --model=m 2>> log", "if true; then time ./go.sh; fi"}) {
    CAPTURE(line);
    const auto text = job(k_one, "source ./env.sh\npushd /tmp\n" + line + "\nmv a b");
    CHECK_THAT(written(text, "narval"), Catch::Contains("\n" + line + "\n"));
    CHECK(reports(ported(text), "port/nodes", "hpcml does not read what"));
  }
}

TEST_CASE("a batch script's program does not run in an image") {
  import_script::RequestOverrides chosen;
  chosen.environment = "--container";
  chosen.container = true;
  CHECK_THAT(error_of(ported(job(k_one, "sh train.sh"), "narval", chosen)),
             Catch::Contains("'sh train.sh' stays in the batch script, where it would run outside"));
  chosen.environment = "--venv";
  chosen.container = false;
  CHECK(error_of(ported(job(k_one, "sh train.sh"), "narval", chosen)).empty());
}

TEST_CASE("an unread script keeps its number of nodes") {
  const std::string sizes = "--nodes=2 --ntasks-per-node=4 --gpus-per-node=4";
  CHECK(ported(job(sizes, "sh train.sh"), "lumi").job.nodes->value == 2);
  CHECK(ported(job(sizes, "srun python x.py"), "lumi").job.nodes->value == 1);
}

TEST_CASE("a script sees as many GPUs of a whole node") {
  const std::string two = "--nodes=1 --ntasks=1 --gpus-per-node=2";
  CHECK(has(written(job(two, "A=1 sh train.sh"), "lumi"), "\nA=1 ROCR_VISIBLE_DEVICES=0,1 sh train.sh\n"));
  CHECK(has(written(job(two, "if ./prepare; then time ./train.sh a; fi"), "lumi"),
            "time ROCR_VISIBLE_DEVICES=0,1 ./train.sh a; fi\n"));
  for (const std::string line : {"exec sh train.sh", "A=1 exec ./train.sh a", "nohup sh train.sh"}) {
    const auto at = line.starts_with("A=1 ") ? 4U : 0U;
    CHECK(has(written(job(two, line), "lumi"),
              "\n" + line.substr(0, at) + "ROCR_VISIBLE_DEVICES=0,1 " + line.substr(at) + "\n"));
  }
  CHECK(has(written(job(two, "sh train.sh"), "narval"), "\nsh train.sh\n"));
  CHECK(has(written(job("--nodes=1 --gpus-per-node=8", "sh train.sh"), "lumi"), "\nsh train.sh\n"));
}

TEST_CASE("a Python file in a variable is a program") {
  const auto script = written(job(k_one, "F=$1\npython $F --a"), "narval");
  CHECK(has(script, "-- \\\n  python $F --a\n"));
}

TEST_CASE("Python in the text of a shell is a program") {
  for (const std::string line :
       {"conda run -n e bash -c \"python x.py --a 1\"", "bash -c 'cd src && python x.py'",
        "cat > run.sh <<EOF\npython x.py\nEOF\nbash run.sh"}) {
    CAPTURE(line);
    const auto last = line.substr(line.rfind('\n') + 1); // npos + 1 is 0
    CHECK(has(written(job(k_one, line), "narval"), "-- \\\n  " + last + "\n"));
  }
}

TEST_CASE("import finds a program in an unknown directory") {
  CHECK(has(written(job(k_one, "$HOME/e/bin/python x.py"), "narval"), "-- \\\n  $HOME/e/bin/python x.py\n"));
  CHECK(has(written(job(k_one, "P=$HOME/e/bin/python\n$P x.py"), "narval"), "-- \\\n  $P x.py\n"));
  CHECK(has(written(job(k_one, "$WORK/run.sh a"), "narval"), "\n$WORK/run.sh a\n"));
  CHECK(has(written(job(k_one, "wandb agent a/b/c"), "narval"), "\nwandb agent a/b/c\n"));
  CHECK(has(written(job(k_one, "cat l | xargs -n1 python x.py"), "narval"),
            "\ncat l | xargs -n1 python x.py\n"));
}

TEST_CASE("import rejects parallel programs and those that see other GPUs") {
  const std::string four = "--nodes=1 --ntasks=1 --gres=gpu:4";
  struct Row {
    std::string lines, code;
  };
  const std::vector<Row> rows = {
      {"python a.py | tee log | python b.py", "port/parallel"},
      {"torchrun --nproc_per_node=4 a.py\ntorchrun --nproc_per_node=1 b.py", "port/size"},
      {"for n in 1 2 4; do\n  torchrun --nproc_per_node=$n a.py\ndone", "port/size"},
      {"for n in $(seq 2); do\n  srun --nodes=$n python a.py\ndone", "port/size"},
      {"CUDA_VISIBLE_DEVICES=0 python a.py\nCUDA_VISIBLE_DEVICES=0,1 python b.py", "port/gpus"},
      {"for i in 0 1; do\n  CUDA_VISIBLE_DEVICES=$i python a.py\ndone", "port/gpus"},
      {"CUDA_VISIBLE_DEVICES=-1 python a.py\npython b.py", "port/gpus"},
      {"CUDA_VISIBLE_DEVICES=\"\" python a.py\npython b.py", "port/gpus"},
      {"export WORLD_SIZE=4\npython spawn.py", "port/variable"},
      {"unset SLURM_NTASKS\npython a.py", "port/launch"},
      {"for v in $(env | grep SLURM); do unset ${v%%=*}; done\npython a.py", "port/launch"},
      {"env -i PATH=$PATH python a.py", "port/launch"},
      {"for h in $HOSTS; do ssh $h \"torchrun a.py\" & done\ntorchrun --nproc_per_node=4 a.py",
       "port/launch"},
      {"python a.py > log --b", "port/launch"},
      {"srun -n1 --gpus=1 python a.py\nsrun -n4 python b.py", "port/gpus"},
      {"deepspeed --include worker-0:0,1@worker-1:2 a.py", "port/launcher"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.lines);
    const auto result = ported(job(four, row.lines));
    CHECK_FALSE(error_of(result).empty());
    CHECK(reports(result, row.code, ""));
  }
}

TEST_CASE("import rejects settings of a shell for its agent") {
  const std::string agent = "torchrun --nnodes=2 --node_rank=$R --nproc_per_node=4 x.py'";
  const std::string nodes = "-N 2 --ntasks-per-node=1 --gres=gpu:4";
  for (const std::string setting : {"export RANK=$R; ", "MASTER_PORT=1 ", "export A=1 MASTER_ADDR=n; "})
    CHECK_THAT(error_of(ported(job(nodes, "srun bash -c '" + setting + agent))),
               Catch::Contains("the shell that starts the program sets "));
  CHECK(error_of(ported(job(nodes, "srun bash -c 'export NODE_RANK=$R; " + agent))).empty());
}

TEST_CASE("programs of the batch script see the job's GPUs") {
  const auto script = written(job("--nodes=1 --ntasks=1 --gpus-per-node=2",
                                  "torchrun --nproc_per_node=2 a.py\npython eval.py\nsh b.sh\necho a"),
                              "lumi");
  for (const std::string line : {"python eval.py", "sh b.sh"})
    CHECK(has(script, "\nROCR_VISIBLE_DEVICES=0,1 " + line + "\n"));
  CHECK(
      reports(ported(job("-N 1 --ntasks=1 --gres=gpu:8", "torchrun --nproc_per_node=8 a.py\npython eval.py")),
              "port/gpus", "on a node with 4 GPUs instead of 8"));
}

TEST_CASE("import rejects a job's directory that only other sites have") {
  const auto rejects = [](const std::string& line, const std::string& id) {
    return reports(ported(job(k_one, line + "\nsrun python x.py"), id), "port/site-variable",
                   "uses $SLURM_TMPDIR");
  };
  for (const std::string line :
       {"cp data.tar $SLURM_TMPDIR", "cd ${SLURM_TMPDIR}", "D=$SLURM_TMPDIR/x\nls $D"}) {
    INFO(line);
    CHECK(rejects(line, "vista"));
    CHECK_FALSE(rejects(line, "narval"));
  }
  for (const std::string line :
       {"echo $SLURM_TMPDIR", "cp data.tar ${SLURM_TMPDIR:-/tmp}", "ls # $SLURM_TMPDIR",
        "virtualenv $SLURM_TMPDIR/e", "cp data.tar $SCRATCH", "SLURM_TMPDIR=/tmp\ncd $SLURM_TMPDIR"}) {
    INFO(line);
    CHECK_FALSE(rejects(line, "vista"));
  }
  import_script::RequestOverrides chosen;
  chosen.variables = {{"SLURM_TMPDIR", "/tmp"}};
  CHECK(error_of(ported(job(k_one, "cd $SLURM_TMPDIR\nsrun python x.py"), "vista", chosen)).empty());
}

TEST_CASE("a chosen partition without GPUs makes a CPU job") {
  import_script::RequestOverrides chosen;
  const auto text = job("--partition=gpu --nodes=1", "srun python x.py");
  const auto gpus = [&](const std::string& partition) {
    chosen.partition = partition;
    const auto result = ported(text, "vista", chosen);
    return result.job.gpus_per_node ? static_cast<int>(result.job.gpus_per_node->value) : -1;
  };
  CHECK(gpus("gg") == 0);
  CHECK(gpus("gh") != 0);
}

TEST_CASE("set -u makes a list of devices necessary") {
  const std::string lines = "echo $CUDA_VISIBLE_DEVICES\nsrun python x.py";
  CHECK(has(written(job(k_one, "set -euo pipefail\n" + lines), "lumi"),
            "\nCUDA_VISIBLE_DEVICES=0 # read below"));
  CHECK_FALSE(has(written(job(k_one, "set -e\n" + lines), "lumi"), "CUDA_VISIBLE_DEVICES=0"));
}

TEST_CASE("a program in the background can be imported") {
  const auto result = ported(job(k_one, "./run.sh train \"$1\" &\nwait\nmmlsquota gpfs"));
  CHECK(reports(result, "port/nodes", "does not read what './run.sh train"));
}

TEST_CASE("a program of a package manager's environment is one") {
  for (const std::string line :
       {"exec pixi run --as-is tool launch \"$1\"", "uv run tool train", "poetry run tool x"})
    CHECK(error_of(ported(job(k_one, line))).empty());
}

TEST_CASE("a reservation is not kept") {
  const auto result = ported(job("--partition=gpu --account=def-x --gpus-per-node=a100:1 --reservation=r",
                                 "module load StdEnv/2023\nsrun python x.py"));
  CHECK(reports(result, "port/left-out", "--reservation=r"));
}

TEST_CASE("import names the loop that starts an agent per node") {
  const auto result =
      ported(job("-N 2 --gres=gpu:4", "for i in 0 1; do\n  srun -N1 -n1 -w ${n[i]} torchrun --nnodes=2 "
                                      "--node_rank=$i --nproc_per_node=4 x.py &\ndone\nwait"));
  CHECK(reports(result, "port/parallel", "once for each node with its own rank"));
}

TEST_CASE("a Python below the home directory is a program") {
  const auto script = written(
      job(k_one, "~/.conda/envs/e/bin/python --version\n~/.conda/envs/e/bin/python x.py ${@}"), "narval");
  CHECK(has(script, "-- \\\n  ~/.conda/envs/e/bin/python x.py ${@}\n"));
}

TEST_CASE("binds below the home directory are kept") {
  const auto script =
      written(job("-N 2 --ntasks-per-node=1 --gres=gpu:4",
                  "srun --container-image=/i.sif --container-mounts=\"/f:/f,$HOME:$HOME\" bash -c \"cd /f; "
                  "python x.py\""),
              "lumi");
  CHECK(has(script, "--bind \"/f:/f,$HOME:$HOME\""));
}

TEST_CASE("import rejects a directory that the launcher cannot use") {
  const auto text = job("-N 2 --ntasks-per-node=1 --gres=gpu:1", "srun --chdir=/w python x.py");
  CHECK(reports(ported(text, "vista"), "port/launcher", "option '--chdir' cannot be kept"));
  CHECK(has(written(text, "narval"), "--chdir=/w"));
}

TEST_CASE("a launch does not read a loop's lines") {
  const auto script =
      written(job(k_one, "while read -r a; do\n  python x.py $a > $a.log\ndone < list\n"
                         "cat list | while IFS=, read a b; do python z.py $a < $b; done\npython y.py"),
              "narval");
  CHECK(has(script, "python x.py $a < /dev/null > $a.log\n"));
  CHECK(has(script, "python z.py $a < $b; done"));
  CHECK(has(script, "python y.py\n"));
  CHECK(has(written(job(k_one, "f() { python x.py $1; }\nwhile read a; do f $a; done < list"), "narval"),
            "python x.py $1 < /dev/null; }"));
  CHECK_FALSE(has(written(job(k_one, "while read a; do srun python x.py $a; done < list"), "narval"),
                  "$a < /dev/null"));
}

TEST_CASE("what only the shell runs is not the program's") {
  CHECK(has(written(job(k_one, "exec python x.py"), "narval"), "-- \\\n  python x.py\n"));
  CHECK(has(written(job(k_one, "env A=$B python x.py"), "narval"), "-- \\\n  env A=$B python x.py\n"));
  CHECK(has(written(job(k_one, "mamba run -n e python x.py"), "narval"),
            "-- \\\n  mamba run -n e python x.py\n"));
}

TEST_CASE("commands that start no program are not imported") {
  for (const std::string line :
       {"echo a\nmkdir b", "sbatch child.sh", "source ./setup_env.sh", "bash -c 'ls'", "python -m pip list",
        "pushd x\nconda activate y", "./run.sh &"})
    CHECK(reports(ported(job(k_one, line)), "port/no-program", "starts no program"));
}

TEST_CASE("an unknown command that may be the program is named") {
  CHECK(error_of(ported(job(k_one, "./prepare.sh\n$COMMAND --a"))) ==
        "4: the program that line 4 of old.sh starts is known only when the script runs");
  CHECK_THAT(error_of(ported(job(k_one, "./prepare.sh\nsrun $COMMAND"))),
             Catch::Contains("the program that srun starts in line 4"));
  CHECK_THAT(error_of(ported(job(k_one, "./prepare.sh\neval $COMMAND"))), Catch::Contains("line 4"));
  CHECK(error_of(ported(job(k_one, "eval \"$(pyenv init -)\"\n./run.sh a"))).empty());
}

TEST_CASE("a shell's processes are not called one process") {
  const std::string sizes = "--nodes=1 --ntasks=1 --gres=gpu:8";
  for (const std::string line : {"sh train.sh", "srun bash -c \"$COMMAND\""})
    CHECK_THAT(error_of(ported(job(sizes, line))), Catch::Contains("uses 8 GPUs of one node by processes"));
  CHECK_THAT(error_of(ported(job(sizes, "python x.py"))), Catch::Contains("each process uses 8 GPUs"));
}

TEST_CASE("array tasks that are ranks of one training are rejected") {
  const std::string address = "export MASTER_ADDR=node1\n";
  for (const std::string line :
       {"export NODE_RANK=$SLURM_ARRAY_TASK_ID", "ID=$SLURM_ARRAY_TASK_ID\nexport RANK=$((ID - 1))",
        "if [[ $SLURM_ARRAY_TASK_ID -eq 1 ]]; then export LOCAL_RANK=0; else export LOCAL_RANK=1; fi",
        "case $SLURM_ARRAY_TASK_ID in 1) RANK=0 ;; 2) RANK=1 ;; esac"})
    CHECK(reports(ported(job("--array=1-4 " + k_one, address + line + "\npython x.py")), "port/array",
                  "the tasks of the array are the ranks of one training"));
  CHECK(reports(ported(job("--array=0-3 " + k_one, "torchrun --nnodes=4 --node_rank=$SLURM_ARRAY_TASK_ID "
                                                   "--nproc_per_node=1 --master_addr=n x.py")),
                "port/array", "--node_rank"));
}

TEST_CASE("array tasks that train alone are imported") {
  for (const std::string line :
       {"export RANK=$SLURM_ARRAY_TASK_ID\npython x.py", "python x.py --rank $SLURM_ARRAY_TASK_ID",
        "export MASTER_ADDR=localhost\nexport RANK=0\npython x.py $SLURM_ARRAY_TASK_ID",
        "export MASTER_ADDR=localhost MASTER_PORT=$((2000 + SLURM_ARRAY_TASK_ID))\npython x.py"})
    CHECK(error_of(ported(job("--array=1-4 " + k_one, line))).empty());
}

TEST_CASE("launches in a text for eval are rejected") {
  for (const std::string line :
       {"cmd=\"srun --ntasks=$N singularity exec --nv a.sif python x.py\"\neval $cmd",
        "eval \"srun python x.py\"", "eval \"singularity exec a.sif ./x\""}) {
    CAPTURE(line);
    CHECK(reports(ported(job(k_one, "srun nvidia-smi\n" + line)), "port/eval", "eval runs '"));
  }
  CHECK(error_of(ported(job(k_one, "eval \"$(conda shell.bash hook)\"\npython x.py"))).empty());
  CHECK(reports(ported(job(k_one, "C=\"python x.py\"\neval $C")), "port/eval", "eval runs 'python x.py'"));
}

TEST_CASE("a script without --output keeps Slurm's log name") {
  CHECK(has(written(job(k_one, "python x.py\nmv slurm-$SLURM_JOB_ID.out d"), "narval"),
            "#SBATCH --output=slurm-%j.out\n"));
  CHECK(has(written(job("--array=0-1 " + k_one, "python x.py"), "narval"),
            "#SBATCH --output=slurm-%A_%a.out\n"));
  CHECK(has(written(job("--output=o.txt " + k_one, "python x.py"), "narval"), "#SBATCH --output=o.txt\n"));
}

TEST_CASE("a continued line before a closing quote is closed") {
  const auto script = written(job("-N 2 --ntasks-per-node=1 --gres=gpu:4",
                                  "export A=$(cat f)\nsrun bash -c \"torchrun --nnodes=2 --nproc_per_node=4 "
                                  "x.py \\\n  $A \\\n  \"\necho b"),
                              "narval");
  CHECK(has(script, "x.py \\\n  $A\"\necho b"));
}

TEST_CASE("a tool in the program's image moves with it") {
  const auto script = written(
      job("--nodes=2 --ntasks-per-node=4 --gres=gpu:4",
          "singularity exec --nv a.sif pip install -e x\nsrun singularity exec --nv a.sif python x.py\n"
          "B=$(singularity exec b.sif cat f)"),
      "narval");
  CHECK(has(script, "--ntasks=1"));
  CHECK(has(script, "\n  apptainer exec --nv a.sif pip install -e x\n"));
  CHECK(has(script, "B=$(singularity exec b.sif cat f)"));
}

TEST_CASE("a job whose GPUs another tool's directive requests is rejected") {
  const auto text = [](const std::string& line) {
    return "#!/bin/bash\n" + line + "\n#SBATCH --time=10\nmpirun -np 4 python x.py\n#PJM -L x\n";
  };
  for (const std::string line : {"#YBATCH -r rtx6000-ada_4", "#PJM -L gpu=4", "#$ -l gpu=4"})
    CHECK_THAT(error_of(ported(text(line))), Catch::Contains("2: '" + line + "' may request GPUs"));
  for (const std::string line : {"#", "# -r", "#XSBATCH --gres=gpu:4", "#NOTE: -x", "#SBATCH --gres=gpu:4"})
    CHECK(error_of(ported(text(line))).empty());
  import_script::RequestOverrides chosen;
  chosen.nodes = true;
  CHECK(error_of(ported(text("#PJM -L gpu=4"), "narval", chosen)).empty());
}

TEST_CASE("gen --from counts GRES whose names begin with gpu") {
  const auto result = ported(job("--gres=gpu_cluster:2", "python train.py"));
  REQUIRE(result.job.gpus_per_node);
  CHECK(result.job.gpus_per_node->value == 2);
  CHECK_FALSE(reports(result, "port/gres", "gpu_cluster"));
}

TEST_CASE("gen --from warns about each other GRES that it removes") {
  for (const std::string gres :
       {"tmp:100G", "lscratch:200", "nvme:1", "bandwidth:lustre:1", "craynetwork:1"}) {
    INFO(gres);
    const auto name = gres.substr(0, gres.find(':'));
    CHECK(
        reports(ported(job("--gres=gpu:2," + gres, "python train.py")), "port/gres", "GRES '" + name + "'"));
  }
  const auto result = ported(job("--gres=shard:3", "python train.py"));
  REQUIRE(result.job.gpus_per_node);
  CHECK(result.job.gpus_per_node->value == 1);
  CHECK(reports(result, "port/gres", "a share of a GPU"));
}

TEST_CASE("gen --from sets Slurm variables that sourced files may read") {
  const auto script = job("--gpus-per-node=1 --cpus-per-task=4", "source cpu.sh\nbash scripts/ptb.sh");
  CHECK(has(written(script, "lumi"), "SLURM_CPUS_PER_TASK=7 # files below may read it"));
  const auto plain = job("--gpus-per-node=1 --cpus-per-task=4",
                         "source ~/.bashrc\nsource venv/bin/activate\npython train.py");
  CHECK_FALSE(has(written(plain, "lumi"), "SLURM_CPUS_PER_TASK=7"));
}

TEST_CASE("gen --from sets CUDA_VISIBLE_DEVICES that the batch script reads") {
  const auto script = job("--gpus-per-node=1", "python detect.py --device $CUDA_VISIBLE_DEVICES");
  CHECK(has(written(script, "lumi"), "\nCUDA_VISIBLE_DEVICES=0 # read below"));
  CHECK(has(written(script, "vista"), "\nCUDA_VISIBLE_DEVICES=0 # read below"));
  CHECK_FALSE(has(written(script, "narval"), "CUDA_VISIBLE_DEVICES=0 #"));
  const auto own = job("--gpus-per-node=1", "X=1\nCUDA_VISIBLE_DEVICES=$X python a.py $CUDA_VISIBLE_DEVICES");
  CHECK_FALSE(has(written(own, "lumi"), "# read below"));
}

TEST_CASE("import rejects functions of sourced files that start programs") {
  const std::string lines = "source hpc/env.sh\n";
  for (const std::string call :
       {"in_image bash \"$J\" &", "launch python x.py", "run_all torchrun x.py",
        "python prepare.py\nlaunch python x.py", "python prepare.py\nstart_training --cfg a.yaml"})
    CHECK_THAT(error_of(ported(job(k_one, lines + call))),
               Catch::Contains("may be a function of hpc/env.sh, which line 3 sources"));
  for (const auto& script : std::vector<std::string>{lines + "t2t-decoder --a", lines + "xargs python x.py",
                                                     lines + "srun python x.py", "launch python x.py",
                                                     "source ~/.bashrc\nlaunch python x.py",
                                                     "launch() { \"$@\"; }\n" + lines + "launch python x.py"})
    CHECK(error_of(ported(job(k_one, script))).empty());
}

TEST_CASE("import reports programs that only ssh starts") {
  const auto script =
      job("--nodes=2 --gpus-per-node=4",
          "for h in $(scontrol show hostnames); do\n  ssh $h \"torchrun x.py\" &\ndone\nwait");
  CHECK_THAT(error_of(ported(script)), Catch::Contains("4: 'ssh $h \"torchrun x.py\"' starts a program on"));
}
