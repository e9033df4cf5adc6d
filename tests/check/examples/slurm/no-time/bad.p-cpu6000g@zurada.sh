#!/bin/bash
#SBATCH -p cpu6000g
