#!/bin/bash
srun ./server &
srun ./client
