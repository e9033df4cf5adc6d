// SPDX-License-Identifier: MIT
// The intent of a script at another site: how many ranks with which GPUs, the program with all of its words,
// and how often the other steps run.
#include "generate/import_script/import_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

const std::string k_two_nodes = "--nodes=2 --gpus-per-node=4 --ntasks-per-node=4";

std::vector<std::string> command_of(const std::string& lines, const std::string& to = "narval") {
  const auto result = ported(job(k_two_nodes, lines), to);
  for (const auto& finding : result.findings) UNSCOPED_INFO(finding.message);
  CHECK_FALSE(diag::has_errors(result.findings));
  return result.job.command;
}

} // namespace

TEST_CASE("launchers' options with values are not programs") {
  const std::vector<std::string> python = {"python", "x.py", "--a", "1"};
  CHECK(command_of("ibrun -np 8 python x.py --a 1") == python);
  CHECK(command_of("mpirun -np 8 --mca btl ^openib --report-bindings -x A=1 python x.py --a 1") == python);
  CHECK(command_of("mpiexec -n 8 -genv A 1 -ppn 4 -bootstrap slurm python x.py --a 1") == python);
  CHECK(command_of("mpirun -np 8 --mca btl tcp,self --mca pml ob1 python x.py --a 1") == python);
  CHECK(command_of("srun torchrun_jsc --nnodes=2 --nproc_per_node=4 x.py --a 1") == python);
}

TEST_CASE("a program after an unknown option is refused") {
  for (const auto* line :
       {"mpirun -np 8 --new-option 2 python x.py", "mpirun -np 8 -bind-x core python x.py",
        "srun --new-option none python x.py", "srun accelerate launch --new_option 3 x.py"}) {
    INFO(line);
    const auto result = ported(job(k_two_nodes, line));
    REQUIRE(diag::has_errors(result.findings));
    CHECK(reports(result, "port/launch", "program of this line is ambiguous"));
  }
}

TEST_CASE("variables that a launcher's options set are kept whole") {
  const auto result = ported(job(k_two_nodes, "mpirun -np 8 -x LIST=a,b,c -genv TWO 2 python x.py"));
  REQUIRE(result.job.env.size() == 2);
  CHECK(result.job.env[0].second.value == "a,b,c");
  CHECK(result.job.env[1].first == "TWO");
  CHECK(result.job.env[1].second.value == "2");
}

TEST_CASE("binds that are glued to their option stay binds") {
  const auto script =
      written(job(k_two_nodes,
                  "S=/scratch/me\nsrun singularity exec -B\"/data:/data\" -B\"$S:$S\" -B$PWD:/w $S/x.sif "
                  "python x.py --lr 1"),
              "rorqual");
  CHECK(has(script, "/data:/data"));
  CHECK(has(script, "/scratch/me:/scratch/me"));
  CHECK(has(script, "$PWD:/w"));
  CHECK(has(script, "/scratch/me/x.sif"));
  CHECK(has(script, "python x.py --lr 1"));
  CHECK_FALSE(has(script, "--B"));
}

TEST_CASE("torchrun gets a program in a variable unchanged") {
  const std::string torchrun = "torchrun --nnodes=2 --nproc_per_node=4 --max_restarts=3 ";
  const auto script_in_variable = written(
      job("--nodes=2 --gpus-per-node=4", "CMD=\"x.py --out $OUT\"\nsrun " + torchrun + "$CMD"), "narval");
  CHECK(has(script_in_variable, "--max_restarts=3 $CMD"));
  CHECK_FALSE(has(script_in_variable, "python $CMD"));
}

TEST_CASE("accelerate keeps a configuration whatever names it") {
  const std::string header = "--nodes=1 --gpus-per-node=4 --ntasks-per-node=1";
  const auto by_argument =
      written(job(header, "CONFIG=$1\nshift\nsrun accelerate launch --config_file=$CONFIG --num_processes=4 "
                          "--num_machines=1 x.py \"$@\""),
              "narval");
  CHECK(has(by_argument, "CONFIG=$1"));
  CHECK(has(by_argument, "--config_file=$CONFIG"));
  const auto two = written(job(header, "srun accelerate launch --config_file a.yaml --num_processes=4 x.py\n"
                                       "srun accelerate launch --config_file b.yaml --num_processes=4 y.py"),
                           "narval");
  CHECK(has(two, "--config_file=a.yaml x.py"));
  CHECK(has(two, "--config_file=b.yaml y.py"));
  const auto mixed = ported(job(header, "srun accelerate launch --config_file a.yaml --num_processes=4 x.py\n"
                                        "srun --ntasks=4 python y.py"));
  CHECK(diag::has_errors(mixed.findings));
  CHECK(reports(mixed, "port/launcher", "'--config_file' cannot be kept"));
}

TEST_CASE("helper steps run as often as before") {
  const std::string header = "--nodes=2 --gpus-per-node=8";
  const auto per_node =
      written(job(header, "srun -N $SLURM_NNODES --ntasks-per-node=1 mkdir -p /tmp/env\n"
                          "srun --nodes=2 --ntasks=2 --ntasks-per-node=1 -c56 tar xf env.tar -C /tmp\n"
                          "srun -N1 -n1 cp a b\nsrun -n16 --ntasks-per-node=8 -c7 python train.py"),
              "narval"); // 4 nodes
  CHECK_THAT(per_node, Catch::Contains("srun --ntasks=4 --ntasks-per-node=1 --cpu-bind=none \\\n  mkdir -p"));
  CHECK_THAT(per_node, Catch::Contains("srun --ntasks=4 --ntasks-per-node=1 --cpu-bind=none \\\n  tar xf"));
  CHECK_THAT(per_node, Catch::Contains("--ntasks=1 --ntasks-per-node=1 --cpu-bind=none \\\n  cp a b"));
  CHECK_FALSE(has(per_node, "-c56"));
  // Without a number of tasks in the header srun starts one on each node.
  CHECK_THAT(
      written(job(header, "srun mkdir -p /tmp/x\nsrun -n16 --ntasks-per-node=8 python train.py"), "narval"),
      Catch::Contains("--ntasks=4 --ntasks-per-node=1 --cpu-bind=none \\\n  mkdir -p"));
  const auto on_named =
      written(job(header, "srun -w $HOST -N1 -n1 mkdir x\nsrun -n16 python train.py"), "narval");
  CHECK(has(on_named, "srun -w $HOST -N1 -n1 mkdir x"));
}

TEST_CASE("a helper step outside of the image stays outside") {
  const auto script =
      written(job("--nodes=2 --gpus-per-node=4 --ntasks-per-node=4",
                  "srun --ntasks-per-node=1 -N2 mkdir -p /tmp/a\nsrun singularity exec /x.sif python x.py"),
              "narval");
  CHECK_THAT(script, Catch::Contains("--cpu-bind=none \\\n  mkdir -p /tmp/a"));
  CHECK_THAT(script, Catch::Contains("/x.sif python x.py"));
}

TEST_CASE("launches in two images keep their own") {
  const auto script =
      written(job("--nodes=1 --gpus-per-node=4 --ntasks-per-node=4",
                  "srun singularity exec /a.sif python x.py\nsrun singularity exec /b.sif python y.py"),
              "narval");
  CHECK_THAT(script, Catch::Contains("/a.sif python x.py"));
  CHECK_THAT(script, Catch::Contains("/b.sif python y.py"));
}

TEST_CASE("a driver with steps stays in the batch script") {
  const std::string line = "python driver.py --launcher slurm --run-command srun";
  const auto text = job("--nodes=2 --ntasks-per-node=4 --gpus-per-node=4 --cpus-per-task=7", line);
  const auto result = ported(text, "leonardo");
  CHECK(reports(result, "port/nodes", "it stays one process on the first of 2 nodes"));
  const auto script = written(text, "leonardo");
  CHECK(has(script, "\n" + line));
  CHECK(has(script, "--ntasks-per-node=4"));
  CHECK(has(script, "--nodes=2"));
  CHECK_FALSE(has(script, "srun --"));
}

TEST_CASE("agents of all tasks become one per node") {
  const auto result =
      ported(job("--nodes=1 --ntasks-per-node=2 --gpus-per-node=2 --partition=gpu2h100",
                 "srun python3 -m torch.distributed.run --standalone --nnodes=1 --nproc-per-node=2 "
                 "/path/to/train.py"),
             "zurada");
  CHECK_FALSE(diag::has_errors(result.findings));
  CHECK(reports(result, "port/size", "2 tasks of each node each start torchrun"));
  REQUIRE(result.job.gpus_per_node);
  CHECK(result.job.gpus_per_node->value == 2);
  CHECK_FALSE(result.job.tasks_per_node);
  const auto four = ported(job("--nodes=2 --ntasks-per-node=4 --gpus-per-node=2 --partition=gpu2h100",
                               "srun python -m torch.distributed.run --nnodes=$SLURM_JOB_NUM_NODES "
                               "--nproc_per_node=2 train.py"),
                           "zurada");
  CHECK_FALSE(four.job.tasks_per_node);
  CHECK(four.job.nodes->value == 2);
  CHECK(four.job.gpus_per_node->value == 2);
  // Tasks with GPUs of their own are trainings of their own.
  CHECK(diag::has_errors(ported(job("--nodes=1 --ntasks-per-node=2 --gpus-per-node=4",
                                    "srun torchrun --standalone --nproc-per-node=2 x.py"))
                             .findings));
}

TEST_CASE("an image after a wrapper is not lost") {
  const auto text = job(k_two_nodes, "srun ./wrap.sh singularity exec /x.sif python x.py");
  CHECK(diag::has_errors(ported(text, "juwels_booster").findings));
  CHECK(reports(ported(text, "juwels_booster"), "port/container", "juwels_booster has no singularity"));
  CHECK(reports(ported(text, "narval"), "port/container", "starts singularity itself"));
}

TEST_CASE("a working directory in the image is kept") {
  const auto text = job(k_two_nodes, "srun --container-image=nvcr.io#a/b:1 --container-mounts=/l/c:/w "
                                     "--container-workdir=/w/c python x.py");
  CHECK(has(written(text, "narval"), "--pwd \"/w/c\""));
  CHECK(diag::has_errors(ported(text, "perlmutter").findings));
}

TEST_CASE("numbers of GPUs among the program's arguments keep its nodes") {
  for (const auto* arguments :
       {"--trainer.devices 4 --trainer.num_nodes 2", "trainer.devices=4", "--devices=4"}) {
    INFO(arguments);
    const auto result = ported(job(k_two_nodes, std::string("srun python x.py ") + arguments), "lumi");
    CHECK(result.job.nodes->value == 2);
    CHECK(result.job.gpus_per_node->value == 4);
  }
}

TEST_CASE("ranks see their own GPU when a wrapper chooses it") {
  const auto result =
      ported(job(k_two_nodes, "cat > w << EOF\nexport ROCR_VISIBLE_DEVICES=\\$SLURM_LOCALID\nexec "
                              "\\$*\nEOF\nchmod +x w\nsrun ./w python x.py"));
  REQUIRE(result.job.gpu_visibility);
  CHECK(result.job.gpu_visibility->value == model::GpuVisibilityMode::own);
}

TEST_CASE("binds in a variable of the engine are kept") {
  const auto script =
      written(job(k_two_nodes, "export APPTAINER_BIND=/data:/data,/x\nsrun apptainer exec /i.sif "
                               "python x.py"),
              "narval");
  CHECK(has(script, "/data:/data"));
  CHECK(has(script, "--bind /x"));
}

TEST_CASE("a configuration that a variable names keeps accelerate") {
  const auto script =
      written(job("--nodes=2 --gpus-per-node=4 --ntasks-per-node=1",
                  "export ACCELERATE_CONFIG_FILE=fsdp.yaml\nsrun accelerate launch --num_machines 2 "
                  "--num_processes 8 x.py"),
              "narval");
  CHECK(has(script, "export ACCELERATE_CONFIG_FILE=fsdp.yaml\n"));
  CHECK(has(script, "accelerate launch --num_machines=\"$SLURM_NNODES\""));
  CHECK(has(script, "--config_file=\"$ACCELERATE_CONFIG_FILE\" x.py"));
}

TEST_CASE("variables that are the program's affair stay") {
  const auto script =
      written(job(k_two_nodes, "export NCCL_ALGO=Ring\nexport NCCL_TIMEOUT=9\nexport OMP_NUM_THREADS=1\n"
                               "export MIOPEN_FIND_MODE=3\nexport NCCL_IB_HCA=x\nsrun python x.py"),
              "narval");
  for (const auto* kept : {"NCCL_ALGO=Ring", "NCCL_TIMEOUT=9", "OMP_NUM_THREADS=1", "MIOPEN_FIND_MODE=3"})
    CHECK_THAT(script, Catch::Contains(std::string("export ") + kept + "\n"));
  CHECK_FALSE(has(script, "NCCL_IB_HCA=x"));
}

TEST_CASE("import keeps a number of threads unless it counts cores") {
  for (const std::string setting : {"export OMP_NUM_THREADS=4", "OMP_NUM_THREADS=4\nexport OMP_NUM_THREADS",
                                    "export OMP_NUM_THREADS=$T"}) {
    CAPTURE(setting);
    CHECK(has(written(job(k_two_nodes, setting + "\nsrun python x.py"), "narval"), "\n" + setting + "\n"));
  }
  CHECK(reports(ported(job(k_two_nodes, "export OMP_NUM_THREADS=4\nsrun python x.py")), "port/variable",
                "OMP_NUM_THREADS stays"));
  for (const std::string value : {"$SLURM_CPUS_PER_TASK", "$(nproc)", "$((SLURM_CPUS_PER_TASK / 4))"})
    CHECK_FALSE(
        has(written(job(k_two_nodes, "export OMP_NUM_THREADS=" + value + "\nsrun python x.py"), "narval"),
            "export OMP_NUM_THREADS"));
  CHECK(has(written(job(k_two_nodes, "mpirun -np 8 -x OMP_NUM_THREADS=3 python x.py"), "narval"),
            "OMP_NUM_THREADS=3"));
}

TEST_CASE("a launch in an unnamed image is refused") {
  CHECK(diag::has_errors(ported(job(k_two_nodes, "srun shifter python x.py"), "perlmutter").findings));
}

TEST_CASE("several programs in one launch are refused") {
  CHECK(reports(ported(job(k_two_nodes, "mpirun -np 4 python a.py : -np 4 python b.py")), "port/launch",
                "several programs"));
}

TEST_CASE("intents show environment, modules and variables side by side") {
  const auto text =
      job(k_two_nodes, "module load cuda/12\nsource /e/bin/activate\nexport A=1\nexport UCX_TLS=x\n"
                       "srun python x.py");
  const auto before = ported(text, "leonardo").intent;
  const auto after = import_script::intent_of(planned(text, "leonardo"), before);
  CHECK(before.environment == "source /e/bin/activate");
  CHECK(after.environment == before.environment);
  const auto table = import_script::render_intents("old.sh", before, "leonardo", after);
  for (const auto* row : {"   environment ", "*  modules ", "*  variables "}) {
    INFO(table << row);
    CHECK(has(table, row));
  }
  import_script::RequestOverrides chosen;
  chosen.environment = "--venv";
  CHECK_FALSE(ported(text, "leonardo", chosen).intent.keeps_environment);
}
