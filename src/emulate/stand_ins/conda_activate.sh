# shellcheck shell=bash
# Sourced: `source activate NAME`, as older scripts have it.
# shellcheck source=/dev/null
. @STATE_DIR@/conda/etc/profile.d/conda.sh
conda activate "$@"
