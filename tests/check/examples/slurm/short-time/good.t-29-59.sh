#!/bin/bash
#SBATCH -t 29:59
