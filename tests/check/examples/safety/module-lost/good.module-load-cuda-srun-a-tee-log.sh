#!/bin/bash
{ module load cuda; srun ./a; } | tee log
