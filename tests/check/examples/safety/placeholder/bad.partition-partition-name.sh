#!/bin/bash
#SBATCH --partition=PARTITION_NAME
