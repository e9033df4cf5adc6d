#!/bin/bash
set -e
module load cuda
set +e
cd $SCRATCH/run
rm -rf *
