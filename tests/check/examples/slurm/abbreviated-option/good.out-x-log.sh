#!/bin/bash
#SBATCH --out=x.log
