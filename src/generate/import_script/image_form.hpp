// SPDX-License-Identifier: MIT
// What an old script's image is, from the text that names it, and how an engine of the new site names it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/model/container_engine.hpp"

namespace hpcml::import_script {

/// The form of the image that `text` names, as an option or as a word of the engine.
model::ImageForm image_form_of(const std::string& text, const model::EngineRow* engine, bool by_option);

/// True for a directory of the old nodes' operating system: a bind of it fails if the new nodes lack it.
bool is_path_of_system(const std::string& path);

/// The image as the engine names it; nothing where it cannot take it.
std::optional<std::string> image_for_engine(const std::string& image, model::ImageForm form,
                                            const model::EngineRow& engine);

/// "an image in a file"
const char* describe_image_form(model::ImageForm form);

/// Whether an option of a container, without its dashes, names binds.
bool is_bind_option(std::string_view name);

} // namespace hpcml::import_script
