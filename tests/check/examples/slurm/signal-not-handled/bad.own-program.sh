#!/bin/bash
#SBATCH --signal=B:TERM@90
trap 'cp -r out $HOME' TERM
./run.sh
