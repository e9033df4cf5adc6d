// SPDX-License-Identifier: MIT
// A profile is data: no text of it runs as shell code, judged by real bash running the script made from it.
#include <catch2/catch.hpp>

#include "core/config/site_store.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "generate/plan/planner.hpp"
#include "generate/render/render_helper.hpp"
#include "generate/render/render_script.hpp"
#include "hpcml/json_string.hpp"
#include "samples.hpp"

using namespace hpcml;

namespace {

struct Field {
  std::string name;
  std::string profile;  ///< members of the profile; @ is the hostile text as a JSON text
  const char* harmless; ///< a text with which the job runs; null: the profile is refused whatever the text
};

const std::vector<Field>& fields() {
  static const std::vector<Field> k_fields = {
      {"shebang", R"("shebang": @)", "#!/bin/bash"},
      {"common_options", R"("common_options": [@])", "--hint=nomultithread"},
      {"flag default", R"("flags": {"account": {"default": @}})", "project_1"},
      {"flag name", R"("flags": {@: {"policy": "required"}})", "exclusive"},
      {"partition", R"("partitions": [{"name": @, "node_types": ["n"], "default": true}])", "gpu"},
      {"GPU type",
       R"("gpu_request": {"type": "required"}, "node_types": [{"id": "n", "cpu": {"sockets": 1, "cores": 8}, "gpu": {"per_node": 2, "vendor": "nvidia", "slurm_type": @}}])",
       "a100"},
      {"launcher", R"("launchers": [{"name": @}])", "srun"},
      {"launcher argument", R"("launchers": [{"name": "srun", "args": [@]}])", "--overlap"},
      {"two launcher arguments", R"("launchers": [{"name": "srun", "args": ["--overlap", @]}])", "--label"},
      {"rank variable", R"("launchers": [{"name": "srun", "rank_variable": @, "local_rank_variable": @}])",
       "SLURM_PROCID"},
      {"variable", R"("env": [{"name": "A", "value": @}])", "x"},
      {"batch variable", R"("env": [{"name": "A", "value": @, "scope": "batch"}])", "x"},
      {"expression", R"("env": [{"name": "A", "value": @, "expression": true}])", "$HOME/x"},
      {"batch expression", R"("env": [{"name": "A", "value": @, "expression": true, "scope": "batch"}])",
       "$HOME/x"},
      {"variable's name", R"("env": [{"name": @, "value": "1"}])", "B"},
      {"bash's start-up file", R"("env": [{"name": "BASH_ENV", "value": @}])", nullptr},
      {"bash's trace", R"("env": [{"name": "SHELLOPTS", "value": "xtrace"}, {"name": "PS4", "value": @}])",
       nullptr},
      {"word separators", R"("env": [{"name": "IFS", "value": @, "scope": "batch"}])", nullptr},
      {"the job's number", R"("env": [{"name": "SLURM_JOB_ID", "value": @, "scope": "batch"}])", "4711"},
      {"the rank",
       R"("env": [{"name": "SLURM_LOCALID", "value": @, "scope": "batch"}], "gpu_visibility": {"mode": "own"})",
       "3"},
      {"cache folder", R"("caches": [{"name": "c", "base": @, "variables": {"C": "x"}}])", "$SLURM_TMPDIR"},
      {"cache name", R"("caches": [{"name": @, "base": "/tmp", "variables": {"C": "x"}}])", "c2"},
      {"cache variable", R"("caches": [{"name": "c", "base": "$SLURM_TMPDIR", "variables": {@: "x"}}])", "D"},
      {"path below a cache", R"("caches": [{"name": "c", "base": "$SLURM_TMPDIR", "variables": {"C": @}}])",
       "x/y"},
      {"OpenMP", R"("openmp": {"OMP_STACKSIZE": @})", "512m"},
      {"interface", R"("network": {"interfaces": [@], "master": {"interface": @}})", "lo"},
      {"suffix", R"("network": {"master": {"suffix": @}})", "i"},
      {"container bind",
       R"("containers": [{"engine": "singularity", "binds": [{"path": @}, {"path": "/a", "target": @, "optional": true}]}])",
       "/tmp"},
      {"container module", R"("containers": [{"engine": "singularity", "modules": [@]}])", "gcc/13"},
      {"a variable of images", R"("containers": [{"engine": "singularity", "env": {"A": @}}])", "x"},
      {"the name of a variable of images", R"("containers": [{"engine": "singularity", "env": {@: "1"}}])",
       "B"},
      {"the variable of an image",
       R"("containers": [{"engine": "singularity", "images": ".*", "image_variable": @}])", "SIF"},
      {"activation", R"("containers": [{"engine": "singularity", "enter": @}])", "$WITH_CONDA"},
      {"activation by a variable of the profile",
       R"("env": [{"name": "A", "value": @}], "containers": [{"engine": "singularity", "enter": "$A"}])",
       nullptr},
      {"Python folder", R"("python": [{"kind": "wheelhouse", "where": @, "packages": ["torch"]}])",
       "$SLURM_TMPDIR"},
      {"Python package", R"("python": [{"kind": "wheelhouse", "where": "$SLURM_TMPDIR", "packages": [@]}])",
       "torch"},
      {"conda", R"("python": [{"kind": "conda", "conda_env": @, "modules": [@]}])", "base"},
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
  auto text = util::replace_all(field.profile, "@", json_string(payload));
  if (text.find("\"node_types\": [{\"id\"") == std::string::npos)
    text +=
        R"(, "node_types": [{"id": "n", "cpu": {"sockets": 1, "cores": 8}, "gpu": {"per_node": 2, "vendor": "nvidia"}}])";
  if (text.find("\"partitions\"") == std::string::npos)
    text += R"(, "partitions": [{"name": "p", "node_types": ["n"], "default": true}])";
  return R"({"id": "hostile", )" + text + "}";
}

/// Runs the script of a job on the site under real bash; programs that the job needs are stand-ins.
void run_job(const model::Site& site, const std::string& launcher, const test::TempDirectory& directory) {
  model::JobSpec job;
  const auto text = [](const std::string& value) { return model::Sourced<std::string>{value, {}}; };
  job.command = {"python", test::word_writer(directory)};
  test::put_program(directory, "python", "exec \"$@\"\n");
  for (const char* name : {"module", "pip"}) test::put_program(directory, name, ":\n");
  test::put_program(directory, "getent", "echo 10.0.0.1 STREAM\n");
  test::put_program(directory, "virtualenv", "mkdir -p \"${@: -1}/bin\" && : > \"${@: -1}/bin/activate\"\n");
  test::put_program(directory, "conda", "echo \"$PWD\"\n"); // the directory with bin/activate
  test::put_program(directory, "activate", "");
  job.launcher = model::Sourced<model::Launcher>{model::Launcher::parse(launcher).value(), {}};
  if (!site.containers.empty()) job.container = text("image.sif");
  job.hpcml_path = text(test::stand_in_hpcml(directory));
  const auto planned = plan::make_plan(job, site);
  for (const auto& finding : planned.diagnostics) UNSCOPED_INFO(diag::render_text(finding, "", false));
  if (!planned.plan || !render::find_unwritable(*planned.plan).empty()) return;
  const auto script = render::render_script(*planned.plan);
  if (!test::k_sanitized) test::run_script(script, directory);
}

/// The site of the profile with this text, if it is taken.
std::optional<model::Site> load(const Field& field, const std::string& text,
                                const test::TempDirectory& directory) {
  const auto path = directory / "hostile.json";
  REQUIRE(util::write_file(path, profile_of(field, text)));
  return config::load_site_file(path.string(), {}).site;
}

} // namespace

TEST_CASE("with a harmless text in the same place the program runs: the next test would see what runs") {
  std::size_t number = 0;
  for (const auto& field : fields()) {
    for (const auto& launcher : {"hpcml", "srun", "torchrun"}) {
      const test::TempDirectory directory;
      CAPTURE(field.name, launcher);
      const auto site = load(field, field.harmless ? field.harmless : "x", directory);
      REQUIRE(site.has_value() == (field.harmless != nullptr));
      if (!test::is_sample(number++, 2)) continue;
      if (site) run_job(*site, launcher, directory);
      if (!test::k_sanitized) CHECK(std::filesystem::exists(directory / "words") == site.has_value());
    }
  }
}

TEST_CASE("no text of a profile runs as shell code") {
  std::size_t number = 0;
  for (const auto& field : fields()) {
    for (const auto& launcher : {"hpcml", "srun", "torchrun"}) {
      const test::TempDirectory directory;
      const auto canary = (directory / "canary").string();
      REQUIRE(util::write_file(directory / "canary.sh", "#!/bin/bash\ntouch " + canary + "\n", 0755));
      for (const auto& payload : payloads(canary)) {
        if (!test::is_sample(number++)) continue;
        CAPTURE(field.name, launcher, payload);
        if (const auto site = load(field, payload, directory)) run_job(*site, launcher, directory);
        CHECK_FALSE(std::filesystem::exists(canary));
        std::filesystem::remove(canary);
      }
    }
  }
}
