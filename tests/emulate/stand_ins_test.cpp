// SPDX-License-Identifier: MIT
// The stand-in programs under the real bash, and under shellcheck.
#include "core/config/site_store.hpp"
#include "emulate/stand_ins_helper.hpp"

using namespace hpcml;
using namespace hpcml::emulate;
using test::Installed;
using test::rich_site;
namespace fs = std::filesystem;

TEST_CASE("a module that gives an image names a file, and the image is entered by itself") {
  auto site = rich_site();
  model::ContainerRule image;
  image.engine = model::ContainerEngine::singularity;
  image.images = "PyTorch/.+";
  image.image_variable = "SIF";
  site.containers.push_back(image);
  const Installed host(site);
  const auto loaded = host.bash("module load PyTorch/2.7.1-rocm && test -f \"$SIF\" && echo \"${SIF##*/}\"; "
                                "unset SIF; module load PyTorchX && echo \"${SIF-no image}\"");
  CHECK(loaded.out == "PyTorch_2.7.1-rocm.sif\nno image\n");
  const auto entered =
      host.bash("module load PyTorch/2.7.1-rocm; singularity exec \"$SIF\" bash -c 'echo $PATH'");
  INFO(entered.err);
  CHECK(entered.out.find("/image/env/bin") != std::string::npos);
}

TEST_CASE("every stand-in passes shellcheck and bash -n") {
  const Installed installed;
  const auto files = fs::path(HPCML_SOURCE_DIR) / "src/emulate/stand_ins";
  std::vector<std::string> words = {"shellcheck", "-x"};
  for (const auto& entry : fs::directory_iterator(files))
    if (entry.path().extension() == ".sh") words.push_back(entry.path().string());
  CHECK(words.size() > 10);
  const auto checked = util::run_process(words, util::EnvSnapshot::of_process());
  REQUIRE(checked);
  INFO(checked->out);
  CHECK(checked->exit_code == 0);
  for (const auto& entry : fs::directory_iterator(installed.directory.path() / "bin")) {
    CAPTURE(entry.path());
    CHECK(installed.bash("bash -n " + entry.path().string()).exit_code == 0);
  }
}

TEST_CASE("the generated site data keeps hostile texts as texts") {
  auto site = rich_site();
  site.name = "a'b$(touch EVIL)`id`\"\nc";
  site.containers[0].modules = {"x'; touch EVIL #"};
  const Installed installed(site);
  const auto shown =
      installed.bash(". " + installed.directory.path().string() +
                     "/lib/site.sh && printf '%s|%s' \"$hpcml_site_name\" \"${hpcml_modules[0]}\"");
  CHECK(shown.out == site.name + "||x'; touch EVIL #");
  CHECK_FALSE(fs::exists("EVIL"));
}

TEST_CASE("the modules that a site's jobs load are known in its rehearsal") {
  unsigned loads = 0;
  for (const auto& id : config::list_sites({std::string(HPCML_SOURCE_DIR) + "/sites"})) {
    const auto site = config::load_site(id, {std::string(HPCML_SOURCE_DIR) + "/sites"}).site.value();
    if (site.modules.empty() || site.partitions.empty()) continue;
    const Installed installed(site);
    for (const auto& rule : site.modules) {
      std::string script;
      for (const auto& name : rule.load)
        script += name.starts_with("use:") ? "module use " + name.substr(4) + " && "
                                           : "module load " + name + " && ";
      const auto loaded = installed.bash(script + "true");
      CAPTURE(id, script, loaded.err);
      CHECK(loaded.exit_code == 0);
      ++loads;
    }
  }
  CHECK(loads > 3);
}

TEST_CASE("module load assumes and reports unknown modules") {
  const Installed installed;
  struct Case {
    const char* script;
    int code;
    const char* loaded;
    const char* output;
  };
  const Case cases[] = {
      {"module load StdEnv/2023 python/3.11", 0, "StdEnv/2023:python/3.11", ""},
      {"module load python", 0, "python", ""},
      {"module load StdEnv", 0, "StdEnv/2023", ""},
      {"module load StdEnv/2020", 0, "StdEnv/2020",
       "Small names no module StdEnv/2020 (it names StdEnv/2023): assumed to exist"},
      {"set -eu; module load cuda", 0, "cuda", "Small names no module cuda: assumed to exist"},
      {"module load bindings", 1, "", "module use /appl/modules"},
      {"module load 'two words'", 1, "", "cannot load \"two words\""},
      {"module use /appl/modules && module load bindings", 0, "bindings", ""},
      {"module load python; module purge", 0, "", ""},
      {"module load python StdEnv; module unload python", 0, "StdEnv/2023", ""},
      {"module frobnicate", 1, "", "no subcommand"},
  };
  for (const auto& [script, code, loaded, output] : cases) {
    CAPTURE(script);
    const auto result =
        installed.bash(std::string("{ ") + script + "; }; code=$?; printf %s \"$LOADEDMODULES\"; exit $code");
    CHECK(result.exit_code == code);
    CHECK(result.out == loaded);
    CHECK(result.err.find(output) != std::string::npos);
  }
}

TEST_CASE("an assumed module is reported once in a job") {
  const Installed installed;
  const auto result = installed.bash("for i in 1 2; do bash -c 'module load cuda'; done; "
                                     "SLURM_JOB_ID=7 bash -c 'module load cuda'");
  CHECK(util::split(result.err, '\n').size() == 3); // of the login node and of the job, and after the last
}

TEST_CASE("modules set their directory variables until they are unloaded") {
  auto site = rich_site();
  const std::string script = "module load cuda/12.2 SciPy-bundle; echo \"${EBROOTCUDA-none}\"; "
                             "test -d \"${EBROOTCUDA-.}\" && echo \"${EBROOTSCIPYMINBUNDLE-none}\"; "
                             "module unload cuda/12.2; echo \"${EBROOTCUDA-none}\"; module purge; "
                             "echo \"${EBROOTSCIPYMINBUNDLE-none}\"";
  CHECK(Installed(site).bash(script).out == "none\nnone\nnone\nnone\n");
  site.libtorch_modules = {"cuda"};
  site.libtorch_link_directories = {"$EBROOTCUDA/lib64"};
  const Installed installed(site);
  const auto software = installed.directory.path().string() + "/software/";
  CHECK(installed.bash(script).out == software + "cuda/12.2\n" + software + "SciPy-bundle\nnone\nnone\n");
}

TEST_CASE("uname prints the site's architecture") {
  auto site = rich_site();
  CHECK_FALSE(fs::exists(Installed(site).directory.path() / "bin/uname"));
  for (auto& type : site.node_types) type.cpu_arch = model::CpuArch::aarch64;
  const Installed arm(site);
  CHECK(arm.bash("uname -m; uname -s; uname -a | grep -o aarch64 | sort -u").out ==
        "aarch64\nLinux\naarch64\n");
  CHECK(arm.bash("uname --no-such-option").exit_code != 0);
  site.login_arch = model::CpuArch::x86_64;
  CHECK(Installed(site).bash("uname -m").out == "x86_64\n");
}

TEST_CASE("calls are recorded as JSON whatever their words are") {
  const Installed installed;
  const std::string word = "a\"b\\c\td\001e $(id) 'q' \n ü";
  auto env = installed.env;
  env.set("WORD", word);
  REQUIRE(util::run_process({"bash", "-c", "module load \"$WORD\""}, env));
  const auto record = installed.record();
  REQUIRE(record.size() == 1);
  CHECK(record[0]["tool"] == "module");
  CHECK(record[0]["ok"] == false);
  CHECK(record[0]["argv"] == nlohmann::json::array({"load", word}));
}

TEST_CASE("a program that the site does not have is not found") {
  const Installed installed;
  const auto result = installed.bash("rocm-smi");
  CHECK(result.exit_code == 127);
  CHECK(result.err.find("Small does not have it") != std::string::npos);
}

TEST_CASE("nvidia-smi lists the GPUs of the job") {
  const Installed installed;
  CHECK(installed.bash("nvidia-smi -L").exit_code == 9);
  CHECK(installed.bash("SLURM_JOB_ID=1 SLURM_STEP_GPUS=1,3 nvidia-smi -L").out ==
        "GPU 1: NVIDIA A100 (emulated)\nGPU 3: NVIDIA A100 (emulated)\n");
  CHECK(installed.bash("SLURM_JOB_ID=1 nvidia-smi -L").exit_code == 9);
}

TEST_CASE("singularity checks its image, its binds and its options") {
  const Installed installed;
  const std::string image = (installed.directory.path() / "image.sif").string();
  REQUIRE(util::write_file(image, ""));
  struct Case {
    std::string arguments;
    std::string output;
  };
  const Case cases[] = {
      {"exec " + image + "2 true",
       "image " + image + "2 does not exist (to rehearse without the image, create"},
      {"exec x.sif true", "image x.sif does not exist"},
      {"exec -B " + image + "2:/z " + image + " true", "mount source " + image + "2 does not exist"},
      {"exec --frobnicate " + image + " true", "unknown option --frobnicate"},
      {"exec --rocm " + image + " true", "--rocm is for amd GPUs"},
      {"exec " + image, "no program to run"},
      {"exec docker://ubuntu true", "images from a registry"},
      {"exec --env NOVALUE " + image + " true", "--env NOVALUE"},
      {"pull x", "'pull' is not emulated"},
  };
  for (const auto& [arguments, output] : cases) {
    CAPTURE(arguments);
    const auto result = installed.bash("singularity " + arguments);
    CHECK(result.exit_code == 255);
    CHECK(result.err.find(output) != std::string::npos);
  }
}

TEST_CASE("singularity assumes images and binds that only the site has") {
  const Installed installed;
  const std::string words =
      "singularity exec -B /nowhere/data:/data /nowhere/x.sif bash -c 'echo $SINGULARITY_NAME'";
  const auto first = installed.bash("SLURM_PROCID=0 " + words);
  CHECK(first.out == "x.sif\n");
  CHECK(first.err ==
        "singularity: assuming that image /nowhere/x.sif is at the site: this machine does not have it\n"
        "singularity: assuming that mount source /nowhere/data is at the site: this machine does not have "
        "it\n");
  const auto second = installed.bash("SLURM_PROCID=1 " + words);
  CHECK(second.out == "x.sif\n");
  CHECK(second.err.empty());
}

TEST_CASE("singularity maps its binds without a trace on this machine") {
  const Installed installed;
  const auto root = installed.directory.path();
  const std::string image = (root / "image.sif").string();
  REQUIRE(util::write_file(image, ""));
  fs::create_directories(root / "data/sub");
  REQUIRE(util::write_file(root / "data/file", "inside\n"));
  const std::string data = (root / "data").string();
  SECTION("to a place that does not exist") {
    const auto result =
        installed.bash("singularity exec --nv -B /opt/nowhere/cray -B " + data +
                       ":/workdir-of-test/deep:ro " + image + " cat /workdir-of-test/deep/file");
    INFO(result.err);
    CHECK(result.out == "inside\n");
    CHECK_FALSE(fs::exists("/workdir-of-test"));
  }
  SECTION("to one that does, with the directory and the environment asked for") {
    fs::create_directories(root / "there");
    const auto result =
        installed.bash("SINGULARITYENV_A=1 singularity exec --env B=2,C='x y' --pwd " +
                       (root / "there/sub").string() + " -B " + data + ":" + (root / "there").string() + " " +
                       image + " bash -c 'echo $A $B $C $PWD $SINGULARITY_NAME; cat ../file'");
    INFO(result.err);
    CHECK(result.out == "1 2 x y " + (root / "there/sub").string() + " image.sif\ninside\n");
    CHECK(fs::is_empty(root / "there"));
  }
}

TEST_CASE("the image hides its Python until its environment is entered") {
  const Installed installed;
  const std::string image = (installed.directory.path() / "image.sif").string();
  REQUIRE(util::write_file(image, ""));
  const auto result =
      installed.bash("singularity exec " + image +
                     " bash -c 'echo \"[$CONDA_DEFAULT_ENV]\"; command -v python | grep hpcml-test; "
                     "$WITH_CONDA && command -v python; python -c \"print(6*7)\"'");
  INFO(result.err);
  CHECK(result.out == "[]\n" + installed.directory.path().string() + "/image/env/bin/python\n42\n");
}

TEST_CASE("options of Slurm's container plugins end before Slurm, which has no such plugins here") {
  auto site = rich_site();
  model::ContainerRule edf;
  edf.engine = model::ContainerEngine::edf;
  edf.options = {"--environment={image}"};
  site.containers.push_back(edf);
  const Installed installed(site);
  const auto real = installed.directory.path() / "real";
  fs::create_directories(real);
  for (const char* tool : {"srun", "sbatch"})
    REQUIRE(util::write_file(
        real / tool, "#!/bin/bash\necho \"$@\"\nfor file; do [[ ! -f $file ]] || cat \"$file\"; done\n",
        0755));
  const auto site_file = installed.directory.path() / "lib/site.sh";
  REQUIRE(util::write_file(site_file,
                           *util::read_file(site_file) + "hpcml_srun=" + (real / "srun").string() + "\n"));
  const auto output = [&](const std::string& text) {
    const auto result = installed.bash("cd " + installed.directory.path().string() + " && " + text);
    CHECK(result.exit_code == 0);
    return result.out;
  };
  CHECK(output("bin/srun --cpu-bind=none -n 4 --environment=./x.toml prog --environment=kept") ==
        "--cpu-bind=none -n 4 prog --environment=kept\n");
  CHECK(output("bin/srun --environment x prog a") == "prog a\n");
  const auto script =
      output("printf '#!/bin/bash\\n#SBATCH --environment=x\\n#SBATCH --nodes=1\\n' > job.sh; "
             "mkdir tmp; TMPDIR=$PWD/tmp bin/sbatch --test-only job.sh --environment=kept");
  CHECK(script.find("/job.sh --environment=kept\n#!/bin/bash\n#SBATCH --nodes=1\n") != std::string::npos);
  CHECK(fs::is_empty(installed.directory.path() / "tmp")); // the script without these options is gone again
}

TEST_CASE("sbatch replaces programs that only the site has") {
  const Installed installed;
  const auto directory = installed.directory.path().string();
  const auto real = installed.directory.path() / "real";
  fs::create_directories(real);
  const auto site_file = installed.directory.path() / "lib/site.sh";
  REQUIRE(util::write_file(site_file,
                           *util::read_file(site_file) + "hpcml_srun=" + (real / "srun").string() + "\n"));
  REQUIRE(util::write_file(real / "sbatch",
                           "#!/bin/bash\necho \"$1 ${2##*/} $3\"; stat -c %a \"$2\"; cat \"$2\"\n", 0755));
  const auto submitted = [&](const std::string& script) {
    REQUIRE(util::write_file(installed.directory.path() / "job.sh", script, 0640));
    // A file that an option names is no script.
    REQUIRE(util::write_file(installed.directory.path() / "out", "text\n"));
    return installed.bash("cd " + directory + "; sbatch -oout job.sh argument");
  };
  const std::string env = directory + "/site_envs/nowhere/env";
  const auto replaced =
      submitted("#!/bin/bash\nHPCML=/nowhere/bin/hpcml\n  source '/nowhere/env/bin/activate' # mine\n"
                "python -c 'import sys; print(sys.prefix)'");
  INFO(replaced.err);
  CHECK(replaced.out == "-oout job.sh argument\n640\n#!/bin/bash\nHPCML=" HPCML_BINARY "\n  source " + env +
                            "/bin/activate\npython -c 'import sys; print(sys.prefix)'\n");
  CHECK(replaced.err.find("assuming that /nowhere/bin/hpcml is at the site") != std::string::npos);
  CHECK(replaced.err.find("assuming that /nowhere/env is at the site") != std::string::npos);
  CHECK(installed.bash("source " + env + "/bin/activate; python -c 'import sys; print(sys.prefix)'").out ==
        env + "\n");
  // What is here, and what depends on variables, stays.
  fs::create_directories(installed.directory.path() / "own/bin");
  REQUIRE(util::write_file(installed.directory.path() / "own/bin/activate", "\n"));
  const std::string kept =
      "#!/bin/bash\nHPCML=/bin/true\nsource " + directory +
      "/own/bin/activate\n. \"$SCRATCH/env/bin/activate\"\necho source /nowhere/x/bin/activate\n";
  const auto same = submitted(kept);
  CHECK(same.out == "-oout job.sh argument\n640\n" + kept);
  CHECK(same.err.empty());
}

TEST_CASE("sbatch waits for the end of a job") {
  const Installed installed;
  const auto real = installed.directory.path() / "real";
  fs::create_directories(real);
  const auto site_file = installed.directory.path() / "lib/site.sh";
  REQUIRE(util::write_file(site_file,
                           *util::read_file(site_file) + "hpcml_srun=" + (real / "srun").string() + "\n"));
  REQUIRE(util::write_file(real / "sbatch", R"(#!/bin/bash
echo "Submitted batch job 7"
[[ "$* ${SBATCH_WAIT+W}" != *W* ]] || { echo $$ > pid; exec sleep 500; }
)",
                           0755));
  REQUIRE(util::write_file(real / "scontrol", R"(#!/bin/bash
echo "$@" >> asked
(($(wc -l < asked) > 2)) || { echo "JobId=7 JobState=RUNNING ExitCode=0:0 "; exit; }
cat end
)",
                           0755));
  struct Case {
    const char* command;
    const char* records; ///< at the end
    int code;
  };
  const Case cases[] = {
      {"sbatch -W job.sh", "JobId=7 JobState=COMPLETED ExitCode=0:0 ", 0},
      {"sbatch -W job.sh", "JobId=7 JobState=FAILED Reason=x ExitCode=3:0 ", 3},
      {"sbatch -W job.sh", "JobId=7 JobState=CANCELLED ExitCode=0:15 ", 1},
      {"sbatch -QW job.sh", "JobId=7 JobState=FAILED ExitCode=2:0 \nJobId=8 JobState=FAILED ExitCode=9:0 ",
       9},
      {"SBATCH_WAIT=1 sbatch job.sh", "JobId=7 JobState=TIMEOUT ExitCode=0:0 ", 0},
      {"sbatch --parsable job.sh", "", 0},
      {"sbatch --wrap true", "", 0},
  };
  for (const auto& [command, records, code] : cases) {
    CAPTURE(command, records);
    REQUIRE(util::write_file(installed.directory.path() / "end", std::string(records) + "\n"));
    const auto result = installed.bash(
        "cd " + installed.directory.path().string() + "; rm -f asked pid; touch job.sh; " + command +
        "; code=$?; [ ! -e pid ] || ! kill -0 $(cat pid) || code=running; exit $code");
    INFO(result.err);
    CHECK(result.exit_code == code);
    CHECK(result.out == "Submitted batch job 7\n");
    CHECK(fs::exists(installed.directory.path() / "asked") == (*records != '\0'));
  }
  const auto directive = installed.bash("cd " + installed.directory.path().string() +
                                        "; . lib/common.sh; printf '#SBATCH -n1 --wait\n' > waits.sh; "
                                        ". <(sed '$d' bin/sbatch); may_wait waits.sh && ! may_wait job.sh");
  INFO(directive.err);
  CHECK(directive.exit_code == 0);
}

TEST_CASE(
    "an environment of the person's own on the site is this machine's Python, and said, also under set -eu") {
  const Installed installed;
  const std::string envs = installed.directory.path().string() + "/conda/envs/";
  struct Case {
    const char* name;
    const char* directory; ///< its own below envs
  };
  for (const auto& [name, directory] :
       {Case{"my_pytorch_cuda12.8", "my_pytorch_cuda12.8"}, Case{"base", "base"},
        Case{"/project/me/envs/torch", "_project_me_envs_torch"}}) {
    CAPTURE(name);
    const auto result =
        installed.bash("set -eu; module load miniforge3; conda activate " + std::string(name) +
                       "; command -v python; python -c 'print(6*7)'; echo $CONDA_DEFAULT_ENV; "
                       "conda deactivate; echo ${CONDA_PREFIX-none}");
    INFO(result.err);
    CHECK(result.exit_code == 0);
    CHECK(result.out == envs + directory + "/bin/python\n42\n" + name + "\nnone\n");
    CHECK(result.err.find("Small names no environment " + std::string(name) + " (it has: pytorch)") !=
          std::string::npos);
  }
  const auto many = installed.bash("module load miniforge3; for i in 1 2 3 4 5 6; do (conda activate ours && "
                                   "command -v python) & done; wait");
  CHECK(util::split(many.out, '\n').size() == 7); // ranks that are first at the same time
  CHECK(installed.bash("source activate ours; echo $CONDA_DEFAULT_ENV").out == "ours\n");
}

TEST_CASE("an unknown conda module provides conda") {
  auto site = rich_site();
  site.python.clear();
  const Installed installed(site);
  CHECK(installed.bash("command -v conda").exit_code != 0);
  const auto result =
      installed.bash("set -eu; module load anaconda/3; conda activate mine; python -c 'print(6*7)'; "
                     "source activate other; echo $CONDA_DEFAULT_ENV");
  INFO(result.err);
  CHECK(result.out == "42\nother\n");
}

TEST_CASE("shifter runs the program in the image with its volumes") {
  auto site = rich_site();
  model::ContainerRule rule;
  rule.engine = model::ContainerEngine::shifter;
  rule.prefix = "shifter";
  site.containers = {rule};
  const Installed installed(site);
  const auto root = installed.directory.path();
  fs::create_directories(root / "data");
  REQUIRE(util::write_file(root / "data/file", "inside\n"));
  const auto volume = (root / "data").string() + ":/data-of-test";
  const auto result = installed.bash("shifter -V " + volume +
                                     " --module=gpu --env=A=1 bash -c 'cat /data-of-test/file; "
                                     "echo $A'");
  INFO(result.err);
  CHECK(result.out == "inside\n1\n");
  CHECK(installed.bash("shifter --frobnicate true").err.find("option --frobnicate is not emulated") !=
        std::string::npos);
  CHECK(installed.bash("shifter -V " + volume).err.find("no program to run") != std::string::npos);
}

TEST_CASE("bede-mpirun refuses what cannot work") {
  auto site = rich_site();
  site.launchers.front().name = "bede-mpirun";
  const Installed installed(site);
  CHECK(installed.bash("bede-mpirun true").err.find("inside a job") != std::string::npos);
  CHECK(installed.bash("SLURM_JOB_ID=1 bede-mpirun --bede-par 2ppg true").err.find("must begin with 1ppn") !=
        std::string::npos);
  CHECK(installed.bash("SLURM_JOB_ID=1 bede-mpirun").err.find("no program to run") != std::string::npos);
}

TEST_CASE("sacct without accounting says how to have it") {
  const Installed installed;
  const auto listed = installed.bash("sacct -j 1");
  CHECK(listed.exit_code == 1);
  CHECK(listed.err.find("hpcml emulate --accounting") != std::string::npos);
}

TEST_CASE("ibrun refuses what cannot work") {
  const Installed installed;
  CHECK(installed.bash("ibrun true").err.find("inside a job") != std::string::npos);
  CHECK(installed.bash("SLURM_JOB_ID=1 SLURM_NTASKS=2 ibrun -np 3 true").err.find("do not fit the 2") !=
        std::string::npos);
  CHECK(installed.bash("SLURM_JOB_ID=1 ibrun -x true").err.find("unknown option -x") != std::string::npos);
}

TEST_CASE("the login environment has nothing of another job") {
  const auto site = rich_site();
  const util::EnvSnapshot caller({{"SLURM_JOB_ID", "7"},
                                  {"SBATCH_PARTITION", "x"},
                                  {"SRUN_CPUS_PER_TASK", "3"},
                                  {"PATH", "/usr/bin"},
                                  {"KEEP", "me"},
                                  {"CUDA_VISIBLE_DEVICES", "0"}});
  const auto env = make_login_environment(site, caller, "/s", "me");
  CHECK_FALSE(env.get("SLURM_JOB_ID"));
  CHECK_FALSE(env.get("SBATCH_PARTITION"));
  CHECK_FALSE(env.get("SRUN_CPUS_PER_TASK"));
  CHECK_FALSE(env.get("CUDA_VISIBLE_DEVICES"));
  CHECK(env.get("KEEP") == "me");
  // Last in it hpcml's own folder: a job's script finds it by its name.
  CHECK(env.get("PATH") == "/s/bin:/usr/bin:" + util::own_executable().parent_path().string());
  CHECK(env.get("SLURM_CONF") == "/s/login.conf");
  CHECK(env.get("HPCML_SITE") == "small");
}
