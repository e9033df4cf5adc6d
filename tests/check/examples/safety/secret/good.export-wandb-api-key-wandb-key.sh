#!/bin/bash
export WANDB_API_KEY=$WANDB_KEY
git clone https://$USER:$TOKEN@example.org/x.git
