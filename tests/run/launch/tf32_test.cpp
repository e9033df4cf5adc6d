// SPDX-License-Identifier: MIT
// --tf32: what a rank finds in its environment.
#include <catch2/catch.hpp>

#include "run/launch/process_helper.hpp"

using namespace hpcml;
using namespace hpcml::testing;
using Catch::Contains;

namespace {

constexpr const char* k_show = "echo ${NVIDIA_TF32_OVERRIDE-none} ${TORCH_ALLOW_TF32_CUBLAS_OVERRIDE-none} "
                               "${HIPBLASLT_ALLOW_TF32-none}";

util::ProcessOutput launch_with(const std::vector<std::string>& flags, util::EnvSnapshot env) {
  std::vector<std::string> words = {"launch"};
  words.insert(words.end(), flags.begin(), flags.end());
  words.insert(words.end(), {"--", "sh", "-c", k_show});
  return run_hpcml(words, env);
}

util::EnvSnapshot with(util::EnvSnapshot env, const std::string& name, const std::string& value) {
  env.set(name, value);
  return env;
}

} // namespace

TEST_CASE("TF32 is switched by the variables that the vendor's libraries and torch read, and only if asked") {
  const auto nvidia = with(step_environment(0, 1), "CUDA_VISIBLE_DEVICES", "GPU-a");
  const auto amd = with(step_environment(0, 1), "ROCR_VISIBLE_DEVICES", "GPU-a");
  CHECK(launch_with({"--site", "narval"}, nvidia).out == "none none none\n");
  CHECK(launch_with({"--site", "narval", "--tf32", "off"}, nvidia).out == "0 0 none\n");
  CHECK(launch_with({"--site", "narval", "--tf32", "on"}, nvidia).out == "none 1 none\n");
  CHECK(launch_with({"--site", "lumi", "--tf32", "off"}, amd).out == "none 0 0\n");
  CHECK(launch_with({"--site", "lumi", "--tf32", "on"}, amd).out == "none 1 1\n");
  CHECK(launch_with({}, with(nvidia, "HPCML_TF32", "off")).out == "0 0 0\n"); // nobody says whose GPU it is
}

TEST_CASE("what an image or a module sets of TF32 gives way to the flag, and the first rank says so") {
  auto env = with(step_environment(0, 1), "CUDA_VISIBLE_DEVICES", "GPU-a");
  const auto off = launch_with({"--site", "narval", "--tf32", "off"},
                               with(env, "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "1")); // NVIDIA's images
  CHECK(off.out == "0 0 none\n");
  CHECK_THAT(off.err, Contains("--tf32 off replaces TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1"));
  const auto on = launch_with({"--site", "narval", "--tf32", "on"}, with(env, "NVIDIA_TF32_OVERRIDE", "0"));
  CHECK(on.out == "none 1 none\n");
  CHECK_THAT(on.err, Contains("--tf32 on replaces NVIDIA_TF32_OVERRIDE=0"));
  CHECK_THAT(launch_with({"--tf32", "on"}, step_environment(0, 1)).err,
             Contains("--tf32 on has no effect: no GPU is visible"));
  const auto wrong = launch_with({"--tf32", "maybe"}, env);
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("use one of on, off"));
}
