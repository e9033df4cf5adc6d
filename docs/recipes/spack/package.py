# SPDX-License-Identifier: MIT
"""Spack: from the release's archive of the sources, which brings the headers it needs.

It goes to packages/hpcml/package.py of a repository of yours.
"""

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Hpcml(CMakePackage):
    """Writes, checks, rehearses and launches distributed training jobs on Slurm clusters."""

    homepage = "https://github.com/OWNER/hpcml"
    url = "https://github.com/OWNER/hpcml/releases/download/v0.1.0/hpcml-0.1.0-source.tar.gz"

    license("MIT")

    # The digest is a line of the release's SHA256SUMS: version("0.1.0", sha256="…")
    version("0.1.0")

    variant("torch", default=False, description="Build preflight's helper, which needs LibTorch")

    depends_on("cxx", type="build")
    depends_on("cmake@3.24:", type="build")
    depends_on("ninja", type="build")
    depends_on("py-torch", when="+torch")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("BUILD_TESTING", False),
            self.define_from_variant("HPCML_TORCH", "torch"),
            self.define("HPCML_HEADERS", join_path(self.stage.source_path, "headers")),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def lists_sites(self):
        Executable(self.prefix.bin.hpcml)("sites", "list")
