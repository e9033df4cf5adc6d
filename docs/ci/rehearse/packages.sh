#!/usr/bin/env bash
# Installs what hpcml emulate needs, where it is missing: Slurm, whose daemons are not started, and with HPCML_CI_ACCOUNTING=true what keeps records of jobs.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
# shellcheck source=docs/setup.sh
. "$repo/docs/setup.sh"
packages=("${slurm_packages[@]}")
[ "${HPCML_CI_ACCOUNTING:-false}" != true ] || packages+=(slurmdbd mariadb-server-core)
# A service that cannot start, for want of a configuration, must not fail the installation; and none should run.
if ! command -v slurmctld >/dev/null && [ ! -e /usr/sbin/policy-rc.d ] && [ -d /usr/sbin ]; then
  printf '#!/bin/sh\nexit 101\n' >"${TMPDIR:-/tmp}/policy-rc.d"
  as_root install -m 755 "${TMPDIR:-/tmp}/policy-rc.d" /usr/sbin/policy-rc.d
  trap 'as_root rm -f /usr/sbin/policy-rc.d' EXIT
fi
install_packages "${packages[@]}"
# A runner that forbids namespaces to users without rights (Ubuntu 24.04) allows them to root, or by this.
if [ "$(sysctl -n kernel.apparmor_restrict_unprivileged_userns 2>/dev/null || echo 0)" = 1 ]; then
  as_root sysctl -q -w kernel.apparmor_restrict_unprivileged_userns=0
fi
PATH="$PATH:/usr/sbin" slurmctld -V
