// SPDX-License-Identifier: MIT
// Settings of visible devices in shell text of the old script: the new launcher shows each rank its devices.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generate/import_script/text_cuts.hpp"

namespace hpcml::import_script {

/// Whether a runtime reads its visible devices in the variable.
bool is_device_list(const std::string& name);

/// Finds the first setting at or after `from` that lists devices or chooses one by the local rank, such as
/// "CUDA_VISIBLE_DEVICES=0,1". Other settings are kept.
std::optional<ByteRange> find_device_setting(std::string_view text, std::size_t from);

/// Cuts settings before the launch that begins there: `CUDA_VISIBLE_DEVICES=0,1 torchrun …`.
void cut_device_prefix(TextCuts& cuts, std::string_view text, std::size_t launch);

/// Removes these settings from a program's shell text.
std::string without_device_settings(const std::string& text);
/// The same for the words of a program: in the texts of shells, and after env.
void drop_device_settings(std::vector<std::string>& words);

} // namespace hpcml::import_script
