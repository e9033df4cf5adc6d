#!/bin/bash
#SBATCH --mem=1536M
