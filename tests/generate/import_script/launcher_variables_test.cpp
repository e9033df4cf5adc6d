// SPDX-License-Identifier: MIT
// Variables that hold a launcher and its program, and to which a condition adds words.
#include "generate/import_script/import_helper.hpp"
#include "generate/import_script/launcher_variables.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

const std::string k_four = "--nodes=1 --ntasks-per-node=1 --gpus-per-node=4";
const std::string k_torchrun = "torchrun --nproc_per_node=4";

/// The script after its variables are split; the script itself if none is.
std::string split(const std::string& script) {
  import_script::EditedText text(script);
  import_script::split_launcher_variables(text, "old.sh");
  return text.text();
}

} // namespace

TEST_CASE("import keeps the condition of a launcher variable") {
  struct Row {
    std::string lines, assignment, program;
  };
  const std::string resume = "if [ -n \"$R\" ]; then\n  CMD=\"$CMD --resume $R\"\nfi\n";
  const std::vector<Row> rows = {
      {"CMD=\"" + k_torchrun + " \\\n  train.py \\\n  --a $A\"\n" + resume + "$CMD",
       "CMD=\"--a $A\"\n" + resume, "python train.py $CMD"},
      {"CMD=\"" + k_torchrun + " train.py --a 1\"\n" + resume + "srun $CMD", "CMD=\"--a 1\"\n" + resume,
       "python train.py $CMD"},
      {"CMD=\"" + k_torchrun +
           " $DIR/train.py\"\n[ -n \"$R\" ] && CMD+=\" --resume $R\"\nsrun bash -c \"$CMD\"",
       "CMD=\"\"\n[ -n \"$R\" ] && CMD+=\" --resume $R\"\n", "bash -c \"exec python $DIR/train.py $CMD\""},
      {"CMD=\"" + k_torchrun + " -m pkg.train --a 1\"\n" + resume + "eval \"$CMD\"",
       "CMD=\"--a 1\"\n" + resume, "bash -c \"exec python -m pkg.train $CMD\""},
      {"cmd=(" + k_torchrun +
           " \\\n  train.py --a \"b c\")\n[[ -n $R ]] && cmd+=(--resume \"$R\")\n\"${cmd[@]}\"",
       "cmd=(--a \"b c\")\n[[ -n $R ]] && cmd+=(--resume \"$R\")\n", "python train.py \"${cmd[@]}\""},
      {"L=\"" + k_torchrun + "\"\nCMD=\"$L train.py --a 1\"\n" + resume + "srun $CMD",
       "CMD=\"--a 1\"\n" + resume, "python train.py $CMD"},
      {"A=\"--a 1\"\n[ -n \"$R\" ] && A+=\" --resume $R\"\nL=\"" + k_torchrun +
           "\"\nsrun bash -c \"$L train.py $A\"",
       "A=\"--a 1\"\n[ -n \"$R\" ] && A+=\" --resume $R\"\n", "bash -c \"exec python train.py $A\""},
      {"for x in 1 2; do\n  CMD=\"" + k_torchrun + " train.py --x $x\"\n  " + resume + "  $CMD\ndone",
       "  CMD=\"--x $x\"\n", "python train.py $CMD"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.lines);
    const auto script = written(job(k_four, row.lines), "narval");
    CHECK_THAT(script, Catch::Contains(row.assignment));
    CHECK_THAT(script, Catch::Contains("-- \\\n  " + row.program + "\n"));
    CHECK_FALSE(has(script, "torchrun"));
  }
}

TEST_CASE("import splits variables of other launchers") {
  const std::string resume = "[ -n \"$R\" ] && CMD+=\" --resume $R\"\n";
  const auto srun = written(job("--nodes=1 --ntasks-per-node=4 --gpus-per-node=4",
                                "CMD=\"srun python train.py --a 1\"\n" + resume + "$CMD"),
                            "narval");
  CHECK_THAT(srun, Catch::Contains("-- \\\n  python train.py $CMD\n"));
  const auto image = written(job(k_four, "CMD=\"apptainer exec --nv $PWD/t.sif " + k_torchrun +
                                             " train.py --a 1\"\n" + resume + "srun $CMD"),
                             "narval");
  CHECK_THAT(image, Catch::Contains("python train.py $CMD\n"));
  CHECK_THAT(image, Catch::Contains(" $PWD/t.sif python train.py"));
  const auto plain = written(
      job("--nodes=1 --gpus-per-node=1", "CMD=\"python train.py --a 1\"\n" + resume + "$CMD"), "narval");
  CHECK_THAT(plain, Catch::Contains("-- \\\n  python train.py $CMD\n"));
}

TEST_CASE("a printed launcher variable shows its program") {
  const auto script = written(job(k_four, "CMD=\"" + k_torchrun +
                                              " train.py --a 1\"\n[ -n \"$R\" ] && CMD+=\" --b\"\n"
                                              "echo \"Command: $CMD\"\n$CMD"),
                              "narval");
  CHECK_THAT(script, Catch::Contains("\necho \"Command: train.py $CMD\"\n"));
}

TEST_CASE("a launcher variable with unclear uses is not split") {
  const std::string first = "CMD=\"" + k_torchrun + " train.py\"\n";
  const std::string added = "[ -n \"$R\" ] && CMD+=\" --b\"\n";
  for (const auto& lines : std::vector<std::string>{
           first + added + "bash -c '$CMD'", "export " + first + added + "$CMD",
           first + added + "export CMD\nsh run.sh", first + added + "${CMD/torchrun/python}",
           first + added + "unset CMD\n$CMD", "if [ $N = 1 ]; then\n  " + first + "fi\n" + added + "$CMD",
           "$CMD\n" + first + added, first + added + "CMD=\"srun $CMD\"\n$CMD", first + added + "X=$CMD\n$X",
           first + "CMD+=\" --b\"\n$CMD", "CMD='" + k_torchrun + " train.py \"a b\"'\n" + added + "$CMD",
           "CMD=\"cd src && " + k_torchrun + " train.py\"\n" + added + "$CMD",
           "for CMD in a b; do echo $CMD; done\n" + first + added + "$CMD"}) {
    CAPTURE(lines);
    CHECK(split(lines) == lines);
  }
}

TEST_CASE("a launcher variable is not split if its words change") {
  const std::string added = "[ -n \"$R\" ] && CMD+=\" --b\"\n";
  const std::string first = "CMD=\"" + k_torchrun + " $D/x.py\"\n";
  for (const auto& lines : std::vector<std::string>{
           "D=a\n" + first + added + "D=b\n$CMD", first + added + "for D in a b; do $CMD; done",
           first + added + "read D\n$CMD", "IFS=,\n" + first + added + "$CMD",
           "f() { local D=b; $CMD; }\nD=a\n" + first + added + "f",
           "CMD=\"" + k_torchrun + " $1\"\n" + added + "shift\n$CMD",
           "CMD=\"" + k_torchrun + " $PWD/x.py\"\n" + added + "cd a\n$CMD"}) {
    CAPTURE(lines);
    CHECK(split(lines) == lines);
  }
  const auto kept = "D=a\n" + first + added + "f() { $CMD; }\nE=1\nf";
  CHECK(split(kept) != kept);
}

TEST_CASE("options of a launcher in a variable are split") {
  const std::string size =
      "L=\"--nproc_per_node 4 --nnodes 1\"\n[ -n \"$R\" ] && L=\"$L --max_restarts 3\"\n";
  const auto result = ported(job(k_four, size + "torchrun $L x.py --a"), "narval");
  CHECK(reports(result, "port/launcher",
                "torchrun options that are known only when the script runs are removed"));
  CHECK_THAT(written(job(k_four, size + "torchrun $L x.py --a"), "narval"),
             Catch::Contains("--ntasks-per-node=4\n") && Catch::Contains("-- \\\n  python x.py --a\n"));
  const auto steps = job("--nodes=1 --ntasks-per-node=4 --gpus-per-node=4",
                         "S=\"--export=ALL,A=1\"\n[ -n \"$R\" ] && S+=\" --label\"\nsrun $S python x.py");
  CHECK_THAT(written(steps, "narval"),
             Catch::Contains("--export=ALL,A=1 \\\n") && Catch::Contains("-- \\\n  python x.py\n"));
}

TEST_CASE("import keeps container options in a variable") {
  const std::string sizes = "--nodes=1 --ntasks-per-node=4 --gpus-per-node=4";
  const auto lines = [&](const std::string& options) {
    return job(sizes, "srun singularity exec " + options + " i.sif python x.py");
  };
  for (const std::string options : {"$O", "\"${O[@]}\""})
    CHECK_THAT(written(lines(options), "narval"),
               Catch::Contains("apptainer exec --nv " + options + " i.sif python x.py\n"));
  CHECK_THAT(
      written(job(sizes, "B=\"-B /d\"\n[ -d /e ] && B+=\" -B /e\"\nsrun apptainer exec $B i.sif python x.py"),
              "narval"),
      Catch::Contains("--bind /d $B i.sif python x.py\n"));
  for (const std::string script : {"srun bash -c \"singularity exec $O i.sif torchrun x.py\"",
                                   "O=\"$P i.sif\"\nsrun singularity exec $O python x.py"})
    CHECK(
        reports(ported(job(sizes, script), "narval"), "port/container", "options that are known only when"));
  CHECK(reports(ported(job(sizes, "srun singularity exec $O docker://a/b:c python x.py"), "perlmutter"),
                "port/container", "cannot be kept for shifter"));
  import_script::RequestOverrides chosen;
  chosen.environment = "--venv";
  CHECK(reports(ported(lines("$O"), "narval", chosen), "port/container", "when the script runs are removed"));
}

TEST_CASE("import keeps a wrapper in a variable after srun") {
  const std::string sizes = "--nodes=1 --ntasks-per-node=4 --gpus-per-node=4";
  const std::string run = "\nsrun $V python x.py";
  for (const std::string set : {"V=\"\"\n[ -n \"$P\" ] && V=\"nsys profile\"", "true"})
    CHECK_THAT(written(job(sizes, set + run), "narval"), Catch::Contains("-- \\\n  $V python x.py\n"));
  for (const std::string set :
       {"if [ -n \"$P\" ]; then V=\"-l\"; else V=\"--quiet\"; fi", "V=$(cat o)\nV+=\" -l\""})
    CHECK_THAT(written(job(sizes, set + run), "narval"), Catch::Contains("-- \\\n  python x.py\n"));
}

TEST_CASE("import counts the GPUs when options are unknown") {
  const auto result = ported(job(k_four, "torchrun $L x.py"), "narval");
  CHECK(reports(result, "port/size", "known only at run time: assuming one for each of the 4 GPUs"));
}

TEST_CASE("import reads a launcher that eval runs") {
  const std::string cmd = "cmd=\"" + k_torchrun + " x.py --a $A --name 'b c'\"\n";
  for (const std::string eval : {"eval $cmd", "eval \"$cmd\""}) {
    CAPTURE(eval);
    const auto script = written(job(k_four, cmd + eval), "narval");
    CHECK_THAT(script, Catch::Contains("\ncmd=\"--a $A --name 'b c'\"\n"));
    CHECK_THAT(script, Catch::Contains("-- \\\n  bash -c \"exec python x.py $cmd\"\n"));
  }
  const auto quoted = "cmd=\"" + k_torchrun + " x.py --a $A --b \\\"c d\\\"\"\neval \"$cmd\"";
  CHECK_THAT(written(job(k_four, quoted), "narval"), Catch::Contains("cmd=\"--a $A --b \\\"c d\\\"\"\n"));
  for (const std::string end : {" | tee log", " > log", "; date", " \\$X"})
    CHECK(diag::has_errors(
        ported(job(k_four, "cmd=\"" + k_torchrun + " x.py --a $A" + end + "\"\neval \"$cmd\"")).findings));
}

TEST_CASE("findings name the lines of the old script") {
  const auto result = ported(job(k_four, "CMD=\"" + k_torchrun +
                                             " \\\n  --unknown_option=3 \\\n  train.py --a\"\n"
                                             "[ -n \"$R\" ] && CMD+=\" --b\"\n"
                                             "$CMD\nenv -i sh x.sh\nsrun python \"$PWD/y.py\""));
  CHECK(reports(result, "port/variable", "is removed from CMD"));
  const auto launch = std::find_if(result.findings.begin(), result.findings.end(), [](const auto& finding) {
    return finding.message.find("unknown_option") != std::string::npos && finding.code == "port/launcher";
  });
  REQUIRE(launch != result.findings.end());
  CHECK(launch->location.line == 7);
  CHECK(launch->location.column == 1);
}
