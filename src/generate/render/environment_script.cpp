// SPDX-License-Identifier: MIT
#include "generate/render/environment_script.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "core/model/script_provenance.hpp"
#include "core/util/text.hpp"
#include "generate/plan/requirements.hpp"
#include "generate/render/line.hpp"
#include "generate/render/template.hpp"
#include "generate/render/word.hpp"

namespace hpcml::render {

namespace {

using plan::SetupKind;
using plan::SetupPlan;

TemplateValue or_false(const std::string& text) {
  return text.empty() ? TemplateValue(false) : TemplateValue(text);
}

std::string quoted(const std::vector<std::string>& texts) { return join_words(literals(texts)); }

std::string place_word(const SetupPlan& plan) {
  return plan.place_expression ? quote_path(plan.place) : quote_word(plan.place);
}

/// Who wrote the script, and why it does what it does.
std::string head(const SetupPlan& plan) {
  std::string text =
      "# " + comment_text(model::ScriptProvenance{HPCML_VERSION, plan.site_id, plan.site_hash}.text() + ":");
  if (!plan.request_line.empty()) text += "\n#   " + comment_text(plan.request_line);
  if (plan.index)
    text += "\n# " + comment_text(fmt::format("PyTorch from {} (torch up to {}): {}.", plan.index->name,
                                              plan.index->torch_to, plan.index_reason));
  for (const auto& [note, origin] : plan.notes)
    text += "\n# " + comment_text(note) +
            (origin.source.empty() ? "" : " [" + comment_text(origin.source.text()) + "]");
  return text;
}

std::string downloads(const SetupPlan& plan) {
  std::vector<std::string> lines;
  for (const auto& variable : plan.downloads)
    lines.push_back(render_line(Export{variable.name, variable.value, variable.expression, {}}));
  return util::join(lines, "\n");
}

std::string software(const SetupPlan& plan) {
  std::vector<std::string> lines;
  if (plan.modules_reset != model::ModulesReset::none)
    lines.push_back(render_line(CommandLine{literals({"module", model::word_of(plan.modules_reset)}), {}}));
  for (const auto& module : plan.modules)
    lines.push_back(render_line(ModuleLine{module.name, module.is_path, {}}));
  return util::join(lines, "\n");
}

std::string directory_of(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
}

/// pip, with PyTorch's packages from their index and all others from the usual one.
std::string install(const SetupPlan& plan, const std::string& pip) {
  std::vector<std::string> lines;
  const auto& own = plan.packages;
  if (!plan.index) { // the site's own wheels
    auto words = plan.torch_packages;
    words.insert(words.end(), own.begin(), own.end());
    return pip + " install --no-index --upgrade pip\n" + pip + " install --no-index " + quoted(words);
  }
  if (!plan.torch_packages.empty())
    lines.push_back(fmt::format("{} install {} --index-url {}", pip, quoted(plan.torch_packages),
                                plan::index_url(*plan.index)));
  if (own.size() == 2 && plan::is_conda_file(own.back()))
    lines.insert(lines.begin(),
                 "conda env update --prefix \"$CONDA_PREFIX\" --file " + quote_word(own.back()));
  else if (own.size() == 2 && plan::is_uv_lock(own.back()))
    lines.push_back(fmt::format("uv export --frozen --no-emit-project --project {} | {} install -r -",
                                quote_word(directory_of(own.back())), pip));
  else if (!own.empty())
    lines.push_back(pip + " install " + quoted(own));
  return util::join(lines, "\n");
}

/// A text as YAML has it in single quotes.
std::string yaml_text(const std::string& text) { return "'" + util::replace_all(text, "'", "''") + "'"; }

/// The conda environment of an image, as cotainr reads it. pip takes the highest version that any of its
/// indexes has, so it gets PyTorch's alone, and all other packages come from conda.
std::string conda_file(const SetupPlan& plan) {
  std::string text = "name: torch\nchannels:\n  - conda-forge\ndependencies:\n";
  text += fmt::format("  - python={}\n  - pip\n", plan.python);
  for (const auto& package : plan.packages) text += "  - " + yaml_text(package) + "\n";
  text += "  - pip:";
  if (plan.index) text += "\n    - " + yaml_text("--index-url " + plan::index_url(*plan.index));
  for (const auto& package : plan.torch_packages) text += "\n    - " + yaml_text(package);
  return text;
}

/// The last proof: torch imports, or (where none was asked for) what was installed fits together.
std::string show_torch(const SetupPlan& plan, const std::string& python) {
  if (!plan.has_torch) return plan.kind == SetupKind::uv ? "uv pip check" : python + " -m pip check";
  return python +
         R"( -c 'import torch; print("torch", torch.__version__, "for CUDA", torch.version.cuda, "ROCm", torch.version.hip)')";
}

/// The variables of a profile's text: "EBROOTCUDA" of "$EBROOTCUDA/extras".
std::vector<std::string> variables_of(const std::string& text) {
  std::vector<std::string> names;
  for (std::size_t i = text.find('$'); i != std::string::npos; i = text.find('$', i + 1)) {
    auto end = text.find_first_not_of('{', i + 1);
    const auto begin = end;
    while (end < text.size() && util::is_name_char(text[end])) ++end;
    if (end > begin) names.push_back(text.substr(begin, end - begin));
  }
  return names;
}

/// What only a module sets is asked for before anything is made.
std::string needed(const SetupPlan& plan) {
  std::vector<std::string> lines;
  for (const auto& directory : plan.link_directories)
    for (const auto& name : variables_of(directory))
      lines.push_back(
          fmt::format("[[ -n ${{{}-}} ]] || stop \"{} is not set, and linking needs it: the module "
                      "that sets it is missing above (--module).\"",
                      name, name));
  return util::join(lines, "\n");
}

/// The environment as an archive that a job unpacks on its nodes.
std::string pack(const SetupPlan& plan) {
  if (plan.pack.empty()) return {};
  const bool conda = plan.kind == SetupKind::conda;
  return fmt::format("\n\n# A job that is given the archive unpacks it on each node's own disk.\n{} install "
                     "{}\n{} --prefix {} --output {}",
                     plan.kind == SetupKind::uv ? "uv pip" : "python -m pip",
                     conda ? "conda-pack" : "venv-pack", conda ? "conda-pack" : "venv-pack",
                     conda ? "\"$CONDA_PREFIX\"" : "\"$environment\"", quote_word(plan.pack));
}

/// An environment on top of an image, made inside it and packed into one file.
std::string squashed(const SetupPlan& plan) {
  const auto& on = *plan.squashed;
  auto packages = plan.torch_packages;
  packages.insert(packages.end(), plan.packages.begin(), plan.packages.end());
  const auto& engine = model::row_of(on.engine);
  const bool by_srun = !on.step.empty(), keeps_host = engine.keeps_host;
  return render_block(
      "setup_squashed",
      {{"place", place_word(plan)},
       {"image", on.image_variable.empty() ? quote_word(on.image) : "\"$" + on.image_variable + "\""},
       {"engine", std::string(engine.words.name.empty() ? engine.name : engine.words.name)},
       {"exec", std::string(engine.words.name) + " " + std::string(engine.exec)},
       {"bind", std::string(engine.bind)},
       {"keeps_host", keeps_host},
       {"by_srun", by_srun},
       {"own_place", keeps_host || by_srun},
       {"inside", !keeps_host && !by_srun},
       {"step", quoted(on.step)},
       {"options", on.image_options.empty() ? std::string() : quoted(on.image_options) + " "},
       {"at", on.at.empty() ? std::string("\"${environment%.*}\"") : quote_path(on.at)},
       {"enter", or_false(on.enter)},
       {"packages", quoted(packages)},
       {"file_options", on.file_options.empty() ? std::string() : " " + quoted(on.file_options)}});
}

/// From here on nothing that fails takes the environment away.
constexpr const char* k_whole = "\ntrap - EXIT";

std::string body(const SetupPlan& plan) {
  const bool wheels = !plan.index;
  if (plan.squashed) return squashed(plan);
  if (!plan.easyconfig.empty()) return "eb " + quote_word(plan.easyconfig);
  switch (plan.kind) {
  case SetupKind::conda: {
    const bool prefix = plan.place.find('/') != std::string::npos;
    return render_block("setup_conda", {{"name", place_word(plan)},
                                        {"option", std::string(prefix ? "--prefix" : "--name")},
                                        {"by_path", prefix},
                                        {"by_name", !prefix},
                                        {"pack", or_false(plan.pack.empty() ? "" : quote_word(plan.pack))},
                                        {"python", quote_word("python=" + plan.python)}}) +
           "\n" + install(plan, "python -m pip") + "\n" + show_torch(plan, "python") + k_whole + pack(plan);
  }
  case SetupKind::wheelhouse:
    return render_block("setup_wheels",
                        {{"place", place_word(plan)},
                         {"list_wheels", plan.list_wheels.empty()
                                             ? TemplateValue(false)
                                             : TemplateValue(quoted({plan.list_wheels, "torch"}))}}) +
           "\n" + install(plan, "pip") + "\n" + show_torch(plan, "python") +
           "\npip freeze --local > \"$folder/list\"\ncp -- \"$folder/list\" " + place_word(plan);
  case SetupKind::container:
    return render_block("setup_cotainr", {{"image", place_word(plan)},
                                          {"environment", conda_file(plan)},
                                          {"base_image", quote_word(plan.base_image)}});
  default: break;
  }
  const bool uv = plan.kind == SetupKind::uv;
  std::string text =
      render_block("setup_venv", {{"place", place_word(plan)},
                                  {"wheels", wheels},
                                  {"own", !wheels && !uv},
                                  {"uv", uv},
                                  {"pack", or_false(plan.pack.empty() ? "" : quote_word(plan.pack))},
                                  {"python", plan.python}});
  text += "\n" + install(plan, uv ? "uv pip" : "pip") + "\n" + show_torch(plan, "python") + k_whole;
  if (plan.kind != SetupKind::libtorch) return text + pack(plan);
  std::string link_flags;
  for (const auto& directory : plan.link_directories) link_flags += ",-L" + directory;
  return text + "\n\n" +
         render_block("setup_libtorch",
                      {{"link_flags", link_flags}, {"cuda_archs", or_false(plan.cuda_archs)}});
}

/// The last line: how a job takes what was made.
std::string ready(const SetupPlan& plan) {
  if (plan.kind == SetupKind::libtorch)
    return "echo \"Ready. Build a program: cmake -C $environment/libtorch.cmake -B build -S . && cmake "
           "--build build\"\n"
           "echo \"Set CXX_STANDARD $standard or higher in its CMakeLists.txt: the headers of this torch do "
           "not compile with an older C++.\"";
  const std::string place = !plan.pack.empty() ? quote_word(plan.pack)
                            : plan.kind == SetupKind::container && plan.easyconfig.empty() ? "\"$image\""
                            : plan.kind == SetupKind::venv || plan.kind == SetupKind::uv ? "\"$environment\""
                                                                                         : place_word(plan);
  return fmt::format("printf '%s %s\\n' 'Ready. Use it in a job with: hpcml gen --site {} {}' {}",
                     plan.site_id, plan.use, place);
}

} // namespace

std::string render_environment_script(const SetupPlan& plan) {
  return render_template("setup", {{"head", head(plan)},
                                   {"arch", plan.node_arch == model::CpuArch::unknown
                                                ? TemplateValue(false)
                                                : TemplateValue(model::word_of(plan.node_arch))},
                                   {"offline", plan.offline_nodes && (plan.index || plan.squashed)},
                                   {"software", or_false(software(plan))},
                                   {"needed", or_false(needed(plan))},
                                   {"downloads", or_false(downloads(plan))},
                                   {"body", body(plan)},
                                   {"ready", ready(plan)}});
}

} // namespace hpcml::render
