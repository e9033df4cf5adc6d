#!/bin/bash
python train.py --hub_token="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"
