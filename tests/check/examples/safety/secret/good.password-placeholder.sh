#!/bin/bash
export MYSQL_PASSWORD=your_password
curl -u "$USER:$PASS" https://x.org
