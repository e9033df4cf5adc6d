// SPDX-License-Identifier: MIT
// The UCI handwritten digits (1,797 images of 8 × 8 pixels), read from the file that scikit-learn's packages
// install.
#pragma once

#include <string>

#include <torch/types.h>

namespace examples {

constexpr int k_pixels = 64;
constexpr int k_classes = 10;

/// Images as float rows of 64 values in 0…1, labels as int64. Every fifth image is held out of the training.
struct Digits {
  torch::Tensor train_images, train_labels;
  torch::Tensor test_images, test_labels;
};

/// Reads `path`; if it is empty $HPCML_DIGITS, else the places where packages put the file.
/// Throws std::runtime_error that names the places looked at and the package.
Digits load_digits(const std::string& path);

/// FNV-1a of the bytes, as 16 hexadecimal digits.
std::string fnv1a_hex(const void* data, std::size_t size);

} // namespace examples
