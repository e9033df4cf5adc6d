#!/bin/bash
#SBATCH --signal=B:USR1@120
trap 'kill -USR1 $!; wait $!' USR1
bash run.sh
