// SPDX-License-Identifier: MIT
// Options with empty, unusual or wrong values, for every site: findings, never an exception.
#include <catch2/catch.hpp>

#include "check/check_script.hpp"
#include "core/slurm/options.hpp"
#include "shipped_site.hpp"

using namespace hpcml;

TEST_CASE("odd values of options are checked for every site") {
  const std::vector<std::string> names = {
      "gres",  "gpus",      "gpus-per-node",   "gpus-per-task", "mem",        "time",
      "nodes", "partition", "account",         "qos",           "constraint", "export",
      "array", "ntasks",    "ntasks-per-node", "cpus-per-task", "signal",     "dependency"};
  std::size_t sites = 0, findings = 0;
  for (const auto& id : config::list_sites({})) {
    const auto site = test::shipped_site(id);
    ++sites;
    for (const auto& name : names)
      for (const char* value : {"", "none", "0", ",", "gpu:", ":", "=", "all"}) {
        const auto text = "#!/bin/bash\n#SBATCH --" + name + "=" + value + "\nsrun python train.py\n";
        INFO(id << ": --" << name << "=" << value);
        check::Findings list;
        REQUIRE_NOTHROW(list = check::check_script("x.sh", text, {std::nullopt, &site}));
        findings += list.size();
      }
  }
  CHECK(sites > 50);
  CHECK(findings > sites * names.size());
}
