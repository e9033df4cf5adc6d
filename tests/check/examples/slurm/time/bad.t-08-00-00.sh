#!/bin/bash
#SBATCH -t=08:00:00
