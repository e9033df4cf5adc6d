#!/bin/bash
failed=0
srun -n1 python a.py &
a=$!
srun -n1 python b.py &
wait $a || failed=1
wait
