#!/bin/bash
cat <<EOF
EOF
#SBATCH --nodes=2
