// SPDX-License-Identifier: MIT
// The Python interpreters of the tests, and what they can import. For a package outside the standard library
// no test uses the interpreter that happens to be first on PATH.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/util/process.hpp"
#include "core/util/text.hpp"

namespace hpcml::test {

/// Debian's interpreter, for which tests/run.sh installs python3-torch, python3-mpi4py, python3-paramiko and
/// python3-asyncssh.
inline const std::string k_system_python = "/usr/bin/python3";

/// Returns the version of a module that the interpreter imports, or its file if it has no version. A
/// directory with the module's name does not count: neither the working directory nor PYTHONPATH is searched,
/// and the module must have a file.
inline std::optional<std::string> module_version(const std::string& python, const std::string& module) {
  const auto output =
      util::run_process({python, "-I", "-W", "ignore", "-c",
                         "import importlib, sys\nmodule = importlib.import_module(sys.argv[1])\n"
                         "print(getattr(module, '__version__', None) or module.__file__ or sys.exit(1))",
                         module},
                        util::EnvSnapshot::of_process(), std::chrono::seconds(300));
  if (!output || output->exit_code != 0) return std::nullopt;
  return std::string(util::trim(output->out));
}

/// Returns the interpreter with the packages of tests/requirements.txt: HPCML_TEST_PYTHON, or that of the
/// environment that tests/run.sh makes in build/.
inline std::string test_python() {
  return util::EnvSnapshot::of_process().get_or("HPCML_TEST_PYTHON",
                                                HPCML_SOURCE_DIR "/build/venv-tests/bin/python");
}

/// Returns the interpreters that import torch, of those in HPCML_TEST_TORCH_PYTHONS (separated by colons), or
/// Debian's.
inline std::vector<std::string> torch_pythons() {
  std::vector<std::string> found;
  const auto places = util::EnvSnapshot::of_process().get_or("HPCML_TEST_TORCH_PYTHONS", k_system_python);
  for (const auto& python : util::split(places, ':'))
    if (module_version(python, "torch")) found.push_back(python);
  return found;
}

} // namespace hpcml::test
