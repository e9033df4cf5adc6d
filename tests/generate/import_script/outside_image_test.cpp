// SPDX-License-Identifier: MIT
// Programs of an image that run without a container on the new site.
#include "generate/import_script/import_helper.hpp"

using namespace hpcml;
using namespace hpcml::test;

namespace {

import_script::ImportResult outside(const std::string& lines) {
  import_script::RequestOverrides chosen;
  chosen.environment = "--venv";
  return ported(job("--gpus-per-node=1", lines), "zurada", chosen);
}

bool has_line(const import_script::ImportResult& result, const std::string& line) {
  return result.job.body && std::any_of(result.job.body->pieces.begin(), result.job.body->pieces.end(),
                                        [&](const auto& piece) { return has(piece.text, line); });
}

} // namespace

TEST_CASE("gen --from keeps variables of containers that it removes") {
  struct Row {
    std::string launch, line;
  };
  const std::vector<Row> rows = {
      {"srun apptainer exec --env A=b,C=d x.sif python t.py", "export A=b\nexport C=d\n"},
      {"srun singularity exec --env A=$B x.sif python t.py", "export A=\"$B\"\n"},
      {"srun singularity exec --env-file .env x.sif python t.py", "set -a; . ./.env; set +a\n"},
      {"srun singularity exec --env-file=$HOME/e x.sif python t.py", "set -a; . $HOME/e; set +a\n"},
      {"podman-hpc run -e A=b image:1 python t.py", "export A=b\n"},
      {"srun shifter --image=a:1 --env-file=vars python t.py", "done < ./vars\n"},
      {"SINGULARITYENV_K=$T srun singularity exec x.sif python t.py", "export K=\"$T\"\n"},
      {"export APPTAINERENV_K=$T\nsrun apptainer exec x.sif python t.py", "export K=\"$APPTAINERENV_K\"\n"},
      {"if true; then\n  srun apptainer exec --env A=b x.sif python t.py\nfi", "\n  export A=b\n  "},
  };
  for (const auto& row : rows) {
    INFO(row.launch);
    const auto result = outside(row.launch);
    CHECK(has_line(result, row.line));
    CHECK_FALSE(diag::has_errors(result.findings));
    CHECK(reports(result, "port/container", "is added before the program"));
  }
}

TEST_CASE("gen --from rejects programs whose files only a container has") {
  for (const std::string launch :
       {"srun apptainer exec --pwd /workspace x.sif python t.py", "podman-hpc run -w /a image:1 python t.py",
        "srun apptainer exec -B /data/me:/mnt x.sif python t.py --data /mnt/imagenet",
        "srun apptainer exec -B $D:/code x.sif bash -c 'cd /code && python t.py'",
        "export SINGULARITY_BIND=/data/me:/mnt\nsrun singularity exec x.sif python t.py --data /mnt/a",
        "#SBATCH --container-image=a/b:1 --container-mounts=/data/me:/mnt\nsrun python t.py /mnt/a",
        "srun apptainer exec -B /d/me:/data x.sif python t.py --data=\"/data/$X\"",
        "srun apptainer exec x.sif /opt/conda/bin/python t.py",
        "srun apptainer exec x.sif bash -c 'source /app/venv/bin/activate && python t.py'",
        "true && srun apptainer exec --env A=b x.sif python t.py"}) {
    INFO(launch);
    const auto result = outside(launch);
    CHECK(diag::has_errors(result.findings));
    CHECK(reports(result, "port/container", "outside of it on zurada"));
  }
}

TEST_CASE("gen --from keeps programs whose paths exist without their container") {
  for (const std::string launch :
       {"srun apptainer exec --pwd $PWD x.sif python t.py",
        "srun apptainer exec -B /data:/data x.sif python t.py /data/x",
        "srun apptainer exec -B /data/me:/mnt x.sif python t.py --data /mnt2/x",
        "srun apptainer exec -B /d/me:/data x.sif python t.py \"$D\"/data/x $D/data/y /d/data",
        "srun apptainer exec --env NCCL_SOCKET_IFNAME=eth0 x.sif python t.py"}) {
    INFO(launch);
    const auto result = outside(launch);
    CHECK_FALSE(diag::has_errors(result.findings));
    CHECK_FALSE(reports(result, "port/container", "is added before the program"));
  }
  CHECK(reports(outside("srun apptainer exec --overlay x.ext3:ro x.sif python t.py"), "port/container",
                "option '--overlay' is removed"));
}

TEST_CASE("gen --from rejects container engines that the site lacks") {
  for (const std::string launch :
       {"docker run --rm -w /a image:1 python t.py", "srun podman run image:1 python t.py",
        "srun bash -c '\nset -e\ndocker run --rm -w /a image:1 python t.py\necho done\n'",
        "srun bash -c 'podman run --rm image:1 torchrun --nproc-per-node=1 t.py; echo done'"}) {
    INFO(launch);
    CHECK(reports(outside(launch), "port/container", "starts the container engine"));
    CHECK(reports(ported(job("--gpus-per-node=1", launch), "lumi"), "port/container",
                  "starts the container engine"));
  }
}

TEST_CASE("gen --from renames variables that the new container engine ignores") {
  const auto text = job("--gpus-per-node=1", "export APPTAINERENV_A=$B\nexport SINGULARITYENV_C=1\n"
                                             "srun apptainer exec x.sif python t.py");
  const auto result = ported(text, "lumi");
  CHECK(has_line(result, "export SINGULARITYENV_A=\"$APPTAINERENV_A\"\n"));
  CHECK_FALSE(has_line(result, "$SINGULARITYENV_C"));
  CHECK_FALSE(has_line(ported(text, "narval"), "export SINGULARITYENV_A"));
}
