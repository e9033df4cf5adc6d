#!/bin/bash
#SBATCH -t 10
OUT_DIR=/tmp/x
rm -rf "$OUTDIR/data"
