// SPDX-License-Identifier: MIT
// hpcml-torch: the part of hpcml that requires LibTorch, as a separate program. Writes JSON lines to stdout.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "ddp/torch_compat.hpp"
#include "hpcml/exit_code.hpp"
#include "torch/helper/json_line.hpp"
#include "torch/helper/preflight.hpp"

namespace {

/// Prints one JSON object; returns the exit code.
int run_info() {
  namespace ddp = hpcml::ddp;
  const auto facts = ddp::torch_facts();
  hpcml::helper::print(hpcml::JsonLine()
                           .add("event", "info")
                           .add("torch", facts.header_version)
                           .add("torch_library", facts.library_version)
                           .add("gloo", facts.gloo)
                           .add("nccl", facts.nccl)
                           .add("nccl_version", facts.nccl_version)
                           .add("gpus", facts.gpu_count)
                           .add("auto_backend", ddp::resolve_backend("auto")));
  return 0;
}

constexpr const char* k_help =
    "usage: hpcml-torch info\n"
    "       hpcml-torch preflight [--backend auto|nccl|gloo] [--timeout SECONDS] "
    "[--deadline SECONDS] [--interface NAME] [--bytes N] [--program-port PORT] [--store-only]\n"
    "Run by `hpcml preflight`; expects RANK, WORLD_SIZE, MASTER_ADDR and "
    "MASTER_PORT, as `hpcml launch` sets them.\n";

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

double positive_number(const std::string& flag, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !(value > 0) || value > 1e12)
    throw UsageError(flag + " must be a positive number, not '" + text + "'");
  return value;
}

int port_number(const std::string& flag, const std::string& text) {
  const double value = positive_number(flag, text);
  if (value > 65535 || value != static_cast<int>(value))
    throw UsageError(flag + " must be a port, not '" + text + "'");
  return static_cast<int>(value);
}

std::chrono::milliseconds seconds_of(const std::string& flag, const std::string& text) {
  return std::chrono::milliseconds(static_cast<long long>(1000 * positive_number(flag, text)));
}

hpcml::helper::PreflightOptions parse_preflight(const std::vector<std::string>& words) {
  hpcml::helper::PreflightOptions options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string flag = words[i];
    if (flag == "--store-only") {
      options.store_only = true;
      continue;
    }
    std::string value;
    const auto equals = flag.find('=');
    if (equals != std::string::npos) {
      value = flag.substr(equals + 1);
      flag.resize(equals);
    } else if (i + 1 < words.size()) {
      value = words[++i];
    } else {
      throw UsageError("'" + flag + "' is unknown or requires a value");
    }
    if (flag == "--backend")
      options.group.backend = value;
    else if (flag == "--interface")
      options.group.interface_name = value;
    else if (flag == "--timeout")
      options.group.timeout = seconds_of(flag, value);
    else if (flag == "--deadline")
      options.deadline = seconds_of(flag, value);
    else if (flag == "--bytes")
      options.bytes = static_cast<long long>(positive_number(flag, value));
    else if (flag == "--program-port")
      options.program_port = port_number(flag, value);
    else
      throw UsageError("unknown flag '" + flag + "'");
  }
  if (options.group.backend != "auto" && options.group.backend != "nccl" && options.group.backend != "gloo")
    throw UsageError("--backend must be auto, nccl or gloo, not '" + options.group.backend + "'");
  return options;
}

int run(const std::vector<std::string>& words) {
  try {
    if (words.empty()) throw UsageError("no command given");
    if (words[0] == "--help" || words[0] == "-h") {
      std::fputs(k_help, stdout);
      return hpcml::k_ok;
    }
    if (words[0] == "info") return run_info();
    if (words[0] == "preflight")
      return hpcml::helper::run_preflight(parse_preflight({words.begin() + 1, words.end()}));
    throw UsageError("unknown command '" + words[0] + "'");
  } catch (const UsageError& error) {
    std::fprintf(stderr, "hpcml-torch: error: %s\n%s", error.what(), k_help);
    return hpcml::k_usage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hpcml-torch: error: %s\n", error.what());
    return hpcml::k_world_failed;
  }
}

} // namespace

int main(int argc, char** argv) {
  const int code = run({argv + 1, argv + argc});
  std::fflush(nullptr);
  // Skips LibTorch's own cleanup, which takes long.
  std::_Exit(code);
}
