#!/bin/bash
srun ./a &
echo done
