// SPDX-License-Identifier: MIT
#include "test_data.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <zlib.h>

#include "core/util/file.hpp"

namespace hpcml::test {
namespace {

namespace fs = std::filesystem;

struct CloseGzip {
  void operator()(gzFile file) const { ::gzclose(file); }
};

void unpack(const fs::path& file, const fs::path& directory) {
  const auto text = read_test_data(file);
  if (!text) throw std::runtime_error(text.error().what);
  const auto name = file.extension() == ".gz" ? file.stem() : file.filename();
  if (const auto written = util::write_file(directory / name, *text); !written)
    throw std::runtime_error(written.error().what);
}

} // namespace

util::Result<std::string> read_test_data(const fs::path& path) {
  const fs::path file = fs::exists(path) ? path : fs::path(path.string() + ".gz");
  errno = 0;
  const std::unique_ptr<gzFile_s, CloseGzip> opened(::gzopen(file.c_str(), "rb"));
  if (!opened) return util::Error{"cannot open " + path.string() + ": " + std::strerror(errno)};
  std::string text;
  std::array<char, 1 << 16> buffer{};
  int count = 0;
  while ((count = ::gzread(opened.get(), buffer.data(), buffer.size())) > 0)
    text.append(buffer.data(), static_cast<std::size_t>(count));
  // A truncated file ends like a complete one: only gzerror reports it.
  int code = Z_OK;
  const char* why = ::gzerror(opened.get(), &code);
  if (count < 0 || (code != Z_OK && code != Z_STREAM_END))
    return util::Error{"cannot read " + file.string() + ": " + why};
  return text;
}

UnpackedData::UnpackedData(const fs::path& source) {
  if (fs::is_directory(source)) {
    for (const auto& entry : fs::directory_iterator(source))
      if (entry.is_regular_file()) unpack(entry.path(), path());
  } else {
    unpack(source, path());
  }
}

const fs::path& unpacked_topologies() {
  static const UnpackedData c_topologies(fs::path(HPCML_SOURCE_DIR) / "tests/affinity/topologies");
  return c_topologies.path();
}

} // namespace hpcml::test
