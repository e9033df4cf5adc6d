#!/bin/bash
#SBATCH --time=<time>
