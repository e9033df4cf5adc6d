#!/bin/bash
#SBATCH --no-kill=off
