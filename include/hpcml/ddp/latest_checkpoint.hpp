// SPDX-License-Identifier: MIT
// Which checkpoint a training goes on from.
#pragma once

#include <cstdint>
#include <filesystem>

namespace hpcml::ddp {

/// The newest whole checkpoint in `folder`, from its file `complete` and the sizes of its files; -1: none.
std::int64_t find_latest_checkpoint(const std::filesystem::path& folder);

/// Where the checkpoint of that number is, or will be.
std::filesystem::path checkpoint_path(const std::filesystem::path& folder, std::int64_t step);

} // namespace hpcml::ddp
