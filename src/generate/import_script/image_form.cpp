// SPDX-License-Identifier: MIT
#include "generate/import_script/image_form.hpp"

#include <algorithm>

#include "core/util/text.hpp"

namespace hpcml::import_script {
namespace {

/// Whether a variable or a command names the directory: "$PWD/torch.sif", "$(pwd)/torch.sif".
bool is_below_variable(std::string_view text) {
  const auto slash = text.find('/');
  return (text.starts_with('$') || text.starts_with('`')) && slash != std::string_view::npos &&
         text.substr(0, slash).find(':') == text.npos;
}

} // namespace

model::ImageForm image_form_of(const std::string& text, const model::EngineRow* engine, bool by_option) {
  if (engine && engine->named_form) return *engine->named_form;
  for (const auto* scheme : {"docker:", "oras:", "library:"})
    if (text.starts_with(scheme)) return model::ImageForm::registry;
  for (const auto* ending : {".sqsh", ".sqfs", ".squashfs"})
    if (text.ends_with(ending)) return model::ImageForm::squashed;
  const bool is_path = text.starts_with('/') || text.starts_with('.') || is_below_variable(text);
  return by_option && !is_path ? model::ImageForm::registry : model::ImageForm::file;
}

bool is_path_of_system(const std::string& path) {
  for (const std::string_view directory : {"/opt/", "/usr/", "/var/", "/etc/", "/lib/", "/lib64/"})
    if (path.starts_with(directory)) return true;
  return false;
}

std::optional<std::string> image_for_engine(const std::string& image, model::ImageForm form,
                                            const model::EngineRow& engine) {
  const auto* end = engine.takes.begin() + engine.taken;
  if (std::find(engine.takes.begin(), end, form) == end) return std::nullopt;
  if (form != model::ImageForm::registry) return image;
  if (!engine.registry_scheme.empty() && image.find("://") != std::string::npos) return image;
  std::string name = image;
  for (const std::string_view scheme : {"docker://", "docker:"})
    if (name.starts_with(scheme)) name = name.substr(scheme.size());
  return std::string(engine.registry_scheme) +
         (engine.registry_hash ? name : util::replace_all(name, "#", "/"));
}

const char* describe_image_form(model::ImageForm form) {
  switch (form) {
  case model::ImageForm::file: return "an image in a file";
  case model::ImageForm::squashed: return "a squashfs image";
  case model::ImageForm::registry: return "an image from a registry";
  case model::ImageForm::edf: return "an environment definition file (EDF)";
  case model::ImageForm::uenv: return "a uenv";
  }
  return "";
}

bool is_bind_option(std::string_view name) {
  static constexpr std::string_view k_binds = " B bind V volume v container-mounts ";
  return k_binds.find(" " + std::string(name) + " ") != std::string_view::npos;
}

} // namespace hpcml::import_script
