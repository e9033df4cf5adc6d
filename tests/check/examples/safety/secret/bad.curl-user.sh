#!/bin/bash
curl -u admin:hunter2xyz https://x.org
