// SPDX-License-Identifier: MIT
// Ports written as numbers.
#include <algorithm>
#include <cctype>

#include "check/job_shape.hpp"
#include "check/launch_facts.hpp"
#include "util/text.hpp"

namespace hpcml::check {
namespace launch_fixed_port {

bool is_port(std::string_view text) {
  return !text.empty() && text.size() < 6 && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

/// Whether jobs of others can run on the same nodes; nothing where that is not known.
std::optional<bool> is_shared(const Subject& subject) {
  if (subject.requests.size() != 1) return std::nullopt;
  if (subject.requests[0].sharing == slurm::Sharing::exclusive) return false;
  if (subject.header.directives.empty() || subject.fits.size() != 1 || subject.fits[0].partitions.size() != 1)
    return std::nullopt;
  return !subject.fits[0].partitions[0]->exclusive && !subject.fits[0].facts.whole_nodes;
}

/// The number stands once only: what replaces it cannot disagree with another place.
std::vector<Edit> from_job_id(const Subject& subject, slurm::Place place, const std::string& port) {
  const auto first = subject.text.find(port);
  if (subject.requests.size() != 1 || first == std::string_view::npos ||
      subject.text.find(port, first + 1) != std::string_view::npos)
    return {};
  return replace_end(subject, place, port, "$((15000 + SLURM_JOB_ID % 17000))");
}

/// Where the script gives the number: here, or in the assignment that it comes from; nothing where it is a
/// default that others override.
std::optional<slurm::Place> written_at(const Subject& subject, const std::string& port, slurm::Place place) {
  const auto text = subject.text;
  if (place.offset + place.length <= text.size() &&
      util::ends_with(text.substr(place.offset, place.length), port))
    return place;
  for (auto at = text.find("=" + port); at != std::string_view::npos; at = text.find("=" + port, at + 1)) {
    const auto end = at + 1 + port.size();
    const bool whole = end == text.size() || text[end] == '\n' || text[end] == ' ' || text[end] == ';';
    if (whole && at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0))
      return slurm::Place{at + 1, port.size()};
  }
  return std::nullopt;
}

void add(const Subject& subject, const std::string& port, slurm::Place seen_at, Hits& hits) {
  if (!is_port(port) || port == "0") return;
  const auto written = written_at(subject, port, seen_at);
  if (!written) return;
  const auto place = *written;
  if (subject.site && subject.site->network.master.port &&
      std::to_string(*subject.site->network.master.port) == port)
    return;
  const auto shared = is_shared(subject);
  add_hit(hits,
          {place,
           "port " + port + " is the same for every job" +
               (shared.value_or(false) ? ", and jobs share nodes here: the second one on a node cannot start"
                                       : ": two of them on one node, or one that still ends, collide"),
           "let it follow from the job: MASTER_PORT=$((15000 + SLURM_JOB_ID % 17000))",
           from_job_id(subject, place, port),
           shared.value_or(false) ? std::nullopt : std::optional(diag::Severity::note)});
}

Hits find(const Subject& subject) {
  Hits hits;
  for (const auto& seen : seen_variables(subject, {"MASTER_PORT"}))
    if (seen.value->known()) add(subject, seen.value->text(), place_of(seen.value->place), hits);
  for (const auto& launch : subject.launches) {
    const auto* agent = launch.agent();
    if (!agent || agent->find("standalone")) continue;
    const auto* given = find_any(*agent, {"rdzv_endpoint", "rdzv-endpoint", "master_port", "master-port",
                                          "main_process_port", "main-process-port"});
    if (!given || !given->value || given->value->pieces.empty() || !given->value->pieces.back().known)
      continue;
    const auto& text = given->value->pieces.back().text;
    add(subject, text.substr(text.rfind(':') + 1), place_of(given->place), hits);
  }
  return hits;
}

} // namespace launch_fixed_port

Rule rule_launch_fixed_port() {
  using namespace launch_fixed_port;
  return {
      "launch/fixed-port",
      diag::Severity::warning,
      "A port that is a number",
      "The first rank listens on the port. Two jobs on a node with the same number: the second ends with "
      "\"Address already in use\", or, worse, its ranks join "
      "the first one's training. Ports that follow from the job's id do not meet.",
      "https://docs.pytorch.org/docs/stable/distributed.html#environment-variable-initialization",
      {"#!/bin/bash\n#SBATCH --ntasks=4\nexport MASTER_PORT=29500\nsrun python train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2\nsrun torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_id=$SLURM_JOB_ID "
       "--rdzv_endpoint=$H:29400 train.py\n",
       "#!/bin/bash\ntorchrun --nproc_per_node=4 --master_port=1234 train.py\n",
       "#!/bin/bash\n#SBATCH --nodes=2\nPORT=6000\nRUN=\"torchrun --nnodes=2 --rdzv_backend=c10d "
       "--rdzv_endpoint=$H:$PORT\"\nsrun bash -c \"$RUN train.py\"\n",
       {"#!/bin/bash\n#SBATCH -p small-g --ntasks=4\nMASTER_PORT=6000 srun python train.py\n", "lumi"}},
      {"#!/bin/bash\n#SBATCH --ntasks=4\nexport MASTER_PORT=$((15000 + SLURM_JOB_ID % 17000))\nsrun python "
       "train.py\n",
       "#!/bin/bash\n#SBATCH --ntasks=4\nexport MASTER_PORT=${MASTER_PORT:-29500}\nsrun python train.py\n",
       "#!/bin/bash\ntorchrun --standalone --nproc_per_node=4 train.py\n",
       "#!/bin/bash\ntorchrun --rdzv_backend=c10d --rdzv_endpoint=localhost:0 --nproc_per_node=4 train.py\n"},
      find};
}

} // namespace hpcml::check
