# shellcheck shell=bash
# Sourced by docs/quickstart.sh and tests/run.sh: installs what a bare Debian 12 lacks, finds LibTorch, builds.
# Needs: repo (the checkout's path).

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
die() {
  printf '\nhpcml: %s\n' "$*" >&2
  exit 1
}

# root needs no sudo; everybody else needs it only when something is missing
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    die "these packages are missing and need root to install: run as root, or install sudo"
  fi
}

# shellcheck disable=SC2034  # read by the scripts that source this
core_packages=(g++ cmake ninja-build git libcli11-dev nlohmann-json3-dev libfmt-dev libspdlog-dev libhwloc-dev
  libkainjow-mustache-dev libpugixml-dev catch2 zlib1g-dev python3 python3-venv)
# shellcheck disable=SC2034
slurm_packages=(slurm-wlm iproute2 hwloc-nox util-linux)
# shellcheck disable=SC2034
torch_packages=(libtorch-dev libgloo-dev)
# shellcheck disable=SC2034
data_packages=(python3-sklearn)
# shellcheck disable=SC2034
test_packages=(ccache shellcheck procps strace libc6-dev slurmdbd mariadb-server-core diffutils patch python3-torch python3-mpi4py
  libpmix-dev pre-commit man-db zsh fish python3-paramiko python3-asyncssh)
# The tests start its sshd themselves. Installing it starts the service, where no policy of the machine forbids that as images of containers do:
# elsewhere it is not installed, and the tests that want it say so and go on.
[ ! -x /usr/sbin/policy-rc.d ] || test_packages+=(openssh-server)

# Installs the packages of its arguments that are not there yet.
install_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing+=("$package")
  done
  [ "${#missing[@]}" -eq 0 ] && return 0
  say "installing ${#missing[@]} Debian packages: ${missing[*]}"
  command -v apt-get >/dev/null || die "this script installs packages with apt-get (Debian 12 or Ubuntu); install these yourself: ${missing[*]}"
  as_root apt-get update -qq || die "apt-get update failed: check the network and /etc/apt/sources.list"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "${missing[@]}" >/dev/null ||
    die "apt-get could not install: ${missing[*]} (run 'apt-get install ${missing[*]}' to see why)"
}

# The folder of the torch package of the active Python environment, or nothing.
active_torch() {
  local environment=${VIRTUAL_ENV:-${CONDA_PREFIX:-}} folder
  [ -n "$environment" ] || return 0
  for folder in "$environment"/lib/python3*/site-packages/torch; do
    [ -f "$folder/share/cmake/Torch/TorchConfig.cmake" ] && printf '%s\n' "$folder" && return 0
  done
  return 0
}

# configure_and_build PRESET [targets...]; without targets everything
configure_and_build() {
  local preset=$1
  shift
  cmake --preset "$preset" || die "configuring '$preset' failed: the first 'CMake Error' above says what is missing"
  cmake --build --preset "$preset" ${1:+--target "$@"} || die "building '$preset' failed: the first 'error:' above is the cause"
}
