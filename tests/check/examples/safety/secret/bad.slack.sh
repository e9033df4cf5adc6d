#!/bin/bash
curl -X POST -d "{}" https://hooks.slack.com/services/T01ABCDEF/B02GHIJKL/aB3dE5fG7hI9jK1lM3nO5p
