#!/bin/bash
curl -X POST -d "{}" "https://hooks.slack.com/services/$SLACK_HOOK"
