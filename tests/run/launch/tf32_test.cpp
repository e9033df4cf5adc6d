// SPDX-License-Identifier: MIT
// --tf32: what a rank finds in its environment.
#include <catch2/catch.hpp>

#include "run/launch/launch_play.hpp"
#include "shipped_site.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

using model::Tf32;

util::ProcessOutput launch_with(const std::string& site, std::optional<Tf32> choice,
                                const util::EnvSnapshot& env) {
  return launch_in_memory(env,
                          "out ${NVIDIA_TF32_OVERRIDE:-none} ${TORCH_ALLOW_TF32_CUBLAS_OVERRIDE:-none} "
                          "${HIPBLASLT_ALLOW_TF32:-none}; exit 0",
                          [&](LaunchPlay& play) {
                            if (!site.empty()) play.request.site = test::shipped_site(site);
                            if (choice) play.request.rank_settings.tf32 = model::Sourced<Tf32>{*choice, {}};
                          });
}

util::EnvSnapshot with(util::EnvSnapshot env, const std::string& name, const std::string& value) {
  env.set(name, value);
  return env;
}

} // namespace

TEST_CASE("TF32 is switched by the variables that the vendor's libraries and torch read, and only if asked") {
  const auto nvidia = with(step_environment(0, 1), "CUDA_VISIBLE_DEVICES", "GPU-a");
  const auto amd = with(step_environment(0, 1), "ROCR_VISIBLE_DEVICES", "GPU-a");
  CHECK(launch_with("narval", {}, nvidia).out == "none none none\n");
  CHECK(launch_with("narval", Tf32::off, nvidia).out == "0 0 none\n");
  CHECK(launch_with("narval", Tf32::on, nvidia).out == "none 1 none\n");
  CHECK(launch_with("lumi", Tf32::off, amd).out == "none 0 0\n");
  CHECK(launch_with("lumi", Tf32::on, amd).out == "none 1 1\n");
  CHECK(launch_with("", Tf32::off, nvidia).out == "0 0 0\n"); // the vendor of the GPU is unknown
}

TEST_CASE("what an image or a module sets of TF32 gives way to the flag, and the first rank says so") {
  auto env = with(step_environment(0, 1), "CUDA_VISIBLE_DEVICES", "GPU-a");
  const auto off =
      launch_with("narval", Tf32::off, with(env, "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "1")); // NVIDIA's images
  CHECK(off.out == "0 0 none\n");
  CHECK_THAT(off.err, Contains("--tf32 off replaces TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1"));
  const auto on = launch_with("narval", Tf32::on, with(env, "NVIDIA_TF32_OVERRIDE", "0"));
  CHECK(on.out == "none 1 none\n");
  CHECK_THAT(on.err, Contains("--tf32 on replaces NVIDIA_TF32_OVERRIDE=0"));
  CHECK_THAT(launch_with("", Tf32::on, step_environment(0, 1)).err,
             Contains("--tf32 on has no effect: no GPU is visible"));
  const auto wrong = run_hpcml({"launch", "--tf32", "maybe", "--", "true"}, env);
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("use one of on, off"));
  CHECK(run_hpcml({"launch", "--", "printenv", "NVIDIA_TF32_OVERRIDE"}, with(env, "HPCML_TF32", "off")).out ==
        "0\n");
}
