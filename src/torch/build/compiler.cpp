// SPDX-License-Identifier: MIT
#include "torch/build/compiler.hpp"

#include <fmt/format.h>

#include "core/util/process.hpp"
#include "core/util/text.hpp"
#include "torch/build/compile_all.hpp"

namespace hpcml::torch_build {

namespace {

constexpr std::chrono::seconds k_limit{
    60}; ///< of a few lines, on a file system that is slow to give the compiler

/// What LibTorch's headers use of each standard and old compilers lack.
const char* sample_of(unsigned cxx_standard) {
  return cxx_standard >= 20 ? "#include <concepts>\n#include <span>\n#include <string_view>\n"
                              "template <std::integral T> constexpr T twice(T value) { return value * 2; }\n"
                              "static_assert(twice(2) == 4);\nstd::span<const int> none;\n"
                              "bool first(std::string_view text) { return text.starts_with('a'); }\n"
                            : "#include <optional>\n#include <string_view>\n#include <variant>\n"
                              "template <class T> constexpr bool k_is = sizeof(T) > 0;\n"
                              "std::optional<int> one(std::string_view text) {\n"
                              "  if constexpr (k_is<int>) return static_cast<int>(text.size());\n}\n";
}

} // namespace

util::Result<std::string> find_compiler(const util::EnvSnapshot& env) {
  const auto wanted = env.get_or("CXX", "");
  if (!wanted.empty()) {
    // "ccache g++" and flags are things that make understands; a program's name is what is meant here.
    if (auto found = util::find_program(wanted, env)) return *found;
    return util::Error{fmt::format("CXX is '{}', but no such program was found", wanted),
                       "set CXX to a C++ compiler, or remove it"};
  }
  for (const char* name : {"c++", "g++", "clang++"})
    if (auto found = util::find_program(name, env)) return *found;
  return util::Error{"no C++ compiler was found: CXX is not set, and c++, g++ and clang++ are not in PATH",
                     "use the cluster's compiler module (module load gcc), or set CXX"};
}

std::string compiler_name(const std::string& compiler, const util::EnvSnapshot& env) {
  const auto version_output = util::run_process({compiler, "--version"}, env, k_limit);
  if (!version_output || version_output->exit_code != 0 || version_output->out.empty()) return compiler;
  return std::string(util::trim(util::split(version_output->out, '\n').front()));
}

std::optional<util::Error> try_compiler(const std::string& compiler, unsigned cxx_standard,
                                        const util::EnvSnapshot& env) {
  const auto standard = "c++" + std::to_string(cxx_standard);
  const auto tried = util::run_process({compiler, "-std=" + standard, "-x", "c++", "-fsyntax-only", "-"}, env,
                                       k_limit, sample_of(cxx_standard));
  if (tried && tried->exit_code == 0) return std::nullopt;
  const auto why = tried ? first_errors(tried->err) : tried.error().what;
  const auto name = compiler_name(compiler, env);
  return util::Error{fmt::format("{} does not compile C++{}, which the headers of this torch require{}",
                                 name == compiler ? compiler : fmt::format("{} ({})", compiler, name),
                                 cxx_standard, why.empty() ? "" : fmt::format(": {}", why)),
                     fmt::format("use the module of a newer compiler (GCC {} or Clang {}), or set CXX to one",
                                 cxx_standard >= 20 ? 10 : 8, cxx_standard >= 20 ? 10 : 7)};
}

} // namespace hpcml::torch_build
