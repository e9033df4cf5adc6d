#!/bin/bash
srun -n4 --cpu_bind none ./a.out
