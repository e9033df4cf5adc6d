#!/bin/bash
#SBATCH --time=UNLIMITED --time-min=1-0
