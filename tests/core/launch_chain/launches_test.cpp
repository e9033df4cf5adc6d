// SPDX-License-Identifier: MIT
// The programs of a script's commands as chains, from srun to python.
#include <catch2/catch.hpp>

#include "core/launch_chain/launches.hpp"
#include "core/util/text.hpp"

using namespace hpcml;

namespace {

/// "srun{ntasks=4} > python[train.py --x]": the chain of the last launch.
std::string chain_of(const std::string& script) {
  const auto tree = shell::read_script("#!/bin/bash\n" + script + "\n");
  const auto listing = shell::list_commands(tree);
  const auto launches = launch_chain::find_launches(listing);
  if (launches.empty()) return "";
  std::string text;
  for (const auto& link : launches.back().chain) {
    text += text.empty() ? "" : " > ";
    text += link.program;
    std::string options;
    for (const auto& option : link.options) {
      options += options.empty() ? "" : " ";
      options += option.name;
      if (option.value) options += "=" + option.value->text();
    }
    if (!options.empty()) text += "{" + options + "}";
    std::string operands;
    for (const auto& operand : link.operands) operands += (operands.empty() ? "" : " ") + operand.text();
    if (!operands.empty()) text += "[" + operands + "]";
    if (!link.complete) text += "?";
  }
  return text;
}

} // namespace

TEST_CASE("A command is read as the programs that start each other") {
  struct Row {
    std::string script, chain;
  };
  const std::vector<Row> rows = {
      {"python train.py --lr 1", "python[train.py --lr 1]"},
      {"srun python3.11 -u train.py", "srun > python{u}[train.py]"},
      {"srun -N2 -n 4 --cpu-bind=cores -l python x.py",
       "srun{nodes=2 ntasks=4 cpu-bind=cores label} > python[x.py]"},
      {"srun -ul -c7 ./a.out x", "srun{unbuffered label cpus-per-task=7} > a.out[x]"},
      {"srun --ntasks $N --gpus-per-tas=1 python x.py", "srun{ntasks=$N gpus-per-task=1} > python[x.py]"},
      {"srun --nodes=$N -n$T torchrun --rdzv_endpoint=$H:29500 x.py",
       "srun{nodes=$N ntasks=$T} > torchrun{rdzv_endpoint=$H:29500}[x.py]"},
      {"srun --container-image ./x.sqsh --container-mounts=/a:/b -n4 python x.py",
       "srun{container-image=./x.sqsh container-mounts=/a:/b ntasks=4} > python[x.py]"},
      {"torchrun --nnode 2 --nproc_per=4 --rdzv_end $H x.py",
       "torchrun{nnodes=2 nproc_per_node=4 rdzv_endpoint=$H}[x.py]"},
      {"torchrun --nproc 2 --stand --n 3 x.py", "torchrun{nproc_per_node=2 standalone n}[3 x.py]"},
      {"deepspeed --num_g 2 x.py", "deepspeed{num_gpus=2}[x.py]"},
      {"accelerate launch --num_proc=2 x.py", "accelerate{num_proc=2}[x.py]"},
      {"srun uv run python x.py", "srun > uv > python[x.py]"},
      {"mamba run -n e python x.py", "mamba{n=e} > python[x.py]"},
      {"$HOME/e/bin/python3 x.py", "python[x.py]"},
      {"srun \"$E\"/bin/torchrun x.py", "srun > torchrun[x.py]"},
      {"srun $(pwd)/run.sh $E/$F", "srun > run.sh[$E/$F]"},
      {"env A=$B srun python x.py", "srun > python[x.py]"},
      {"nohup $E/python x.py", "python[x.py]"},
      {"srun --bogus=1 python x.py", "srun{bogus=1} > python[x.py]"},
      {"srun --bogus python x.py", "srun{bogus}? > python[x.py]"},
      {"srun singularity_wrapper exec python x.py", "srun > singularity_wrapper > python[x.py]"},
      {"srun \"${ARGS[@]}\" python x.py", "srun? > python[x.py]"},
      {"A=\"-n 2 --label\"\nsrun $A python x.py", "srun{ntasks=2 label} > python[x.py]"},
      {"srun singularity exec --nv -B /a:/b img.sif python x.py",
       "srun > singularity{nv B=/a:/b}[img.sif] > python[x.py]"},
      {"singularity --quiet run -B/a img.sif ls", "singularity{--quiet B=/a}[img.sif] > ls"},
      {"srun bash -c 'RANK=1 python x.py'", "srun > bash[-c RANK=1 python x.py] > python[x.py]"},
      {"srun torchrun --nnodes 2 --nproc_per_node=8 x.py --epochs 3",
       "srun > torchrun{nnodes=2 nproc_per_node=8}[x.py --epochs 3]"},
      {"python -m torch.distributed.run --nnodes=2 x.py", "torchrun{nnodes=2}[x.py]"},
      {"python -u -m torch.distributed.run --nnodes=2 x.py", "torchrun{nnodes=2}[x.py]"},
      {"accelerate launch --fsdp_offload_params true --zero3_init_flag false x.py",
       "accelerate{fsdp_offload_params=true zero3_init_flag=false}[x.py]"},
      {"python -m accelerate.commands.launch --num_processes 8 x.py", "accelerate{num_processes=8}[x.py]"},
      {"accelerate launch --num_processes 8 x.py", "accelerate{num_processes=8}[x.py]"},
      {"accelerate config", "accelerate[config]?"},
      {"srun numactl --localalloc env A=1 python x.py", "srun > python[x.py]"},
      {"ibrun -n 4 python x.py", "ibrun{n=4} > python[x.py]"},
      {"mpirun -np 4 -map-by ppr:4:node ./a.out", "mpirun{np=4 map-by=ppr:4:node} > a.out"},
      {"time srun true", "srun > true"},
      {"f() { srun true; }", ""},
  };
  for (const auto& row : rows) {
    INFO(row.script);
    CHECK(chain_of(row.script) == row.chain);
  }
}

TEST_CASE("A launch knows what the script set for its program") {
  const auto tree =
      shell::read_script("#!/bin/bash\nexport A=1\nexport B=$X\nC=2 srun bash -c 'D=3 python x.py'\n");
  const auto listing = shell::list_commands(tree);
  const auto launches = launch_chain::find_launches(listing);
  REQUIRE(!launches.empty());
  const auto& launch = launches.back();
  REQUIRE(launch.python());
  REQUIRE(launch.variable("A"));
  CHECK(launch.variable("A")->text() == "1");
  REQUIRE(launch.variable("B"));
  CHECK_FALSE(launch.variable("B")->known());
  REQUIRE(launch.variable("C"));
  CHECK(launch.variable("C")->text() == "2");
  REQUIRE(launch.variable("D"));
  CHECK(launch.variable("D")->text() == "3");
  CHECK_FALSE(launch.variable("E"));
}

TEST_CASE("A launch knows what env, srun and a container set for its program") {
  struct Row {
    std::string command, value; ///< of A
  };
  const std::vector<Row> rows = {
      {"env A=1 python x.py", "1"},
      {"srun env B=2 A=$N python x.py", "$N"},
      {"srun --export=ALL,A=1,B=$N python x.py", "1"},
      {"srun --export ALL,B=$N,A=$M python x.py", "$M"},
      {"srun --export=ALL,A=1 apptainer exec --env B=1,A=2 x.sif python x.py", "2"},
      {"apptainer exec --env A=2 x.sif env A=3 python x.py", "3"},
      {"docker run -e A=1,2 image python x.py", "1,2"},
      {"mpirun -x A=1 -x B -np 2 python x.py", "1"},
      {"A=0 env B=1 python x.py", "0"},
      {"python x.py A=1", ""},
      {"srun --error A=1 python x.py", ""},
  };
  for (const auto& row : rows) {
    CAPTURE(row.command);
    const auto tree = shell::read_script("#!/bin/bash\n" + row.command + "\n");
    const auto listing = shell::list_commands(tree);
    const auto launches = launch_chain::find_launches(listing);
    REQUIRE(!launches.empty());
    const auto* value = launches.back().variable("A");
    CHECK((value ? value->text() : "") == row.value);
  }
}

TEST_CASE("A launch knows the names of its program's variables, whoever sets them") {
  struct Row {
    std::string script, names; ///< of those that begin with A_
  };
  const std::vector<Row> rows = {
      {"python x.py A_X=1", ""},
      {"export A_X=1 B_X=2\nA_Y=$N srun env A_Z=1 python x.py", "A_Z A_Y A_X"},
      {"export A_X\nif true; then export A_Y=$(date); fi\npython x.py", "A_X A_Y"},
      {"export A_X=1\nunset A_X\npython x.py", ""},
      {"A_X=1\npython x.py", ""},
      {"set -a\nA_X=1\npython x.py", "A_X"},
      {"srun --export=A_X,B_X,A_Y=1 python x.py", "A_Y A_X"},
      {"srun --export ALL,A_X bash -c 'A_Y=1 python x.py'", "A_X A_Y"},
      {"mpirun -x A_X -np 2 python x.py", "A_X"},
      {"docker run -e A_X --env A_Y=$N image python x.py", "A_Y A_X"},
      {"export SINGULARITYENV_A_X=1 APPTAINERENV_A_Y=$N\npython x.py", ""},
      {"export SINGULARITYENV_A_X=1 APPTAINERENV_A_Y=$N\napptainer exec a.sif python x.py", "A_Y A_X"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.script);
    const auto tree = shell::read_script("#!/bin/bash\n" + row.script + "\n");
    const auto listing = shell::list_commands(tree);
    const auto launches = launch_chain::find_launches(listing);
    REQUIRE(!launches.empty());
    CHECK(util::join(launches.back().variables("A_"), " ") == row.names);
  }
}

TEST_CASE("An agent's program is found where only the running job knows its name") {
  struct Row {
    std::string script, chain;
  };
  const std::vector<Row> rows = {
      {"torchrun --nproc_per_node=8 $SCRIPT", "torchrun{nproc_per_node=8}[$SCRIPT]"},
      {"torchrun --nproc_per_node=8 $S --x 1", "torchrun{nproc_per_node=8}[$S --x 1]"},
      {"torchrun --nproc_per_node 8 $A $S --x 1", "torchrun{nproc_per_node=8}[$S --x 1]?"},
      {"torchrun $DIST_ARGS $SCRIPT $SCRIPT_ARGS", "torchrun[$SCRIPT $SCRIPT_ARGS]?"},
      {"torchrun $DIST_ARGS pretrain.py $ARGS", "torchrun[pretrain.py $ARGS]?"},
      {"torchrun $DIST_ARGS -m pkg.train --x 1", "torchrun{m}[pkg.train --x 1]?"},
      {"torchrun --nnodes $N --rdzv_endpoint $H:1 $T train --x 1",
       "torchrun{nnodes=$N rdzv_endpoint=$H:1}[train --x 1]?"},
      {"accelerate launch --num_processes 4 ${T:-x.py} --x 1",
       "accelerate{num_processes=4}[${T:-x.py} --x 1]"},
      {"deepspeed $S --deepspeed ds.json", "deepspeed[$S --deepspeed ds.json]"},
      {"torchrun $ARGS", "torchrun?"},
  };
  for (const auto& row : rows) {
    INFO(row.script);
    CHECK(chain_of(row.script) == row.chain);
  }
}

TEST_CASE("An image is found where only the running job knows its name") {
  struct Row {
    std::string script, chain;
  };
  const std::vector<Row> rows = {
      {"singularity exec --nv $IMG python x.py", "singularity{nv}[$IMG] > python[x.py]"},
      {"apptainer exec -B $B $IMG torchrun --nnodes=2 x.py",
       "apptainer{B=$B}[$IMG] > torchrun{nnodes=2}[x.py]"},
      {"singularity exec $OPTS $IMG ./run.sh a", "singularity[$IMG]? > run.sh[a]"},
      {"singularity exec $OPTS img.sif python x.py", "singularity[img.sif]? > python[x.py]"},
      {"singularity exec $OPTS \"$IMG\" python x.py", "singularity[$IMG]? > python[x.py]"},
  };
  for (const auto& row : rows) {
    INFO(row.script);
    CHECK(chain_of(row.script) == row.chain);
  }
}

TEST_CASE("What an option or a variable says is asked of the launcher's row, however it is written") {
  const auto tree =
      shell::read_script("#!/bin/bash\nexport PET_NNODES=3\nsrun -n 8 torchrun --nproc-per-node 4 "
                         "--standalone x.py\naccelerate launch --num-processes=8 x.py\n");
  const auto listing = shell::list_commands(tree);
  const auto launches = launch_chain::find_launches(listing);
  REQUIRE(launches.size() >= 2);
  const auto& first = launches[launches.size() - 2];
  const auto& agent = *first.agent();
  CHECK(agent.find(model::OptionMeaning::ranks_per_node)->value->text() == "4");
  CHECK(agent.find(model::OptionMeaning::alone));
  CHECK_FALSE(agent.find(model::OptionMeaning::nodes));
  CHECK(first.variable(agent, model::OptionMeaning::nodes)->text() == "3");
  CHECK(first.step()->find(model::OptionMeaning::ranks)->value->text() == "8");
  const auto& agent_link = *launches.back().agent();
  CHECK(agent_link.find(model::OptionMeaning::ranks)->value->text() == "8");
  CHECK_FALSE(launches.back().variable(agent_link, model::OptionMeaning::nodes));
}
