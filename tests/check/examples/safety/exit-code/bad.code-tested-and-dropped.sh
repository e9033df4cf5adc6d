#!/bin/bash
if [ ! -f config.yaml ]; then
  echo "no config"
  exit 1
fi
python -m model.training.main --config config.yaml
if [ $? -eq 0 ]; then
  python -m model.inference --config config.yaml
else
  echo "Training failed with exit code $?"
fi
rm -rf tmp
