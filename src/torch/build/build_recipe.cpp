// SPDX-License-Identifier: MIT
#include "torch/build/build_recipe.hpp"

#include "core/util/text.hpp"

namespace hpcml::torch_build {

namespace {

using Words = std::vector<std::string>;

void append(Words& words, const Words& more) { words.insert(words.end(), more.begin(), more.end()); }

/// Standard, ABI and torch's headers: what each source that includes them needs.
Words torch_words(const TorchPackage& package) {
  Words words = {"-std=c++" + std::to_string(package.cxx_standard)};
  if (!package.abi.empty()) words.push_back("-D_GLIBCXX_USE_CXX11_ABI=" + package.abi);
  for (const auto& directory : torch_includes(package)) append(words, {"-isystem", directory});
  return words;
}

Words library_words(const TorchPackage& package) {
  auto words = torch_libraries(package);
  append(words, {"-Wl,-rpath," + package.lib});
  return words;
}

/// Sources that are compiled as one.
struct Part {
  bool is_library = false;
  Words sources;
};

/// Two parts of the library and two of the helper: torch's headers are read four times, and not as often as
/// there are sources, while the compilers still have company.
std::vector<Part> parts_of(const Words& sources) {
  std::vector<Part> parts = {{true, {}}, {true, {}}, {false, {}}, {false, {}}};
  std::size_t library = 0, helper = 0;
  for (const auto& source : sources) {
    if (!source.ends_with(".cpp")) continue;
    const bool is_library = source.starts_with("src/ddp/");
    parts[is_library ? library++ % 2 : 2 + helper++ % 2].sources.push_back(source);
  }
  std::erase_if(parts, [](const Part& part) { return part.sources.empty(); });
  return parts;
}

} // namespace

Words torch_includes(const TorchPackage& package) {
  Words directories;
  // Given as a system directory, it would move the compiler's own one forward in the search order.
  if (package.include != "/usr/include") directories.push_back(package.include);
  directories.push_back(package.include + "/torch/csrc/api/include");
  return directories;
}

Words torch_libraries(const TorchPackage& package) {
  // The shared C++ library of torch comes before torch, because libtorch.so of some wheels for GPUs
  // contains empty functions of std::filesystem (2.11.0, CUDA 13). It is named by its file, because some
  // compilers have it only as an archive, and -lstdc++ would add a second one, whose locales the shared
  // one frees. The compiler's own library contains what newer headers require and an older shared one
  // lacks.
  Words words = {"-l:libstdc++.so.6", "-lstdc++"};
  for (const char* name : {"libtorch.so", "libtorch_cpu.so", "libc10.so"})
    words.push_back(package.lib + "/" + name);
  // GPU kernels register themselves when their library is loaded, so the linker may not drop it as unused.
  if (!package.gpu_libraries.empty()) {
    words.emplace_back("-Wl,--no-as-needed");
    append(words, package.gpu_libraries);
    words.emplace_back("-Wl,--as-needed");
  }
  // What torch itself needs (the driver's library, a module's BLAS) the machine that builds may lack.
  append(words, {"-Wl,--unresolved-symbols=ignore-in-shared-libs", "-pthread"});
  return words;
}

BuildRecipe make_recipe(const std::string& compiler, const TorchPackage& package,
                        const std::string& directory, const Words& sources, bool nccl) {
  Words common = {compiler, "-O2", "-fPIC", "-pthread", "-DUSE_DISTRIBUTED", "-DUSE_C10D_GLOO"};
  if (nccl)
    for (const auto& define : package.gpu_defines) common.push_back("-D" + define);
  append(common, {"-I" + directory + "/src", "-I" + directory + "/include"});
  append(common, torch_words(package));
  if (nccl)
    for (const auto& include : package.gpu_includes) append(common, {"-isystem", include});
  append(common, {"-idirafter", directory + "/src/torch/build/gloo_names", "-Wno-deprecated-declarations"});
  BuildRecipe recipe;
  Words library_objects, helper_objects;
  for (auto& part : parts_of(sources)) {
    const auto object = directory + "/src/part" + std::to_string(recipe.steps.size()) + ".o";
    helper_objects.push_back(object);
    if (part.is_library) library_objects.push_back(object);
    CompileStep step{util::counted(part.sources.size(), "source") + " of " +
                         util::directory_name(part.sources.front()),
                     object, common};
    const auto last = part.sources.back();
    part.sources.pop_back();
    for (const auto& source : part.sources) append(step.words, {"-include", directory + "/" + source});
    append(step.words, {"-c", directory + "/" + last, "-o", object});
    recipe.steps.push_back(std::move(step));
  }
  recipe.link_library = {compiler, "-shared", "-Wl,-soname,libhpcml_ddp.so", "-o",
                         directory + "/" + k_library_name};
  append(recipe.link_library, library_objects);
  append(recipe.link_library, library_words(package));
  recipe.link_helper = {compiler, "-o", directory + "/" + k_helper_name};
  append(recipe.link_helper, helper_objects);
  append(recipe.link_helper, library_words(package));
  return recipe;
}

Words program_flags(const TorchPackage& package, const std::string& directory) {
  Words words = torch_words(package);
  append(words, {"-I" + directory + "/include", directory + "/" + k_library_name,
                 "-Wl,-rpath," + directory + "/lib"});
  append(words, library_words(package));
  return words;
}

} // namespace hpcml::torch_build
