// SPDX-License-Identifier: MIT
// The old script's own commands: variables, comments, environments. Kept, cut or said.
#include <map>

#include "generate/import_script/import_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {
const std::string k_four = "-N 2 --ntasks-per-node=1 --gres=gpu:4";
} // namespace

TEST_CASE("Variables that kept commands read are set where the new request does not") {
  const auto script = written(job("-N 1 --gpus-per-node=8 --ntasks-per-node=8 --cpus-per-task=7",
                                  "echo $SLURM_GPUS_PER_NODE\nsrun python x.py --tp $SLURM_NTASKS_PER_NODE "
                                  "--workers $SLURM_CPUS_PER_TASK"),
                              "lumi");
  CHECK(has(script, "SLURM_CPUS_PER_TASK=7"));
  // An agent stays for --tee: its task has the cores of all the processes that it starts.
  const auto agent = written(job("-N 4 --gpus-per-node=4 --ntasks-per-node=1 --cpus-per-task=32",
                                 "srun torchrun --nnodes=4 --nproc_per_node=4 --rdzv_endpoint=$H:1 --tee 3 "
                                 "x.py --workers $SLURM_CPUS_PER_TASK"),
                             "lumi");
  CHECK(has(agent, "torchrun"));
  CHECK(has(agent, "SLURM_CPUS_PER_TASK=56"));
  const auto by_gres =
      written(job("-N 1 --gpus-per-node=4 --ntasks-per-node=4", "srun python x.py --tp $SLURM_GPUS_PER_NODE"),
              "leonardo");
  CHECK(has(by_gres, "SLURM_GPUS_PER_NODE=4"));
}

TEST_CASE("Variables of ranks that commands read are theirs alone") {
  const auto script =
      written(job("-N 2 --ntasks-per-node=4 --gres=gpu:4",
                  "export WORLD_SIZE=8\nexport MASTER_ADDR=$(hostname)\n"
                  "export MASTER_PORT=29500\necho $WORLD_SIZE $MASTER_ADDR\n"
                  "srun python -m torch.distributed.run --master_port $MASTER_PORT --nproc_per_node=1 x.py"),
              "narval");
  CHECK(has(script, "\nWORLD_SIZE=8\nMASTER_ADDR=$(hostname)\n"));
  CHECK_FALSE(has(script, "MASTER_PORT=29500"));
}

TEST_CASE("A rank's variable that a script exports anywhere is kept from the ranks, and said once") {
  struct Row {
    std::string lines;
    std::string kept;    ///< stands in the new script
    std::string message; ///< by the one note on these lines
  };
  const std::vector<Row> rows = {
      {"export MASTER_ADDR=$(hostname)\necho $MASTER_ADDR", "\nMASTER_ADDR=$(hostname)\n",
       "MASTER_ADDR stays for the script's own commands, but is not exported"},
      {"A=1\nexport MASTER_ADDR=$(hostname)", "", "MASTER_ADDR is removed"},
      {"if [ -n \"$X\" ]; then export MASTER_ADDR=a; else\n  export RANK=$SLURM_PROCID\nfi",
       "then MASTER_ADDR=a; else\n  RANK=$SLURM_PROCID\nfi",
       "RANK stays for the script's own commands, but is not exported"},
      {"f() { export LOCAL_RANK=$SLURM_LOCALID; }\nf", "f() { LOCAL_RANK=$SLURM_LOCALID; }",
       "LOCAL_RANK stays for"},
      {"if true; then WORLD_SIZE=8; export WORLD_SIZE; fi", "then WORLD_SIZE=8; true; fi",
       "WORLD_SIZE is not exported"},
      {"WORLD_SIZE=8\nexport WORLD_SIZE\necho $WORLD_SIZE", "\nWORLD_SIZE=8\necho",
       "WORLD_SIZE is not exported"},
      {"for i in 1; do export NCCL_SOCKET_IFNAME=ib0; done", "do export NCCL_SOCKET_IFNAME=ib0; done",
       "NCCL_SOCKET_IFNAME stays because it is set in an if"},
      {"export RANK=0 DATA=/d\necho $RANK", "\nexport RANK=0 DATA=/d\n", "stays exported as in the script"},
      {"[ -z \"$X\" ] && export MASTER_PORT=1\necho $Y", "\n[ -z \"$X\" ] && true\necho",
       "MASTER_PORT is removed"},
      {"export MASTER_PORT=1 &&\n  export WORLD_SIZE=8 || exit", "\ntrue &&\n  true || exit\n",
       "WORLD_SIZE is removed"},
      {"export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\necho $SRUN_CPUS_PER_TASK",
       "\nSRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK\necho", "SRUN_CPUS_PER_TASK stays for the script's own"},
      {"module load old/1 && echo loaded", "\ntrue && echo loaded\n", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.lines);
    const auto text = job("-N 2 --ntasks-per-node=4 --gres=gpu:4", row.lines + "\nsrun python x.py");
    CHECK_THAT(written(text, "narval"), Catch::Contains(row.kept));
    const auto result = ported(text);
    if (!row.message.empty()) CHECK(reports(result, "port/variable", row.message));
    std::map<std::size_t, int> notes; // of places
    for (const auto& finding : result.findings)
      if (finding.code == "port/variable") ++notes[finding.location.line * 1000 + finding.location.column];
    for (const auto& [place, count] : notes) CHECK(count == 1);
  }
}

TEST_CASE("A variable that goes with what read it is not said to stay first") {
  const auto result = ported(
      job(k_four, "export MASTER_ADDR=$(hostname)\nENDPOINT=$MASTER_ADDR:29500\nsrun torchrun --nnodes=2 "
                  "--nproc_per_node=4 --rdzv_endpoint=$ENDPOINT x.py"));
  CHECK(reports(result, "port/variable", "MASTER_ADDR is removed"));
  CHECK_FALSE(reports(result, "port/variable", "MASTER_ADDR stays"));
}

TEST_CASE("What was there for the old launch only goes with it") {
  const auto script = written(
      job(k_four,
          "MASKS=0xfe,0xfe00\nSIF=/a/img.sif\nLAUNCHER=\"torchrun --nproc_per_node=4 --nnodes=2\"\n#SBATCH\n"
          "srun --cpu-bind=mask_cpu:$MASKS singularity exec $SIF $LAUNCHER x.py"),
      "lumi");
  CHECK_FALSE(has(script, "MASKS="));
  CHECK_FALSE(has(script, "SIF="));
  CHECK_FALSE(has(script, "LAUNCHER="));
  CHECK_FALSE(has(script, "#SBATCH\n"));
}

TEST_CASE("Comments go with the lines that they spoke of, and no others") {
  const auto text = job(k_four, "# Copyright: me\n\n"
                                "#########\n# Network\n#########\nexport MASTER_PORT=29500\n#########\n\n"
                                "# data and port\nexport MASTER_ADDR=$(hostname)\nDATA=/d\n"
                                "# export NCCL_DEBUG=INFO\nexport NCCL_IB_HCA=mlx5\n\n"
                                "# the launcher\nL=\"torchrun --nnodes=2 --nproc_per_node=4\"\n"
                                "export CMD=\"$L x.py\"\n"
                                "# srun --port $PORT old.py\n"
                                "declare -a PORT=(1 2)\n\n"
                                "cat <<END\n# text\nEND\n"
                                "export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK\n\n"
                                "# start\nsrun $CMD $DATA");
  const auto script = written(text, "narval");
  for (const auto* gone : {"# Network", "#####", "# the launcher", "CMD=", "L=\"torchrun", "29500"}) {
    INFO(gone);
    CHECK_FALSE(has(script, gone));
  }
  for (const auto* kept : {"# Copyright: me", "# data and port\nDATA=/d", "# export NCCL_DEBUG=INFO",
                           "# srun --port", "# text\nEND", "# start\nsrun"}) {
    INFO(kept);
    CHECK(has(script, kept));
  }
  CHECK(reports(ported(text, "narval"), "port/comment", "is removed with the lines below"));
}

TEST_CASE("A module that the new site loads in another version is said") {
  CHECK(reports(ported(job("--gpus-per-node=1", "module load python3/3.11\npython x.py"), "lonestar6"),
                "port/module", "is replaced: the script for lonestar6 loads python3/3.9.7"));
}

TEST_CASE("An environment that the script makes is the only one") {
  const auto script =
      written(job("-N 1 --gpus-per-node=1",
                  "module load python/3.11\nvirtualenv --no-download $SLURM_TMPDIR/env\n"
                  "source $SLURM_TMPDIR/env/bin/activate\npip install --no-index torch\npython x.py"),
              "narval");
  CHECK(script.find("virtualenv") == script.rfind("virtualenv"));
  CHECK(has(script, "module load python/3.11"));
  CHECK(reports(ported(job("", "pip install --no-index torch\npython x.py"), "lumi"), "port/wheels",
                "--no-index"));
}

TEST_CASE("The account is said to go only where another one comes") {
  const auto text = job("--account=project_1 --gpus-per-node=1", "python x.py");
  CHECK(reports(ported(text, "lumi"), "port/left-out", "--account=project_1"));
  import_script::RequestOverrides same;
  same.account = "project_1";
  CHECK_FALSE(reports(ported(text, "lumi", same), "port/left-out", "--account"));
  same.account = "project_2";
  CHECK(
      reports(ported(text, "lumi", same), "port/left-out", "--account=project_2 of the request replaces it"));
}

TEST_CASE("An account of the new site's own kind stays where the script was written for that site") {
  struct Row {
    std::string directives, site;
    bool stays;
  };
  const std::vector<Row> rows = {
      {"--account=project_465000001 --partition=standard-g --gpus-per-node=8", "lumi", true},
      {"--account=project_465000001 --partition=small --gpus-per-node=1", "lumi", true},
      {"--account=project_2001234 --partition=gpusmall --gpus-per-node=1", "lumi", false}, // another centre's
      {"--account=someone --partition=standard-g --gpus-per-node=8", "lumi", false},
      {"--account=def-me --gpus-per-node=h100:4", "narval", true},
      {"--account=def-me --partition=dgx --gpus-per-node=4", "narval", false},
      {"--account=project_465000001 --partition=standard-g --gpus-per-node=8", "narval", false},
  };
  for (const auto& row : rows) {
    CAPTURE(row.directives, row.site);
    const auto result = ported(job(row.directives, "srun python x.py"), row.site);
    CHECK(result.job.account.has_value() == row.stays);
    CHECK(reports(result, row.stays ? "port/account" : "port/left-out", "--account="));
  }
}

TEST_CASE("What the new site or the image has, too, is nothing of the old site's") {
  const auto binds = ported(job("--gpus-per-node=8", "srun singularity exec -B /scratch/p/d:/data --bind "
                                                     "/users/me/code:/code /x/a.sif python /code/t.py "
                                                     "--data=/data/s --out=/results/r"),
                            "lumi");
  CHECK_FALSE(reports(binds, "port/path", "/code/t.py"));
  CHECK_FALSE(reports(binds, "port/path", "/data/s"));
  CHECK(reports(binds, "port/path", "/results/r"));
  const std::string lines = "module load python/3.10 cuda/12.2\nvirtualenv --no-download $SLURM_TMPDIR/env\n"
                            "source $SLURM_TMPDIR/env/bin/activate\npip install --no-index torch\npython "
                            "main.py";
  const auto same = ported(job("--gpus-per-node=1", lines), "fir");
  CHECK_FALSE(reports(same, "port/site-variable", "SLURM_TMPDIR"));
  CHECK_FALSE(reports(same, "port/wheels", "--no-index"));
  CHECK_FALSE(reports(same, "port/module", "module load"));
  const auto second_script = ported(job("--gpus-per-node=1", lines), "leonardo");
  CHECK(reports(second_script, "port/site-variable", "SLURM_TMPDIR"));
  CHECK(reports(second_script, "port/wheels", "--no-index"));
  CHECK(reports(second_script, "port/module", "is removed"));
}

TEST_CASE("Paths and variables of the old site are said") {
  const auto result = ported(job("--gpus-per-node=1 --output=/home/me/log",
                                 "DATA=/scratch/me/data\ncp $SLURM_TMPDIR/x $WORK/y\npython x.py $DATA"),
                             "lumi");
  CHECK(reports(result, "port/path", "/home/me/log"));
  CHECK(reports(result, "port/path", "/scratch/me/data"));
  CHECK(reports(result, "port/site-variable", "SLURM_TMPDIR"));
  CHECK(reports(result, "port/site-variable", "WORK"));
  CHECK_FALSE(reports(result, "port/site-variable", "DATA"));
}

TEST_CASE("A program that bash cannot read is said to be so") {
  CHECK(reports(ported(job("", "if true; then\nsrun python x.py"), "lumi"), "port/syntax", ""));
}

TEST_CASE("Without srun's variables a launch reads the launcher's") {
  const auto script = written(
      job("-N 2 --ntasks-per-node=1",
          "export NCCL_DEBUG=INFO\nsrun bash -c 'RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID python x.py'"),
      "vista");
  CHECK_FALSE(has(script, "SLURM_PROCID"));
}

TEST_CASE("Characters that nobody sees are said, once for a line") {
  const auto result =
      ported(job(k_four, "A=1\u202e2\u202c # caf\u00e9\n\techo $A\nsrun python x.py \u200b--y"));
  unsigned notes = 0;
  for (const auto& finding : result.findings)
    if (finding.code == "port/hidden-character") ++notes;
  CHECK(notes == 2);
  CHECK(reports(result, "port/hidden-character", "reverses the text direction (\\u{202e})"));
  CHECK(reports(result, "port/hidden-character", "(\\u{200b})"));
}

TEST_CASE("a variable that the request sets is not reported") {
  const auto text = job("-N 1 --gres=gpu:4", "srun python x.py --data $MY_DATA");
  import_script::RequestOverrides chosen;
  CHECK(reports(ported(text, "lumi", chosen), "port/site-variable", "MY_DATA"));
  chosen.variables = {{"MY_DATA", "/data"}};
  CHECK_FALSE(reports(ported(text, "lumi", chosen), "port/site-variable", "MY_DATA"));
}

namespace {

/// The script for lumi, with a request that sets the variable A.
std::string with_env(const std::string& lines, import_script::ImportResult* result = nullptr) {
  import_script::RequestOverrides chosen;
  chosen.variables = {{"A", "new"}};
  auto import = ported(job("--nodes=1 --gpus-per-node=8 --ntasks-per-node=8", lines), "lumi", chosen);
  REQUIRE(import.job.body);
  std::string text;
  for (const auto& piece : import.job.body->pieces) {
    text += piece.text;
    for (const auto& word : piece.launch.source) text += word + " ";
    for (const auto& word : piece.launch.image_options) text += word + " ";
  }
  if (result) *result = std::move(import);
  return text;
}

} // namespace

TEST_CASE("variables of the request replace those of the script") {
  for (const auto* lines :
       {"export A=old\nsrun python x.py $A", "A=old\nexport A\nsrun python x.py $A",
        "export A=old B=2\nsrun python x.py $A $B", "A=old srun python x.py $A",
        "if [ -d /x ]; then export A=old; else A=old; fi\nsrun python x.py $A",
        "[ -d /x ] && export A=old\nsrun python x.py $A", "declare -x A=old\nsrun python x.py $A",
        "setup() { export A=old; }\nsetup\nsrun python x.py $A", "srun env A=old B=2 python x.py $A",
        "ROOT=old\nexport A=$ROOT/data\nsrun python x.py $A",
        "srun singularity exec --env A=old /x.sif python x.py $A"}) {
    INFO(lines);
    import_script::ImportResult result;
    const auto text = with_env(lines, &result);
    INFO(text);
    CHECK_FALSE(has(text, "old"));
    CHECK(has(text, "$A"));
    CHECK(has(text, "B=2") == has(lines, "B=2"));
    CHECK(reports(result, "port/variable", "--env A of the request replaces"));
    CHECK_FALSE(reports(result, "port/variable", "which overrides"));
  }
}

TEST_CASE("the new program has the request's values") {
  import_script::ImportResult result;
  with_env("A=old\nsrun python x.py --data $A \"${A}/b\" $AB '$A'", &result);
  CHECK(result.job.command ==
        std::vector<std::string>{"python", "x.py", "--data", "new", "new/b", "$AB", "$A"});
  CHECK(has(result.intent.steps.front().program, "--data old old/b"));
}

TEST_CASE("assignments that override the request are reported") {
  for (const auto* lines :
       {"for A in old new; do srun python x.py $A; done",
        "for b in 1 2; do A=old$b; srun python x.py $A; done", "read -r A < file\nsrun python x.py $A",
        "printf -v A %s old\nsrun python x.py $A", "setup() { local A=old; srun python x.py $A; }\nsetup",
        "srun bash -c 'export A=old; python x.py $A'"}) {
    INFO(lines);
    import_script::ImportResult result;
    with_env(lines, &result);
    CHECK(reports(result, "port/variable", "which overrides --env A"));
  }
}

TEST_CASE("assignments that use the request's value stay") {
  for (const auto* line : {"export A=$A:/x", "A+=:/x", "export A=${A:-old}"}) {
    import_script::ImportResult result;
    CHECK(has(with_env(std::string(line) + "\nsrun python x.py $A", &result), line));
    CHECK_FALSE(reports(result, "port/variable", "A "));
  }
}

TEST_CASE("shell options of the first line stay") {
  const std::string rest = "\n#SBATCH --time=10 --nodes=1 --gpus-per-node=8 --ntasks-per-node=8\n"
                           "srun python x.py\n";
  CHECK(has(written("#!/bin/bash -ex" + rest, "lumi"),
            "set +euo pipefail\nset -ex # from the old script's first line\nsrun "));
  CHECK_FALSE(has(written("#!/usr/bin/env bash" + rest, "lumi"), "first line"));
  CHECK_FALSE(has(written("#!/bin/bash --login" + rest, "lumi"), "first line"));
  CHECK_FALSE(has(written("#!/bin/bash -l" + rest, "lumi"), "first line"));
}

TEST_CASE("paths of the old site's file systems are warnings") {
  const auto script = [](const std::string& path) {
    return job("--partition=booster --gres=gpu:4 --nodes=1 --ntasks-per-node=4 --account=a",
               "module load Stages/2024\nsrun python x.py --data " + path + " --log /log/x");
  };
  const auto severity = [](const import_script::ImportResult& result, const std::string& path) {
    const auto found = std::find_if(result.findings.begin(), result.findings.end(), [&](const auto& finding) {
      return finding.code == "port/path" && has(finding.message, "'" + path + "'");
    });
    REQUIRE(found != result.findings.end());
    return found->severity;
  };
  const auto at_lumi = ported(script("/p/scratch/project/d"), "lumi");
  CHECK(severity(at_lumi, "/p/scratch/project/d") == diag::Severity::warning);
  CHECK(severity(at_lumi, "/log/x") == diag::Severity::note);
  const auto unknown = ported(script("/p/scratch/project/d"), "narval"); // its file systems have variables
  CHECK(severity(unknown, "/p/scratch/project/d") == diag::Severity::note);
}

TEST_CASE("a variable set and then exported is reported once") {
  const auto result = ported(job("--nodes=1 --gpus-per-node=8 --ntasks-per-node=8",
                                 "MASTER_ADDR=$(hostname)\nexport MASTER_ADDR\nsrun python x.py"),
                             "lumi");
  CHECK(std::count_if(result.findings.begin(), result.findings.end(), [](const auto& finding) {
          return has(finding.message, "MASTER_ADDR is removed");
        }) == 1);
}

TEST_CASE("a name read in several lines is reported with them") {
  const auto result =
      ported(job("--nodes=1 --gpus-per-node=8 --ntasks-per-node=8",
                 "cd $WORK/x\ncp /p/scratch/a .\n# $WORK\nsrun python x.py $WORK /p/scratch/b"),
             "lumi");
  CHECK(reports(result, "port/site-variable", "$WORK, also in line 6, "));
  CHECK(reports(result, "port/path", "also in line 6"));
}

TEST_CASE("gen --from presets no variable that the script sets") {
  struct Row {
    std::string line, absent, present;
  };
  const std::vector<Row> rows = {
      {"export HF_HOME=\"${HF_HOME:-$PWD/models}\"", "HF_HOME:-$", "TORCH_HOME:-${SCRATCH"},
      {"if [ -z \"$TORCH_HOME\" ]; then export TORCH_HOME=$PWD; fi", "TORCH_HOME:-", "HF_HOME:-${SCRATCH"},
      {": \"${TORCH_HOME:=$PWD/torch}\"", "TORCH_HOME:-", "HF_HOME:-${SCRATCH"},
      {"export XDG_CACHE_HOME=$PWD/cache", "HF_HOME:-", "XDG_CACHE_HOME"},
      {"# export TORCH_HOME=x", "MY_TORCH_HOME:-", "TORCH_HOME:-${SCRATCH"},
      {"export MY_HF_HOME=x", "absent", "HF_HOME:-${SCRATCH"},
      // Their defaults would come too late.
      {"source slurm/env.sh", "HF_HOME:-", "source slurm/env.sh"},
      {". ./.env", "HF_HOME:-", ". ./.env"},
      {"source ~/env/bin/activate", "absent", "HF_HOME:-${SCRATCH"},
  };
  for (const auto& row : rows) {
    const auto text = written(job("--nodes=1 --gpus-per-node=1", row.line + "\npython train.py"), "narval");
    INFO(text);
    const auto own = text.find(row.line);
    REQUIRE(own != std::string::npos);
    CHECK_FALSE(has(text.substr(0, own), row.absent));
    CHECK(has(text, row.present));
  }
}

TEST_CASE("gen --from gives numbers for variables with a type") {
  const std::string request = "--nodes=1 --gpus-per-node=2 --ntasks-per-node=2";
  const auto typed = written(job(request, "srun python x.py devices=$SLURM_GPUS_PER_NODE"), "narval");
  INFO(typed);
  CHECK(has(typed, "--gpus-per-node=a100:2"));
  CHECK(has(typed, "\nSLURM_GPUS_PER_NODE=2 # read below"));
  const auto plain = written(job(request, "srun python x.py devices=$SLURM_GPUS_PER_NODE"), "lumi");
  CHECK_FALSE(has(plain, "SLURM_GPUS_PER_NODE="));
  const auto unread = written(job(request, "srun python x.py"), "narval");
  CHECK_FALSE(has(unread, "SLURM_GPUS_PER_NODE="));
  const auto number = written(job(request, "srun python x.py devices=$SLURM_GPUS_ON_NODE"), "narval");
  CHECK_FALSE(has(number, "SLURM_GPUS_ON_NODE="));
}
