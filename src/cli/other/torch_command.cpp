// SPDX-License-Identifier: MIT
// hpcml torch build: the LibTorch helper and hpcml::ddp, compiled against the torch that is found here.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "core/util/file.hpp"
#include "core/util/text.hpp"
#include "torch/build/build.hpp"
#include "torch/build/in_image.hpp"
#include "torch/build/recipe.hpp"

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

const char* const k_torch_footer = R"(Examples:
  hpcml torch build                                  for the active environment's torch, a module's, or the system's
  hpcml torch build --torch ~/libtorch --jobs 8      for this one
  hpcml torch build --container image.sif            with the compiler and the torch of an image
  c++ train.cpp $(hpcml torch build --flags) -o train     a program that uses hpcml::ddp
  cmake -B build -DCMAKE_PREFIX_PATH=$(hpcml torch build --prefix)     such a program that CMake builds

`hpcml preflight` and `hpcml launch --preflight` take the helper that was built for their torch. docs/guides/build-for-torch.md
says where torch is looked for and what is kept.

Exit codes: 0 built, or there already, 5 something is missing (all of it is named) or does not compile.)";

void print_built(const torch_build::Built& found, const TorchBuildOptions& options) {
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
                          : ("ok: built in " +
                             std::to_string(static_cast<int>(built.value("seconds", 0.0) + 0.5)) + " s")
                                .c_str());
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
  auto* command = app.add_subcommand("torch", "What hpcml compiles against the torch that is found here.");
  command->require_subcommand(1);
  command->footer(k_torch_footer);
  auto* build = command->add_subcommand(
      "build",
      "Compile the preflight's helper and the library hpcml::ddp with $CXX alone; what is there is kept.");
  const auto options = std::make_shared<TorchBuildOptions>();
  build
      ->add_option("--torch", options->request.torch,
                   "the torch to build for: its package, LibTorch's folder, an environment")
      ->type_name("DIR");
  build->add_option("--container", options->container, "build in this image, with its torch and its compiler")
      ->type_name("IMAGE");
  build->add_option("--engine", options->engine, "the program that runs the image (the first that is here)")
      ->check(CLI::IsMember(torch_build::image_engines()));
  build
      ->add_option("--cache", options->request.cache,
                   "where it is kept (XDG_CACHE_HOME/hpcml/torch, else below ~/.cache)")
      ->type_name("DIR");
  build->add_option("--jobs,-j", options->request.jobs, "compilers at a time (one per core, at most 4)")
      ->type_name("N")
      ->check(CLI::Range(1U, 1024U));
  build->add_flag("--force", options->request.rebuild, "compile also what is there already");
  auto* flags = build->add_flag("--flags", options->flags,
                                "print the flags of a program that uses hpcml::ddp, and nothing else");
  build
      ->add_flag("--prefix", options->prefix,
                 "print the folder, for CMake's find_package(hpcml COMPONENTS ddp), and nothing else")
      ->excludes(flags);
  build->add_option("--format", options->format, "text, or json: all of it as one object")
      ->check(CLI::IsMember({"text", "json"}));
  build->callback([options, &context, &exit_code] { exit_code = run_torch_build(*options, context); });
}

} // namespace hpcml::cli
