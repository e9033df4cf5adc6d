# shellcheck shell=sh
# Read by login shells in the place of what this machine has in /etc/profile.d.
case ":$PATH:" in
  *":@STATE_DIR@/bin:"*) ;;
  *) export PATH="@STATE_DIR@/bin:$PATH" ;;
esac
# Whoever runs hpcml by its path types its name there anyway: last, as it may be among other programs.
case ":$PATH:" in
  *:@PROGRAM_DIRECTORY@:*) ;;
  *) export PATH="$PATH":@PROGRAM_DIRECTORY@ ;;
esac
module() {
  # A script that traces its commands (set -x) shows its own, not those of this function.
  # shellcheck disable=SC3043
  { local - && set +x; } 2> /dev/null
  # shellcheck source=/dev/null
  . "@STATE_DIR@/lib/common.sh" && . "@STATE_DIR@/lib/module.sh" && hpcml_module "$@"
}
ml() { module load "$@"; }
# Other shells know no functions in the environment: bash below them has it from its own login files.
# shellcheck disable=SC3045
if [ -n "${BASH_VERSION-}" ]; then export -f module ml; fi
