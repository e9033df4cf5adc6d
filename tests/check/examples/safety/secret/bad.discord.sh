#!/bin/bash
curl -d "{}" https://discord.com/api/webhooks/123456789012345678/aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789-_abcdefghij
