#!/bin/bash
#SBATCH --output=/home/me/x.log
