#!/bin/bash
sed -i 's/\r$//' data.txt
