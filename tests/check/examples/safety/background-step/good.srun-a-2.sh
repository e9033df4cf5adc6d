#!/bin/bash
srun ./a &
P=$!
wait $P
