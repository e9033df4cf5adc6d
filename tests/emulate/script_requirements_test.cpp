// SPDX-License-Identifier: MIT
#include <catch2/catch.hpp>

#include "emulate/script_requirements.hpp"
#include "emulate/site_helper.hpp"

using namespace hpcml;
using emulate::read_script_requirements;

TEST_CASE("script requirements have nodes and partition of the directives") {
  const auto request =
      read_script_requirements("#!/bin/bash\n#SBATCH -N 3 --partition=dev,main\n#SBATCH -A p\ntrue\n"
                               "#SBATCH --nodes=9\n");
  CHECK(request.nodes == 3);
  CHECK(request.nodes_given);
  CHECK(request.partition == "dev");
  CHECK(request.site.empty());
  CHECK_FALSE(request.appends);
  CHECK(read_script_requirements("#!/bin/bash\n#SBATCH --open-mode=append\ntrue\n").appends);
}

TEST_CASE("script requirements have the site of the head comment") {
  const std::string head = "# Written by hpcml 0.1.0 for site lumi (profile e9a09ae7ab92b06b):\n";
  CHECK(read_script_requirements("#!/bin/bash\n#SBATCH -N1\n" + head + "true\n").site == "lumi");
  CHECK(read_script_requirements("#!/bin/bash\n#SBATCH -N1\ntrue\n" + head).site.empty());
}

TEST_CASE("script requirements add the nodes of components") {
  const auto request =
      read_script_requirements("#!/bin/bash\n#SBATCH -N2 -p a\n#SBATCH hetjob\n#SBATCH -N4 -p b\ntrue\n");
  CHECK(request.nodes == 6);
  CHECK(request.partition == "a");
}

TEST_CASE("script requirements count nodes for tasks, GPUs and CPUs") {
  const auto site = test::small_site();
  const auto& type = site.node_types.front();
  REQUIRE(type.gpu);
  const auto count = [&](const std::string& directives) {
    return count_needed_nodes(read_script_requirements("#!/bin/bash\n#SBATCH " + directives + "\ntrue\n"),
                              type);
  };
  const auto gpus = type.gpu->per_node;
  const auto cpus = static_cast<unsigned>(type.cpu.all().size());
  CHECK(count("-n 1") == 1);
  CHECK(count("--ntasks=6 --ntasks-per-node=2") == 3);
  CHECK(count("--gpus=" + std::to_string(2 * gpus)) == 2);
  CHECK(count("--gpus=" + std::to_string(2 * gpus + 1)) == 3);
  CHECK(count("--ntasks=2 --cpus-per-task=" + std::to_string(cpus)) == 2);
  CHECK(count("--nodes=4 --gpus=1") == 4);
  CHECK(count("--nodes=many") == 1); // sbatch refuses it
}
