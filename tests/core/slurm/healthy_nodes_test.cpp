// SPDX-License-Identifier: MIT
// Which nodes of a job with spare ones run its program.
#include <catch2/catch.hpp>

#include "core/slurm/healthy_node_selection.hpp"

using namespace hpcml;
using Names = std::vector<std::string>;

TEST_CASE("the first healthy nodes run, in the job's order; the others are spare, or bad with the reason") {
  const auto run = slurm::choose_nodes({"n1", "n2", "n3", "n4", "n5", "n6"},
                                       "n6 ok\nn4 ok\nn1 ok\nn2 its driver shows 3 of 4 GPUs\nx9 ok\n",
                                       {{"n4", "its agent died"}}, 1);
  CHECK(run.was_informed);
  CHECK(run.chosen == Names{"n1"});
  CHECK(run.spare == Names{"n6"});
  CHECK(run.bad == std::vector<node_health::BadNode>{{"n2", "its driver shows 3 of 4 GPUs"},
                                                     {"n3", "it did not answer"},
                                                     {"n5", "it did not answer"}});
  CHECK(slurm::choose_nodes({"n1", "n2"}, "n2 ok\n", {}, 2).chosen == Names{"n2"});
}

TEST_CASE("where no node says that it is well, none is blamed, and all that are not known as bad may run") {
  const auto run = slurm::choose_nodes({"n1", "n2", "n3"}, "n1 no\nn2 no\n", {{"n2", "its agent died"}}, 2);
  CHECK_FALSE(run.was_informed);
  CHECK(run.bad.empty());
  CHECK(run.chosen == Names{"n1", "n3"});
  CHECK(run.spare.empty());
}
