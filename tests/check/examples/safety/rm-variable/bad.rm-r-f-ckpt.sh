#!/bin/bash
rm -r -f "${CKPT}/"
