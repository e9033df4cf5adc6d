// SPDX-License-Identifier: MIT
// An option that is given twice with different values.
#include <algorithm>

#include "check/rule.hpp"

namespace hpcml::check {
namespace slurm_option_twice {

/// Options whose values add up.
bool adds_up(std::string_view option) {
  return option == "mail-type" || option == "verbose" || option == "export-file";
}

Hits find(const Subject& subject) {
  Hits hits;
  for (std::size_t c = 0; c < subject.settings.size(); ++c) {
    const auto& settings = subject.settings[c];
    // A component starts with what the one before it had; to override that is no slip.
    std::size_t begin = 0;
    for (const auto& directive : subject.header.directives)
      if (directive.component == c && !directive.words.empty()) {
        begin = directive.words.front().place.offset;
        break;
      }
    for (std::size_t i = 0; i < settings.size(); ++i) {
      const auto& one = settings[i];
      if (one.place.length == 0 || one.place.offset < begin || adds_up(one.option) ||
          subject.text.substr(one.place.offset, 1) != "-")
        continue;
      const auto same = [&](const slurm::Setting& other) {
        return other.option == one.option && other.place.length > 0;
      };
      const auto next =
          std::find_if(settings.begin() + static_cast<std::ptrdiff_t>(i) + 1, settings.end(), same);
      if (next == settings.end() || next->value == one.value) continue;
      hits.push_back({one.place,
                      "--" + one.option + " is given again below with another value: this one has no effect",
                      one.option == "gres" ? "join both in one option: --gres=A,B" : "remove one of them"});
    }
  }
  return hits;
}

} // namespace slurm_option_twice

Rule rule_slurm_option_twice() {
  using namespace slurm_option_twice;
  return {"slurm/option-twice",
          diag::Severity::warning,
          "An option given twice",
          "The last one wins without a word, wherever the first one stands: also --gres=gpu:4 followed by "
          "--gres=nvme:100 leaves no "
          "GPU.",
          "https://slurm.schedmd.com/sbatch.html#SECTION_OPTIONS",
          {"#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --nodes=4\n",
           "#!/bin/bash\n#SBATCH --gres=gpu:4\n#SBATCH --gres=nvme:100\n",
           "#!/bin/bash\n#SBATCH -N 2 --nodes=3\n", "#!/bin/bash\n#SBATCH --time=10 -n4\n#SBATCH -t 20\n"},
          {"#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks=4\n",
           "#!/bin/bash\n#SBATCH --mail-type=END\n#SBATCH --mail-type=FAIL\n#SBATCH --mail-user=me\n",
           "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH -c4\n#SBATCH hetjob\n#SBATCH --nodes=3\n#SBATCH -c4\n",
           "#!/bin/bash\n#SBATCH --nodes=2\n##SBATCH --nodes=4\n"},
          find};
}

} // namespace hpcml::check
