#!/bin/bash
#SBATCH -t 10
work=/tmp/x
rm -rf $work/data
