// SPDX-License-Identifier: MIT
// ssh from the batch script to other nodes.
#include <algorithm>
#include <span>

#include "check/rule.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace safety_ssh_node {

/// "ssh -N -f -R …": a tunnel to a login node, which runs nothing.
bool is_tunnel(const shell::Argument& word) {
  const auto text = word.text();
  return text.size() > 1 && text[0] == '-' && text[1] != '-' && text.find('N') != std::string::npos &&
         text.find_first_not_of("NfnTqvCgx", 1) == std::string::npos;
}

/// Whether it only asks the node for its name or address, and the script takes the answer.
bool asks_for_name(const shell::Command& command) {
  if (!command.context.substitution) return false;
  const auto words = command.arguments();
  return std::any_of(words.begin(), words.end(), [](const shell::Argument& word) {
    const auto text = word.text();
    return util::starts_with(text, "hostname") || util::starts_with(text, "ip ") || text == "ip";
  });
}

/// Whether the host is written out, so that it is none of the nodes that this job happens to get.
bool is_written_out(std::string_view program, std::span<const shell::Argument> words) {
  constexpr std::string_view c_with_value =
      "bceilopEFIJLmORSWw"; // ssh's options that have a word of their own
  const bool ssh = program == "ssh";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto text = words[i].text();
    if (ssh && (text.empty() || text[0] != '-')) return words[i].known();
    if (ssh && text.size() == 2 && c_with_value.find(text[1]) != std::string_view::npos) ++i;
    if (!ssh && text == "-w") return i + 1 < words.size() && words[i + 1].known();
  }
  return false;
}

Hits find(const Subject& subject) {
  Hits hits;
  const bool knows_nodes = subject.text.find("SLURM_JOB_NODELIST") != std::string_view::npos ||
                           subject.text.find("SLURM_NODELIST") != std::string_view::npos ||
                           subject.text.find("scontrol show host") != std::string_view::npos;
  if (!knows_nodes) return hits; // it may go anywhere
  for (const auto& command : subject.view.commands) {
    const auto name = command.name();
    if ((name != "ssh" && name != "pdsh" && name != "clush") || command.context.uncalled) continue;
    const auto words = command.arguments();
    if (*name == "ssh" && std::any_of(words.begin(), words.end(), is_tunnel)) continue;
    if (words.size() < 2 || words[0].text().find('@') != std::string::npos) continue;
    if (asks_for_name(command) || is_written_out(*name, words)) continue;
    hits.push_back({place_of(command.place), *name + " starts programs outside of the job's steps",
                    "use srun --nodelist=NODE --ntasks=1"});
  }
  return hits;
}

} // namespace safety_ssh_node

Rule rule_safety_ssh_node() {
  using namespace safety_ssh_node;
  return {"safety/ssh-node",
          diag::Severity::note,
          "ssh to nodes of the job",
          "What ssh starts runs outside of the job's steps: Slurm neither counts nor binds nor reliably "
          "stops it, GPUs are not set, "
          "and many sites do not let users log in to compute nodes at all.",
          "https://slurm.schedmd.com/pam_slurm_adopt.html",
          {"#!/bin/bash\nfor n in $(scontrol show hostnames $SLURM_JOB_NODELIST); do ssh $n hostname & done; "
           "wait\n",
           "#!/bin/bash\npdsh -w $SLURM_JOB_NODELIST python train.py\n",
           "#!/bin/bash\nA=$(scontrol show hostnames | head -1)\nssh $A nvidia-smi\n"},
          {"#!/bin/bash\nsrun --nodelist=$SLURM_JOB_NODELIST hostname\n",
           "#!/bin/bash\nssh login1 sbatch next.sh\n", "#!/bin/bash\nssh-keygen -t ed25519\n",
           "#!/bin/bash\nF=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -1)\nIP=$(ssh $F hostname "
           "-I)\nsrun ./a\n",
           "#!/bin/bash\necho $SLURM_JOB_NODELIST\nSERVER=mds1\npdsh -w $SERVER sync\nssh -q mds1 sync\n",
           "#!/bin/bash\necho $SLURM_JOB_NODELIST\nssh -N -f -R 8888:localhost:8888 login1\n"},
          find};
}

} // namespace hpcml::check
