// SPDX-License-Identifier: MIT
// Only ports of the job's own hosts are rewritten.
#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "check/check_script.hpp"

using namespace hpcml;

namespace {

std::string fixed(const std::string& body, const std::string& directives = "#SBATCH --nodes=2\n") {
  return check::fix_script("#!/bin/bash\n" + directives + body, {slurm::Version::v23_11, nullptr}).text;
}

bool rewrites_port(const std::string& body, const std::string& directives = "#SBATCH --nodes=2\n") {
  return fixed(body, directives).find("$((15000 + SLURM_JOB_ID % 17000))") != std::string::npos;
}

bool reports_port(const std::string& body) {
  const auto findings = check::check_script("x.sh", "#!/bin/bash\n#SBATCH --nodes=2\n" + body);
  return std::any_of(findings.begin(), findings.end(),
                     [](const auto& finding) { return finding.what.code == "launch/fixed-port"; });
}

using Strings = std::vector<std::string>;

const std::string k_torchrun = "srun torchrun --nnodes=2 --rdzv_id=$SLURM_JOB_ID ";

} // namespace

TEST_CASE("check --fix rewrites ports of the job's own hosts") {
  for (const auto& body :
       Strings{k_torchrun + "--rdzv_backend=c10d --rdzv_endpoint=$H:29400 train.py\n",
               k_torchrun + "--rdzv_endpoint=$(hostname):29400 train.py\n",
               k_torchrun + "--rdzv_backend=static --rdzv_endpoint=localhost:29400 train.py\n",
               "export MASTER_PORT=29500\nsrun python train.py\n",
               "export MASTER_ADDR=127.0.0.1 MASTER_PORT=29500\nsrun python train.py\n",
               "export MASTER_ADDR=$(hostname)\nexport MASTER_PORT=29500\necho \"at "
               "$MASTER_ADDR:$MASTER_PORT\"\nsrun python train.py\n",
               "PORT=6000\nexport MASTER_PORT=$PORT\nsrun python train.py\n",
               "PORT=6000\nE=$(hostname):$PORT\n" + k_torchrun +
                   "--rdzv_backend=c10d --rdzv_endpoint=$E train.py\n",
               "srun torchrun --nnodes=2 --master_addr=$H --master_port=29400 train.py\n"}) {
    CAPTURE(body);
    CHECK(reports_port(body));
    CHECK(rewrites_port(body));
  }
  const auto named = k_torchrun + "--rdzv_backend=c10d --rdzv_endpoint=n1.example.org:29400 train.py\n";
  CHECK(rewrites_port(named, "#SBATCH --nodes=2 --nodelist=n[1-2]\n"));
  CHECK_FALSE(rewrites_port(named, "#SBATCH --nodes=2 --nodelist=n[2-3]\n"));
}

TEST_CASE("check ignores the port of a rendezvous service") {
  for (const auto& backend : Strings{"etcd", "etcd-v2", "etcd-server", "zookeeper"})
    for (const auto& host : Strings{"etcd.example.org", "10.1.2.3", "$ETCD", "[fd00::1]"}) {
      const auto body =
          k_torchrun + "--rdzv_backend=" + backend + " --rdzv_endpoint=" + host + ":2379 train.py\n";
      CAPTURE(body);
      CHECK_FALSE(reports_port(body));
      CHECK_FALSE(rewrites_port(body));
    }
  for (const auto& body :
       Strings{"ETCD=etcd.example.org:2379\n" + k_torchrun +
                   "--rdzv-backend etcd --rdzv-endpoint $ETCD train.py\n",
               "B=etcd-v2\n" + k_torchrun + "--rdzv_backend=$B --rdzv_endpoint=$H:2379 train.py\n",
               "export PET_RDZV_BACKEND=etcd-v2\n" + k_torchrun + "--rdzv_endpoint=$H:2379 train.py\n",
               std::string("srun accelerate launch --num_machines 2 --rdzv_backend etcd --main_process_ip "
                           "etcd.example.org "
                           "--main_process_port 2379 train.py\n")}) {
    CAPTURE(body);
    CHECK_FALSE(reports_port(body));
    CHECK_FALSE(rewrites_port(body));
  }
}

TEST_CASE("check --fix keeps ports of other hosts") {
  for (const auto& body :
       Strings{k_torchrun + "--rdzv_backend=c10d --rdzv_endpoint=10.1.2.3:29400 train.py\n",
               k_torchrun + "--rdzv_backend=c10d --rdzv_endpoint=[fd00::1]:29400 train.py\n",
               k_torchrun + "--rdzv_backend=c10d --rdzv_endpoint=login1.example.org:29400 train.py\n",
               k_torchrun + "--rdzv_backend=$BACKEND --rdzv_endpoint=$H:29400 train.py\n",
               "H=10.1.2.3\n" + k_torchrun + "--rdzv_backend=c10d --rdzv_endpoint=$H:29400 train.py\n",
               "P=29400\n" + k_torchrun + "--rdzv_backend=c10d --rdzv_endpoint=10.1.2.3:$P train.py\n",
               std::string("srun torchrun --nnodes=2 --master_addr=10.1.2.3 --master_port=29400 train.py\n"),
               std::string(
                   "srun accelerate launch --num_machines 2 --main_process_ip 10.1.2.3 --main_process_port "
                   "29400 train.py\n"),
               std::string("export MASTER_ADDR=10.1.2.3\nexport MASTER_PORT=29400\nsrun python train.py\n"),
               std::string("MASTER_ADDR=head.example.org MASTER_PORT=29400 srun python train.py\n")}) {
    CAPTURE(body);
    CHECK_FALSE(rewrites_port(body));
  }
}

TEST_CASE("check --fix keeps ports that other programs use") {
  const std::string torchrun = k_torchrun + "--rdzv_backend=c10d --rdzv_endpoint=$H:$PORT train.py\n";
  for (const auto& use :
       Strings{"redis-cli -h redis.example.org -p $PORT ping", "ray start --address=head.example.org:${PORT}",
               "ray start --address=10.1.2.3:$PORT", "curl http://mlflow.example.org:$PORT/health",
               "export MLFLOW_TRACKING_URI=http://mlflow.example.org:$PORT",
               "python wait_for.py --port \"$PORT\"", "REDIS=$PORT"}) {
    const auto body = "PORT=6379\n" + use + "\n" + torchrun;
    CAPTURE(body);
    CHECK(reports_port(body));
    CHECK_FALSE(rewrites_port(body));
  }
  for (const auto& use : Strings{"echo \"port $PORT\"", "# redis-cli -p $PORT", "export MASTER_PORT=$PORT",
                                 "ENDPOINT=\"$H:${PORT}\"", "ssh $H \"ss -l | grep :$PORT\""}) {
    const auto body = "PORT=6379\n" + use + "\n" + torchrun;
    CAPTURE(body);
    CHECK(rewrites_port(body) == (use.find("grep") == std::string::npos));
  }
}
