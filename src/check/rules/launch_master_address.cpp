// SPDX-License-Identifier: MIT
// Addresses of the first rank at which the other nodes cannot find it.
#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace launch_master_address {

struct Fault {
  std::string message;
  diag::Severity severity = diag::Severity::warning;
};

bool is_loopback(std::string_view text) {
  const auto host = text.substr(0, text.rfind(':') == std::string_view::npos || util::starts_with(text, "::")
                                       ? text.size()
                                       : text.rfind(':'));
  return host == "localhost" || util::starts_with(host, "127.") || host == "::1";
}

std::optional<Fault> fault_of(const shell::Argument& value) {
  if (is_loopback(value.prefix()) || (value.known() && is_loopback(value.text())))
    return Fault{"the other nodes look for the first rank at " + value.text() + ", which is themselves"};
  for (const auto& piece : value.pieces) {
    if (piece.known) continue;
    const std::string_view text = piece.text;
    const bool cut = text.find('|') != std::string_view::npos;
    if (!cut && (text.find("hostname -I") != std::string_view::npos ||
                 text.find("--all-ip-addresses") != std::string_view::npos))
      return Fault{piece.text + " gives all addresses of the node, not one"};
    if (text.find("hostname -i") != std::string_view::npos ||
        text.find("hostname --ip-address") != std::string_view::npos)
      return Fault{piece.text + " is 127.0.1.1 or several addresses on some clusters", diag::Severity::note};
    if (reads(text, "SLURM_LAUNCH_NODE_IPADDR"))
      return Fault{"SLURM_LAUNCH_NODE_IPADDR is the node that ran srun, not the first rank's",
                   diag::Severity::note};
  }
  return std::nullopt;
}

void check_value(const shell::Argument& value, slurm::Place place, Hits& hits) {
  if (auto fault = fault_of(value))
    add_hit(
        hits,
        {place,
         std::move(fault->message),
         "take the first host: MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)",
         {},
         fault->severity});
}

Hits find(const Subject& subject) {
  if (!shape_of_job(subject).several_nodes) return {};
  Hits hits;
  for (const auto& launch : subject.launches) {
    if ((!launch.agent() && !launch.python()) || (launch.step() && !shape_of(subject, launch).several_nodes))
      continue;
    if (const auto* agent = launch.agent()) {
      if (agent->find("standalone")) continue;
      if (const auto* nodes = find_any(*agent, {"nnodes", "num_machines", "num-machines"});
          nodes && nodes->value && nodes->value->known() && nodes->value->text() == "1")
        continue;
      if (const auto* given = find_any(*agent, {"master_addr", "master-addr", "main_process_ip",
                                                "main-process-ip", "rdzv_endpoint", "rdzv-endpoint"});
          given && given->value)
        check_value(*given->value, place_of(given->place), hits);
    }
    if (!launch.step()) continue;
    if (const auto* value = launch.variable("MASTER_ADDR")) check_value(*value, place_of(value->place), hits);
  }
  return hits;
}

} // namespace launch_master_address

Rule rule_launch_master_address() {
  using namespace launch_master_address;
  return {"launch/master-address",
          diag::Severity::warning,
          "An address at which the first rank is not found",
          "All ranks connect to the first one. localhost is another machine on every node; hostname -i gives "
          "127.0.x.x where the host's name is in /etc/hosts, and "
          "several addresses where there are several networks: the job hangs in init_process_group.",
          "https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization",
          {"#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\nexport MASTER_ADDR=localhost\nsrun python "
           "train.py\n",
           "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=1\nsrun torchrun --nnodes=2 --rdzv_backend=c10d "
           "--rdzv_endpoint=127.0.0.1:$P train.py\n",
           "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\nexport MASTER_ADDR=$(hostname -I)\nsrun "
           "python train.py\n",
           "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\nexport MASTER_ADDR=$(hostname -i)\nsrun "
           "python train.py\n"},
          {"#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\nexport MASTER_ADDR=$(scontrol show hostnames "
           "$SLURM_JOB_NODELIST | head -n 1)\nsrun python train.py\n",
           "#!/bin/bash\n#SBATCH --nodes=1 --ntasks-per-node=4\nexport MASTER_ADDR=localhost\nsrun python "
           "train.py\n",
           "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\nexport MASTER_ADDR=$(hostname)\nsrun python "
           "train.py\n",
           "#!/bin/bash\n#SBATCH --nodes=2 --ntasks-per-node=4\ntorchrun --nnodes=1 --nproc_per_node=4 "
           "--master_addr=localhost train.py\n"},
          find};
}

} // namespace hpcml::check
