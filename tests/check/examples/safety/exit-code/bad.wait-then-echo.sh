#!/bin/bash
srun -n1 python a.py &
srun -n1 python b.py &
wait
echo done
