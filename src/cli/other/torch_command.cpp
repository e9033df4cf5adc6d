// SPDX-License-Identifier: MIT
// hpcml torch build: the LibTorch helper and hpcml::ddp, compiled against the torch that is found here.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <memory>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/help/command_help.hpp"
#include "cli/help/value_checks.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "torch/build/build.hpp"
#include "torch/build/build_recipe.hpp"
#include "torch/build/in_image.hpp"

namespace hpcml::cli {
namespace {

struct TorchBuildOptions {
  torch_build::BuildRequest request;
  std::string container;
  std::string engine;
  bool flags = false;
  bool prefix = false;
  std::string format = "text";
};

constexpr CommandHelp k_torch_help = {
    .summary = "Compile hpcml's library and helper for a PyTorch",
    .examples = R"(hpcml torch build
# For a LibTorch that was unpacked
hpcml torch build --torch ~/libtorch --jobs 8)",
};

constexpr CommandHelp k_torch_build_help = {
    .summary = "Compile the library hpcml::ddp and the preflight's helper",
    .examples = R"(# For the PyTorch of the active environment, of a module or of the system
hpcml torch build
# With the compiler and the PyTorch of an image
hpcml torch build --container image.sif
# Compile a program that uses hpcml::ddp
c++ train.cpp $(hpcml torch build --flags) -o train)",
    .notes =
        R"('hpcml preflight' and 'hpcml launch --preflight' use the helper that was built for their PyTorch. Needs
only the compiler $CXX.

Exit codes: 0 built, or built before, 5 something is missing or does not compile.)",
};

void print_built(const torch_build::CompletedBuild& found, const TorchBuildOptions& options) {
  if (options.format == "json") {
    std::printf("%s\n", found.summary.c_str());
    return;
  }
  const auto built = nlohmann::json::parse(found.summary, nullptr, false);
  if (!built.is_object()) return;
  if (options.flags) {
    std::printf("%s\n", util::join(built.value("flags", std::vector<std::string>{}), " ").c_str());
    return;
  }
  const auto text = [&](const char* key) { return built.value(key, ""); };
  if (options.prefix) {
    std::printf("%s\n", text("prefix").c_str());
    return;
  }
  std::printf("torch     %s in %s (%s)\n", text("torch").c_str(), text("torch_lib").c_str(),
              text("found_by").c_str());
  std::printf("compiler  %s\n", text("compiler").c_str());
  std::printf("backends  gloo%s\n", built.value("nccl", false) ? ", nccl" : ("; " + text("no_nccl")).c_str());
  std::printf("helper    %s\n", text("helper").c_str());
  std::printf("library   %s\n", text("library").c_str());
  std::printf("headers   %s\n", text("include").c_str());
  std::printf("%s\n", found.was_built
                          ? "ok: it was built before"
                          : fmt::format("ok: built in {:.0f} s", built.value("seconds", 0.0)).c_str());
}

int run_torch_build(const TorchBuildOptions& options, const Context& context) {
  std::error_code ignored;
  const auto cwd = std::filesystem::current_path(ignored).string();
  if (!options.container.empty()) {
    const auto inside = torch_build::build_in_image(
        {options.request, options.container, options.engine, util::own_executable().string()}, context.env,
        cwd, print_note);
    if (!inside) {
      print_error(inside.error(), context.colour);
      return k_world_failed;
    }
    print_built(*inside, options);
    return k_ok;
  }
  const auto outcome = torch_build::run_build(options.request, context.env, cwd, print_note);
  for (const auto& problem : outcome.problems) print_error(problem, context.colour);
  if (!outcome.built) return k_world_failed;
  print_built(*outcome.built, options);
  return k_ok;
}

} // namespace

void add_torch(CLI::App& app, Context& context, int& exit_code) {
  auto* command = add_command(app, "torch", k_torch_help);
  command->require_subcommand(1);
  auto* build = add_command(*command, "build", k_torch_build_help);
  const auto options = std::make_shared<TorchBuildOptions>();
  build
      ->add_option("--torch", options->request.torch,
                   "Directory of a PyTorch, LibTorch or Python environment")
      ->type_name("DIR")
      ->default_str("the active one");
  build
      ->add_option("--container", options->container,
                   "Build in this image, with its PyTorch and its compiler")
      ->type_name("IMAGE");
  build->add_option("--engine", options->engine, "Program that runs the image")
      ->type_name("NAME")
      ->check(one_of(torch_build::image_engines()))
      ->default_str("the first that is found");
  build->add_option("--cache", options->request.cache, "Directory for what is built")
      ->type_name("DIR")
      ->default_str("~/.cache/hpcml/torch");
  build->add_option("-j,--jobs", options->request.jobs, "Compilers to run at a time")
      ->type_name("N")
      ->check(whole_number(1, 1024))
      ->default_str("one per core, at most 4");
  build->add_flag("--force", options->request.rebuild, "Compile again what was built before");
  auto* flags = build->add_flag("--flags", options->flags,
                                "Print only the compiler flags of a program that uses hpcml::ddp");
  build->add_flag("--prefix", options->prefix, "Print only the directory for CMake's find_package(hpcml)")
      ->excludes(flags);
  add_format(*build, options->format, {"text", "json"});
  build->callback([options, &context, &exit_code] { exit_code = run_torch_build(*options, context); });
}

} // namespace hpcml::cli
