#!/bin/bash
#SBATCH --account = me
