#!/bin/bash
#SBATCH --time=10
OUTPUT_DIR=$OUTPUTDIR/run
python train.py --out $OUTPUT_DIR
