#!/bin/bash
python -m pkg.train.compute --name "$NAME" --merge
python -m pkg.train.pack --name "$NAME"
