// SPDX-License-Identifier: MIT
// A profile is data: no text of it runs as shell code, judged by real bash running the script made from it.
#include <catch2/catch.hpp>

#include "plan/planner.hpp"
#include "render/render_helper.hpp"
#include "render/script.hpp"
#include "spec/json_tree.hpp"
#include "spec/site_store.hpp"
#include "util/file.hpp"
#include "util/text.hpp"

using namespace hpcml;

namespace {

struct Field {
  std::string name;
  std::string profile; ///< members of the profile; @ is the hostile text as a JSON text
};

const std::vector<Field>& fields() {
  static const std::vector<Field> k_fields = {
      {"shebang", R"("shebang": @)"},
      {"always", R"("always": [@])"},
      {"flag default", R"("flags": {"account": {"default": @}})"},
      {"flag name", R"("flags": {@: {"policy": "required"}})"},
      {"partition", R"("partitions": [{"name": @, "node_types": ["n"], "default": true}])"},
      {"GPU type", R"("gpu_request": {"type": "required"}, "node_types": [{"id": "n", "cpu": {"sockets": 1, "cores": 8}, "gpu": {"per_node": 2, "vendor": "nvidia", "slurm_type": @}}])"},
      {"launcher", R"("launchers": [{"name": @}])"},
      {"launcher argument", R"("launchers": [{"name": "srun", "args": [@]}])"},
      {"two launcher arguments", R"("launchers": [{"name": "srun", "args": ["--overlap", @]}])"},
      {"rank variable", R"("launchers": [{"name": "srun", "rank_variable": @, "local_rank_variable": @}])"},
      {"variable", R"("env": [{"name": "A", "value": @}])"},
      {"batch variable", R"("env": [{"name": "A", "value": @, "scope": "batch"}])"},
      {"expression", R"("env": [{"name": "A", "value": @, "expression": true}])"},
      {"batch expression", R"("env": [{"name": "A", "value": @, "expression": true, "scope": "batch"}])"},
      {"variable's name", R"("env": [{"name": @, "value": "1"}])"},
      {"bash's start-up file", R"("env": [{"name": "BASH_ENV", "value": @}])"},
      {"bash's trace", R"("env": [{"name": "SHELLOPTS", "value": "xtrace"}, {"name": "PS4", "value": @}])"},
      {"word separators", R"("env": [{"name": "IFS", "value": @, "scope": "batch"}])"},
      {"the job's number", R"("env": [{"name": "SLURM_JOB_ID", "value": @, "scope": "batch"}])"},
      {"the rank", R"("env": [{"name": "SLURM_LOCALID", "value": @, "scope": "batch"}], "gpu_visibility": {"mode": "own"})"},
      {"cache folder", R"("caches": [{"name": "c", "base": @, "variables": {"C": "x"}}])"},
      {"cache name", R"("caches": [{"name": @, "base": "/tmp", "variables": {"C": "x"}}])"},
      {"cache variable", R"("caches": [{"name": "c", "base": "$SLURM_TMPDIR", "variables": {@: "x"}}])"},
      {"path below a cache", R"("caches": [{"name": "c", "base": "$SLURM_TMPDIR", "variables": {"C": @}}])"},
      {"OpenMP", R"("openmp": {"OMP_PLACES": @})"},
      {"interface", R"("network": {"interfaces": [@], "master": {"interface": @}})"},
      {"suffix", R"("network": {"master": {"suffix": @}})"},
      {"container bind", R"("containers": [{"engine": "singularity", "binds": [{"path": @}, {"path": "/a", "target": @, "optional": true}]}])"},
      {"container module", R"("containers": [{"engine": "singularity", "modules": [@]}])"},
      {"activation", R"("containers": [{"engine": "singularity", "enter": @}])"},
      {"activation by a variable of the profile", R"("env": [{"name": "A", "value": @}], "containers": [{"engine": "singularity", "enter": "$A"}])"},
      {"Python folder", R"("python": [{"kind": "wheelhouse", "where": @, "packages": ["torch"]}])"},
      {"Python package", R"("python": [{"kind": "wheelhouse", "where": "$SLURM_TMPDIR", "packages": [@]}])"},
      {"conda", R"("python": [{"kind": "conda", "conda_env": @, "modules": [@]}])"},
  };
  return k_fields;
}

std::vector<std::string> payloads(const std::string& canary) {
  const auto touch = "touch " + canary;
  return {touch,
          "$(" + touch + ")",
          "`" + touch + "`",
          "'; " + touch + "; '",
          "\"; " + touch + "; \"",
          "x; " + touch,
          "x\n" + touch,
          "source /dev/null; " + touch,
          "${X:-$(" + touch + ")}",
          "a[$(" + touch + ")]",
          "PATH[$(" + touch + ")]",
          "--x=$(" + touch + ")",
          "#!/bin/bash -c '" + touch + "'",
          canary + ".sh"};
}

std::string profile_of(const Field& field, const std::string& payload) {
  auto text = util::replace_all(field.profile, "@", spec::quote_json(payload));
  if (text.find("\"node_types\": [{\"id\"") == std::string::npos)
    text += R"(, "node_types": [{"id": "n", "cpu": {"sockets": 1, "cores": 8}, "gpu": {"per_node": 2, "vendor": "nvidia"}}])";
  if (text.find("\"partitions\"") == std::string::npos) text += R"(, "partitions": [{"name": "p", "node_types": ["n"], "default": true}])";
  return R"({"id": "hostile", )" + text + "}";
}

/// Runs the script of a job on the site under real bash; programs that the job needs are stand-ins.
void run_job(const model::Site& site, const std::string& launcher, const test::TempFolder& folder) {
  model::JobSpec job;
  const auto text = [](const std::string& value) { return model::Sourced<std::string>{value, {}}; };
  job.command = {"python", test::word_writer(folder)};
  job.launcher = model::Sourced<model::Launcher>{model::Launcher::parse(launcher).value(), {}};
  if (!site.containers.empty()) job.container = text("image.sif");
  job.hpcml_path = text(test::stand_in_hpcml(folder));
  const auto planned = plan::make_plan(job, site);
  for (const auto& finding : planned.diagnostics) UNSCOPED_INFO(diag::render_text(finding, "", false));
  if (!planned.plan || !render::find_unwritable(*planned.plan).empty()) return;
  const auto script = render::render_script(*planned.plan);
  INFO(script);
  test::run_script(script, folder);
}

} // namespace

TEST_CASE("no text of a profile runs as shell code") {
  for (const auto& field : fields()) {
    for (const auto& launcher : {"hpcml", "srun", "torchrun"}) {
      const test::TempFolder folder;
      const auto canary = (folder / "canary").string();
      REQUIRE(util::write_file(folder / "canary.sh", "#!/bin/bash\ntouch " + canary + "\n", 0755));
      for (const auto& payload : payloads(canary)) {
        CAPTURE(field.name, launcher, payload);
        const auto path = folder / "hostile.json";
        REQUIRE(util::write_file(path, profile_of(field, payload)));
        const auto load = spec::load_site_file(path.string(), {});
        if (load.site) run_job(*load.site, launcher, folder);
        CHECK_FALSE(std::filesystem::exists(canary));
        std::filesystem::remove(canary);
      }
    }
  }
}
