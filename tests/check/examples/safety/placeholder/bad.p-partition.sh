#!/bin/bash
#SBATCH -p PARTITION
