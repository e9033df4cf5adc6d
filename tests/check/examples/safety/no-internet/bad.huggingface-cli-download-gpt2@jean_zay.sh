#!/bin/bash
huggingface-cli download gpt2
wget -q https://example.org/x.tar
