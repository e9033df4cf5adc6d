#!/bin/bash
#SBATCH --help --nodes=2
