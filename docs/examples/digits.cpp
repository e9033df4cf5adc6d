// SPDX-License-Identifier: MIT
#include "digits.hpp"

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include <zlib.h>

namespace examples {

namespace fs = std::filesystem;

namespace {

constexpr const char* k_inside_package = "sklearn/datasets/data/digits.csv.gz";

/// Places where packages put the file: Debian's python3-sklearn, then the site-packages of the active
/// environment and of Python.
std::vector<fs::path> candidates() {
  std::vector<fs::path> list;
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* prefix = std::getenv(variable)) list.emplace_back(fs::path(prefix) / "lib");
  list.emplace_back("/usr/local/lib");
  list.emplace_back("/usr/lib");
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& folder : list)
    for (const auto& entry : fs::directory_iterator(folder, ignored))
      if (entry.path().filename().string().compare(0, 7, "python3") == 0)
        for (const char* packages : {"dist-packages", "site-packages"})
          files.push_back(entry.path() / packages / k_inside_package);
  return files;
}

fs::path find_file(const std::string& path) {
  if (!path.empty()) return path;
  if (const char* named = std::getenv("HPCML_DIGITS")) return named;
  for (const auto& file : candidates())
    if (fs::exists(file)) return file;
  throw std::runtime_error("the digits data set is not installed: found no " + std::string(k_inside_package) +
                           " under /usr/lib/python3, /usr/local/lib/python3* or the active Python "
                           "environment. Install python3-sklearn "
                           "(Debian) or scikit-learn (pip), or name the file with --data or $HPCML_DIGITS.");
}

std::string read_compressed(const fs::path& file) {
  const gzFile handle = ::gzopen(file.c_str(), "rb");
  if (handle == nullptr) throw std::runtime_error("cannot open the data file " + file.string());
  std::string text;
  char buffer[65536];
  int count = 0;
  while ((count = ::gzread(handle, buffer, sizeof buffer)) > 0)
    text.append(buffer, static_cast<std::size_t>(count));
  ::gzclose(handle);
  if (count < 0)
    throw std::runtime_error("the data file " + file.string() +
                             " is damaged: it cannot be uncompressed to its end");
  return text;
}

/// Rows of 65 numbers: 64 grey values in 0…16 and the digit.
std::vector<float> parse_rows(const std::string& text, const fs::path& file) {
  std::vector<float> values;
  const char* place = text.c_str();
  std::size_t row = 1;
  while (*place != '\0') {
    for (int column = 0; column <= k_pixels; ++column) {
      char* end = nullptr;
      values.push_back(std::strtof(place, &end));
      const bool last = column == k_pixels;
      if (end == place || (last ? *end != '\n' && *end != '\r' && *end != '\0' : *end != ','))
        throw std::runtime_error(file.string() + ":" + std::to_string(row) +
                                 ": expected 65 numbers between commas");
      place = end + (*end == ',' ? 1 : 0);
    }
    while (*place == '\n' || *place == '\r') ++place;
    ++row;
  }
  return values;
}

} // namespace

Digits load_digits(const std::string& path) {
  const fs::path file = find_file(path);
  std::vector<float> values = parse_rows(read_compressed(file), file);
  const auto rows = static_cast<int64_t>(values.size() / (k_pixels + 1));
  if (rows < 100) throw std::runtime_error(file.string() + " holds only " + std::to_string(rows) + " images");
  const auto table = torch::from_blob(values.data(), {rows, k_pixels + 1}).clone();
  const auto images = table.narrow(1, 0, k_pixels) / 16;
  const auto labels = table.select(1, k_pixels).to(torch::kLong);
  constexpr int k_held_out = 5;
  const auto number = torch::arange(rows);
  const auto test = number.remainder(k_held_out).eq(0).nonzero().flatten();
  const auto train = number.remainder(k_held_out).ne(0).nonzero().flatten();
  return {images.index_select(0, train), labels.index_select(0, train), images.index_select(0, test),
          labels.index_select(0, test)};
}

std::string fnv1a_hex(const void* data, std::size_t size) {
  unsigned long long hash = 14695981039346656037ULL;
  for (std::size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211ULL;
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", hash);
  return text;
}

} // namespace examples
