#!/bin/bash
#sbatch --nodes=2
