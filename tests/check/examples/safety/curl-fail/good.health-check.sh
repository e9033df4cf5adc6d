#!/bin/bash
until curl -s -o /dev/null http://node1:8000/health; do sleep 5; done
srun python client.py
