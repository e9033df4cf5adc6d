// SPDX-License-Identifier: MIT
// Zip archives as torch.save writes them: whether one is complete.
#pragma once

#include <filesystem>

#include "core/util/result.hpp"

namespace hpcml::util {

enum class ZipCheckLevel {
  directory, ///< the records at the archive's end, and each entry's header
  checksums, ///< also each entry's bytes
};

/// Checks a file of torch.save. The error says why it is incomplete, damaged or of another kind, without the
/// path. Opens regular files only, and never waits.
Status check_torch_archive(const std::filesystem::path& path, ZipCheckLevel check);

} // namespace hpcml::util
