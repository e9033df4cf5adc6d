#!/bin/bash
#SBATCH --account=GROUP@PARTITION
