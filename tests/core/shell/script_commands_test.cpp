// SPDX-License-Identifier: MIT
// What rules see of a script: launches through variables, arrays, functions, here-documents and `bash -c`.
#include <catch2/catch.hpp>

#include <filesystem>

#include "core/diag/line_table.hpp"
#include "core/shell/script_commands.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"

using namespace hpcml;

namespace {

/// Words as they are known, what is not known between {}; `*` may be several, `!` may have been changed by
/// something unseen.
std::string text_of(const shell::Argument& word) {
  std::string text;
  for (const auto& piece : word.pieces) text += piece.known ? piece.text : "{" + piece.text + "}";
  return text + (word.many ? "*" : "") + (word.caveat ? "!" : "");
}

std::string text_of(const shell::Command& command) {
  const auto& c = command.context;
  std::string text = c.script.empty() ? "" : c.script + ": ";
  text += c.function.empty() ? "" : c.function + "(): ";
  for (const auto& [set, name] : {std::pair(c.condition && !c.loop, "maybe "), std::pair(c.loop, "loop "),
                                  std::pair(c.background, "background "), std::pair(c.trap, "trap "),
                                  std::pair(c.uncalled, "uncalled "), std::pair(c.unreached, "never "),
                                  std::pair(c.guarded, "guarded "), std::pair(c.inexact, "inexact ")})
    if (set) text += name;
  text += command.name().value_or("?") + " |";
  for (const auto& setting : command.own) text += " " + setting.name + "=" + text_of(setting.value);
  for (const auto& word : command.arguments()) text += " " + text_of(word);
  return text;
}

/// The commands of these names, one a line.
std::string seen(const std::string& text, const std::vector<std::string>& names) {
  const auto script = shell::read_script(text);
  const auto listing = shell::list_commands(script);
  std::vector<std::string> lines;
  for (const auto& unread : listing.unread) lines.push_back("unread: " + unread.why);
  for (const auto& command : listing.commands)
    if (std::find(names.begin(), names.end(), command.name().value_or("?")) != names.end())
      lines.push_back(text_of(command));
  return util::join(lines, "\n");
}

const std::vector<std::string> k_launchers = {"srun",    "ibrun",      "mpirun",    "torchrun",    "python",
                                              "python3", "accelerate", "deepspeed", "singularity", "?"};

struct Case {
  const char* what;
  const char* script;
  const char* expected;
};

constexpr Case k_cases[] = {
    {"a variable, a continuation", "N=4\nsrun -n $N \\\n  python train.py --n=${N}x",
     "srun | -n 4 python train.py --n=4x"},
    {"CRLF", "N=4\r\nsrun -n $N \\\r\n  python x.py\r\n", "srun | -n 4 python x.py"},
    {"what comes from outside is not known", "srun -n $SLURM_NTASKS \"$BIN\" '$A'",
     "srun | -n {$SLURM_NTASKS}* {$BIN} $A"},
    {"a launcher in a variable", "L='torchrun --nproc_per_node 4'\n$L train.py",
     "torchrun | --nproc_per_node 4 train.py"},
    {"a launcher from outside", "$LAUNCHER train.py", "? |"},
    {"an array with continuations and comments",
     "a=(\n  --nodes=2 # two\n  --x=\"a b\"\n)\na+=(-l)\nsrun \"${a[@]}\" hostname",
     "srun | --nodes=2 --x=a b -l hostname"},
    {"a subscript that assigns", "a=(-l x)\nb=1\na[i=1]=y\nsrun \"${a[@]}\" $b", "srun | {${a[@]}}* 1"},
    {"an array that a condition changes", "a=(-l)\nif [ -n \"$X\" ]; then a+=(-v); fi\nsrun \"${a[@]}\" date",
     "srun | {${a[@]}}* date"},
    {"prefixes",
     "time env -u Z OMP_NUM_THREADS=7 numactl -N 0 nice -n 5 timeout -k 1 60 nohup mpirun -np 4 ./a",
     "mpirun | OMP_NUM_THREADS=7 -np 4 ./a"},
    {"a variable for one command", "A=1 B=\"x y\" srun -l date", "srun | A=1 B=x y -l date"},
    {"a function with arguments", "run() { local n=$1; shift; srun -n \"$n\" \"$@\"; }\nrun 4 python 'a b'",
     "run(): srun | -n 4 python a b"},
    {"a function that nothing calls", "run() { srun -n 2 date; }", "run(): uncalled srun | -n 2 date"},
    {"a function named like a program", "srun() { command srun -l \"$@\"; }\nsrun date",
     "srun | date\nsrun(): srun | -l date"},
    {"an exported function in bash -c", "f() { python $1; }\nexport -f f\nsrun bash -c 'f a.py'",
     "srun | bash -c f a.py\nbash -c: f(): python | a.py"},
    {"bash -c with single quotes", "export P=1\nQ=2\nsrun bash -c 'python x.py $P $Q'",
     "srun | bash -c python x.py $P $Q\nbash -c: python | x.py 1! {$Q}*"},
    {"bash -c with double quotes", "P=1\nsrun bash -lc \"python x.py $P $ID \\$SLURM_PROCID\"",
     "srun | bash -lc python x.py 1 {$ID} $SLURM_PROCID\nbash -c: inexact python | x.py 1 {$ID}* "
     "{$SLURM_PROCID}*"},
    {"bash as an option's value is marked", "srun -J bash -c 4 python x.py",
     "srun | -J bash -c 4 python x.py"},
    {"a here-document that becomes a script",
     "cat > run.sh <<'EOF'\nexec python train.py\nEOF\nchmod +x run.sh\nsrun -l ./run.sh",
     "srun | -l ./run.sh\nrun.sh: python | train.py"},
    {"the same through bash and a variable",
     "N=3\ncat <<EOF >run.sh\npython train.py $N \\$RANK\nEOF\nsrun bash run.sh",
     "srun | bash run.sh\nrun.sh: python | train.py 3 {$RANK}*"},
    {"a program's text is no script", "cat > x.py <<EOF\nimport torch\nEOF\npython x.py", "python | x.py"},
    {"sbatch from a here-document", "sbatch <<EOF\n#!/bin/bash\nsrun -n 2 date\nEOF",
     "here-document: srun | -n 2 date"},
    {"the text of sbatch --wrap", "C=date\nsbatch -n 2 --wrap=\"srun -l $C\"\nsbatch --wrap 'srun x' -n 3",
     "sbatch --wrap: srun | -l date\nsbatch --wrap: srun | x"},
    {"eval", "C='srun -n 2'\neval \"$C date\"", "eval: srun | -n 2 date"},
    {"a trap", "trap 'srun --overlap date' USR1\nsrun date &\nwait",
     "trap: maybe trap srun | --overlap date\nbackground srun | date"},
    {"behind an exit", "srun a\nexit 0\nsrun b", "srun | a\nnever srun | b"},
    {"behind an exit that may happen", "[ -f x ] || exit 1\nsrun b", "guarded srun | b"},
    {"a loop forgets what it changes", "n=1\nfor i in a b; do srun -n $n x; n=$((n*2)); done\nsrun -n $n y",
     "loop srun | -n {$n}* x\nsrun | -n {$n}* y"},
    {"both sides of a condition", "if test -f x; then srun a; else srun b; fi",
     "maybe srun | a\nmaybe srun | b"},
    {"variables are unknown after a sourced file", "N=2\nsource env.sh\nM=3\nsrun -n $N -N $M x",
     "srun | -n {$N}* -N 3 x"},
    {"a file that activates an environment leaves variables alone",
     "N=2\nsource ~/venv/bin/activate\nsource $(conda info --base)/etc/profile.d/conda.sh\nsrun -n $N x",
     "srun | -n 2! x"},
    {"a readonly variable stays known after a sourced file", "readonly N=2\nsource env.sh\nsrun -n $N x",
     "srun | -n 2! x"},
    {"variables are unknown after an eval of unknown text", "N=2\neval \"$SETTINGS\"\nsrun -n $N x",
     "eval: inexact ? |\nsrun | -n {$N}* x"},
    {"an eval that runs a program leaves variables alone",
     "N=2\neval \"$(conda shell.bash hook)\"\neval \"ls $DIR\"\nsrun -n $N x",
     "eval: inexact ? |\nsrun | -n 2! x"},
    {"variables are unknown after an export of unknown names", "N=2\nexport $(xargs < .env)\nsrun -n $N x",
     "srun | -n {$N}* x"},
    {"arithmetic", "G=4; W=$((G * 2))\nsrun -n $W x", "srun | -n 8 x"},
    {"defaults", "A=\nsrun ${A:-x} ${A-y} ${B:-2} ${A:+z}", "srun | x {${B:-2}}*"},
    {"patterns and tildes", "srun *.py ~/x {a,b} '*'", "srun | {*.py}* {~}/x {{a,b}}* *"},
    {"what cannot be read, and the line after it", "if true; then\n  srun a\nsrun b)\nsrun c",
     "unread: unexpected `)`\nunread: unexpected `)`\nguarded srun | a\nguarded srun | c"},
    {"a quote that is not closed", "echo \"x\nsrun b", "unread: a `\"` is not closed\nguarded srun | b"},
    // The forms of launches in sites' own documents.
    {"masks and a container",
     "DIR=/project/p/me\nIMAGE=$DIR/torch.sif\nc=fe\nM=\"0x${c}000000,0x${c}\"\n\nsrun "
     "--cpu-bind=mask_cpu:$M \\\n  singularity exec \\\n    -B $DIR:/workdir \\\n    $IMAGE /workdir/run.sh",
     "srun | --cpu-bind=mask_cpu:0xfe000000,0xfe singularity exec -B /project/p/me:/workdir "
     "/project/p/me/torch.sif /workdir/run.sh"},
    {"a virtual environment",
     "virtualenv --no-download $SLURM_TMPDIR/env\nsource $SLURM_TMPDIR/env/bin/activate\ntime python "
     "train.py --workers=0",
     "python | train.py --workers=0"},
    {"torch.distributed.run by srun",
     "export OMP_NUM_THREADS=16\nsrun python3 -m torch.distributed.run \\\n     --standalone --nnodes=1 \\\n "
     "   /path/train.py",
     "srun | python3 -m torch.distributed.run --standalone --nnodes=1 /path/train.py"},
    {"an address and a port from pipelines",
     "export MASTER_ADDR=`ip -j addr | jq -r '.[] | select(.ifname == \"b0\")'`\nexport MASTER_PORT=`comm "
     "-23 <(seq 1 9 | sort) <(ss -Htan | awk '{print $4}') | head -n 1`\n"
     "srun python -m torch.distributed.run --nnodes=$SLURM_JOB_NUM_NODES "
     "--rdzv_endpoint=$MASTER_ADDR:$MASTER_PORT train.py",
     "srun | python -m torch.distributed.run --nnodes={$SLURM_JOB_NUM_NODES}* "
     "--rdzv_endpoint={$MASTER_ADDR}:{$MASTER_PORT}* train.py"},
    {"ibrun", "ibrun -np 2 python3 test.py c1", "ibrun | -np 2 python3 test.py c1"},
};

} // namespace

TEST_CASE("launches are seen through what stands around them") {
  for (const auto& test_case : k_cases) {
    INFO(test_case.what << "\n" << test_case.script);
    CHECK(seen(test_case.script, k_launchers) == test_case.expected);
  }
}

TEST_CASE("a command knows which variables are exported and where they were set") {
  const std::string text =
      "export A=1\nB=2\nexport B C=$(hostname)\nif x; then export D=1; fi\nunset A\nsrun date\n";
  const auto script = shell::read_script(text);
  const auto listing = shell::list_commands(script);
  const auto& command = listing.commands.back();
  std::string list;
  for (const auto& variable : *command.exports) {
    list += variable->name + (variable->on_all_paths ? "" : "?");
    if (variable->value.kind == shell::Value::Kind::scalar) list += "=" + variable->value.words[0].text();
    list += "@" + std::to_string(diag::LineTable(text).location_at("", variable->set_at).line) + " ";
  }
  CHECK(list == "B=2@3 C=$(hostname)@3 D?@4 ");
}

TEST_CASE("a command knows whether the script stops if it fails") {
  const auto script =
      shell::read_script("#!/bin/bash -le\na\nset +e\nb\n(set -e; c)\nd\nif x; then set -e; fi\n"
                         "e\nset -euo pipefail\nf\nbash -c 'g'\n");
  const auto listing = shell::list_commands(script);
  std::string stopping;
  for (const auto& command : listing.commands)
    if (command.context.errexit) stopping += *command.name() + (command.context.pipefail ? "| " : " ");
  CHECK(stopping == "a set c f| bash| ");
}

TEST_CASE("a listing has the assignments and unknown elements") {
  const auto script =
      shell::read_script("a=1\nexport b=$X c\nlist=(x y)\ni=$((N - 1))\nfor k in 1 2; do d=$k; done\n"
                         "echo ${list[$i]} ${list[1]} ${other[$i]}\nbash -c 'e=1'\n");
  const auto listing = shell::list_commands(script);
  std::string names;
  for (const auto& setting : listing.settings) names += setting->name + (setting->exported ? "+ " : " ");
  CHECK(names == "a b+ list i d ");
  REQUIRE(listing.elements.size() == 1);
  CHECK(listing.elements[0].array == "list");
  CHECK(listing.elements[0].index == "$((N - 1))");
  CHECK(listing.elements[0].count == 2);
}

TEST_CASE("words that a condition adds leave the first words known") {
  const auto script = shell::read_script("c='python x.py'\nif y; then c=\"$c --z\"; fi\n"
                                         "l=(1)\nfor i in a b; do l+=($i); done\nsrun $c ${l[@]}\n");
  const auto text = [&](bool keeps) {
    const auto listing = shell::list_commands(script, keeps);
    return text_of(listing.commands.back());
  };
  CHECK(text(false) == "srun | {$c}* {${l[@]}}*");
  CHECK(text(true) == "srun | python x.py {$c}* 1 {${l[@]}}*");
}

TEST_CASE("places are those of the file, also within bash -c and here-documents") {
  const std::string text = "a=1\r\nsrun bash -c 'x; python t.py'\r\ncat > r.sh <<EOF\r\n  echo \\$X; "
                           "torchrun y\r\nEOF\r\nbash r.sh\r\n";
  const auto script = shell::read_script(text);
  const auto listing = shell::list_commands(script);
  std::string found;
  for (const auto& command : listing.commands)
    if (command.name() == "python" || command.name() == "torchrun") {
      const auto location = diag::LineTable(text).location_at("job.sh", command.place);
      found += std::to_string(location.line) + ":" + std::to_string(location.column) + " " +
               text.substr(command.place.offset, command.place.length) + "\n";
    }
  CHECK(found == "2:18 python t.py\n4:13 torchrun y\n");
}

TEST_CASE("hostile texts end soon") {
  std::string doubling = "a=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 60; ++i) doubling += "a=\"$a$a\"\neval \"$a\"\n";
  std::string recursive = "f() { f; f; f; }\nf\n";
  for (const auto& text : {doubling, recursive, std::string(100000, '('), std::string(100000, '`'),
                           std::string(50000, '{') + "\n", std::string("$(", 2) + std::string(20000, '$'),
                           std::string("for i in a; do for i in a; do for i in a; do for i in a; do for i in "
                                       "a; do for i in a; do for i in a; do for i in a; do x=$x$i; eval $x; "
                                       "done; done; done; done; done; done; done; done\n")}) {
    const auto script = shell::read_script(text);
    CHECK(shell::list_commands(script).commands.size() < 100000);
  }
}

TEST_CASE("what the fuzzer found is read with every place within the text") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HPCML_SOURCE_DIR "/tests/fuzz/corpus/shell")) {
    const auto text = util::read_file(entry.path()).value();
    INFO(entry.path().string());
    const auto script = shell::read_script(text);
    for (const auto& command : shell::list_commands(script).commands) {
      CHECK(command.place.offset + command.place.length <= text.size());
      for (const auto& word : command.words) CHECK(word.place.offset + word.place.length <= text.size());
    }
    ++files;
  }
  CHECK(files > 20);
}
