#!/bin/bash
for i in 1 2; do srun -n1 ./a $i & done
