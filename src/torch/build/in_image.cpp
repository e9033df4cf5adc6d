// SPDX-License-Identifier: MIT
#include "torch/build/in_image.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

#include "core/model/engine_command_template.hpp"
#include "core/util/process.hpp"
#include "core/util/scratch_path.hpp"
#include "core/util/text.hpp"
#include "torch/build/cache.hpp"
#include "torch/build/old_builds.hpp"

namespace hpcml::torch_build {

namespace fs = std::filesystem;

namespace {

using util::Error;

/// Variables that speak of this machine's compiler and torch: some engines hand them to the image.
/// LD_LIBRARY_PATH is not among them: the engine itself may need it.
constexpr const char* k_of_this_machine[] = {
    "CXX",          "CC",         "Torch_DIR",  "CMAKE_PREFIX_PATH", "VIRTUAL_ENV",
    "CONDA_PREFIX", "PYTHONPATH", "PYTHONHOME", "LIBRARY_PATH",      "CPATH",
    "CUDA_HOME",    "CUDA_PATH",  "ROCM_PATH",  "XDG_CACHE_HOME"};

util::Result<std::string> choose_engine(const ImageBuildRequest& choice, bool is_path,
                                        const util::EnvSnapshot& env) {
  std::vector<std::string> fitting;
  for (const auto& row : model::k_engine_command_templates) {
    const std::string program(row.program);
    if (is_path ? !row.runs_files : !row.runs_names) continue;
    fitting.push_back(program);
    if (choice.engine.empty() ? util::find_program(program, env).has_value() : choice.engine == program)
      return program;
  }
  if (!choice.engine.empty())
    return Error{
        is_path
            ? fmt::format("{} does not run a file or directory such as {}", choice.engine, choice.image)
            : fmt::format("{} does not run an image of a registry such as {}", choice.engine, choice.image),
        fmt::format("use --engine with one of {}", util::join(fitting, ", "))};
  return Error{fmt::format("no container engine for {} was found in PATH", choice.image),
               fmt::format("use a module that adds one of these programs: {}", util::join(fitting, ", "))};
}

std::vector<std::string> inner_command(const ImageBuildRequest& choice, const std::string& program) {
  std::vector<std::string> words = {program, "torch", "build", "--cache", k_inside, "--format", "json"};
  if (!choice.request.torch.empty()) words.insert(words.end(), {"--torch", choice.request.torch});
  if (choice.request.jobs != 0) words.insert(words.end(), {"--jobs", std::to_string(choice.request.jobs)});
  if (choice.request.rebuild) words.emplace_back("--force");
  return words;
}

/// Returns the name of the built directory from the helper's path in the output, or an empty text.
std::string built_name(const std::string& out) {
  const auto start = "\"helper\":\"" + std::string(k_inside) + "/";
  const auto at = out.find(start);
  if (at == std::string::npos) return {};
  const auto begin = at + start.size();
  return out.substr(begin, out.find('/', begin) - begin);
}

} // namespace

std::vector<std::string> image_engines() {
  std::vector<std::string> programs;
  for (const auto& row : model::k_engine_command_templates) programs.emplace_back(row.program);
  return programs;
}

std::vector<std::string> image_words(const std::string& engine, const std::string& image,
                                     const std::string& directory, const std::vector<std::string>& command) {
  const auto* row =
      std::find_if(model::k_engine_command_templates.begin(), model::k_engine_command_templates.end(),
                   [&](const auto& candidate) { return candidate.program == engine; });
  if (row == model::k_engine_command_templates.end() || command.empty()) return {};
  std::vector<std::string> words = {engine};
  const std::pair<std::string, std::string> marks[] = {
      {"PROGRAM", command[0]}, {"IMAGE", image}, {"DIR", directory}};
  bool named = false;
  for (auto word : util::split(row->words, ' ')) {
    named = named || word.find(marks[0].first) != std::string::npos;
    // A word has one mark; what stands for it may hold any text.
    for (const auto& [mark, value] : marks) {
      const auto at = word.find(mark);
      if (at == std::string::npos) continue;
      word.replace(at, mark.size(), value);
      break;
    }
    words.push_back(word);
  }
  words.insert(words.end(), command.begin() + (named ? 1 : 0), command.end());
  return words;
}

util::Error explain_failure(const std::string& engine, const std::string& image,
                            const util::ProcessOutput& output) {
  const std::string own_error = "hpcml: error: ", own_hint = "  hint: ";
  std::vector<std::string> errors, hints;
  std::string last;
  for (const auto& line : util::split(output.err, '\n')) {
    if (line.starts_with(own_error)) errors.push_back(line.substr(own_error.size()));
    if (line.starts_with(own_hint)) hints.push_back(line.substr(own_hint.size()));
    if (!util::trim(line).empty()) last = std::string(util::trim(line));
  }
  if (!errors.empty())
    return {fmt::format("the build in {} failed: {}", image, util::join(errors, "; ")),
            util::join(hints, "; ")};
  const bool is_old = output.err.find("GLIBC") != std::string::npos;
  return {
      fmt::format("{} did not run hpcml in {} (code {}): {}", engine, image, output.exit_code,
                  last.empty() ? "it printed nothing" : last),
      is_old
          ? "use the released program, which requires glibc 2.28: the C library of the image is too old for "
            "this one"
          : fmt::format("check whether this works: {}",
                        util::join(image_words(engine, image, "/tmp", {"/bin/true"}), " "))};
}

util::Result<CompletedBuild> build_in_image(const ImageBuildRequest& choice, const util::EnvSnapshot& env,
                                            const std::string& cwd, const ProgressSink& report) {
  std::error_code error;
  const bool is_path = fs::exists(fs::path(cwd) / choice.image, error);
  TRY(const auto engine, choose_engine(choice, is_path, env));
  TRY(const auto cache, make_cache(choice.request.cache, env, cwd));
  // A copy of this program where the image sees it.
  const util::ScratchPath copy(cache + "/.hpcml-" + std::to_string(::getpid()));
  fs::copy_file(choice.program, copy.path(), fs::copy_options::overwrite_existing, error);
  if (error)
    return Error{fmt::format("cannot copy hpcml to '{}' for the image: {}", cache, error.message()),
                 "set --cache to another directory"};
  auto outer = env;
  for (const char* name : k_of_this_machine) outer.unset(name);
  const auto image = is_path ? (fs::path(cwd) / choice.image).lexically_normal().string() : choice.image;
  report(fmt::format("building the helper for the torch in {} with {}, which can take more than a minute",
                     image, engine));
  const auto program = std::string(k_inside) + "/" + util::base_name(copy.path());
  TRY(auto output,
      util::run_process(image_words(engine, image, cache, inner_command(choice, program)), outer));
  const auto built = output.exit_code == 0 ? built_name(output.out) : "";
  output.err =
      util::replace_all(output.err, std::string(k_inside) + "/", cache + "/"); // as it is called out here
  if (built.empty()) return explain_failure(engine, image, output);
  note_image(cache + "/" + built, image);
  return read_built(cache + "/" + built, output.out.find("{\"was_there\":true") != std::string::npos);
}

} // namespace hpcml::torch_build
