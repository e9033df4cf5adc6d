#!/bin/bash
# sbatch this file with -N 2
