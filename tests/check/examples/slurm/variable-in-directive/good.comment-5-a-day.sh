#!/bin/bash
#SBATCH --comment='5$ a day'
