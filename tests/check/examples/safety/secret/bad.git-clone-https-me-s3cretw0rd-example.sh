#!/bin/bash
git clone https://me:s3cretw0rd@example.org/x.git
