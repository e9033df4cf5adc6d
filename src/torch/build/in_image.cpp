// SPDX-License-Identifier: MIT
#include "torch/build/in_image.hpp"

#include <algorithm>
#include <filesystem>
#include <unistd.h>

#include "core/model/installed_engine.hpp"
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
  for (const auto& row : model::k_installed_engines) {
    const std::string program(row.program);
    if (is_path ? !row.runs_files : !row.runs_names) continue;
    fitting.push_back(program);
    if (choice.engine.empty() ? util::find_program(program, env).has_value() : choice.engine == program)
      return program;
  }
  if (!choice.engine.empty())
    return Error{choice.engine + " does not run " +
                     (is_path ? "a file or folder such as " : "an image by a registry's name such as ") +
                     choice.image,
                 "programs that do: " + util::join(fitting, ", ")};
  return Error{"no program is here that runs " + choice.image,
               "load the module of one of " + util::join(fitting, ", ")};
}

std::vector<std::string> inner_command(const ImageBuildRequest& choice, const std::string& program) {
  std::vector<std::string> words = {program, "torch", "build", "--cache", k_inside, "--format", "json"};
  if (!choice.request.torch.empty()) words.insert(words.end(), {"--torch", choice.request.torch});
  if (choice.request.jobs != 0) words.insert(words.end(), {"--jobs", std::to_string(choice.request.jobs)});
  if (choice.request.rebuild) words.emplace_back("--force");
  return words;
}

/// The name of the folder that it built, as its object tells the helper's path; empty where it does not.
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
  for (const auto& row : model::k_installed_engines) programs.emplace_back(row.program);
  return programs;
}

std::vector<std::string> image_words(const std::string& engine, const std::string& image,
                                     const std::string& directory, const std::vector<std::string>& command) {
  const auto* row = std::find_if(model::k_installed_engines.begin(), model::k_installed_engines.end(),
                                 [&](const auto& candidate) { return candidate.program == engine; });
  if (row == model::k_installed_engines.end() || command.empty()) return {};
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
    return {"the build in " + image + " failed: " + util::join(errors, "; "), util::join(hints, "; ")};
  const bool is_old = output.err.find("GLIBC") != std::string::npos;
  return {engine + " did not run hpcml in " + image + " (code " + std::to_string(output.exit_code) +
              "): " + (last.empty() ? "it said nothing" : last),
          is_old ? "the image's C library is older than this hpcml wants: take the release's program, which "
                   "runs from glibc 2.28 on"
                 : "see whether this runs: " +
                       util::join(image_words(engine, image, "/tmp", {"/bin/true"}), " ")};
}

util::Result<Built> build_in_image(const ImageBuildRequest& choice, const util::EnvSnapshot& env,
                                   const std::string& cwd, const MessageSink& report) {
  std::error_code error;
  const bool is_path = fs::exists(fs::path(cwd) / choice.image, error);
  TRY(const auto engine, choose_engine(choice, is_path, env));
  TRY(const auto cache, make_cache(choice.request.cache, env, cwd));
  // A copy of this program where the image sees it.
  const util::ScratchPath copy(cache + "/.hpcml-" + std::to_string(::getpid()));
  fs::copy_file(choice.program, copy.path(), fs::copy_options::overwrite_existing, error);
  if (error)
    return Error{"cannot put hpcml into " + cache + " for the image: " + error.message(),
                 "name another folder with --cache DIR"};
  auto outer = env;
  for (const char* name : k_of_this_machine) outer.unset(name);
  const auto image = is_path ? (fs::path(cwd) / choice.image).lexically_normal().string() : choice.image;
  report("builds in " + image + " with " + engine + ": a minute or more, where it is not there yet");
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
