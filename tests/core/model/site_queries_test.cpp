// SPDX-License-Identifier: MIT
// What follows from several facts of a profile.
#include <catch2/catch.hpp>

#include "core/model/site_queries.hpp"

using namespace hpcml::model;

TEST_CASE("jobs have common variables and those of the profile") {
  Site site;
  site.storage.scratch = "${SCRATCH}/runs";
  site.storage.project = "/project/$GROUP_NAME";
  site.node_types.emplace_back().local_disk = "$SLURM_TMPDIR";
  site.python.emplace_back().where = "$SCRATCH/envs";
  site.caches.emplace_back().base = "$WORK/cache";
  EnvRule literal, expression;
  literal.name = "A";
  literal.value = "$NOT_EXPANDED";
  expression.name = "B";
  expression.value = "$C:$D";
  expression.expression = true;
  site.env = {literal, expression};
  CHECK(site_variables(site) ==
        std::vector<std::string>{"SCRATCH", "GROUP_NAME", "SLURM_TMPDIR", "WORK", "C", "D", "A", "B"});
  struct Case {
    const char* name;
    bool has;
  };
  for (const auto& [name, has] :
       {Case{"SCRATCH", true}, Case{"SCRATCH_DIR", false}, Case{"SCR", false}, Case{"SLURM_TMPDIR", true},
        Case{"SLURM_SCRATCH", false}, Case{"SLURM_JOB_ID", true}, Case{"HOME", true},
        Case{"LOCAL_RANK", true}, Case{"NOT_EXPANDED", false}, Case{"A", true}}) {
    CAPTURE(name);
    CHECK(has_job_variable(site, name) == has);
  }
  CHECK_FALSE(has_job_variable(Site(), "SLURM_TMPDIR"));
}

TEST_CASE("the profile shows the prefix of module variables") {
  Site site;
  CHECK(module_root_prefix(site).empty());
  site.libtorch_modules = {"gcc", "cuda/12.2"};
  site.libtorch_link_directories = {"$HOME/lib", "$EBROOTCUDA/extras/CUPTI/lib64"};
  CHECK(module_root_prefix(site) == "EBROOT");
  CHECK(has_job_variable(site, "EBROOTPYTHON"));
  site.libtorch_link_directories = {"$CUDA/lib64"};
  CHECK(module_root_prefix(site).empty());
}
