// SPDX-License-Identifier: MIT
// The smallest program with LibTorch: a tensor, on the GPU where there is one, and whether matrix products
// may use TF32.
#include <iostream>

#include <torch/torch.h>

int main() {
  const bool gpu = torch::cuda::is_available();
  const torch::Device device(gpu ? torch::kCUDA : torch::kCPU);
  std::cout << "LibTorch " << TORCH_VERSION_MAJOR << '.' << TORCH_VERSION_MINOR << " on " << device
            << ", TF32 for products " << (at::globalContext().allowTF32CuBLAS() ? "on" : "off") << '\n'
            << torch::rand({2, 3}, device) << '\n';
}
